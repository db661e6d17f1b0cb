// Bounds what all clients of the pages together cost: connections, work and memory. One request is begun in each turn of the event loop, of each connection
// in turn, so that everything else of the daemon goes on between two requests, and a client that sends many waits for its own alone. Who does not read
// its answer gets no other, and who has not read it for longest leaves when room is needed.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Clock } from '../../ports.ts'
import { nextTurn } from '../schedule/system.ts'

/** Bytes taken from the socket at once, about 32 requests. Choice. */
const MOST_TAKEN_BYTES = 2_048
const [LINE_FEED, CARRIAGE_RETURN] = [10, 13]
/** How a request begins that goes before others. */
const PROBES = ['GET /livez ', 'GET /readyz ']
const NOTHING = Buffer.alloc(0)

type Chunk = { readonly chunk: Buffer | string; readonly encoding: BufferEncoding }
type Done = (error?: Error | null) => void

interface LaneOwner {
  /** The first piece is about to be handed over. */
  open(lane: Lane): void
  /** The lane may be ready, idle or neither now. */
  look(lane: Lane): void
  /** The system has not taken all of `lane.unread`. */
  sending(lane: Lane): void
  /** It has, or the lane is closed. */
  sent(lane: Lane): void
}

class Lane extends Duplex {
  /** The request that is under way. */
  request: IncomingMessage | undefined
  /** What the system has not taken yet, because the client does not read. */
  unread: readonly (Buffer | string)[] = []
  /** Since when, in monotonic milliseconds. */
  unreadSinceMs = 0
  /** Its client closed its side: it may be gone, or still read what it asked for. */
  hasEnded = false
  readonly #socket: Socket
  readonly #owner: LaneOwner
  /** Taken from the socket and not handed over. */
  #rest: Buffer = NOTHING
  /** As long as it is not open, whoever will read wants the first piece. */
  #isWanted = true
  #isOpen = false
  /** A whole request was handed over, and its answer has not begun. */
  #isAsked = false
  #isLineEmpty = true

  constructor(socket: Socket, owner: LaneOwner) {
    super({ decodeStrings: false })
    this.#socket = socket
    this.#owner = owner
    socket.on('readable', () => {
      // The end is only told to who reads beyond it.
      if (socket.readableLength === 0) socket.read(0)
      else if (this.#rest.length === 0 && this.request === undefined) this.#rest = this.#take()
      owner.look(this)
    })
    socket.on('end', () => {
      this.hasEnded = true
      if (!this.#isOpen && !this.#hasBytes) this.destroy()
      else this.#endIfOver()
      owner.look(this)
    })
    // Until the server has it, nobody else listens for the error of a client that resets its connection.
    this.on('error', () => undefined)
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  /** It asks for nothing. */
  get isIdle(): boolean {
    return this.request === undefined && !this.#hasBytes && !this.destroyed
  }

  /** What it asks next is whether the daemon lives or is ready. */
  get isProbe(): boolean {
    return PROBES.some((probe) => this.#rest.toString('latin1', 0, probe.length) === probe)
  }

  get #hasBytes(): boolean {
    return this.#rest.length > 0 || this.#socket.readableLength > 0
  }

  /** There is something to hand over, the server wants it, and all answers were read. Of a request that is under way the body may be handed over. */
  get isReady(): boolean {
    return this.#isWanted && this.#hasBytes && this.writableLength === 0 && this.request?.complete !== true && !this.destroyed
  }

  /** Gives the server the next piece. */
  hand(): void {
    if (!this.#isOpen) {
      this.#isOpen = true
      this.#owner.open(this)
    }
    const bytes = this.#rest.length > 0 ? this.#rest : this.#take()
    const end = this.#endOfPiece(bytes)
    this.#rest = end < bytes.length ? bytes.subarray(end) : NOTHING
    this.#isWanted = false
    this.push(bytes.subarray(0, end))
    this.#endIfOver()
  }

  /** A client may send its end with its last request, whose answer it still reads; the server closes as soon as it hears of it. */
  #endIfOver(): void {
    if (this.hasEnded && this.#rest.length === 0 && !this.#isAsked) this.push(null)
  }

  #take(): Buffer {
    const bytes: Buffer | null = this.#socket.read(Math.min(this.#socket.readableLength, MOST_TAKEN_BYTES))
    if (this.#socket.readableLength === 0) this.#socket.read(0)
    return bytes ?? NOTHING
  }

  /** Behind the first empty line, which is where a request ends that has no body. */
  #endOfPiece(bytes: Buffer): number {
    this.#isAsked = false
    for (let from = 0; ; ) {
      const at = bytes.indexOf(LINE_FEED, from)
      const end = at === -1 ? bytes.length : at
      this.#isLineEmpty &&= end === from || (end === from + 1 && bytes[from] === CARRIAGE_RETURN)
      if (at === -1) return bytes.length
      if (this.#isLineEmpty) {
        this.#isAsked = true
        return at + 1
      }
      this.#isLineEmpty = true
      from = at + 1
    }
  }

  override _read(): void {
    this.#isWanted = true
    this.#owner.look(this)
  }

  override _writev(chunks: readonly Chunk[], done: Done): void {
    this.unread = chunks.map(({ chunk }) => chunk)
    this.#owner.sending(this)
    this.#socket.cork()
    for (const { chunk, encoding } of chunks.slice(0, -1)) this.#socket.write(chunk, encoding)
    const last = chunks.at(-1)
    this.#socket.write(last?.chunk ?? '', last?.encoding, (error) => {
      this.#owner.sent(this)
      done(error)
      this.#owner.look(this)
    })
    this.#socket.uncork()
    this.#isAsked = false
    this.#endIfOver()
  }

