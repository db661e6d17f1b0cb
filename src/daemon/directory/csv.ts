// Reads a people file as a stream: RFC 4180 with a header, in UTF-8. Of each row only the id and the named columns are kept; everything else is
// dropped as it is read. A file that is wrong anywhere is invalid as a whole, with its place.

import { createHash, type Hash } from 'node:crypto'
import { type CsvError, parse } from 'csv-parse'
import { normaliseEmail } from '../../core/model/scope.ts'
import { streamOf } from '../../files.ts'

/** Bounds of a people file. */
const MAX_BYTES = 16 * 1024 * 1024
export const MAX_ROWS = 100_000
/** Of one row with all its columns. */
const MAX_ROW = 64 * 1024
/** Of one value that is kept. */
const MAX_VALUE = 200

/** Where the file is, and which of its columns count. */
export interface DirectorySettings {
  readonly file: string
  /** The column with the e-mail address. */
  readonly id: string
  readonly columns: readonly string[]
}

/** A whole file. Equal values share one object. */
export interface DirectoryRows {
  readonly digest: string
  readonly people: ReadonlyMap<string, Readonly<Record<string, string>>>
}

/** Why a file is invalid; `line` counts from 1. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError'
  readonly line: number
  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

/** Reads the file. Throws a `DirectoryError` for its content, and what opening a file throws. */
export async function readDirectory(settings: DirectorySettings): Promise<DirectoryRows> {
  const stream = streamOf(settings.file)
  const hash = createHash('sha256')
  const rows = rowsOf(settings)
  const parser = parse({ relax_column_count: true, skip_empty_lines: false, max_record_size: MAX_ROW, on_record: rows.add })
  // Records are taken as they are parsed; none is left to be read.
  parser.resume()
  const done = new Promise<void>((resolve, reject) => {
    parser.on('error', (error) => reject(asDirectoryError(error)))
    parser.on('end', resolve)
  })
  done.catch(() => undefined)
  try {
    for await (const text of texts(stream, hash)) {
      if (!parser.write(text)) await Promise.race([new Promise<void>((resolve) => parser.once('drain', resolve)), done])
      if (parser.errored) break
    }
    parser.end()
    await done
  } finally {
    stream.destroy()
    parser.destroy()
  }
  return { digest: hash.digest('hex'), people: rows.people() }
}

/** The file as text, which must be UTF-8. A byte order mark is skipped. */
async function* texts(stream: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [bytes, lines] = [0, 1]
  for await (const piece of stream) {
    bytes += piece.length
    if (bytes > MAX_BYTES) throw new DirectoryError(`has more than the ${MAX_BYTES / 1024 / 1024} MiB that are read`, lines)
    hash.update(piece)
    const text = decoded(decoder, piece, lines)
    if (text.includes('\0'))
      throw new DirectoryError('has a byte of 0, so it is no text', lines + linesIn(text.slice(0, text.indexOf('\0'))))
    lines += linesIn(text)
    yield text
  }
  decoded(decoder, undefined, lines)
}

function decoded(decoder: InstanceType<typeof TextDecoder>, piece: Buffer | undefined, line: number): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
  } catch {
    throw new DirectoryError('is not UTF-8', line + (piece ? linesBefore(piece) : 0))
  }
}

/** How many lines of a piece are whole and in UTF-8. The first may have begun in the piece before. */
function linesBefore(piece: Buffer): number {
  let count = 0
  for (let from = piece.indexOf(10) + 1; from > 0; count += 1) {
    const end = piece.indexOf(10, from)
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(piece.subarray(from, end < 0 ? undefined : end))
    } catch {
      return count + 1
    }
    from = end + 1
  }
  return 0
}

function linesIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

const asDirectoryError = (error: Error): Error => {
  if (error instanceof DirectoryError) return error
  const { code, lines } = error as CsvError & { readonly lines?: number }
  const why =
    code === 'CSV_MAX_RECORD_SIZE'
      ? `a row has more than ${MAX_ROW / 1024} KiB, or a quote is not closed`
      : (SAID[code ?? ''] ?? error.message)
  return new DirectoryError(why, lines ?? 1)
}

/** What is wrong in a row, by the parser's code. */
const SAID: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quote is closed within a cell',
  INVALID_OPENING_QUOTE: 'a quote stands within a cell; put the cell in quotes, and double the quote',
}

/** Judges rows as they come, and keeps of them what counts. */
function rowsOf(settings: DirectorySettings) {
  const people = new Map<string, readonly string[]>()
  const lineOf = new Map<string, number>()
  // Most people share their values with others: each combination is kept once.
  const known = new Map<string, readonly string[]>()
  let header: { readonly width: number; readonly id: number; readonly columns: readonly number[] } | undefined
  let line = 1
  const add = (cells: readonly string[], { lines }: { readonly lines: number }): null => {
    const at = line
    line = lines + 1
    if (!header) {
      header = headerOf(cells, settings, at)
      return null
    }
    if (cells.length !== header.width) throw new DirectoryError(`has ${cellsText(cells.length)}, and the header has ${header.width}`, at)
    if (people.size >= MAX_ROWS) throw new DirectoryError(`has more than the ${MAX_ROWS} rows that are read`, at)
    const email = normaliseEmail(cells[header.id] ?? '')
    if (!/^[^\s@:]+@[^\s@:]+$/.test(email)) throw new DirectoryError(`has no e-mail address in the column ${settings.id}`, at)
    const before = lineOf.get(email)
    if (before !== undefined) throw new DirectoryError(`has an address that line ${before} has as well`, at)
    const values = header.columns.map((index) => cells[index] ?? '')
    const long = values.findIndex((value) => value.length > MAX_VALUE)
    if (long >= 0) throw new DirectoryError(`has more than ${MAX_VALUE} characters in the column ${settings.columns[long]}`, at)
    const key = values.join('\0')
    const shared = known.get(key) ?? values.map(owned)
    known.set(key, shared)
    lineOf.set(email, at)
    people.set(owned(email), shared)
    return null
  }
  return {
    add,
    people() {
      if (!header) throw new DirectoryError('is empty: the first line must name the columns', 1)
      const objects = new Map(
        [...known.values()].map((values) => [
          values,
          Object.fromEntries(settings.columns.map((name, index) => [name, values[index] ?? ''])),
        ]),
      )
      return new Map([...people].map(([email, values]) => [email, objects.get(values) ?? {}]))
    },
  }
}

/** The text by itself, not as a part of the larger one that it was cut from. */
const owned = (text: string): string => Buffer.from(text, 'utf8').toString('utf8')

const cellsText = (count: number): string => (count === 1 ? '1 cell' : `${count} cells`)

function headerOf(names: readonly string[], { id, columns }: DirectorySettings, line: number) {
  const empty = names.indexOf('')
  if (empty >= 0)
    throw new DirectoryError(
      names.length === 1 ? 'is empty: the first line must name the columns' : `has no name for column ${empty + 1}`,
      line,
    )
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new DirectoryError(`has the column ${JSON.stringify(twice)} twice`, line)
  const missing = [id, ...columns].find((name) => !names.includes(name))
  if (missing !== undefined) {
    const other = names.length === 1 ? /[;\t|]/.exec(names[0] ?? '')?.[0] : undefined
    const why = other === undefined ? '' : `: its cells are separated by ${other === '\t' ? 'tabs' : other}, not by commas`
    throw new DirectoryError(`has no column ${JSON.stringify(missing)}${why}`, line)
  }
  return { width: names.length, id: names.indexOf(id), columns: columns.map((name) => names.indexOf(name)) }
}
