// What happened lately in a workspace, for messages about events and for digests: writes from the ledger's history, what stands now, and the journal. It
// carries no address but in scopes: ids are hashes.
import { createHash } from 'node:crypto'
import { effectiveCap, groupsOfEach } from '../../core/interpret/effective.ts'
import { type HistoryEntry, isGone } from '../../core/model/change.ts'
import type { JournalEntry } from '../../core/model/events.ts'
import { isSameCycle } from '../../core/model/observed.ts'
import { shortRevision } from '../../core/model/policy.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { DAY_MS, formatInstant, type Instant } from '../../core/model/units.ts'
import { digestsAsked, type EndedUse, type PersonUse, tellsEnded, toldNow } from '../../core/notify/due.ts'
import { countedSince, type Happening, type PoolUse } from '../../core/notify/happened.ts'
import type { NotifySettings } from '../../core/notify/settings.ts'
import { entryOf, isDue, lastKept } from '../../core/notify/told.ts'
import { addOnFigures } from '../../core/use/add-on.ts'
import { capChanges, setBefore } from '../../core/use/replay/in-force.ts'
import type { Ledger } from '../../ports.ts'
import { cycleOf, type WorkspaceState } from '../cycle/state.ts'
import type { Workspace } from '../workspace.ts'

interface LookingBack extends Pick<Workspace, 'state' | 'clock'> {
  readonly ledger: Pick<Ledger, 'fact' | 'owned' | 'history'>
}

/** Undefined where no digest about it is due, and where its use is not known. Rejects with a `LedgerError`. */
export async function endedUse({ state, clock, ledger }: LookingBack, settings: NotifySettings): Promise<EndedUse | undefined> {
  const [now, present, last] = [clock.now(), cycleOf(state?.usage), state?.usage?.previousCycle]
  if (!state || !present || !last || !isSameCycle({ startAt: last.cycle.endAt }, present)) return undefined
  if (dueSince({ state, ledger }, settings, now).length === 0 || !tellsEnded(settings, present, now)) return undefined
  const { cycle, used } = last
  const found = (ledger.fact('journal') ?? []).filter(({ at }) => at >= cycle.endAt)
  const set = setBefore(ledger.owned(), capChanges(await ledger.history({ sinceAt: cycle.endAt }), found))
  const figures = addOnFigures({ now, cycle, measured: state.measured, balance: state.usage?.balance })
  const pools = poolsAt(cycle.endAt, state, ledger)
  const groupsOf = groupsOfEach(state.usage?.groups ?? [])
  const emails = new Set([...groupsOf.keys(), ...pools.flatMap(({ members }) => members)])
  const people = [...emails].map((email): PersonUse => {
    const { cap } = effectiveCap({ key: email as ScopeKey, groups: groupsOf.get(email) ?? [] }, (key) => set.get(key))
    const addOn = figures.of(email, Object.hasOwn(used, email) ? used[email] : undefined)
    return { email, cap: cap !== 'unknown' ? cap : undefined, ...(addOn && { used: addOn.credits, source: addOn.source }) }
  })
  return { cycle, people, pools }
}

/** Who shares a pool: ids of groups, where it has them, and everybody who counts as a member. */
export function sharersOf(name: string, { policy, pools }: Pick<WorkspaceState, 'policy' | 'pools'>): Pick<PoolUse, 'groups' | 'members'> {
  const declared = policy.set.pools.find((pool) => pool.name === name)?.members
  const kept = Object.hasOwn(pools, name) ? pools[name]?.members : undefined
  const members = Object.entries(kept ?? {}).flatMap(([email, { left }]) => (left ? [] : email))
  return { groups: declared?.kind === 'groups' ? declared.ids : [], members }
}

/** As the last whole day of the cycle left them. */
function poolsAt(endAt: number, state: WorkspaceState, ledger: Pick<Ledger, 'fact'>): readonly PoolUse[] {
  const day = ledger.fact('days')?.findLast(({ dayAt }) => dayAt <= endAt - DAY_MS && dayAt > endAt - 3 * DAY_MS)
  return state.policy.set.pools.flatMap(({ name }): readonly PoolUse[] => {
    const pool = day?.pools && Object.hasOwn(day.pools, name) ? day.pools[name] : undefined
    return pool ? [{ name, ...sharersOf(name, state), credits: pool.credits, used: pool.used }] : []
  })
}

