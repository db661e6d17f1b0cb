// The step `observe` of a cycle: reads the caps that are due, and records what follows from the readings, such as how an open intent ended.
// Also reads people, groups and balance, and forgets people when told to. It writes nothing to the service.

import { ancestorsOf } from '../../core/interpret/effective.ts'
import { type Scope, type ScopeKey, scopeKey, userScope } from '../../core/model/scope.ts'
import { isRefuted, unknownScopes } from '../../core/plan/states.ts'
import { learnUsage } from '../collect/usage.ts'
import { showUsage } from '../conditions/show.ts'
import { marked, withoutPerson } from '../ledger/forget.ts'
import { FACT_NAMES } from '../ledger/values/values.ts'
import type { Workspace } from '../workspace.ts'
import type { CycleOptions, CycleRun } from './options.ts'
import { observeSweep } from './preview.ts'
import { noneAhead, noteSeen, seenIn, sweep } from './read.ts'
import { recordCounted, recordRules } from './record.ts'
import { type DesiredState, desiredState, grantsFrozen, type WorkspaceState } from './state.ts'
import { checkLateWrites, noteChecked } from './write/descendants.ts'
import { recoverIntents } from './write/outcome.ts'

/** Reads roster, groups and balance, records what is believed of them, and shows it. */
export async function refreshUsage(workspace: Workspace, state: WorkspaceState, signal?: AbortSignal): Promise<void> {
  const { config, ledger, clock } = workspace
  const begunAt = clock.now()
  const reading = await learnUsage(state, workspace, signal)
  // As of before what the limits doubt was shown: a limit that is weakened now does not count for it. The first answer may have told of a wrong clock.
  recordRules(state, config, ledger, Math.min(begunAt, clock.now()))
  if (reading.facts) {
    ledger.saveFact('usage', reading.facts)
    ledger.saveFact('directory', state.directory)
    recordCounted(state, ledger)
  }
  showUsage(workspace, reading)
}

/** Reads the caps that are due, and returns what policy asks once the readings are taken into account. */
export async function observe(cycle: CycleRun): Promise<DesiredState> {
  const { workspace, options, startedAt } = cycle
  const first = await readDue(cycle)
  // Grants that the answers let start or end may ask for scopes that were never read.
  const isOtherwise = !options.focus && grantsFrozen(workspace.client) !== first.inputs.grantsFrozen
  const desired = isOtherwise ? await readDue({ ...cycle, options: { ...options, readSince: options.readSince ?? startedAt } }) : first
  // The reading of a scope that nobody manages any more grows old and must not count.
  if (!cycle.options.focus) forgetOthers(desired.toRead, cycle.state)
  return learnFromReadings(cycle, desired)
}

function forgetOthers(managed: readonly Scope[], { readings }: WorkspaceState): void {
  const kept = new Set(managed.map(scopeKey))
  for (const key of readings.keys()) if (!kept.has(key)) readings.delete(key)
}

/** Reads the caps that are due, and returns what policy asked when the reading began. */
export async function readDue({ workspace: { client, config }, state, planner, options }: CycleRun): Promise<DesiredState> {
  const { readings } = state
  noneAhead(readings, planner.clock.now())
  const desired = desiredState(state, planner)
  const focus = options.focus?.union(ancestorsToRead(options.focus, desired))
  const scopes = desired.toRead.filter((scope) => isDue(scope, state, { ...options, ...(focus && { focus }) }))
  options.onSweep?.(scopes)
  const { onReading, stop: signal } = options
  await sweep({ client, scopes, concurrency: config.rate.concurrency, readings, onReading, signal, urgency: focus && 'urgent' })
  return desired
}

/** Where a read shows the inherited cap, only readings of the ancestors at the same time tell what is explicitly set. */
function ancestorsToRead(scopes: ReadonlySet<ScopeKey>, { slots, people }: DesiredState): ReadonlySet<ScopeKey> {
  return new Set(slots.model.reads === 'inherited' ? [...scopes].flatMap((key) => ancestorsOf(key, people)) : [])
}

function isDue(scope: Scope, state: WorkspaceState, { focus, slice, readSince }: CycleOptions): boolean {
  const key = scopeKey(scope)
  const readAt = state.readings.get(key)?.readAt
  // Guards cannot count people without the caps of the team and the groups, so a focused cycle reads those that were never read.
  if (readAt === undefined) return !focus || focus.has(key) || scope.kind !== 'user'
  return ((focus ?? slice)?.has(key) ?? true) && (readSince === undefined || readAt < readSince)
}

/** Records how this deployment treats caps, and how open intents ended. */
async function learnFromReadings(cycle: CycleRun, desired: DesiredState): Promise<DesiredState> {
  const { workspace, state, planner } = cycle
  const { ledger, client, clock, config, lease, wall } = workspace
  // A sweep takes long, and approvals may have arrived meanwhile.
  await ledger.load()
  noteSeen(ledger, observeSweep(seenIn(ledger), state.readings, desired), clock)
  // Before the open intents are closed: these still tell when their writes were sent.
  await checkLateWrites({ ...cycle, desired })
  const unknown = new Set(unknownScopes(desired.toRead, state.readings).keys())
  const quietAt = lease && lease.quietUntil() + clock.now() - wall()
  const closed = await recoverIntents({ ledger, clock, readings: state.readings, quietAt }, desired, unknown)
  noteChecked(closed, workspace)
  recordRules(state, config, ledger, clock.now())
  const isLifted = desired.quarantine.active.values().some((one) => isRefuted(one, state.readings))
  const isSame = unknown.symmetricDifference(desired.unknown).size === 0 && !isLifted
  const isUnchanged = closed.length === 0 && isSame && desired.inputs.grantsFrozen === grantsFrozen(client)
  return isUnchanged ? desired : desiredState(state, planner)
}

/** True when it forgot a person: then the roster must be read again. Rejects with a `LedgerError`; then the next cycle does it. */
export async function forgetMarked(workspace: Workspace, state: WorkspaceState): Promise<boolean> {
  const { ledger, client, chronicle } = workspace
  const marks = ledger.fact('forgotten') ?? []
  if (marks.length === 0) return false
  const known = marked(marks, [remembered(state), chronicle?.journal(), ...FACT_NAMES.map((name) => ledger.fact(name))])
  // A person who was given a cap since has records again that are needed.
  const ours = new Set([...ledger.owned(), ...ledger.openIntents().map(({ change }) => change)].map(({ scope }) => scopeKey(scope)))
  const emails = known.filter((email) => !ours.has(scopeKey(userScope(email))))
  for (const email of emails) {
    Object.assign(state, withoutPerson(remembered(state), email))
    client.forget?.(email)
    chronicle?.forget(email)
  }
  workspace.before = undefined
  for (const email of emails) await ledger.forget(email)
  const newer = (ledger.fact('forgotten') ?? []).filter(({ hash }) => !marks.some((mark) => mark.hash === hash))
  ledger.saveFact('forgotten', newer.length === 0 ? undefined : newer)
  await ledger.commit()
  return emails.length > 0
}

/** Everything of the state that may name a person but the policy, which its owners edit, and the readings, which are of scopes that are managed. */
const remembered = ({ policy: _, declared: _own, readings: _caps, ...facts }: WorkspaceState) => facts
