// The only file that opens a path from outside for reading. An open never blocks, and only a regular file is read, up to a bound: a FIFO, device,
// socket or folder must never hang or fill the process. The daemon reads in the background (`oneAtATime`), because on a file system that is gone
// a read waits for ever.
import { type BigIntStats, closeSync, constants, fstatSync, openSync, promises, readSync, statSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import type { Clock } from './ports.ts'

/** A path leads to something that is not read: not a regular file, too large, or on a file system that does not answer. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly code: 'NOT_A_FILE' | 'TOO_LARGE' | 'FILE_STALLED'
  /** Where the work stood still. */
  readonly path: string | undefined
  constructor(code: FileError['code'], message: string, path?: string) {
    super(message)
    this.code = code
    this.path = path
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  ELOOP: 'is a link that leads back to itself',
  ENOTDIR: 'does not exist: a part of the path is a file',
}

/** The system's code for what was thrown, such as ENOENT. */
export const codeIn = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && error.code !== undefined ? String(error.code) : undefined

/** `is not a regular file`: why a file cannot be read, to follow its name. */
export const whyUnread = (error: unknown): string =>
  error instanceof FileError ? error.message : (REASONS[codeIn(error) ?? ''] ?? 'cannot be read')

/** `is not a regular file (NOT_A_FILE)`. */
export const whyUnreadAndCode = (error: unknown): string => `${whyUnread(error)} (${codeIn(error) ?? String(error)})`

/** A person's command waits so long for a pipe, such as `<(vault …)`. */
const PIPE_WAITS_MS = 5_000
const STEP_MS = 20

/** A person's command, which may be given a pipe, or a daemon, whose main thread must wait for no file. A thread is given no pipe either. */
let reader: 'command' | 'daemon' = isMainThread ? 'command' : 'daemon'

export function readAs(who: typeof reader): void {
  reader = who
}

export const readerIs = (who: typeof reader): boolean => reader === who

/** One for all files: thousands of them would make the collector of garbage stop the process. */
const piece = Buffer.allocUnsafe(65_536)

const READ_ONLY = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
const notAFile = (): FileError => new FileError('NOT_A_FILE', 'is not a regular file')
/** A socket is not even opened: Linux says ENXIO, other systems that it is not supported. */
const whyNotOpened = (error: unknown): unknown => (/^(ENXIO|EOPNOTSUPP|ENOTSUP)$/.test(codeIn(error) ?? '') ? notAFile() : error)
const tooLarge = (maxBytes: number): FileError => new FileError('TOO_LARGE', `has more than the ${maxBytes} bytes that are read`)

function open(path: string, flags: number): number {
  try {
    return openSync(path, READ_ONLY | flags)
  } catch (error) {
    throw whyNotOpened(error)
  }
}

/** Opens a regular file without blocking, through links unless `flags` says otherwise. The caller closes it. */
function opened(path: string, flags: number, mayBePipe: boolean): { readonly file: number; readonly isPipe: boolean } {
  const file = open(path, flags)
  const stats = fstatSync(file)
  const isPipe = stats.isFIFO() && mayBePipe
  if (stats.isFile() || isPipe) return { file, isPipe }
  closeSync(file)
  throw notAFile()
}

/** The content of a file, or without `flags` of a pipe where a person gives one. Throws a `FileError`, or the system's error. */
export function readBytes(path: string, maxBytes: number, flags?: number): Buffer {
  const { file, isPipe } = opened(path, flags ?? 0, reader === 'command' && flags === undefined)
  using open = new DisposableStack()
  open.adopt(file, closeSync)
  const pieces: Buffer[] = []
  let waits = PIPE_WAITS_MS / STEP_MS
  for (let total = 0; total <= maxBytes; ) {
    const length = readPiece(file)
    // A pipe without a writer seems to be at its end.
    if (length === 0 && (!isPipe || total > 0)) return Buffer.concat(pieces)
    if (length <= 0) {
      if (waits === 0) throw new FileError('NOT_A_FILE', `is a pipe that did not end within ${PIPE_WAITS_MS / 1_000} s`)
      waits -= 1
      Atomics.wait(asleep, 0, 0, STEP_MS)
      continue
    }
    pieces.push(Buffer.from(piece.subarray(0, length)))
    total += length
  }
  throw tooLarge(maxBytes)
}

export const readText = (path: string, maxBytes: number): string => readBytes(path, maxBytes).toString('utf8')

const asleep = new Int32Array(new SharedArrayBuffer(4))

/** -1 when a pipe has nothing yet. */
function readPiece(file: number): number {
  try {
    return readSync(file, piece)
  } catch (error) {
    if (codeIn(error) === 'EAGAIN') return -1
    throw error
  }
}

// Secrets of one line, in a file or in a variable. They must never get into an answer, a log or an error.

/** Where a token or a password is found. */
export type TokenSource = { readonly file: string } | { readonly env: string }

type Environment = Readonly<Record<string, string | undefined>>

const MAX_TOKEN_BYTES = 4_096

export const sourceText = (token: TokenSource): string => ('file' in token ? token.file : `the variable ${token.env}`)

/** The files among the sources of keys, tokens and passwords. */
export const filesOf = (sources: readonly (TokenSource | undefined)[]): readonly string[] =>
  sources.flatMap((source) => (source && 'file' in source ? [source.file] : []))

/** The small files that a process reads again and again. */
export interface Files {
  /**
   * A file as it was read; `identity` changes whenever the content may have changed. Follows links, so a swapped volume is noticed. Throws a `FileError`,
   * or the system's error.
   */
  look(path: string, maxBytes: number): { readonly identity: string; readonly text: () => string }
  /** Resolves once these files have been read again, or surely cannot be read now. Never rejects. */
  refresh(paths: readonly string[]): Promise<void>
}

export const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string => [dev, ino, size, mtimeNs, ctimeNs].join(':')

/** For commands: reads at once. A pipe can be read only once, so anything but a plain file never counts as changed. */
export const DIRECT_FILES: Files = {
  look(path, maxBytes) {
    const stats = statSync(path, { bigint: true })
    return { identity: stats.isFile() ? identityOf(stats) : 'stream', text: () => readText(path, maxBytes) }
  },
  refresh: async () => undefined,
}

/** Work that makes no progress for so long is given up, and may end in its own time. */
const DEADLINE_MS = 5_000
/** Threads of libuv's pool, which `main.ts` sets: names of hosts are looked up there as well, so reads that never end must leave some. */
const MOST_AT_ONCE = Math.max(1, Math.floor(Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) / 2))

