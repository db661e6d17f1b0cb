// Reads commits and trees from a repository's own files, loose or packed, to find what a commit holds at a path. It runs no program and reads only
// the repository and its alternates. An object that cannot be read is unknown, never an error.
import { isAbsolute, join } from 'node:path'
import { bytesAt, bytesOf, entriesOf, ifFound, type Steps } from './steps.ts'

/** Larger trees and commits are not those of a policy repository. Choice. */
const MAX_OBJECT_BYTES = 16 * 1024 * 1024
/** Of a pack that begin with the same byte. Choice. */
const MAX_IDS = 1_000_000
const MAX_ALTERNATES_BYTES = 64 * 1024
const MAX_ALTERNATES = 32
/** git itself makes chains of 50 at most. */
const MAX_DELTAS = 300
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

/** By name. */
export type Entries = ReadonlyMap<string, TreeEntry>

export interface Repository {
  /** Of a commit's root tree; undefined when it cannot be read. */
  rootOf(commit: string): Steps<string | undefined>
  /** Undefined when it cannot be read. */
  entriesOf(tree: string): Steps<Entries | undefined>
}

/** The objects of `gitDir`, the common folder of all worktrees. */
export function* openRepository(gitDir: string): Steps<Repository> {
  const own = join(gitDir, 'objects')
  const stores = [own, ...(yield* alternatesOf(own))]
  const known = new Map<string, Entries>()
  let kept = 0
  function* object(id: string): Steps<GitObject | undefined> {
    for (const store of stores) {
      const found = yield* ifFound(objectIn(store, id))
      if (found) return found
    }
    return undefined
  }
  return {
    *rootOf(commit) {
      const found = yield* object(commit)
      return /^tree ([0-9a-f]+)\n/.exec(found?.body.toString('latin1', 0, 80) ?? '')?.[1]
    },
    *entriesOf(tree) {
      const before = known.get(tree)
      if (before) return before
      const found = yield* object(tree)
      if (!found || found.kind !== KINDS['tree']) return undefined
      const entries = entriesIn(found.body, tree.length / 2)
      kept += entries.size
      if (kept <= MAX_ENTRIES) known.set(tree, entries)
      return entries
    },
  }
}

function* alternatesOf(store: string): Steps<readonly string[]> {
  const text = (yield* ifFound(bytesOf(join(store, 'info/alternates'), MAX_ALTERNATES_BYTES)))?.toString('utf8') ?? ''
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.slice(0, MAX_ALTERNATES).map((line) => (isAbsolute(line) ? line : join(store, line)))
}

function* objectIn(store: string, id: string, maxDeltas = MAX_DELTAS): Steps<GitObject | undefined> {
  return (yield* loose(store, id)) ?? (yield* packed(store, id, maxDeltas))
}

/** A tree is a sequence of `<mode> <name>\0<id>`. */
function entriesIn(body: Buffer, idBytes: number): Entries {
  const entries = new Map<string, TreeEntry>()
  for (let at = 0; at < body.length && entries.size < MAX_ENTRIES; ) {
    const space = body.indexOf(0x20, at)
    const end = body.indexOf(0, space)
    if (space < 0 || end < 0) break
    const id = body.toString('hex', end + 1, end + 1 + idBytes)
    const mode = body.toString('latin1', at, space)
    const name = body.toString('utf8', space + 1, end)
    entries.set(name, { name, isFolder: mode === '40000', isLink: mode === '120000', id })
    at = end + 1 + idBytes
  }
  return entries
}

/** zlib is loaded only when there is an object to read, so not for files outside a repository. */
const inflate = (bytes: Buffer, maxOutputLength: number): Buffer =>
  process.getBuiltinModule('node:zlib').inflateSync(bytes, { maxOutputLength })

function* loose(store: string, id: string): Steps<GitObject | undefined> {
  const bytes = yield* ifFound(bytesOf(join(store, id.slice(0, 2), id.slice(2)), MAX_OBJECT_BYTES))
  if (!bytes) return undefined
  const whole = inflate(bytes, MAX_OBJECT_BYTES)
  const end = whole.indexOf(0)
  const [kind = ''] = whole.toString('latin1', 0, Math.max(0, end)).split(' ')
  return { kind: KINDS[kind] ?? 0, body: whole.subarray(end + 1) }
}

