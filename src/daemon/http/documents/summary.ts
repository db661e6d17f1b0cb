// A workspace at a glance: one verdict, the counts, what a person should look at first, and the parts that /status, the pages and /api/v1 have in
// common. It weighs what is known and finds nothing itself.

import { byUrgency, type Condition, type ConditionType, kindOf, type Severity } from '../../../core/model/condition.ts'
import type { HistoryShown, ModelUse, PoolStatus, ScopeState, ScopeStatus, WorkspaceView } from '../../../core/model/events.ts'
import type { Roster } from '../../../core/model/observed.ts'
import { whileInvalid } from '../../../core/model/policy.ts'
import { compareScopes } from '../../../core/model/scope.ts'
import { count, formatInstant } from '../../../core/model/units.ts'
import { creditsOfCycle, projectedCents, usedInCycle } from '../../../core/use/burn.ts'
import { countBands } from '../../../core/use/first-stop.ts'
import { bounded, cents, dayText, ratio, rfc3339, scopeText } from './show.ts'
import type { AttentionEntry, DaemonFacts, Showing, WorkspaceSummary } from './types.ts'

type Shown = Pick<Showing, 'people'>

type Tone = AttentionEntry['tone']

const TONES: readonly Tone[] = ['bad', 'warn', 'good']
export const toneRank = (tone: Tone): number => TONES.indexOf(tone)

/** One workspace for the overview, and the head of its own page. */
export function summaryOf(view: WorkspaceView, showing: Showing): WorkspaceSummary {
  const { policy, balance } = view
  const [first] = attentionOf(view, showing)
  const cycle = view.roster?.cycle ?? balance?.cycle
  const bands = countBands(view.people)
  return {
    name: view.workspace,
    ...stateOf(view, showing),
    ...verdictOf(view, first),
    heldBy: showing.people.text(view.lease?.holder),
    scopes: countStates(view.scopes),
    holds: view.holds.length,
    warnings: warningTexts(view, showing).length,
    people: view.roster?.people.length,
    bands,
    cycle: cycle && { start: rfc3339(cycle.startAt), end: rfc3339(cycle.endAt) },
    use: view.roster && useOf(view, view.roster),
    balance: balance && balanceOf(balance),
    policy: policy && policyOf(policy),
  }
}

/** The mode, the pause, the last cycle, and the conditions. */
export const stateOf = ({ mode, pause, lastCycle, lastSuccessAt, conditions }: WorkspaceView, { people }: Shown) => ({
  mode,
  pause: pause && { until: rfc3339(pause.untilAt), since: rfc3339(pause.pausedAt), reason: people.text(pause.reason) },
  lastCycle: lastCycle && {
    startedAt: rfc3339(lastCycle.startedAt),
    finishedAt: rfc3339(lastCycle.finishedAt),
    result: lastCycle.result,
    message: people.text(lastCycle.message),
  },
  lastSuccessAt: rfc3339(lastSuccessAt),
  ...bounded('conditions', conditionEntries(conditions, { people }), MOST_CONDITIONS, (entry) => entry),
})

/** Conditions that one document lists. Choice. */
const MOST_CONDITIONS = 100

/** The most urgent first. */
export const conditionEntries = (conditions: readonly Condition[], { people }: Shown) =>
  byUrgency(conditions).map(({ type, scope, subject, reason, message, since }) => ({
    type,
    severity: kindOf(type).severity,
    subject: scope ? scopeText(scope, { people }) : people.text(subject),
    reason: people.text(reason),
    message: people.text(message),
    since: rfc3339(since),
  }))

/** Conditions that no other field of a document shows. */
const warningsOf = ({ conditions }: WorkspaceView): readonly Condition[] =>
  byUrgency(conditions).filter(({ type }) => !kindOf(type).hasOwnPlace)

export const warningTexts = (view: WorkspaceView, { people }: Shown): readonly string[] =>
  warningsOf(view).map(({ message }) => people.text(message))

