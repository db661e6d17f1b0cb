// Which addresses only this machine can reach, by their text alone; no name is resolved.

/** The loopback names and addresses, without brackets: `localhost`, `127.0.0.0/8`, `::1`. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/**
 * Whether a `Host` header is one that a page of another site cannot send through a browser on this machine: `localhost`, a name under it,
 * or a numeric address. Any other name may have been pointed at this machine by its owner (DNS rebinding). Choice.
 */
export const isHostOfHere = (header: string): boolean =>
  /^(([a-z0-9-]+\.)*localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])\.?(:\d{1,5})?$/i.test(header)