function* packed(store: string, id: string, maxDeltas: number): Steps<GitObject | undefined> {
  const folder = join(store, 'pack')
  for (const { name } of (yield* ifFound(entriesOf(folder, MAX_ENTRIES))) ?? []) {
    if (!name.endsWith('.idx')) continue
    const offset = yield* offsetIn(join(folder, name), Buffer.from(id, 'hex'))
    const pack = join(folder, `${name.slice(0, -4)}.pack`)
    if (offset !== undefined) return yield* unpacked({ store, pack, idBytes: id.length / 2, maxDeltas }, offset)
  }
  return undefined
}

/** Finds an id in a pack's index, version 2: a table of counts by first byte, the sorted ids, checksums, offsets. */
function* offsetIn(index: string, id: Buffer): Steps<number | undefined> {
  const [ids, first] = [8 + 256 * 4, id[0] ?? 0]
  const head = yield* bytesAt(index, 0, ids)
  if (head.length < ids || head.readUInt32BE(0) !== 0xff744f63 || head.readUInt32BE(4) !== 2) return undefined
  const fan = (byte: number): number => (byte < 0 ? 0 : head.readUInt32BE(8 + byte * 4))
  const [from, until, total] = [fan(first - 1), fan(first), fan(255)]
  if (until - from > MAX_IDS) return undefined
  const alike = yield* bytesAt(index, ids + from * id.length, (until - from) * id.length)
  let [low, high] = [0, alike.length / id.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = id.compare(alike, middle * id.length, (middle + 1) * id.length)
    if (order === 0) {
      const offsets = ids + total * (id.length + 4)
      const offset = (yield* bytesAt(index, offsets + (from + middle) * 4, 4)).readUInt32BE()
      if (offset < 0x80000000) return offset
      return Number((yield* bytesAt(index, offsets + total * 4 + (offset - 0x80000000) * 8, 8)).readBigUInt64BE())
    }
    if (order < 0) high = middle
    else low = middle + 1
  }
  return undefined
}

interface Pack {
  readonly store: string
  readonly pack: string
  readonly idBytes: number
  readonly maxDeltas: number
}

/** Follows an object's chain of deltas to its base, then applies them in turn. */
function* unpacked({ store, pack, idBytes, maxDeltas }: Pack, start: number): Steps<GitObject | undefined> {
  const deltas: Buffer[] = []
  let [offset, bytes] = [start, 0]
  while (deltas.length <= maxDeltas) {
    const head = yield* bytesAt(pack, offset, 64)
    const { kind, size, at } = headerOf(head)
    bytes += size
    if (bytes > MAX_OBJECT_BYTES) return undefined
    const back = kind === OFFSET_DELTA ? distanceIn(head, at) : undefined
    const from = back?.at ?? (kind === NAMED_DELTA ? at + idBytes : at)
    const data = inflate(yield* bytesAt(pack, offset + from, size + (size >> 8) + 64), size + 1)
    if (kind !== OFFSET_DELTA && kind !== NAMED_DELTA) return { kind, body: deltas.reduceRight(patched, data) }
    deltas.push(data)
    if (back) offset -= back.distance
    else {
      const base = yield* objectIn(store, head.toString('hex', at, at + idBytes), maxDeltas - deltas.length)
      return base && { kind: base.kind, body: deltas.reduceRight(patched, base.body) }
    }
  }
  return undefined
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
  let made = 0
  const add = (piece: Buffer): void => {
    made += piece.length
    if (made > Math.min(size, MAX_OBJECT_BYTES)) throw new Error('a delta comes to more than its size')
    pieces.push(piece)
  }
  while (at < delta.length) {
    const command = delta[at] ?? 0
    at += 1
    if (command & 0x80) {
      const parts = [0, 1, 2, 3, 4, 5, 6].map((bit) => (command & (1 << bit) ? (delta[at++] ?? 0) : 0))
      const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0] = parts
      const from = a + b * 0x100 + c * 0x10000 + d * 0x1000000
      const length = e + f * 0x100 + g * 0x10000 || 0x10000
      add(base.subarray(from, from + length))
    } else {
      add(delta.subarray(at, at + command))
      at += command
    }
  }
  const body = Buffer.concat(pieces)
  if (body.length !== size) throw new Error('a delta does not come to its size')
  return body
}