export const policyOf = ({ valid, digest, revision, loadedAt }: NonNullable<WorkspaceView['policy']>) => ({
  valid,
  digest,
  revision,
  loadedAt: rfc3339(loadedAt),
})

export const balanceOf = ({ readAt, creditsPerSeat, seats, addOnAvailable, addOnUsed }: NonNullable<WorkspaceView['balance']>) => ({
  readAt: rfc3339(readAt),
  creditsPerSeat,
  seats,
  addOnAvailable,
  addOnUsed,
})

/** What is known of a pool in this cycle; its declaration is shown beside it. */
export const poolFigures = ({ figures, dealtAt, frozen }: Partial<PoolStatus>, { people }: Shown) => ({
  used: cents(figures?.used),
  dealt: cents(figures?.dealt),
  exhaustion: rfc3339(figures?.exhaustedAt),
  dealtAt: rfc3339(dealtAt),
  frozen: people.text(frozen),
})

/** Models that one document lists. Choice. */
const MOST_MODELS = 20

export const modelEntries = (models: readonly ModelUse[], { people }: Shown) =>
  bounded('models', models, MOST_MODELS, ({ model, mode, used }) => ({ model: people.text(model), mode: people.text(mode), used }))

function useOf({ balance, use }: WorkspaceView, roster: Roster): NonNullable<WorkspaceSummary['use']> {
  const { ratios = {}, projected, exhaustedAt } = use?.figures ?? {}
  return {
    readAt: rfc3339(roster.readAt),
    used: usedInCycle(roster),
    cycleCredits: balance && cents(creditsOfCycle(balance)),
    ratios: Object.fromEntries(Object.entries(ratios).map(([window, value]) => [window, ratio(value)])),
    projected: projected && projectedCents(projected),
    exhaustion: rfc3339(exhaustedAt),
  }
}

function countStates(scopes: readonly ScopeStatus[]): Readonly<Record<ScopeState, number>> {
  const counts = { in_sync: 0, drifted: 0, held: 0, unknown: 0, rejected: 0, contested: 0, skipped: 0, undeclared: 0 }
  for (const { state } of scopes) counts[state] += 1
  return counts
}

/** Scopes by kind and state. */
export const countsByKind = (scopes: readonly ScopeStatus[]) => ({
  team: countStates(scopes.filter(({ scope }) => scope.kind === 'team')),
  group: countStates(scopes.filter(({ scope }) => scope.kind === 'group')),
  user: countStates(scopes.filter(({ scope }) => scope.kind === 'user')),
})

const ATTENTION: readonly ScopeState[] = ['rejected', 'contested', 'held', 'drifted', 'unknown', 'undeclared', 'skipped']

/** Scopes that are not in sync, those that need a person first. */
export const notInSync = (scopes: readonly ScopeStatus[]): readonly ScopeStatus[] =>
  scopes
    .filter(({ state }) => state !== 'in_sync')
    .sort((a, b) => ATTENTION.indexOf(a.state) - ATTENTION.indexOf(b.state) || compareScopes(a.scope, b.scope))

function verdictOf(view: WorkspaceView, first: AttentionEntry | undefined): { readonly tone: Tone; readonly verdict: string } {
  const isBroken = view.policy?.valid === false
  if (!view.lastCycle) return isBroken ? { tone: 'bad', verdict: VERDICTS.policy } : { tone: 'warn', verdict: 'first cycle under way' }
  if (!first || first.tone === 'good') return { tone: 'good', verdict: 'in sync' }
  return { tone: first.tone, verdict: VERDICTS[first.subject] }
}

const VERDICTS: Readonly<Record<AttentionEntry['subject'], string>> = {
  cycle: 'the last cycle failed',
  policy: 'policy not valid',
  hold: 'a hold to decide about',
  drift: 'caps differ from policy',
  unread: 'caps unread or refused',
  pause: 'paused',
  credits: 'credits run out early',
  warning: 'a warning',
  people: 'people at their cap',
  config: 'config not valid',
  ledger: 'the ledger cannot be written',
}

