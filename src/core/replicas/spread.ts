// Which workspaces a replica should take and release, so that all replicas hold equally many. Every replica decides for itself, from the same
// table. It moves no more than an even spread needs, and releases nothing that no other replica would take.

/** Who holds a workspace, as the database has it. */
export interface Held {
  readonly workspace: string
  /** The live replica that holds it; absent: it can be taken. */
  readonly holder?: string
  /** How long it has been free. */
  readonly freeForMs?: number
}

/** A replica that is alive. */
export interface Peer {
  readonly id: string
  /** Workspaces that it will not take, because its configuration differs or it could not open them. */
  readonly refuses: ReadonlySet<string>
}

interface Moves {
  readonly take: readonly string[]
  readonly release: readonly string[]
}

/** The digests of the settings with which live replicas would keep a workspace, by their ids. */
export type Votes = ReadonlyMap<string, string>

/**
 * The settings under which a workspace is kept: those of most live replicas; of as many, those under which it is kept now or was kept last, else
 * those of the first replica by id. So all replicas come to the same settings, some replica has them, and none waits for ever. `votes` is not
 * empty; `present` is absent for a workspace that was never kept.
 */
export function settingsThatCount(votes: Votes, present: string | undefined): string | undefined {
  const counts = new Map<string, number>()
  for (const config of votes.values()) counts.set(config, (counts.get(config) ?? 0) + 1)
  const most = Math.max(...counts.values())
  const leading = new Set([...counts].flatMap(([config, count]) => (count === most ? [config] : [])))
  if (present !== undefined && leading.has(present)) return present
  const [first = ''] = [...votes.keys()].filter((id) => leading.has(votes.get(id) ?? '')).sort()
  return votes.get(first)
}

/** A workspace free for longer goes to any replica that does not refuse it, however many that holds. */
const LEFT_OVER_MS = 8_000
/** After a replica joins, each heartbeat moves at most one in so many workspaces. */
const PART_AT_ONCE = 20

/** The moves of replica `me`; `peers` has `me` in it. */
export function spread(me: string, peers: readonly Peer[], leases: readonly Held[]): Moves {
  const own = peers.find(({ id }) => id === me)
  if (!own) return { take: [], release: [] }
  const counts = countsOf(peers, leases)
  const targets = targetsOf(counts, leases.length)
  const held = leases.filter(({ holder }) => holder === me)
  const room = (targets.get(me) ?? 0) - held.length
  const free = freeFor(own, peers, leases)
  const leftOver = free.filter(({ freeForMs = 0 }) => freeForMs >= LEFT_OVER_MS)
  if (room >= 0) return { take: named([...new Set([...free.slice(0, room), ...leftOver])]), release: [] }
  const takers = peers.filter(({ id }) => (counts.get(id) ?? 0) < (targets.get(id) ?? 0))
  const welcome = held.filter(({ workspace }) => takers.some(({ refuses }) => !refuses.has(workspace)))
  const atOnce = Math.min(-room, Math.max(1, Math.ceil(leases.length / PART_AT_ONCE)))
  return { take: named(leftOver), release: named(welcome.slice(-atOnce)) }
}

const named = (held: readonly Held[]): readonly string[] => held.map(({ workspace }) => workspace)

function countsOf(peers: readonly Peer[], leases: readonly Held[]): ReadonlyMap<string, number> {
  const counts = new Map(peers.map(({ id }) => [id, 0]))
  for (const { holder } of leases) if (holder !== undefined && counts.has(holder)) counts.set(holder, (counts.get(holder) ?? 0) + 1)
  return counts
}

/** How many each replica should hold: equal within one. Those that hold most get the one more, so that the fewest move. */
function targetsOf(counts: ReadonlyMap<string, number>, all: number): ReadonlyMap<string, number> {
  const byCount = [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  const least = Math.floor(all / byCount.length)
  const more = all % byCount.length
  return new Map(byCount.map(([id], place) => [id, least + (place < more ? 1 : 0)]))
}

/** The free workspaces. Each replica begins at another place, so that two seldom want the same one. */
function freeFor({ id, refuses }: Peer, peers: readonly Peer[], leases: readonly Held[]): readonly Held[] {
  const free = leases.filter(({ workspace, holder }) => holder === undefined && !refuses.has(workspace))
  const ids = peers.map((one) => one.id).toSorted()
  const from = Math.floor((free.length * ids.indexOf(id)) / ids.length)
  return [...free.slice(from), ...free.slice(0, from)]
}
