// Reads commits and trees from a repository's own files, loose or packed, to find what a commit holds at a path. It runs no program and reads only
// the repository and its alternates. An object that cannot be read is unknown, never an error.
import { closeSync, readdirSync, readSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { openFile, readBytes, readText } from '../../files.ts'

/** Larger trees and commits are not those of a policy repository. Choice. */
const MAX_OBJECT_BYTES = 16 * 1024 * 1024
const MAX_INDEX_BYTES = 256 * 1024 * 1024
/** git itself makes chains of 50 at most. */
const MAX_DELTAS = 4_096
const MAX_ENTRIES = 100_000

/** One object's kind and content. */
interface GitObject {
  readonly kind: number
  readonly body: Buffer
}

const KINDS: Readonly<Record<string, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 }
const OFFSET_DELTA = 6
const NAMED_DELTA = 7

/** An entry of a folder in a commit. */
export interface TreeEntry {
  readonly name: string
  readonly isFolder: boolean
  /** A symbolic link: its object is the text of where it leads. */
  readonly isLink: boolean
  readonly id: string
}

export interface Repository {
  /** Of a commit's root tree; undefined when it cannot be read. */
  rootOf(commit: string): string | undefined
  /** Undefined when it cannot be read. */
  entriesOf(tree: string): readonly TreeEntry[] | undefined
}

/** The objects of `gitDir`, the common folder of all worktrees. */
export function openRepository(gitDir: string): Repository {
  const stores = [join(gitDir, 'objects'), ...alternatesOf(join(gitDir, 'objects'))]
  const object = (id: string): GitObject | undefined => {
    try {
      return stores.map((store) => loose(store, id) ?? packed(store, id)).find((found) => found !== undefined)
    } catch {
      return undefined
    }
  }
  return {
    rootOf: (commit) => /^tree ([0-9a-f]+)\n/.exec(object(commit)?.body.toString('latin1', 0, 80) ?? '')?.[1],
    entriesOf(tree) {
      const found = object(tree)
      return found && found.kind === KINDS['tree'] ? entriesIn(found.body, tree.length / 2) : undefined
    },
  }
}

function alternatesOf(store: string): readonly string[] {
  try {
    const lines = readText(join(store, 'info/alternates'), MAX_OBJECT_BYTES).split('\n')
    return lines.filter((line) => line !== '').map((line) => (isAbsolute(line) ? line : join(store, line)))
  } catch {
    return []
  }
}

/** A tree is a sequence of `<mode> <name>\0<id>`. */
function entriesIn(body: Buffer, idBytes: number): readonly TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < body.length && entries.length < MAX_ENTRIES; ) {
    const space = body.indexOf(0x20, at)
    const end = body.indexOf(0, space)
    if (space < 0 || end < 0) break
    const id = body.toString('hex', end + 1, end + 1 + idBytes)
    const mode = body.toString('latin1', at, space)
    entries.push({ name: body.toString('utf8', space + 1, end), isFolder: mode === '40000', isLink: mode === '120000', id })
    at = end + 1 + idBytes
  }
  return entries
}

/** zlib is loaded only when there is an object to read, so not for files outside a repository. */
const inflate = (bytes: Buffer, maxOutputLength: number): Buffer =>
  process.getBuiltinModule('node:zlib').inflateSync(bytes, { maxOutputLength })

function loose(store: string, id: string): GitObject | undefined {
  let bytes: Buffer
  try {
    bytes = readBytes(join(store, id.slice(0, 2), id.slice(2)), MAX_OBJECT_BYTES)
  } catch {
    return undefined
  }
  const whole = inflate(bytes, MAX_OBJECT_BYTES)
  const end = whole.indexOf(0)
  const [kind = ''] = whole.toString('latin1', 0, Math.max(0, end)).split(' ')
  return { kind: KINDS[kind] ?? 0, body: whole.subarray(end + 1) }
}

