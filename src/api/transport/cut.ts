// Cuts a listing into its rows while its bytes arrive, so that the whole listing is never in memory: each row is parsed, taken by the plan, and
// dropped. The text around the rows is small, and is left as the answer. Only bounds are checked here; the parser finds invalid JSON. What
// the plan keeps is counted in a `Room`, the memory that the answers of all workspaces share.

import { getHeapStatistics } from 'node:v8'
import type { RowPath, RowPlan } from '../../ports.ts'
import { BoundError, isObject, MAX_NESTING, MAX_ROW_BYTES, MAX_ROWS, MAX_SMALL_ANSWER_BYTES, sizeText, TOO_DEEP } from '../errors.ts'

/** The heap of the program itself, with a small company. Measured. */
const OWN_HEAP_BYTES = 32 * 1024 * 1024
/** The largest share of a workspace: as much as 1,000 people with their groups. */
const MAX_SHARE_BYTES = 1024 * 1024
/** How many copies of an answer's content are in memory, from the answer itself to the pages. Measured. */
const COPIES = 1.5

/** The memory for the answers of several workspaces together. */
export function createRoom(bytes: number) {
  const holders = new Set<{ held: number }>()
  const fits = (): boolean => {
    const share = Math.min(MAX_SHARE_BYTES, bytes / (2 * holders.size))
    let taken = 0
    for (const { held } of holders) taken += Math.max(share, held)
    return taken <= bytes
  }
  return {
    /** Opens one workspace's account. */
    open() {
      const holder = { held: 0 }
      holders.add(holder)
      const kept = new Map<string, number>()
      return {
        /** Begins an answer. */
        begin() {
          let taken = 0
          return {
            /** Takes more memory; false when there is no room. */
            grow(more: number): boolean {
              holder.held += more
              taken += more
              return fits()
            },
            /** The content is kept, in place of earlier content of this name. */
            keep(name: string): void {
              holder.held -= kept.get(name) ?? 0
              kept.set(name, taken)
              taken = 0
            },
            /** Gives the memory back. Does nothing after `keep`. */
            free(): void {
              holder.held -= taken
              taken = 0
            },
          }
        },
        /** Gives everything back. */
        close: () => void holders.delete(holder),
      }
    },
  }
}

export type Account = ReturnType<ReturnType<typeof createRoom>['open']>
export type Claim = ReturnType<Account['begin']>

/** The memory for all answers of this process, by the size of its heap. */
const ROOM_BYTES = Math.max(1024 * 1024, (getHeapStatistics().heap_size_limit - OWN_HEAP_BYTES) / COPIES)
export const processRoom = createRoom(ROOM_BYTES)

export const NO_ROOM =
  `all answers together may take ${sizeText(ROOM_BYTES)} of this heap, and this one would take more; it was dropped: ` +
  'give more memory with NODE_OPTIONS=--max-old-space-size'

interface Container {
  /** `*` for a list; for an object the name of the current field. */
  name: string
}

interface Pieces {
  parts: Buffer[]
  bytes: number
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d]
/** No field on the way to a row has a longer name. */
const MAX_NAME = 64

const stateOf = (plan: RowPlan) => ({
  plan,
  stack: [] as Container[],
  /** Bytes around the rows, and of the unfinished row. */
  around: { parts: [], bytes: 0 } as Pieces,
  row: { parts: [], bytes: 0 } as Pieces,
  rowCount: 0,
  /** Inside a list of rows, and how deep inside a row; 0 is between rows. */
  isInRows: false,
  rowDepth: 0,
  /** A comma came just before the unfinished row. */
  afterComma: false,
  inString: false,
  escaped: false,
  /** The unfinished string outside of rows, which may be the name of a field; and the last one that ended. */
  name: undefined as number[] | undefined,
  lastString: '',
  isBroken: false,
})
type State = ReturnType<typeof stateOf>