const waiting: (() => void)[] = []
let atOnce = 0
let strays = 0

/** Whether work with files has not ended, for which the end of the process would wait. */
export const isReading = (): boolean => atOnce + strays > 0

/** Work whose end nobody awaits, such as that of a thread that reads. */
export async function leaveBehind(work: Promise<unknown>): Promise<void> {
  strays += 1
  await work.catch(() => undefined)
  strays -= 1
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (atOnce >= MOST_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  else atOnce += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else atOnce -= 1
  }
}

/** Names the file that work waits for next. */
export type Progress = (path: string) => void
type Waits = Pick<Clock, 'monotonic' | 'sleep'>

interface State {
  at?: string
  lastMs: number
}

const underWay = new Map<string, { readonly state: State; readonly result: Promise<unknown> }>()

/**
 * Does work with files in the background, when none of that name is under way, whoever began it: what stalls is never tried twice at once. Rejects
 * with a `FileError` when it made no progress for 5 s, and so does what waits for it.
 */
export async function oneAtATime<T>(name: string, clock: Waits, work: (progress: Progress) => Promise<T>): Promise<T> {
  for (let before = underWay.get(name); before; before = underWay.get(name))
    await inTime(
      before.state,
      before.result.catch(() => undefined),
      clock,
    )
  const state: State = { lastMs: clock.monotonic() }
  const result = inTurn(() => work((at) => void Object.assign(state, { at, lastMs: clock.monotonic() }))).finally(() =>
    underWay.delete(name),
  )
  underWay.set(name, { state, result })
  return inTime(state, result, clock)
}

async function inTime<T>(state: State, result: Promise<T>, clock: Waits): Promise<T> {
  const over = new AbortController()
  const stalled = async (): Promise<never> => {
    for (;;) {
      const leftMs = state.lastMs + DEADLINE_MS - clock.monotonic()
      if (leftMs <= 0) throw new FileError('FILE_STALLED', `did not answer within ${DEADLINE_MS / 1_000} s`, state.at)
      await clock.sleep(leftMs, over.signal)
    }
  }
  const either = [result, stalled()]
  try {
    return await Promise.race(either)
  } finally {
    over.abort()
    for (const late of either) late.catch(() => undefined)
  }
}

/** Reads a regular file in the background, within 5 s. Rejects with a `FileError`, or the system's error. */
const readAside = (path: string, maxBytes: number, clock: Waits): Promise<Content> =>
  oneAtATime(path, clock, (progress) => contentOf(path, maxBytes, { progress }))

/** A file that is read whenever it is needed: by a command at once, by a daemon in the background. */
export const readWhole = async (path: string, maxBytes: number, clock: Waits): Promise<Pick<Content, 'mode' | 'bytes'>> =>
  reader === 'command' ? { bytes: readBytes(path, maxBytes), mode: statSync(path).mode } : readAside(path, maxBytes, clock)

interface Content {
  readonly identity: string
  readonly mode: number
  readonly bytes: Buffer
}

async function openAside(path: string, flags = 0) {
  const file = await promises.open(path, READ_ONLY | flags).catch((error: unknown) => Promise.reject(whyNotOpened(error)))
  const stats = await file.stat({ bigint: true })
  if (stats.isFile()) return { file, stats }
  await file.close()
  throw notAFile()
}