  override _final(done: Done): void {
    this.#socket.end(() => done())
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#socket.destroy()
    this.#owner.sent(this)
    done(error)
  }

  /** As a socket has it: the server calls it after the last answer. */
  destroySoon(): void {
    this.once('finish', () => this.destroy())
    this.end()
  }
}

/** Bytes of answers that are not read, beside the largest one: an answer of any size can be sent. An answer that several read counts once. Choice. */
const MOST_UNREAD_BYTES = 24 * 1024 * 1024

/** Until a connection that asks for nothing makes way before those that ask. Choice. */
const SETTLED_MS = 1_000

interface ConnectionLimits {
  readonly maxConnections: number
  /** Until an answer is read; a slower client is cut off. */
  readonly answerTimeoutMs: number
  /** Until a connection that asks for nothing is closed. */
  readonly idleTimeoutMs: number
  readonly checkEveryMs: number
}

/** Stands between the connections of a server and the server. */
export function boundConnections(server: Server, limits: ConnectionLimits, clock: Pick<Clock, 'monotonic' | 'sleep'>): void {
  const lanes = new Set<Lane>()
  // Those that ask for nothing, and since when, in this order.
  const idle = new Map<Lane, number>()
  const unread = unreadAnswers(clock)
  const turns = createTurns()
  function look(lane: Lane): void {
    if (!lane.isIdle) idle.delete(lane)
    else if (!idle.has(lane)) idle.set(lane, clock.monotonic())
    if (lane.isReady) turns.take(lane)
  }
  /** The one that has asked for nothing for longest. What a new one asks may not have arrived yet. */
  function settled(): Lane | undefined {
    const [lane, sinceMs] = first(idle) ?? []
    return sinceMs !== undefined && sinceMs + SETTLED_MS <= clock.monotonic() ? lane : undefined
  }
  const attach = server.listeners('connection')
  // The server gets a connection with its first request: under a flood most are closed before.
  const owner: LaneOwner = {
    ...unread,
    look,
    open: (lane) => {
      for (const one of attach) one.call(server, lane)
    },
  }
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    // The newest is always accepted, so that no number of connections blocks /livez.
    if (lanes.size >= limits.maxConnections)
      (settled() ?? unread.slowest() ?? turns.waiting() ?? first(idle.keys()) ?? first(lanes))?.destroy()
    turns.accepted()
    const lane = new Lane(socket, owner)
    lanes.add(lane)
    look(lane)
    lane.once('close', () => {
      lanes.delete(lane)
      idle.delete(lane)
      turns.leave(lane)
    })
  })
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const lane: unknown = request.socket
    if (!(lane instanceof Lane)) return
    // Only behind a body can there be another one.
    if (lane.request) lane.destroy()
    lane.request = request
    look(lane)
    response.once('close', () => {
      lane.request = undefined
      look(lane)
    })
  })
  // At the end; the server knows only those that have asked.
  const closeAll = server.closeAllConnections
  server.closeAllConnections = () => {
    for (const lane of lanes) lane.destroy()
    closeAll.call(server)
  }
  // Node would answer these itself, past all that is above.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  const closed = new AbortController()
  server.once('listening', () => void cutSlow(closed.signal))
  server.once('close', () => closed.abort())
  async function cutSlow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(limits.checkEveryMs, signal).catch(() => undefined)
      unread.cut(limits.answerTimeoutMs)
      const untilMs = clock.monotonic() - limits.idleTimeoutMs
      for (const [lane, sinceMs] of idle) if (sinceMs <= untilMs) lane.destroy()
    }
  }
}

