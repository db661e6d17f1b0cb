// The only file that opens a path from outside for reading. An open never blocks, and only a regular file is read, up to a bound: a FIFO, device,
// socket or folder must never hang or fill the process.
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { isMainThread } from 'node:worker_threads'

/** A path leads to something that is not read: not a regular file, or too large. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly code: 'NOT_A_FILE' | 'TOO_LARGE'
  constructor(code: FileError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** A person's command waits so long for a pipe, such as `<(vault …)`. */
const PIPE_WAITS_MS = 5_000
const STEP_MS = 20

/** A thread reads for a process that must not wait. */
let readsPipes = isMainThread

/** For the daemon: a pipe that nobody writes to would stop all workspaces. */
export function refusePipes(): void {
  readsPipes = false
}

/** One for all files: thousands of them would make the collector of garbage stop the process. */
const piece = Buffer.allocUnsafe(65_536)

/** Opens a regular file without blocking, through links unless `flags` says otherwise. The caller closes it. Throws a `FileError`, or the system's error. */
export const openFile = (path: string, flags = 0): number => opened(path, flags, false).file

function opened(path: string, flags: number, mayBePipe: boolean): { readonly file: number; readonly isPipe: boolean } {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | flags)
  const stats = fstatSync(file)
  const isPipe = stats.isFIFO() && mayBePipe
  if (stats.isFile() || isPipe) return { file, isPipe }
  closeSync(file)
  throw new FileError('NOT_A_FILE', 'is not a regular file')
}

/** The content of a file, or of a pipe where a person gives one. Throws a `FileError`, or the system's error. */
export function readBytes(path: string, maxBytes: number, flags = 0): Buffer {
  const { file, isPipe } = opened(path, flags, readsPipes && flags === 0)
  try {
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
    throw new FileError('TOO_LARGE', `has more than the ${maxBytes} bytes that are read`)
  } finally {
    closeSync(file)
  }
}

/** The pieces of a regular file, for a thread: opening it waits for the disk. */
export const streamOf = (path: string): Readable => createReadStream('', { fd: openFile(path), highWaterMark: 256 * 1024 })

export const readText = (path: string, maxBytes: number): string => readBytes(path, maxBytes).toString('utf8')

const asleep = new Int32Array(new SharedArrayBuffer(4))

/** -1 when a pipe has nothing yet. */
function readPiece(file: number): number {
  try {
    return readSync(file, piece)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return -1
    throw error
  }
}