/** For work in the background: the content of a regular file. */
export async function contentOf(
  path: string,
  maxBytes: number,
  how: { readonly flags?: number; readonly progress?: Progress },
): Promise<Content> {
  const { file, stats } = await openAside(path, how.flags)
  await using _open = file
  const pieces: Buffer[] = []
  const room = Math.min(Number(stats.size) + 1, 262_144)
  for (let total = 0; total <= maxBytes; ) {
    how.progress?.(path)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(room))
    if (bytesRead === 0) return { identity: identityOf(stats), mode: Number(stats.mode), bytes: Buffer.concat(pieces) }
    pieces.push(buffer.subarray(0, bytesRead))
    total += bytesRead
  }
  throw tooLarge(maxBytes)
}

const MAX_KEPT_BYTES = 4 * 1024 * 1024
/** A file is read again at most this often. */
const AGAIN_MS = 1_000

interface Kept {
  readonly askedMs: number
  readonly asked: Promise<void>
  found?: Content | { readonly error: unknown }
}

/** For the daemon: `look` tells what was read last, and never waits. */
export function keepFiles(clock: Waits): Files {
  const kept = new Map<string, Kept>()
  const ask = (path: string): Kept => {
    const before = kept.get(path)
    if (before && clock.monotonic() - before.askedMs < AGAIN_MS) return before
    const found = readAside(path, MAX_KEPT_BYTES, clock).catch((error: unknown) => ({ error }))
    const one: Kept = {
      ...before,
      askedMs: clock.monotonic(),
      asked: found.then((read) => {
        one.found = read
      }),
    }
    kept.set(path, one)
    return one
  }
  return {
    look(path, maxBytes) {
      const { found = { error: new FileError('FILE_STALLED', 'has not been read yet') } } = ask(path)
      if ('error' in found) throw found.error
      if (found.bytes.length > maxBytes) throw tooLarge(maxBytes)
      return { identity: found.identity, text: () => found.bytes.toString('utf8') }
    },
    async refresh(paths) {
      await Promise.all(paths.map((path) => ask(path).asked))
    },
  }
}

/** A value, and why there is no newer one. */
export interface LastGood<T> {
  readonly value?: T
  readonly unread?: string
}

/** A file as `check` understands it, which is read again whenever it changes: while it cannot be used, the last good value stays. */
export function keepLastGood<T>(
  files: Pick<Files, 'look'>,
  { name, maxBytes, file }: { readonly name: string; readonly file: string; readonly maxBytes: number },
  check: (text: string) => LastGood<T>,
): () => LastGood<T> {
  let identity = ''
  let known: LastGood<T> = {}
  const read = (): LastGood<T> => {
    try {
      const looked = files.look(file, maxBytes)
      if (looked.identity === identity) return known
      identity = looked.identity
      return check(looked.text())
    } catch (error) {
      identity = ''
      return { unread: `${name} ${whyUnreadAndCode(error)}` }
    }
  }
  return () => {
    known = { value: known.value, ...read() }
    return known
  }
}

/** Reads a token again for each request, or after a while; a file without a token, or that cannot be read any more, keeps its last good one, and is told once. */
export function tokenReader(
  env: Environment,
  onUnread: (message: string) => void = () => undefined,
  files: Pick<Files, 'look'> = DIRECT_FILES,
): (source: TokenSource) => string | undefined {
  let last: { readonly file: string; readonly token: string | undefined; readonly why: string | undefined } | undefined
  return (source) => {
    if ('env' in source) return tokenOf(source, env).token
    const { file } = source
    const before = last?.file === file ? last : undefined
    const { token = before?.token, why } = tokenOf(source, env, files)
    if (why !== undefined && before?.why !== why) {
      onUnread(`the token file ${file} ${why}${token === undefined ? '' : '; the last good token is used'}`)
    }
    last = { file, token, why }
    return token
  }
}

/** A secret without white space inside, or why there is none. */
export function tokenOf(
  source: TokenSource,
  env: Environment,
  files: Pick<Files, 'look'> = DIRECT_FILES,
): { readonly token?: string; readonly why?: string } {
  const { secret, why } = secretOf(source, env, files)
  return secret !== undefined && /\s/.test(secret) ? { why: 'has no token' } : { token: secret, why }
}

/** One line without white space around it, where a password may have some inside, or why there is none. */
export function secretOf(
  source: TokenSource,
  env: Environment,
  files: Pick<Files, 'look'> = DIRECT_FILES,
): { readonly secret?: string; readonly why?: string } {
  try {
    const secret = secretIn('file' in source ? files.look(source.file, MAX_TOKEN_BYTES).text() : env[source.env])
    return secret === undefined ? { why: 'is empty, or has more than one line' } : { secret }
  } catch (error) {
    return { why: whyUnreadAndCode(error) }
  }
}

function secretIn(given: string | undefined): string | undefined {
  const text = given?.trim()
  return text === undefined || text === '' || /\p{Cc}/u.test(text) ? undefined : text
}
