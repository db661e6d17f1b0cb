// Makes the present state of a workspace, as /status, the pages and the gauges show it, from what the last cycle knew. It only reads.
import { effectiveCap, isApproved } from '../../core/interpret/effective.ts'
import { unexplained } from '../../core/model/condition.ts'
import type { GrantState, PersonStatus, ScopeStatus, UseShown, WorkspaceView } from '../../core/model/events.ts'
import type { Person } from '../../core/model/observed.ts'
import { onceFor } from '../../core/model/once.ts'
import { compareScopes, type ScopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { declaredIn } from '../../core/resolve/desired.ts'
import { addOnFigures } from '../../core/use/add-on.ts'
import { NOTHING_BURNED } from '../../core/use/burn.ts'
import { bandOf, type FirstStop, firstStop } from '../../core/use/first-stop.ts'
import type { RecordsReader } from '../../ports.ts'
import { undeclaredShown } from '../collect/undeclared.ts'
import { seenIn } from '../cycle/read.ts'
import { cycleOf, type DesiredState, type WorkspaceState } from '../cycle/state.ts'
import { orNothing } from '../ledger/error.ts'
import { pauseTime, type Workspace } from '../workspace.ts'
import { knownState, poolsShown, type Viewed } from './show.ts'

// What stops a person first, from what pages and messages know of a workspace. The rule is in core/use/first-stop.ts; this only gathers its inputs.

export interface StopFacts {
  readonly view: Pick<WorkspaceView, 'people' | 'roster' | 'balance' | 'pools' | 'use'>
  readonly desiredState?: DesiredState | undefined
}

/** By address; made once for each view, because 50,000 people may ask. */
export const shownAt = onceFor((people: WorkspaceView['people']) => new Map(people.map((one) => [one.email, one])))

export function stopOf({ view, desiredState }: StopFacts, person: Person, now: Instant): FirstStop {
  const shown = shownAt(view.people).get(person.email)
  const pool = desiredState && declaredIn(desiredState.inputs).pools.placeOf(person.email)?.pool.name
  const figures = view.pools?.find(({ name }) => name === pool)?.figures
  return firstStop({
    now,
    cycle: view.roster?.cycle ?? view.balance?.cycle,
    own:
      typeof shown?.cap === 'number' && shown.used !== undefined
        ? { cap: shown.cap, addOn: shown.used, used: person.used, creditsPerSeat: view.balance?.creditsPerSeat }
        : undefined,
    pool: figures,
    balance: view.use?.figures,
  })
}

/** Makes the view; cheap enough for every scrape. */
export function viewOf(workspace: Workspace): WorkspaceView {
  const { client, config, shown, ledger, clock } = workspace
  const state = knownState(workspace)
  const pause = workspace.pause && workspace.pause.untilAt > pauseTime(workspace) ? workspace.pause : undefined
  const usage = state?.usage
  const balance = usage ? usage.balance : shown.balance
  const rate = workspace.ratePerSecond?.()
  const seen = orNothing(() => seenIn(ledger))
  const use = shown.use ?? orNothing(() => burnedBefore(ledger))
  const pools = poolsShown(workspace)
  const { planned, desiredState, ...told } = shown
  const approvals = planned?.approvals ?? orNothing(() => ledger.approvals()) ?? []
  return {
    ...told,
    workspace: config.name,
    mode: pause ? 'paused' : config.mode,
    pause,
    scopes: scopesShown(workspace),
    holds: planned?.plan.holds ?? [],
    approvals: approvals.map(({ id, state }) => ({ id, state })),
    grants: countGrants(desiredState),
    rules: usage && desiredState ? desiredState.resolution.rules.map(({ rule, people }) => ({ name: rule.name, people })) : undefined,
    pools: pools.length > 0 ? pools : undefined,
    roster: usage?.roster,
    groups: usage?.groups ?? [],
    balance,
    people: peopleShown(workspace),
    measured: state?.measured,
    notMeasured: workspace.collector.addOn.whyNot,
    use,
    ratePerSecond: rate,
    clockSkewMs: client.clockSkewMs(),
    aheadMs: workspace.wall() - clock.now() || undefined,
    seen,
    conditions: unexplained(workspace.conditions),
    lease: workspace.lease?.shown(),
  }
}

/** The sums of the ledger, until a roster was read: a counter that falls would be counted again from zero. */
function burnedBefore(ledger: Pick<RecordsReader, 'fact'>): UseShown {
  const { team, groups } = ledger.fact('burned') ?? NOTHING_BURNED
  return { burned: { team, groups } }
}

function scopesShown(workspace: Workspace): readonly ScopeStatus[] {
  const managed = workspace.shown.planned?.scopes ?? []
  const undeclared = undeclaredShown(workspace)
  return undeclared.length === 0 ? managed : [...managed, ...undeclared].sort((a, b) => compareScopes(a.scope, b.scope))
}

function countGrants(desiredState: DesiredState | undefined): Readonly<Record<GrantState, number>> {
  const counts: Record<GrantState, number> = { pending: 0, active: 0, expiring: 0, ended: 0 }
  for (const { state } of desiredState?.resolution.grants ?? []) counts[state] += 1
  return counts
}

/** Made once for each plan and reading of use, because a scrape must not block the process for 50,000 people. */
type LastShown = Pick<WorkspaceState, 'usage' | 'measured'> & { readonly people: readonly PersonStatus[] }

const lastShown = new WeakMap<DesiredState, LastShown>()

/** The people of the last plan who are still on the roster, with their cap in force and their use. */
export function peopleShown(workspace: Viewed & Pick<Workspace, 'clock'>): readonly PersonStatus[] {
  const state = knownState(workspace)
  const { desiredState } = workspace.shown
  if (!state || !desiredState) return []
  const last = lastShown.get(desiredState)
  const { usage, measured } = state
  if (last && last.usage === usage && last.measured === measured) return last.people
  const people = peopleOf(state, desiredState, workspace.clock.now())
  lastShown.set(desiredState, { usage, measured, people })
  return people
}

/** As `capShown`, of the readings of that plan: under other settings there may be no newer ones yet. */
export const planShows = ({ slots }: DesiredState, key: ScopeKey) => slots.lastRead(key) ?? slots.shown(key)

function peopleOf(state: WorkspaceState, desiredState: DesiredState, now: Instant): readonly PersonStatus[] {
  const figures = addOnFigures({ now, cycle: cycleOf(state.usage), measured: state.measured, balance: state.usage?.balance })
  const roster = state.usage?.roster
  const onTeam = new Map(roster?.people.flatMap((one) => (isApproved(one, roster) ? [[one.email, one.used]] : [])))
  return desiredState.people.approved.flatMap((person): readonly PersonStatus[] => {
    if (!onTeam.has(person.email)) return []
    const { cap } = effectiveCap(person, (key) => planShows(desiredState, key))
    const addOn = figures.of(person.email, onTeam.get(person.email))
    const band = bandOf(cap === 'unknown' ? undefined : cap, addOn?.credits)
    const known = { ...(cap !== 'unknown' && { cap }), ...(addOn && { used: addOn.credits, source: addOn.source }), band }
    return [{ email: person.email, ...known }]
  })
}
