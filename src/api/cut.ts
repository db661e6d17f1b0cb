// Cuts a listing into its rows while its bytes arrive, so that neither its text nor all that it says is ever in memory at once: a row is
// parsed, reduced by its asker to what is needed, and let go. What stands around the rows is small, and is parsed at the end. It judges
// nothing but bounds; what is not JSON is left for the parser to find.
import type { RowPath, RowPlan } from '../ports.ts'
import { BoundError, isTooDeep, MAX_NESTING, MAX_ROW_BYTES, MAX_SMALL_ANSWER_BYTES, sizeText, TOO_DEEP } from './bounds.ts'

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
}

interface State {
  readonly plan: RowPlan
  readonly keep: (row: unknown) => unknown
  readonly stack: Container[]
  readonly kept: Group[]
  /** Bytes around the rows, and of the row that is under way. */
  readonly around: Pieces
  readonly row: Pieces
  /** Within a row, and how deep in it: 0 for a row that is a string, a number or the like. */
  isInRow: boolean
  rowDepth: number
  inString: boolean
  escaped: boolean
  /** The string under way outside of rows, which may be the name of a field; and the last one. */
  name: number[] | undefined
  lastString: string
  /** Nothing stands between the last row, or the beginning of the list, and here; rows are parted by one comma. */
  before: 'begin' | 'row' | 'comma'
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

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

export function createCutter(plan: RowPlan): Cutter {
  const state: State = {
    plan,
    keep: plan.keeper(),
    stack: [],
    kept: [],
    around: { parts: [], bytes: 0 },
    row: { parts: [], bytes: 0 },
    isInRow: false,
    rowDepth: 0,
    inString: false,
    escaped: false,
    name: undefined,
    lastString: '',
    before: 'begin',
    isBroken: false,
  }
  return {
    push: (chunk) => push(state, chunk),
    end() {
      const text = new TextDecoder().decode(Buffer.concat(state.around.parts))
      return { text, value: state.isBroken || state.isInRow ? undefined : putBack(parsed(text), state.kept) }
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
  let at = 0
  while (at < chunk.length && !state.isBroken) {
    const begin = at
    if (!state.isInRow) {
      at = passAround(state, chunk, at)
      continue
    }
    at = passRow(state, chunk, at)
    add(state.row, chunk.subarray(begin, at), MAX_ROW_BYTES, 'a row of the answer')
    if (!state.isInRow) grown += endRow(state)
  }
  return grown
}

/** Goes over what is no row; ends where a row begins, or at the end of the chunk. */
function passAround(state: State, chunk: Buffer, from: number): number {
  let begin = from
  const end = (at: number): void => add(state.around, chunk.subarray(begin, at), MAX_SMALL_ANSWER_BYTES, 'what stands around the rows')
  for (let at = from; at < chunk.length; at += 1) {
    const byte = chunk[at] ?? 0
    const top = state.stack.at(-1)
    if (state.inString) passString(state, byte)
    else if (!top?.group || byte === CLOSE_LIST) passSign(state, byte, top)
    else {
      end(at)
      begin = at + 1
      if (isSpace(byte)) continue
      if (byte !== COMMA) {
        state.isBroken ||= state.before === 'row'
        state.before = 'row'
        state.isInRow = true
        return at
      }
      state.isBroken ||= state.before !== 'row'
      state.before = 'comma'
    }
  }
  end(chunk.length)
  return chunk.length
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
    stack.push({ name: isList ? '*' : '', count: 0, group: isList ? groupHere(state) : undefined })
    state.before = 'begin'
  } else if (byte === CLOSE_MAP || byte === CLOSE_LIST) {
    if (top?.group && state.before === 'comma') state.isBroken = true
    stack.pop()
  } else if (byte === COMMA && top?.name === '*') top.count += 1
}

/** The rows of the list that opens now, when the plan names it. */
function groupHere({ plan, stack }: State): Group | undefined {
  const found = plan.at.find((path) => path.length === stack.length + 1 && stack.every(({ name }, index) => path[index] === name))
  return found && { path: found, places: stack.flatMap(({ name, count }) => (name === '*' ? [count] : [])), rows: [] }
}

/** Goes over a row; ends behind it, or at the end of the chunk. */
function passRow(state: State, chunk: Buffer, from: number): number {
  let { inString, escaped, rowDepth } = state
  let at = from
  let isOver = false
  for (; at < chunk.length && !isOver; at += 1) {
    const byte = chunk[at]
    if (inString) {
      if (escaped) escaped = false
      else if (byte === BACKSLASH) escaped = true
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === OPEN_MAP || byte === OPEN_LIST) {
      rowDepth += 1
      if (rowDepth + state.stack.length > MAX_NESTING) throw new BoundError(TOO_DEEP)
    } else if (rowDepth === 0 && (byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_MAP)) break
    else if (byte === CLOSE_MAP || byte === CLOSE_LIST) {
      rowDepth -= 1
      isOver = rowDepth === 0
    }
  }
  state.inString = inString
  state.escaped = escaped
  state.rowDepth = rowDepth
  // A row that ends by what follows it is a string, a number or the like.
  state.isInRow = !isOver && at === chunk.length
  return at
}

/** Parses the row and keeps what its asker wants of it; returns how much memory that takes, roughly. */
function endRow(state: State): number {
  const [only, ...more] = state.row.parts
  const bytes = only && more.length === 0 ? only : Buffer.concat(state.row.parts)
  state.row.parts = []
  state.row.bytes = 0
  const row = parsed(bytes.toString('utf8'))
  if (row === undefined) {
    state.isBroken = true
    return 0
  }
  const kept = state.keep(row)
  const group = state.stack.at(-1)?.group
  if (kept === undefined || !group) return 0
  if (group.rows.length === 0) state.kept.push(group)
  group.rows.push(kept)
  return weightOf(kept)
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
  return Object.entries(row).reduce(
    (sum, [name, value]) => sum + FIELD_WEIGHT + (Array.isArray(row) ? 0 : name.length) + weightOf(value),
    ROW_WEIGHT,
  )
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