function packed(store: string, id: string): GitObject | undefined {
  const folder = join(store, 'pack')
  for (const name of namesIn(folder)) {
    if (!name.endsWith('.idx')) continue
    const offset = offsetIn(readBytes(join(folder, name), MAX_INDEX_BYTES), Buffer.from(id, 'hex'))
    if (offset === undefined) continue
    const file = openFile(join(folder, `${name.slice(0, -4)}.pack`))
    try {
      return unpacked(file, offset, id.length / 2, (base) => loose(store, base) ?? packed(store, base))
    } finally {
      closeSync(file)
    }
  }
  return undefined
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Finds an id in a pack's index, version 2: a table of counts by first byte, the sorted ids, checksums, offsets. */
function offsetIn(index: Buffer, id: Buffer): number | undefined {
  if (index.length > MAX_INDEX_BYTES || index.readUInt32BE(0) !== 0xff744f63 || index.readUInt32BE(4) !== 2) return undefined
  const fan = (byte: number): number => (byte < 0 ? 0 : index.readUInt32BE(8 + byte * 4))
  const ids = 8 + 256 * 4
  const total = fan(255)
  let [low, high] = [fan((id[0] ?? 0) - 1), fan(id[0] ?? 0)]
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = id.compare(index, ids + middle * id.length, ids + (middle + 1) * id.length)
    if (order === 0) {
      const offsets = ids + total * (id.length + 4)
      const offset = index.readUInt32BE(offsets + middle * 4)
      if (offset < 0x80000000) return offset
      return Number(index.readBigUInt64BE(offsets + total * 4 + (offset - 0x80000000) * 8))
    }
    if (order < 0) high = middle
    else low = middle + 1
  }
  return undefined
}

/** Follows an object's chain of deltas to its base, then applies them in turn. */
function unpacked(file: number, start: number, idBytes: number, named: (id: string) => GitObject | undefined): GitObject | undefined {
  const deltas: Buffer[] = []
  let offset = start
  while (deltas.length < MAX_DELTAS) {
    const head = readAt(file, offset, 64)
    const { kind, size, at } = headerOf(head)
    if (size > MAX_OBJECT_BYTES) return undefined
    const data = (from: number): Buffer => inflate(readAt(file, offset + from, size + (size >> 8) + 64), size + 1)
    if (kind === OFFSET_DELTA) {
      const back = distanceIn(head, at)
      deltas.push(data(back.at))
      offset -= back.distance
    } else if (kind === NAMED_DELTA) {
      deltas.push(data(at + idBytes))
      const base = named(head.toString('hex', at, at + idBytes))
      return base && { kind: base.kind, body: deltas.reduceRight(patched, base.body) }
    } else return { kind, body: deltas.reduceRight(patched, data(at)) }
  }
  return undefined
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, position))
}

/** Kind and size: four bits of the size in the first byte, seven in each further one. */
function headerOf(head: Buffer): { readonly kind: number; readonly size: number; readonly at: number } {
  const first = head[0] ?? 0
  let [size, shift, at, byte] = [first & 15, 4, 1, first]
  while (byte & 0x80) {
    byte = head[at] ?? 0
    size += (byte & 0x7f) * 2 ** shift
    shift += 7
    at += 1
  }
  return { kind: (first >> 4) & 7, size, at }
}

/** The distance from a delta back to its base. */
function distanceIn(head: Buffer, from: number): { readonly distance: number; readonly at: number } {
  let at = from
  let byte = head[at] ?? 0
  let distance = byte & 0x7f
  while (byte & 0x80) {
    at += 1
    byte = head[at] ?? 0
    distance = (distance + 1) * 128 + (byte & 0x7f)
  }
  return { distance, at: at + 1 }
}

/** Applies one delta: pieces copied from the base, and new pieces. */
function patched(base: Buffer, delta: Buffer): Buffer {
  let at = 0
  const number = (): number => {
    let [value, shift, byte] = [0, 0, 0x80]
    while (byte & 0x80) {
      byte = delta[at] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      shift += 7
      at += 1
    }
    return value
  }
  number()
  const size = number()
  const pieces: Buffer[] = []
  while (at < delta.length) {
    const command = delta[at] ?? 0
    at += 1
    if (command & 0x80) {
      const parts = [0, 1, 2, 3, 4, 5, 6].map((bit) => (command & (1 << bit) ? (delta[at++] ?? 0) : 0))
      const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0] = parts
      const from = a + b * 0x100 + c * 0x10000 + d * 0x1000000
      const length = e + f * 0x100 + g * 0x10000 || 0x10000
      pieces.push(base.subarray(from, from + length))
    } else {
      pieces.push(delta.subarray(at, at + command))
      at += command
    }
  }
  const body = Buffer.concat(pieces)
  if (body.length !== size) throw new Error('a delta does not come to its size')
  return body
}
