// How much memory the answers of all workspaces together may take, while they arrive and as long as what they said is kept. Everybody has a
// small share that nobody else can take, so that one service that says too much leaves the others room. In bytes, roughly; it only counts.
import { getHeapStatistics } from 'node:v8'
import { sizeText } from '../bounds.ts'

/** What the program itself takes of the heap, with a small company. Measured. */
const OWN_HEAP_BYTES = 32 * 1024 * 1024
/** Everybody's own share, at most: as much as 1,000 people with their groups. */
const MAX_SHARE_BYTES = 1024 * 1024
/** How many times over what an answer says is in memory, from the answer over plan and record to the pages. Measured. */
const COPIES = 1.5

/** One workspace's account. */
export interface Account {
  /** Begins an answer. */
  begin(): Claim
  /** Gives everything back. */
  close(): void
}

/** What one answer takes. */
export interface Claim {
  /** Takes more; false when there is no room. */
  grow(bytes: number): boolean
  /** What was said is kept from now on, in place of what was said before under this name. */
  keep(name: string): void
  /** Nothing of it is kept. Does nothing after `keep`. */
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

/** All that this process may take for answers, by the heap that it was given. */
export const processRoom: Room = createRoom(Math.max(1024 * 1024, (getHeapStatistics().heap_size_limit - OWN_HEAP_BYTES) / COPIES))

export const noRoom = ({ bytes }: Room): string =>
  `all answers together may take ${sizeText(bytes)} of this heap, and this one would take more; it was dropped: ` +
  'give more memory with NODE_OPTIONS=--max-old-space-size'
