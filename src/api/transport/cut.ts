// Cuts a listing into its rows while its bytes arrive, so that neither its text nor all that it says is ever in memory at once: a row is
// parsed, reduced by its asker to what is needed, and let go. What stands around the rows is small, and is parsed at the end. It judges
// nothing but bounds; what is not JSON is left for the parser to find.
import type { RowPath, RowPlan } from '../../ports.ts'
import { BoundError, isTooDeep, MAX_NESTING, MAX_ROW_BYTES, MAX_ROWS, MAX_SMALL_ANSWER_BYTES, sizeText, TOO_DEEP } from '../bounds.ts'

export interface Cutter {
  /** Takes the next bytes; returns how much more memory the rows now take, roughly. Throws a `BoundError`. */
  push(chunk: Buffer): number
  /** What stands around the rows, as text; and the whole value with the kept rows in their places, undefined when it is not JSON. */
  end(): { readonly text: string; readonly value: unknown }
}

/** The rows of one list, and where it stands: the path of the plan, and the places in the lists on the way. */
interface Group {
  readonly path: RowPath
  readonly places: readonly number[]
  readonly rows: unknown[]
}

interface Container {
  /** `*` for a list; for an object the name of the present field. */
  name: string
  /** How many values of a list are over. */
  count: number
  readonly group: Group | undefined
  /** Of a list of rows: what is kept of each. */
  readonly keep: ((row: unknown) => unknown) | undefined
}

interface State {
  readonly plan: RowPlan
  readonly stack: Container[]
  readonly kept: Group[]
  /** Bytes around the rows, and of the row that is under way. */
  readonly around: Pieces
  readonly row: Pieces
  rowCount: number
  /** In a list of rows, and how deep in one of them; 0: between two. */
  isInRows: boolean
  rowDepth: number
  /** A comma was the last thing before the row that is under way. */
  afterComma: boolean
  inString: boolean
  escaped: boolean
  /** The string under way outside of rows, which may be the name of a field; and the last one. */
  name: number[] | undefined
  lastString: string
  isBroken: boolean
}

interface Pieces {
  parts: Buffer[]
  bytes: number
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d]
/** No field on the way to a row has a longer name. */
const MAX_NAME = 64

export function createCutter(plan: RowPlan): Cutter {
  const state: State = {
    plan,
    stack: [],
    kept: [],
    around: { parts: [], bytes: 0 },
    row: { parts: [], bytes: 0 },
    rowCount: 0,
    isInRows: false,
    rowDepth: 0,
    afterComma: false,
    inString: false,
    escaped: false,
    name: undefined,
    lastString: '',
    isBroken: false,
  }
  return {
    push: (chunk) => push(state, chunk),
    end() {
      const text = new TextDecoder().decode(Buffer.concat(state.around.parts))
      return { text, value: state.isBroken || state.isInRows ? undefined : putBack(parsed(text), state.kept) }
    },
  }
}

