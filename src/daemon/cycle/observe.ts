// The step `observe` of a cycle: reads the caps that are due, and records what follows from the readings, such as how an open intent ended.
// Also reads people, groups and balance, and forgets people when told to. It writes nothing to the service.

import { ancestorsOf } from '../../core/interpret/effective.ts'
import type { Intent } from '../../core/model/change.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { byScope, type Scope, type ScopeKey, scopeKey, userScope } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { entriesOf, unknownScopes } from '../../core/plan/states.ts'
import { learnUsage } from '../collect/usage.ts'
import { showUsage } from '../conditions/show.ts'
import { marked, withoutPerson } from '../ledger/forget.ts'
import { FACT_NAMES } from '../ledger/values/values.ts'
import type { Workspace } from '../workspace.ts'
import type { CycleOptions, CycleRun } from './options.ts'
import { noneAhead, noteSeen, observeSweep, seenIn, sweep } from './read.ts'
import { recordCounted, recordRules } from './record.ts'
import { type DesiredState, desiredState, grantsFrozen, isLeftAlone, type WorkspaceState } from './state.ts'
import { checkLateWrites, noteChecked } from './write/descendants.ts'
import { conclude, historyEntry, type OutcomeContext, ownershipOf } from './write/outcome.ts'

interface RecoverInputs extends OutcomeContext {
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  /** Scopes that the service does not know. */
  readonly unknown: ReadonlySet<ScopeKey>
  /** Neither read nor written any more, such as people who left. */
  readonly isLeftAlone: (scope: Scope) => boolean
  /** Until then a write of another replica may land, so earlier readings prove nothing. */
  readonly quietUntil?: Instant
}

/** Longer than any sweep that began before the clock was set back. Choice. */
const SET_BACK_MS = 3_600_000

/** An intent from the future was recorded before the clock was set back: a reading of the last hour is later than it. */
const begunAt = ({ at }: Intent, now: Instant): Instant => (at > now ? now - SET_BACK_MS : at)

/** Closes every open intent whose scope was read since, and returns those. */
async function recoverIntents(inputs: RecoverInputs): Promise<readonly Intent[]> {
  const closed: Intent[] = []
  for (const intent of inputs.ledger.openIntents()) if (await recover(intent, inputs)) closed.push(intent)
  return closed
}

async function recover(intent: Intent, inputs: RecoverInputs): Promise<boolean> {
  const reading = inputs.readings.get(scopeKey(intent.change.scope))
  const { quietUntil = Number.NEGATIVE_INFINITY } = inputs
  if (!reading || reading.readAt < Math.max(begunAt(intent, inputs.clock.now()), quietUntil)) return false
  if (reading.failure) return closeUnread(intent, reading, reading.failure.message, inputs)
  await conclude(intent, reading, { kind: 'lost', why: 'its answer was lost' }, inputs)
  return true
}

/** A scope that is gone has no cap; a cap on a scope that is only left alone stays ours. */
async function closeUnread(intent: Intent, reading: CapReading, message: string, inputs: RecoverInputs): Promise<boolean> {
  const { scope } = intent.change
  const isGone = inputs.unknown.has(scopeKey(scope))
  if (!isGone && !inputs.isLeftAlone(scope)) return false
  const error = `the answer to this write was lost; the scope cannot be read any more: ${message}`
  const ownership = isGone ? 'kept' : ownershipOf(intent, reading, 'lost', inputs)
  const ended = isGone ? ({ result: 'failed', error, unproven: true } as const) : ({ result: 'ambiguous', error } as const)
  await inputs.ledger.recordOutcome(intent, historyEntry(intent, ended, inputs.clock.now()), ownership)
  return true
}

/** Reads roster, groups and balance, records what is believed of them, and shows it. */
export async function refreshUsage(workspace: Workspace, state: WorkspaceState, signal?: AbortSignal): Promise<void> {
  const reading = await learnUsage(workspace.client, state, { ...workspace, settings: workspace.config }, signal)
  if (reading.facts) {
    workspace.ledger.saveFact('usage', reading.facts)
    workspace.ledger.saveFact('directory', state.directory)
    recordCounted(state, workspace.ledger)
  }
  showUsage(workspace, reading)
}

/** Reads the caps that are due, and returns what policy asks once the readings are taken into account. */
export async function observe(cycle: CycleRun): Promise<DesiredState> {
  const desired = await readDue(cycle)
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
  await sweep({
    ...{ client, scopes, concurrency: config.rate.concurrency, readings, urgent: options.focus !== undefined },
    onReading: options.onReading,
    signal: options.stop,
  })
  state.clockSkewMs = client.clockSkewMs()
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
  if (focus) return focus.has(key) || (scope.kind !== 'user' && readAt === undefined)
  if (readAt === undefined) return true
  return (slice?.has(key) ?? true) && (readSince === undefined || readAt < readSince)
}

/** Records how this deployment treats caps, and how open intents ended. */
async function learnFromReadings(cycle: CycleRun, desired: DesiredState): Promise<DesiredState> {
  const { workspace, state, planner } = cycle
  const { ledger, clock, config } = workspace
  // A sweep takes long, and approvals may have arrived meanwhile.
  await ledger.load()
  noteSeen(ledger, observeSweep(seenIn(ledger), state.readings, desired), clock)
  // Before the open intents are closed: these still tell when their writes were sent.
  await checkLateWrites({ ...cycle, desired })
  const unknown = new Set(unknownScopes(desired.toRead, state.readings).keys())
  const closed = await recoverIntents(recoverInputs(workspace, state, desired, unknown))
  noteChecked(closed, workspace)
  recordRules(state, config, ledger, clock.now())
  const isSame = unknown.symmetricDifference(desired.unknown).size === 0
  const isUnchanged = closed.length === 0 && isSame && desired.grantsFrozen === grantsFrozen(state)
  return isUnchanged ? desired : desiredState(state, planner)
}

function recoverInputs(
  { ledger, clock, lease }: Workspace,
  state: WorkspaceState,
  desired: DesiredState,
  unknown: ReadonlySet<ScopeKey>,
): RecoverInputs {
  const asked = byScope(desired.resolution.desired)
  return {
    ...{ ledger, clock, slots: desired.slots, readings: state.readings },
    desiredAt: (key) => asked.get(key),
    ownedAt: (key) => desired.owned.get(key),
    entryAt: entriesOf(desired.resolution),
    unknown,
    isLeftAlone: (scope) => isLeftAlone(scope, desired),
    quietUntil: lease?.quietUntil(),
  }
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

/** The parts of the state that name people, as plain data. */
const remembered = ({ usage, measured, conflictsGone, conflictGroups, conditions, pools }: WorkspaceState) => {
  return { usage, measured, conflictsGone, conflictGroups, conditions, pools }
}
