// The thread that parses a people file: RFC 4180 with a header, in UTF-8. It opens no path, and answers with the people who were asked for, and how many
// others there are. Of each row only the id and the named columns are kept; everything else is dropped as it is parsed. A file that is wrong anywhere is
// invalid as a whole, with its place.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { CsvError, parse } from 'csv-parse/sync'
import { normaliseEmail } from '../../core/model/scope.ts'
import { answerWith } from '../../policy/load/aside.ts'

/** Bounds of a people file. */
const MAX_ROWS = 100_000
/** Of one row, which the parser holds as a whole: more memory than a thread may have ends the process. Choice. */
const MAX_CELLS = 10_000
/** Of one value that is kept. */
const MAX_VALUE = 200

/** Where the file is, and which of its columns count. */
export interface DirectorySettings {
  readonly file: string
  /** The column with the e-mail address. */
  readonly id: string
  readonly columns: readonly string[]
}

/** The content of a file, and the addresses that are asked for, one a line. */
export interface Asked {
  readonly settings: DirectorySettings
  readonly bytes: Uint8Array
  readonly emails: string
}

/** Why a file is invalid, and on which line, from 1; without a line it is not there, or may not be opened. */
export interface Invalid {
  readonly invalid: string
  readonly line?: number
}

/** What a file says, in few values: for each address that was asked for the index of its values, or -1; the other addresses by line. */
export interface Answer {
  readonly digest: string
  readonly rows: Int32Array
  /** Each combination once. */
  readonly values: readonly Readonly<Record<string, string>>[]
  readonly others: string
}

class DirectoryError extends Error {
  readonly line: number
  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

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

const [LINE_END, CARRIAGE_RETURN, QUOTE, COMMA] = [10, 13, 34, 44]

function mustBeNarrow(content: Uint8Array): void {
  let [line, cells, isQuoted] = [1, 1, false]
  for (const byte of content) {
    if (byte === QUOTE) isQuoted = !isQuoted
    else if (byte === COMMA && !isQuoted) cells += 1
    else if ((byte === LINE_END || byte === CARRIAGE_RETURN) && !isQuoted) cells = 1
    if (cells > MAX_CELLS) throw new DirectoryError(`has more than the ${MAX_CELLS} cells that are read`, line)
    if (byte === LINE_END) line += 1
  }
}

const linesIn = (content: Uint8Array): number => content.reduce((count, byte) => count + Number(byte === LINE_END), 1)

/** What is wrong in a row, by the parser's code. */
const SAID: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quote is closed within a cell',
  INVALID_OPENING_QUOTE: 'a quote stands within a cell; put the cell in quotes, and double the quote',
}

/** Judges rows as they are parsed, and keeps of them what counts: for each address its row, and for each row its values, of which equal ones are one. */
function rowsIn(content: Buffer, settings: DirectorySettings) {
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
  const add = (cells: readonly string[], at: number): void => {
    if (!header) {
      header = headerOf(cells, settings, at)
      return
    }
    if (cells.length !== header.width) throw new DirectoryError(`has ${cellsText(cells.length)}, and the header has ${header.width}`, at)
    if (lineOf.length >= MAX_ROWS) throw new DirectoryError(`has more than the ${MAX_ROWS} rows that are read`, at)
    const email = normaliseEmail(cells[header.id] ?? '')
    if (!ADDRESS.test(email)) throw new DirectoryError(`has no e-mail address in the column ${settings.id}`, at)
    const before = rowOf.get(email)
    if (before !== undefined) throw new DirectoryError(`has an address that line ${lineOf[before]} has as well`, at)
    rowOf.set(email, lineOf.push(at) - 1)
    valuesOf.push(share(cells, header, at))
  }
  parse(content, {
    ...{ bom: true, record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true, skip_empty_lines: false },
    on_record(cells: readonly string[], { lines }) {
      add(cells, line)
      line = lines + 1
      // The parser keeps nothing.
      return null
    },
  })
  if (!header) throw new DirectoryError('is empty: the first line must name the columns', 1)
  return { rowOf, valuesOf, values }
}

const ADDRESS = /^[^\s@:]+@[^\s@:]+$/

type Header = ReturnType<typeof headerOf>

const cellsText = (count: number): string => (count === 1 ? '1 cell' : `${count} cells`)

/** Where the columns stand that count. */
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

await answerWith(({ settings, bytes, emails }: Asked): Answer | Invalid => {
  try {
    mustBeText(bytes)
    mustBeNarrow(bytes)
    const { rowOf, valuesOf, values } = rowsIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), settings)
    const asked = emails === '' ? [] : emails.split('\n')
    const rows = Int32Array.from(asked, (email) => valuesOf[rowOf.get(email) ?? -1] ?? -1)
    const known = new Set(asked)
    const others = rowOf.keys().filter((email) => !known.has(email))
    return { digest: createHash('sha256').update(bytes).digest('hex'), rows, values, others: [...others].join('\n') }
  } catch (error) {
    if (error instanceof CsvError) return { invalid: SAID[error.code] ?? error.message, line: Number(error['lines'] ?? 1) }
    if (!(error instanceof DirectoryError)) throw error
    return { invalid: error.message, line: error.line }
  }
})