const first = <T>(all: Iterable<T>): T | undefined => all[Symbol.iterator]().next().value

/** Connections that are accepted between two requests: a turn of the event loop accepts one, and those that wait too long come back seconds later.
 * Choice. */
const ACCEPTED_BETWEEN = 32

/** Lanes take turns: one hands over one piece in a turn of the event loop. Every other time it is one that asks whether the daemon lives. Who may be
 * gone comes last, so that nobody waits for answers that nobody reads. */
function createTurns() {
  const probes = new Set<Lane>()
  const others = new Set<Lane>()
  const ended = new Set<Lane>()
  const queues = [probes, others, ended]
  let isDue = false
  let isForProbes = true
  let isAccepting = false
  let accepted = 0
  function goOn(): void {
    if (isDue || queues.every(({ size }) => size === 0)) return
    isDue = true
    nextTurn(turn)
  }
  function turn(): void {
    isDue = false
    if (isAccepting && accepted < ACCEPTED_BETWEEN) goOn()
    else {
      accepted = 0
      handOne()
    }
    isAccepting = false
  }
  function handOne(): void {
    isForProbes = !isForProbes
    const inOrder = isForProbes ? queues : [others, probes, ended]
    const lane = first(inOrder.find(({ size }) => size > 0) ?? [])
    if (!lane) return
    leave(lane)
    // Before it, so that an error of one does not stop the others.
    goOn()
    if (lane.isReady) lane.hand()
  }
  function leave(lane: Lane): void {
    for (const queue of queues) queue.delete(lane)
  }
  return {
    accepted(): void {
      isAccepting = true
      accepted += 1
    },
    waiting: () => first(ended) ?? first(others),
    /** One that is closed waits no more: it would be the one that makes room for ever. */
    leave,
    take(lane: Lane): void {
      if (lane.hasEnded) others.delete(lane)
      const queue = lane.isProbe ? probes : lane.hasEnded ? ended : others
      queue.add(lane)
      goOn()
    },
  }
}

/** What was sent and is not read, within a bound. */
function unreadAnswers(clock: Pick<Clock, 'monotonic'>) {
  // In the order in which they stopped to read.
  const lanes = new Set<Lane>()
  const readers = new Map<Buffer | string, number>()
  let bytes = 0
  const largest = (): number => Math.max(0, ...readers.keys().map(({ length }) => length))
  function sent(lane: Lane): void {
    for (const chunk of lane.unread) {
      const left = (readers.get(chunk) ?? 1) - 1
      if (left > 0) readers.set(chunk, left)
      else if (readers.delete(chunk)) bytes -= chunk.length
    }
    lane.unread = []
    lanes.delete(lane)
  }
  return {
    sent,
    sending(lane: Lane): void {
      lane.unreadSinceMs = clock.monotonic()
      lanes.add(lane)
      for (const chunk of lane.unread) {
        const before = readers.get(chunk) ?? 0
        if (before === 0) bytes += chunk.length
        readers.set(chunk, before + 1)
      }
      while (bytes > MOST_UNREAD_BYTES && bytes - largest() > MOST_UNREAD_BYTES) first(lanes)?.destroy()
    },
    slowest: () => first(lanes),
    /** Closes those that have not read for so long. */
    cut(afterMs: number): void {
      const untilMs = clock.monotonic() - afterMs
      for (const lane of lanes) if (lane.unreadSinceMs <= untilMs) lane.destroy()
    },
  }
}