export function createCutter(plan: RowPlan) {
  const state = stateOf(plan)
  return {
    /** Takes the next bytes, and returns roughly how much more memory the kept rows take. Throws a `BoundError`. */
    push: (chunk: Buffer): number => push(state, chunk),
    /** The text around the rows; '' when the rows are not JSON. */
    end: (): string => (state.isBroken || state.isInRows ? '' : new TextDecoder().decode(Buffer.concat(state.around.parts))),
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
    // The row after the last comma continues in the next chunk.
    if (isOver || comma !== undefined) grown += endRows(state, chunk.subarray(begin, isOver ? end : comma), isOver)
    if (isOver) state.isInRows = false
    else add(state.row, chunk.subarray(comma === undefined ? begin : comma + 1, end), MAX_ROW_BYTES, 'a row of the answer')
    at = end
  }
  return grown
}

/** Skips the text around the rows, up to a list of rows or the end of the chunk. */
function passAround(state: State, chunk: Buffer, from: number): number {
  let at = from
  for (; at < chunk.length && !state.isInRows; at += 1) {
    const byte = chunk[at] ?? 0
    if (state.inString) passString(state, byte)
    else passSign(state, byte, state.stack.at(-1))
  }
  add(state.around, chunk.subarray(from, at), MAX_SMALL_ANSWER_BYTES, 'the text around the rows')
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
    stack.push({ name: byte === OPEN_LIST ? '*' : '' })
    state.isInRows = byte === OPEN_LIST && isListOfRows(state)
    state.afterComma = false
  } else if (byte === CLOSE_MAP || byte === CLOSE_LIST) stack.pop()
}

/** Whether the plan names the list that has just begun. */
const isListOfRows = ({ plan, stack }: State): boolean =>
  plan.at.some((path) => path.length === stack.length && stack.every(({ name }, index) => path[index] === name))

/** Skips rows to the end of their list or of the chunk, and returns the place of the last comma between two rows. */
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

/** Parses the rows that are complete, and hands them to the plan; returns roughly how much memory it keeps of them. */
function endRows(state: State, bytes: Buffer, isOver: boolean): number {
  const text = (state.row.bytes === 0 ? bytes : Buffer.concat([...state.row.parts, bytes])).toString('utf8')
  state.row.parts = []
  state.row.bytes = 0
  // JSON allows a comma only between two rows.
  const isBlank = text.trim() === ''
  if (isBlank && (!isOver || state.afterComma)) state.isBroken = true
  state.afterComma = true
  const rows = isBlank ? [] : parsedRows(text)
  if (!rows) state.isBroken = true
  const { length = 0 } = rows ?? []
  state.rowCount += length
  if (state.rowCount > MAX_ROWS) throw new BoundError(`the answer has more than ${MAX_ROWS} rows and was dropped`)
  return (rows ?? []).reduce<number>((grown, row) => grown + weightOf(state.plan.take(row)), 0)
}

/** Undefined when they are not JSON. */
function parsedRows(text: string): readonly unknown[] | undefined {
  try {
    return JSON.parse(`[${text}]`)
  } catch {
    return undefined
  }
}

function add(pieces: Pieces, bytes: Buffer, limit: number, what: string): void {
  if (bytes.length === 0) return
  pieces.bytes += bytes.length
  if (pieces.bytes > limit) throw new BoundError(`${what} is larger than ${sizeText(limit)}; the answer was dropped`)
  // A copy, because a slice would keep its whole chunk in memory.
  pieces.parts.push(Buffer.from(bytes))
}

/** An object in V8 with its place in a list; then each field. Measured, and rounded up. */
const ROW_WEIGHT = 160
const FIELD_WEIGHT = 24

function weightOf(row: unknown): number {
  if (row === undefined) return 0
  if (typeof row === 'string') return FIELD_WEIGHT + row.length
  if (typeof row !== 'object' || row === null) return FIELD_WEIGHT
  let weight = ROW_WEIGHT
  for (const name in row) weight += name.length + weightOf(Reflect.get(row, name))
  return weight
}

/** Hands over the rows of an answer that was read as a whole. */
export function takeRows(value: unknown, { at, take }: RowPlan): void {
  const walk = (here: unknown, [name, ...rest]: RowPath): void => {
    if (name === undefined) take(here)
    else if (name !== '*') isObject(here) && walk(here[name], rest)
    else if (Array.isArray(here)) for (const one of here) walk(one, rest)
  }
  for (const path of at) walk(value, path)
}
