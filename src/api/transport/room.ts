// Bounds the memory of all workspaces' answers together, while they arrive and as long as their content is kept. Each workspace has a small
// share that no other can take, so that one huge answer leaves room for the others. It only counts bytes, roughly.
import { getHeapStatistics } from 'node:v8'
import { sizeText } from '../bounds.ts'

/** The heap of the program itself, with a small company. Measured. */
const OWN_HEAP_BYTES = 32 * 1024 * 1024
/** The largest share of a workspace: as much as 1,000 people with their groups. */
const MAX_SHARE_BYTES = 1024 * 1024
/** How many copies of an answer's content are in memory, from the answer itself to the pages. Measured. */
const COPIES = 1.5

/** One workspace's account. */
export interface Account {
  /** Begins an answer. */
  begin(): Claim
  /** Gives everything back. */
  close(): void
}

/** The memory of one answer. */
export interface Claim {
  /** Takes more memory; false when there is no room. */
  grow(bytes: number): boolean
  /** The content is kept, in place of earlier content of this name. */
  keep(name: string): void
  /** Gives the memory back. Does nothing after `keep`. */
  free(): void
}

export interface Room {
  readonly bytes: number
  open(): Account
}

interface Holder {
  held: number
}

export function createRoom(bytes: number): Room {
  const holders = new Set<Holder>()
  const fits = (): boolean => {
    const share = Math.min(MAX_SHARE_BYTES, bytes / (2 * holders.size))
    let taken = 0
    for (const { held } of holders) taken += Math.max(share, held)
    return taken <= bytes
  }
  return {
    bytes,
    open() {
      const holder: Holder = { held: 0 }
      holders.add(holder)
      return accountOf(holder, fits, () => holders.delete(holder))
    },
  }
}

function accountOf(holder: Holder, fits: () => boolean, close: () => void): Account {
  const kept = new Map<string, number>()
  return {
    close,
    begin() {
      let taken = 0
      return {
        grow(bytes) {
          holder.held += bytes
          taken += bytes
          return fits()
        },
        keep(name) {
          holder.held -= kept.get(name) ?? 0
          kept.set(name, taken)
          taken = 0
        },
        free() {
          holder.held -= taken
          taken = 0
        },
      }
    },
  }
}

/** The memory for all answers of this process, by the size of its heap. */
export const processRoom: Room = createRoom(Math.max(1024 * 1024, (getHeapStatistics().heap_size_limit - OWN_HEAP_BYTES) / COPIES))

export const noRoom = ({ bytes }: Room): string =>
  `all answers together may take ${sizeText(bytes)} of this heap, and this one would take more; it was dropped: ` +
  'give more memory with NODE_OPTIONS=--max-old-space-size'
