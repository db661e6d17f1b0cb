// Runs the attacks of `clients.ts` in a process of its own, so that their work is not taken for the daemon's: told what to do by messages.
import { connect, type Socket } from 'node:net'
import { realClock } from '../support/real-clock.ts'
import { ATTACKS, type Attack } from './clients.ts'

export interface Order {
  /** Attacks that go on at the same time. */
  readonly names: readonly string[]
  readonly url: string
  /** Requests and connections in proportion. */
  readonly share: number
  /** It gives up after this time. */
  readonly forMs: number
}

const clock = realClock()
/** Requests that are joined to one write. */
const TOGETHER = 200
/** After so long without a byte no more answers are awaited. */
const QUIET_MS = 3_000

const run = async ({ names, ...order }: Order): Promise<number> =>
  (await Promise.all(names.map((name) => attacked(name, order)))).reduce((sum, bytes) => sum + bytes, 0)

async function attacked(name: string, { url, share, forMs }: Omit<Order, 'names'>): Promise<number> {
  const attack = ATTACKS[name]
  if (!attack) throw new Error(`no attack called ${name}`)
  const endMs = clock.monotonic() + forMs
  const sockets = new Set<Socket>()
  const many = (count: number): number => Math.max(Math.min(count, 1), Math.round(count * share))
  const count = { connections: attack.connections < 10 ? attack.connections : many(attack.connections), requests: many(attack.requests) }
  let answered = 0
  const isOver = (): boolean => clock.monotonic() >= endMs
  async function one(number: number): Promise<void> {
    do {
      answered += await connection(attack as Attack, count.requests, { url, number, isOver, sockets })
    } while (attack?.again === true && !isOver())
  }
  const all: Promise<void>[] = []
  for (let number = 0; number < count.connections && !isOver(); number += 1) {
    all.push(one(number))
    const dueMs = endMs - forMs + (number * 1_000) / (attack.perSecond ?? Number.POSITIVE_INFINITY)
    if (dueMs > clock.monotonic()) await clock.sleep(1)
  }
  await Promise.race([Promise.all(all), clock.sleep(Math.max(0, endMs - clock.monotonic()))])
  for (const socket of sockets) socket.destroy()
  return answered
}

interface Place {
  readonly url: string
  readonly number: number
  readonly isOver: () => boolean
  readonly sockets: Set<Socket>
}

/** Sends all requests of one connection; the number of bytes that came back, once it is closed or answered, or nothing more comes. */
async function connection(attack: Attack, requests: number, { url, number, isOver, sockets }: Place): Promise<number> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  sockets.add(socket)
  let bytes = 0
  const closed = new Promise<void>((resolve) => socket.on('error', () => undefined).once('close', () => resolve()))
  const isClosed = (): boolean => socket.destroyed
  if (attack.reads) {
    socket.on('data', (data) => {
      bytes += data.length
    })
  } else socket.pause()
  for (let sent = 0; sent < requests && !isClosed() && !isOver(); ) {
    const until = Math.min(requests, sent + (attack.pauseMs === undefined ? TOGETHER : 1))
    let text = ''
    for (; sent < until; sent += 1) text += attack.text(sent, number)
    if (!socket.write(text)) await Promise.race([closed, new Promise<void>((resolve) => socket.once('drain', () => resolve()))])
    if (attack.pauseMs !== undefined) await clock.sleep(attack.pauseMs)
  }
  if (attack.halfClose === true) socket.end()
  if (attack.resets === true) {
    await clock.sleep(number)
    socket.resetAndDestroy()
  }
  // Answers are awaited until nothing came for a while.
  for (let before = -1; before !== bytes && !isClosed() && !isOver(); ) {
    before = bytes
    await Promise.race([closed, clock.sleep(QUIET_MS)])
  }
  if (!attack.reads && attack.again !== true) await closed
  socket.destroy()
  sockets.delete(socket)
  return bytes
}

process.on('message', (order: Order) => {
  run(order).then(
    (bytes) => process.send?.({ bytes }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