/** What is not JSON is undefined, as JSON has no such value. */
function parsed(text: string): unknown {
  try {
    return isTooDeep(text) ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function push(state: State, chunk: Buffer): number {
  let grown = 0
  for (let at = 0; at < chunk.length && !state.isBroken; ) {
    if (!state.isInRows) {
      at = passAround(state, chunk, at)
      continue
    }
    const { begin, comma, end } = { begin: at, ...passRows(state, chunk, at) }
    const isOver = end < chunk.length
    // What stands behind the last comma goes on in the next chunk.
    if (isOver || comma !== undefined) grown += endRows(state, chunk.subarray(begin, isOver ? end : comma), isOver)
    if (isOver) state.isInRows = false
    else add(state.row, chunk.subarray(comma === undefined ? begin : comma + 1, end), MAX_ROW_BYTES, 'a row of the answer')
    at = end
  }
  return grown
}

/** Goes over what is no row; ends where a list of rows begins, or at the end of the chunk. */
function passAround(state: State, chunk: Buffer, from: number): number {
  let at = from
  for (; at < chunk.length && !state.isInRows; at += 1) {
    const byte = chunk[at] ?? 0
    if (state.inString) passString(state, byte)
    else passSign(state, byte, state.stack.at(-1))
  }
  add(state.around, chunk.subarray(from, at), MAX_SMALL_ANSWER_BYTES, 'what stands around the rows')
  return at
}

function passString(state: State, byte: number): void {
  if (state.escaped) state.escaped = false
  else if (byte === BACKSLASH) state.escaped = true
  else if (byte === QUOTE) {
    state.inString = false
    state.lastString = Buffer.from(state.name ?? []).toString('latin1')
    return
  }
  if (state.name && state.name.length < MAX_NAME) state.name.push(byte)
  else state.name = undefined
}

/** A sign outside of strings and rows. */
function passSign(state: State, byte: number, top: Container | undefined): void {
  const { stack } = state
  if (byte === QUOTE) {
    state.inString = true
    state.name = []
  } else if (byte === COLON && top && top.name !== '*') top.name = state.lastString
  else if (byte === OPEN_MAP || byte === OPEN_LIST) {
    if (stack.length >= MAX_NESTING) throw new BoundError(TOO_DEEP)
    const isList = byte === OPEN_LIST
    const group = isList ? groupHere(state) : undefined
    stack.push({ name: isList ? '*' : '', count: 0, group, keep: group && state.plan.keeper() })
    state.isInRows = group !== undefined
    state.afterComma = false
  } else if (byte === CLOSE_MAP || byte === CLOSE_LIST) stack.pop()
  else if (byte === COMMA && top?.name === '*') top.count += 1
}

/** The rows of the list that opens now, when the plan names it. */
function groupHere({ plan, stack }: State): Group | undefined {
  const found = plan.at.find((path) => path.length === stack.length + 1 && stack.every(({ name }, index) => path[index] === name))
  return found && { path: found, places: stack.flatMap(({ name, count }) => (name === '*' ? [count] : [])), rows: [] }
}

/** Goes over rows to the end of their list, or of the chunk; and tells where the last comma between two was. */
function passRows(state: State, chunk: Buffer, from: number): { readonly comma: number | undefined; readonly end: number } {
  let { inString, escaped, rowDepth } = state
  const deepest = MAX_NESTING - state.stack.length
  let comma: number | undefined
  let at = from
  for (; at < chunk.length; at += 1) {
    const byte = chunk[at]
    if (inString) {
      if (escaped) escaped = false
      else if (byte === BACKSLASH) escaped = true
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === OPEN_MAP || byte === OPEN_LIST) {
      rowDepth += 1
      if (rowDepth > deepest) throw new BoundError(TOO_DEEP)
    } else if (byte === CLOSE_MAP || byte === CLOSE_LIST) {
      if (rowDepth === 0) break
      rowDepth -= 1
    } else if (byte === COMMA && rowDepth === 0) comma = at
  }
  state.inString = inString
  state.escaped = escaped
  state.rowDepth = rowDepth
  return { comma, end: at }
}

/** Parses the rows that are whole now, and keeps what their asker wants of them; returns how much memory that takes, roughly. */
function endRows(state: State, bytes: Buffer, isOver: boolean): number {
  const text = (state.row.bytes === 0 ? bytes : Buffer.concat([...state.row.parts, bytes])).toString('utf8')
  state.row.parts = []
  state.row.bytes = 0
  // A comma stands between two rows, and nowhere else.
  const isBlank = text.trim() === ''
  if (isBlank && (!isOver || state.afterComma)) state.isBroken = true
  state.afterComma = true
  const rows = isBlank ? [] : parsed(`[${text}]`)
  if (!Array.isArray(rows)) {
    state.isBroken = true
    return 0
  }
  state.rowCount += rows.length
  if (state.rowCount > MAX_ROWS) throw new BoundError(`the answer has more than ${MAX_ROWS} rows and was dropped`)
  const { group, keep } = state.stack.at(-1) ?? {}
  let grown = 0
  for (const row of rows) {
    const kept = keep?.(row)
    if (kept === undefined || !group) continue
    if (group.rows.length === 0) state.kept.push(group)
    group.rows.push(kept)
    grown += weightOf(kept)
  }
  return grown
}

function add(pieces: Pieces, bytes: Buffer, limit: number, what: string): void {
  if (bytes.length === 0) return
  pieces.bytes += bytes.length
  if (pieces.bytes > limit) throw new BoundError(`${what} is larger than ${sizeText(limit)}; the answer was dropped`)
  // A copy: a few bytes must not keep all that came with them.
  pieces.parts.push(Buffer.from(bytes))
}

/** An object in V8, its place in a list, and what is kept about it; then its texts. Measured, and rounded up. */
const ROW_WEIGHT = 160
const FIELD_WEIGHT = 24

function weightOf(row: unknown): number {
  if (typeof row === 'string') return FIELD_WEIGHT + row.length
  if (typeof row !== 'object' || row === null) return FIELD_WEIGHT
  let weight = ROW_WEIGHT
  for (const name in row) weight += name.length + weightOf(Reflect.get(row, name))
  return weight
}

/** The rows in the lists that they came from. */
function putBack(value: unknown, kept: readonly Group[]): unknown {
  for (const { path, places, rows } of kept) {
    const place = places.values()
    const list = path.slice(0, -1).reduce((found, name) => (name === '*' ? itemOf(found, place.next().value) : fieldOf(found, name)), value)
    if (Array.isArray(list)) for (const row of rows) list.push(row)
  }
  return value
}

const itemOf = (list: unknown, place = 0): unknown => (Array.isArray(list) ? list[place] : undefined)

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
