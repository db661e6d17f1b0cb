// What only this machine can reach, judged by text alone; nothing is looked up.

/** The loopback names and addresses, without brackets: `localhost`, `127.0.0.0/8`, `::1`. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/**
 * Whether a `Host` header is one that a page of another site cannot send through a browser on this machine: `localhost`, a name beneath it,
 * or an address written as a number. Any other name may be one that its owner has pointed here (DNS rebinding). Choice.
 */
export const isHostOfHere = (header: string): boolean =>
  /^(([a-z0-9-]+\.)*localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])\.?(:\d{1,5})?$/i.test(header)
