// Parses a people file in pieces: RFC 4180 with a header, in UTF-8. Of each row only the id and the named columns are kept; everything else is
// dropped as it is parsed. A file that is wrong anywhere is invalid as a whole, with its place.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type CsvError, parse } from 'csv-parse'
import { normaliseEmail } from '../../core/model/scope.ts'

/** Bounds of a people file. */
const MAX_ROWS = 100_000
/** Of one value that is kept. */
const MAX_VALUE = 200

/** Where the file is, and which of its columns count. */
export interface DirectorySettings {
  readonly file: string
  /** The column with the e-mail address. */
  readonly id: string
  readonly columns: readonly string[]
}

/** A whole file: the number of each person's row, and for each row the values, of which equal ones are one. */
interface DirectoryRows {
  readonly digest: string
  readonly rowOf: ReadonlyMap<string, number>
  readonly valuesOf: readonly number[]
  readonly values: readonly Readonly<Record<string, string>>[]
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

/** What the content of the file says. Throws a `DirectoryError`. */
export async function parseDirectory(settings: DirectorySettings, content: Uint8Array): Promise<DirectoryRows> {
  mustBeText(content)
  const rows = rowsOf(settings)
  const parser = parse({
    bom: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: false,
    on_record: rows.add,
  })
  // Records are taken as they are parsed; none is left to be read.
  parser.resume()
  const done = new Promise<void>((resolve, reject) => {
    parser.on('error', (error) => reject(asDirectoryError(error)))
    parser.on('end', resolve)
  })
  done.catch(() => undefined)
  try {
    for (let at = 0; at < content.length && !parser.errored; at += PIECE_BYTES) {
      const isTaken = parser.write(content.subarray(at, at + PIECE_BYTES))
      if (!isTaken) await Promise.race([new Promise<void>((resolve) => parser.once('drain', resolve)), done])
    }
    parser.end()
    await done
  } finally {
    parser.destroy()
  }
  return { digest: createHash('sha256').update(content).digest('hex'), ...rows.whole() }
}

const PIECE_BYTES = 256 * 1024

function mustBeText(content: Uint8Array): void {
  const zero = content.indexOf(0)
  if (zero >= 0) throw new DirectoryError('has a byte of 0, so it is no text', linesIn(content.subarray(0, zero)))
  if (isUtf8(content)) return
  let [line, from] = [1, 0]
  for (let end = content.indexOf(LINE_END); end >= 0 && isUtf8(content.subarray(from, end)); end = content.indexOf(LINE_END, from)) {
    line += 1
    from = end + 1
  }
  throw new DirectoryError('is not UTF-8', line)
}

const LINE_END = 10

const linesIn = (content: Uint8Array): number => content.reduce((count, byte) => count + Number(byte === LINE_END), 1)

const asDirectoryError = (error: Error): Error => {
  if (error instanceof DirectoryError) return error
  const { code, lines } = error as CsvError & { readonly lines?: number }
  const why = SAID[code ?? ''] ?? error.message
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
  const rowOf = new Map<string, number>()
  const [valuesOf, lineOf]: [number[], number[]] = [[], []]
  // Most people share their values with others: each combination is kept once.
  const known = new Map<string, number>()
  const values: Readonly<Record<string, string>>[] = []
  let header: Header | undefined
  let line = 1
  const share = (cells: readonly string[], { columns }: Header, at: number): number => {
    let key = ''
    for (const column of columns) key += `${cells[column]}\0`
    const index = known.get(key)
    if (index !== undefined) return index
    const entries = settings.columns.map((name, column) => [name, cells[columns[column] ?? 0] ?? ''] as const)
    const [long] = entries.find(([, value]) => value.length > MAX_VALUE) ?? []
    if (long !== undefined) throw new DirectoryError(`has more than ${MAX_VALUE} characters in the column ${long}`, at)
    known.set(key, values.length)
    return values.push(Object.fromEntries(entries)) - 1
  }
  const add = (cells: readonly string[], { lines }: { readonly lines: number }): null => {
    const at = line
    line = lines + 1
    if (!header) {
      header = headerOf(cells, settings, at)
      return null
    }
    if (cells.length !== header.width) throw new DirectoryError(`has ${cellsText(cells.length)}, and the header has ${header.width}`, at)
    if (lineOf.length >= MAX_ROWS) throw new DirectoryError(`has more than the ${MAX_ROWS} rows that are read`, at)
    const email = normaliseEmail(cells[header.id] ?? '')
    if (!ADDRESS.test(email)) throw new DirectoryError(`has no e-mail address in the column ${settings.id}`, at)
    const before = rowOf.get(email)
    if (before !== undefined) throw new DirectoryError(`has an address that line ${lineOf[before]} has as well`, at)
    rowOf.set(email, lineOf.push(at) - 1)
    valuesOf.push(share(cells, header, at))
    return null
  }
  return {
    add,
    whole() {
      if (!header) throw new DirectoryError('is empty: the first line must name the columns', 1)
      return { rowOf, valuesOf, values }
    },
  }
}

const ADDRESS = /^[^\s@:]+@[^\s@:]+$/

/** Where the columns stand that count. */
interface Header {
  readonly width: number
  readonly id: number
  readonly columns: readonly number[]
}

const cellsText = (count: number): string => (count === 1 ? '1 cell' : `${count} cells`)

function headerOf(names: readonly string[], { id, columns }: DirectorySettings, line: number): Header {
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
