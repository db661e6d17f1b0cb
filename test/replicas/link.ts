// The connection of one replica to the database or to the services, which can be held or cut. Held bytes are delivered when it opens again,
// also after their sender has ended, as a network would do. It knows nothing of its content, except the CONNECT of a proxy.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { clock, now } from './time.ts'

/** `held`: nothing arrives anywhere. `deaf`: requests arrive, and no answer returns. `cut`: connections break, new ones too. */
export type LinkMode = 'open' | 'held' | 'deaf' | 'cut'

interface LastSent {
  readonly at: number
  readonly connectedInMs: number
  /** When its connection arrived. */
  readonly openedAt: number
}

interface Pipe {
  readonly held: Buffer[]
  readonly to: Socket
  isEnding: boolean
}

interface Pair {
  readonly near: Socket
  readonly far: Socket
  readonly there: Pipe
  readonly back: Pipe
}

interface LinkOptions {
  /** Read for each connection, because a database may have moved. */
  readonly target: () => number
  /** The replica opens connections with CONNECT, as through a proxy. */
  readonly isProxy: boolean
  /** The address that it listens on. */
  readonly host?: string
}

export type Link = Awaited<ReturnType<typeof openLink>>

export async function openLink({ target, isProxy, host = '127.0.0.1' }: LinkOptions) {
  let mode: LinkMode = 'open'
  const pairs = new Set<Pair>()
  const sent = new Map<number, LastSent>()
  let slowMs = 0
  const isHeld = (pipe: Pipe, { there }: Pair): boolean => mode === 'held' || (mode === 'deaf' && pipe !== there)
  const flush = (pipe: Pipe, pair: Pair): void => {
    if (isHeld(pipe, pair)) return
    for (const part of pipe.held.splice(0)) if (pipe.to.writable) pipe.to.write(part)
    if (pipe.isEnding) pipe.to.end()
  }
  const carry = (pair: Pair, from: Socket, pipe: Pipe, onData: () => void): void => {
    from.on('data', (part) => {
      onData()
      pipe.held.push(part)
      flush(pipe, pair)
    })
    const end = (): void => {
      pipe.isEnding = true
      flush(pipe, pair)
      if (from.destroyed && pipe.to.destroyed) pairs.delete(pair)
    }
    from.on('end', end)
    from.on('close', end)
    from.on('error', () => undefined)
  }
  const begin = (near: Socket, first: Buffer): void => {
    const far = connect({ port: target(), host: '127.0.0.1' })
    const pair: Pair = {
      ...{ near, far },
      there: { held: first.length > 0 ? [first] : [], to: far, isEnding: false },
      back: { held: [], to: near, isEnding: false },
    }
    pairs.add(pair)
    const beganAt = now()
    let answeredAt = beganAt
    const note = (): void => {
      const isFirst = !sent.has(far.localPort ?? 0)
      sent.set(far.localPort ?? 0, { at: now(), connectedInMs: isFirst ? answeredAt - beganAt : 0, openedAt: beganAt })
    }
    far.on('connect', () => flush(pair.there, pair))
    far.on('error', () => near.destroy())
    // Another link may be given its port.
    far.on('connect', () => {
      const { localPort = 0 } = far
      far.on('close', () => sent.delete(localPort))
    })
    carry(pair, near, pair.there, note)
    carry(pair, far, pair.back, () => undefined)
    const answer = (): void => {
      answeredAt = now()
      pair.back.held.push(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))
      flush(pair.back, pair)
    }
    if (isProxy && slowMs > 0) void clock.sleep(slowMs).then(answer)
    else if (isProxy) answer()
  }
  const server = createServer((near) => {
    near.on('error', () => undefined)
    if (mode === 'cut') return void near.resetAndDestroy()
    if (!isProxy) return begin(near, Buffer.alloc(0))
    let asked = Buffer.alloc(0)
    const read = (part: Buffer): void => {
      asked = Buffer.concat([asked, part])
      const end = asked.indexOf('\r\n\r\n')
      if (end < 0) return
      near.off('data', read)
      begin(near, asked.subarray(end + 4))
    }
    near.on('data', read)
  })
  await new Promise<void>((done) => server.listen(0, host, done))
  const { port } = server.address() as AddressInfo
  return {
    port,
    set(next: LinkMode): void {
      mode = next
      for (const pair of pairs) {
        if (mode === 'cut') {
          pair.near.resetAndDestroy()
          pair.far.resetAndDestroy()
          pairs.delete(pair)
          continue
        }
        flush(pair.there, pair)
        flush(pair.back, pair)
      }
    },
    /** The delay of a proxy's answer to CONNECT. */
    slow(ms: number): void {
      slowMs = ms
    },
    /** When the last bytes arrived from the replica, on the connection from this port; and how long it took to connect. */
    lastSent: (fromPort: number | undefined) => (fromPort === undefined ? undefined : sent.get(fromPort)),
    async close() {
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
      await new Promise((done) => server.close(done))
    },
  }
}
