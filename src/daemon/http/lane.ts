// A connection as the HTTP server sees it: the bytes of the socket in pieces, each with the end of one request at most. A piece is taken from the socket
// only when `hand` is called, so what a client sends ahead waits in its own socket. It decides nothing; connections.ts decides whose turn it is.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** Bytes taken from the socket at once, about 32 requests. Choice. */
const MOST_TAKEN_BYTES = 2_048
const [LINE_FEED, CARRIAGE_RETURN] = [10, 13]
/** How a request begins that goes before others. */
const PROBES = ['GET /livez ', 'GET /readyz ']
const NOTHING = Buffer.alloc(0)

type Chunk = { readonly chunk: Buffer | string; readonly encoding: BufferEncoding }
type Done = (error?: Error | null) => void

export interface LaneOwner {
  /** The first piece is about to be handed over. */
  open(lane: Lane): void
  /** The lane may be ready, idle or neither now. */
  look(lane: Lane): void
  /** The system has not taken all of `lane.unread`. */
  sending(lane: Lane): void
  /** It has, or the lane is closed. */
  sent(lane: Lane): void
}

export class Lane extends Duplex {
  /** The request that is under way. */
  request: IncomingMessage | undefined
  /** What the system has not taken yet, because the client does not read. */
  unread: readonly (Buffer | string)[] = []
  /** Since when, in monotonic milliseconds. */
  unreadSinceMs = 0
  readonly #socket: Socket
  readonly #owner: LaneOwner
  /** Taken from the socket and not handed over. */
  #rest: Buffer = NOTHING
  /** As long as it is not open, whoever will read wants the first piece. */
  #isWanted = true
  #isOpen = false
  #hasEnded = false
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
      this.#hasEnded = true
      if (!this.#isOpen && !this.#hasBytes) this.destroy()
      else if (this.#rest.length === 0) this.push(null)
    })
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
    if (this.#hasEnded && this.#rest.length === 0) this.push(null)
  }

  #take(): Buffer {
    const bytes: Buffer | null = this.#socket.read(Math.min(this.#socket.readableLength, MOST_TAKEN_BYTES))
    if (this.#socket.readableLength === 0) this.#socket.read(0)
    return bytes ?? NOTHING
  }

  /** Behind the first empty line, which is where a request ends that has no body. */
  #endOfPiece(bytes: Buffer): number {
    for (let from = 0; ; ) {
      const at = bytes.indexOf(LINE_FEED, from)
      const end = at === -1 ? bytes.length : at
      this.#isLineEmpty &&= end === from || (end === from + 1 && bytes[from] === CARRIAGE_RETURN)
      if (at === -1) return bytes.length
      if (this.#isLineEmpty) return at + 1
      this.#isLineEmpty = true
      from = at + 1
    }
  }

  override _read(): void {
    this.#isWanted = true
    this.#owner.look(this)
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    this._writev([{ chunk, encoding }], done)
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