interface Happened extends Pick<Workspace, 'state' | 'clock'> {
  readonly shown: Pick<Workspace['shown'], 'planned' | 'desiredState'>
  readonly pause?: Workspace['pause']
  readonly ledger: Pick<Ledger, 'fact' | 'history' | 'quarantined'>
}

/** Writes that are looked at; of more, the latest. Choice. */
const MOST_WRITES = 5_000

/** Empty where neither an event nor a digest is asked for. Rejects with a `LedgerError`. */
export async function happened(source: Happened, settings: NotifySettings): Promise<readonly Happening[]> {
  const { clock, ledger } = source
  const now = clock.now()
  if (settings.events.length === 0 && settings.digest === 'off') return []
  const sinceAt = Math.min(now - DAY_MS, ...dueSince(source, settings, now))
  const writes = await ledger.history({ sinceAt, limit: MOST_WRITES })
  const journal = (ledger.fact('journal') ?? []).filter(({ at }) => at >= sinceAt)
  return [
    ...writes.toReversed().flatMap(ofWrite),
    ...journal.flatMap(ofJournal),
    ...(settings.events.length === 0 ? [] : [...heldNow(source), ...rejectedNow(source), ...endingNow(source), ...pausedNow(source)]),
  ]
}

type ToldIn = Pick<Workspace, 'state'> & { readonly ledger: Pick<Ledger, 'fact'> }

/** Since when each digest counts that is due. */
function dueSince({ state, ledger }: ToldIn, settings: NotifySettings, now: Instant): readonly Instant[] {
  const told = toldNow(ledger.fact('told'), cycleOf(state?.usage), now)
  return digestsAsked(settings, now).flatMap(({ key, level }) =>
    told && isDue(told, key, level, now) ? countedSince(lastKept(entryOf(told, key)), settings.digest, now) : [],
  )
}

const idOf = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)

function ofWrite({ at, scope, from, to, cause, result, revision }: HistoryEntry): readonly Happening[] {
  if (result !== 'applied') return []
  const kind = cause === 'external' ? 'reverted' : 'applied'
  return [{ kind, id: idOf(at, scopeKey(scope), to), at, scope, text: `${from} → ${to}`, revision }]
}

function ofJournal(one: JournalEntry): readonly Happening[] {
  const { at, kind } = one
  if (kind === 'foreign')
    return [{ kind, id: idOf(at, scopeKey(one.scope)), at, scope: one.scope, text: `${one.verified} → ${one.observed}`, more: one.more }]
  if (kind === 'hold') return [{ kind, id: one.id, at, text: one.guards.join(', ') }]
  return kind === 'policy' && one.valid ? [{ kind: 'revision', id: idOf(at, one.digest), at, text: shortRevision(one.revision) }] : []
}

function heldNow({ shown, clock }: Happened): readonly Happening[] {
  return (shown.planned?.plan.holds ?? []).flatMap(({ id, guards, changes }) =>
    changes.map(({ scope, from, to }): Happening => {
      return { kind: 'held', id: id.slice(0, 16), at: clock.now(), scope, text: `${from} → ${to} (${guards.join(', ')})` }
    }),
  )
}

function rejectedNow({ shown, ledger, clock }: Happened): readonly Happening[] {
  const refused = (shown.desiredState?.resolution.rejected ?? []).map(({ scope, code }) => ({ scope, code, at: clock.now() }))
  const all = [...ledger.quarantined().filter((one) => !isGone(one)), ...refused]
  const found = all.map(({ scope, code, at }): readonly [string, Happening] => {
    const id = idOf(scopeKey(scope), code)
    return [id, { kind: 'rejected', id, at, scope, text: code }]
  })
  return [...new Map(found).values()]
}

const endingNow = ({ shown, clock }: Happened): readonly Happening[] =>
  (shown.desiredState?.resolution.grants ?? []).flatMap(({ grant: { scope, amount }, state, untilAt }): readonly Happening[] => {
    if (state !== 'expiring' || untilAt === undefined) return []
    const cap = amount.kind === 'cap' ? `${amount.credits}` : `+${amount.credits}`
    return [
      { kind: 'grantEnding', id: idOf(scopeKey(scope), untilAt), at: clock.now(), scope, text: `${cap} until ${formatInstant(untilAt)}` },
    ]
  })

const pausedNow = ({ pause, clock }: Happened): readonly Happening[] =>
  pause && pause.untilAt > clock.now()
    ? [{ kind: 'paused', id: idOf(pause.pausedAt), at: pause.pausedAt, text: `nothing is written until ${formatInstant(pause.untilAt)}` }]
    : []
