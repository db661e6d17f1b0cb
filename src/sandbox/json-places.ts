// Where things stand in a JSON text: finds the first fault of a text that is not JSON, and the places of values that a reader complains
// about. Stricter than JSON itself in two points: a key given twice and very deep nesting are faults. Decides nothing about meaning.

/** Offsets in the text, in UTF-16 units; `end` is behind the last one. `key` is the name before the value, of a member of an object. */
export interface Place {
  readonly start: number
  readonly end: number
  readonly key?: { readonly start: number; readonly end: number }
}

export interface JsonFault {
  readonly offset: number
  readonly message: string
}

export type JsonReading = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'fault'; readonly fault: JsonFault }

/** Deeper texts are refused, so that no text can exhaust the stack. */
export const MAX_DEPTH = 64

/** The value of a JSON text, or its first fault. */
export function readJson(text: string): JsonReading {
  try {
    scan(text, new Map(), new Map())
  } catch (error) {
    if (error instanceof Fault) return { kind: 'fault', fault: { offset: error.offset, message: error.message } }
    throw error
  }
  return { kind: 'value', value: JSON.parse(text) }
}

/** The places of the values that JSON pointers name, in a text that `readJson` took; a pointer that leads nowhere has none. */
export function placesOf(text: string, pointers: Iterable<string>): ReadonlyMap<string, Place> {
  const root: Wanted = new Map()
  for (const pointer of pointers) {
    let node = root
    for (const part of pointer.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
      const next = node.get(name) ?? new Map()
      node.set(name, next)
      node = next
    }
  }
  const found = new Map<string, Place>()
  scan(text, root, found)
  return found
}

/** One part of a JSON pointer. RFC 6901. */
export const pointerPart = (name: string | number): string => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The members that are looked for, and those beneath them. */
type Wanted = Map<string, Wanted>

class Fault extends Error {
  readonly offset: number
  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

const SPACE = /[ \t\r\n]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Walks the whole text; throws a `Fault`, and notes the places of what is wanted. */
function scan(text: string, wanted: Wanted, found: Map<string, Place>): void {
  let at = 0
  const fault = (message: string, offset = at): never => {
    throw new Fault(offset, at >= text.length && offset === at ? `the text ends too early: ${message}` : message)
  }
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const match = pattern.exec(text)?.[0]
    at += match?.length ?? 0
    return match
  }
  /** Takes one character after space, if it is this one. */
  const accept = (character: string): boolean => {
    take(SPACE)
    if (text[at] !== character) return false
    at += 1
    return true
  }
  const string = (): void => {
    const start = at
    at += 1
    while (text[at] !== '"') {
      if (at >= text.length) fault('the text in quotes that begins here has no end', start)
      if (text.charCodeAt(at) < 0x20) fault('a line end or control character within quotes; write \\n or \\u00XX')
      if (text[at] !== '\\') at += 1
      else if (take(ESCAPE) === undefined) fault('not an escape that JSON knows; write \\\\ for a backslash')
    }
    at += 1
  }
  const members = (depth: number, inside: Wanted | undefined, pointer: string): void => {
    const seen = new Set<string>()
    do {
      take(SPACE)
      if (text[at] !== '"') fault(text[at] === '}' ? 'nothing follows the comma; leave it out' : 'a name in double quotes belongs here')
      const start = at
      string()
      const raw = text.slice(start, at)
      const name: string = raw.includes('\\') ? JSON.parse(raw) : raw.slice(1, -1)
      if (seen.has(name)) fault(`${raw} is given twice`, start)
      seen.add(name)
      const key = { start, end: at }
      if (!accept(':')) fault(`":" belongs after ${raw}`)
      value(depth + 1, inside?.get(name), pointer + pointerPart(name), key)
    } while (accept(','))
    if (!accept('}')) fault('"," or "}" belongs here')
  }
  const elements = (depth: number, inside: Wanted | undefined, pointer: string): void => {
    let index = 0
    do {
      take(SPACE)
      if (text[at] === ']') fault('nothing follows the comma; leave it out')
      value(depth + 1, inside?.get(String(index)), inside ? pointer + pointerPart(index) : '')
      index += 1
    } while (accept(','))
    if (!accept(']')) fault('"," or "]" belongs here')
  }
  const value = (depth: number, inside: Wanted | undefined, pointer: string, key?: Place['key']): void => {
    take(SPACE)
    const start = at
    if (depth > MAX_DEPTH) fault(`nested deeper than ${MAX_DEPTH} levels`)
    if (text[at] === '"') string()
    else if (accept('{')) accept('}') || members(depth, inside, pointer)
    else if (accept('[')) accept(']') || elements(depth, inside, pointer)
    else if (take(SCALAR) === undefined) fault('a value belongs here: a text in double quotes, a number, true, false, null, { or [')
    if (inside) found.set(pointer, { start, end: at, ...(key ? { key } : {}) })
  }
  value(0, wanted, '')
  take(SPACE)
  if (at < text.length) fault('nothing may follow the value')
}