const SEVERITY_TONES: Readonly<Record<Severity, Tone>> = { error: 'bad', warn: 'warn', info: 'good' }

/** What a person should look at in one workspace, the most pressing first. */
export function attentionOf(view: WorkspaceView, showing: Showing): readonly AttentionEntry[] {
  const { workspace, lastCycle, policy, pause, holds, scopes } = view
  const found: AttentionEntry[] = []
  const base = `/workspaces/${encodeURIComponent(workspace)}`
  const tell = (tone: Tone, subject: AttentionEntry['subject'], text: string, path = ''): void => {
    found.push({ workspace, tone, subject, text, path: `${base}${path}` })
  }
  const counts = countStates(scopes)
  if (lastCycle?.result === 'error') {
    const { message } = lastCycle
    tell('bad', 'cycle', `the last cycle failed${message === undefined ? '' : `: ${showing.people.text(message)}`}`, '/health')
  }
  if (policy && !policy.valid) tell('bad', 'policy', `the policy files are not valid; ${whileInvalid(policy.digest)}`, '/policies')
  const refused = policy?.valid ? policy.problems.filter(({ severity }) => severity === 'error').length : 0
  if (refused > 0) tell('warn', 'policy', `${count(refused, 'error')} in what teams declare; what was accepted last stays`, '/policies')
  for (const { type, message } of view.conditions)
    if (type === 'EnvelopeRefused') tell('warn', 'policy', showing.people.text(message), '/policies')
  for (const { id, people, guards } of holds) {
    tell('warn', 'hold', `${guards.join(', ')}: ${count(people, 'person', 'people')} affected, waits for a decision`, `/holds/${id}`)
  }
  const off = counts.drifted + counts.contested
  if (off > 0) tell('warn', 'drift', `${count(off, 'scope')} differ${off === 1 ? 's' : ''} from policy`)
  const unread = counts.unknown + counts.rejected
  if (unread > 0) tell('warn', 'unread', `${count(unread, 'scope')} could not be read or ${unread === 1 ? 'was' : 'were'} refused`)
  if (pause) tell('warn', 'pause', `paused until ${formatInstant(pause.untilAt)}: ${showing.people.text(pause.reason)}`)
  const exhaustedAt = view.use?.figures?.exhaustedAt
  if (exhaustedAt !== undefined) tell('warn', 'credits', `add-on credits run out ${formatInstant(exhaustedAt)}, before the cycle ends`)
  for (const { type, message } of warningsOf(view))
    tell(SEVERITY_TONES[kindOf(type).severity], 'warning', showing.people.text(message), '/health')
  const atCap = countBands(view.people)?.at_cap ?? 0
  if (atCap > 0) tell('good', 'people', `${count(atCap, 'person', 'people')} at their cap`, '/people?band=at_cap')
  return found.toSorted((a, b) => toneRank(a.tone) - toneRank(b.tone))
}

export const daemonPart = ({ version, configValid, ledgerWritable }: DaemonFacts) => ({ version, configValid, ledgerWritable })

/** What concerns the whole daemon. */
export function daemonAttention(
  { configValid, ledgerWritable, conditions = [] }: DaemonFacts,
  { people }: Shown,
): readonly AttentionEntry[] {
  const entry = (subject: AttentionEntry['subject'], type: ConditionType, usual: string): AttentionEntry => {
    const detail = conditions.find((one) => one.type === type && one.message !== kindOf(type).begun)?.message
    return { workspace: '', tone: 'bad', subject, text: people.text(detail ?? usual), path: '/' }
  }
  return [
    ...(configValid ? [] : [entry('config', 'ConfigInvalid', 'the config file is not valid; the last good one is in force')]),
    ...(ledgerWritable ? [] : [entry('ledger', 'LedgerUnwritable', 'the ledger cannot be written, so no cap is written')]),
  ]
}

/** How much of the past of people is known. */
export const historyOf = ({ fromAt, untilAt, days, left, stopped }: HistoryShown) => ({
  ...{ from: dayText(fromAt), until: dayText(untilAt - 1), days, left },
  stopped,
})
