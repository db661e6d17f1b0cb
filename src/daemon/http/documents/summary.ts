// A workspace at a glance: one verdict, the counts, and what a person should look at first. It weighs what others found; it finds nothing
// itself, and names nobody.

import { byUrgency, type Condition, type ConditionType, kindOf, type Severity } from '../../../core/model/condition.ts'
import type { ScopeState, ScopeStatus, WorkspaceView } from '../../../core/model/events.ts'
import { whileInvalid } from '../../../core/model/policy.ts'
import { countBands } from '../../../core/use/bands.ts'
import { creditsOfCycle } from '../../../core/use/burn.ts'
import { projectedCents } from '../../../core/use/forecast.ts'
import type { DaemonFacts, Showing } from './facts.ts'
import { cents, minuteText, ratio, rfc3339 } from './show.ts'
import type { AttentionEntry, WorkspaceSummary } from './types.ts'

export type Tone = AttentionEntry['tone']

const TONES: readonly Tone[] = ['bad', 'warn', 'good']
export const toneRank = (tone: Tone): number => TONES.indexOf(tone)

/** One workspace for the overview, and the head of its own page. */
export function summaryOf(view: WorkspaceView, showing: Showing): WorkspaceSummary {
  const { people } = showing
  const { pause, lastCycle, policy } = view
  const [first] = attentionOf(view, showing)
  const cycle = view.roster?.cycle ?? view.balance?.cycle
  const bands = countBands(view.people)
  return {
    name: view.workspace,
    mode: view.mode,
    ...verdictOf(view, first),
    ...(pause && { pause: { until: rfc3339(pause.untilAt), since: rfc3339(pause.pausedAt), reason: people.text(pause.reason) } }),
    ...(lastCycle && { lastCycle: lastCycleOf(lastCycle, showing) }),
    ...(view.lastSuccessAt !== undefined && { lastSuccessAt: rfc3339(view.lastSuccessAt) }),
    ...(view.lease?.holder !== undefined && { heldBy: people.text(view.lease.holder) }),
    scopes: countStates(view.scopes),
    holds: view.holds.length,
    warnings: warningsOf(view).length,
    ...(view.roster && { people: view.roster.people.length }),
    ...(bands && { bands }),
    ...(cycle && { cycle: { start: rfc3339(cycle.startAt), end: rfc3339(cycle.endAt) } }),
    ...useOf(view),
    ...(view.balance && { balance: balanceOf(view.balance) }),
    ...(policy && { policy: policyOf(policy) }),
    ...conditionsOf(view, showing),
  }
}

export function lastCycleOf(
  cycle: NonNullable<WorkspaceView['lastCycle']>,
  { people }: Showing,
): NonNullable<WorkspaceSummary['lastCycle']> {
  const { startedAt, finishedAt, result, message } = cycle
  return {
    startedAt: rfc3339(startedAt),
    finishedAt: rfc3339(finishedAt),
    result,
    ...(message !== undefined && { message: people.text(message) }),
  }
}

export const policyOf = ({ valid, digest, revision, loadedAt }: NonNullable<WorkspaceView['policy']>) => ({
  valid,
  digest,
  revision,
  loadedAt: rfc3339(loadedAt),
})

const balanceOf = ({ readAt, creditsPerSeat, seats, addOnAvailable, addOnUsed }: NonNullable<WorkspaceView['balance']>) => ({
  readAt: rfc3339(readAt),
  creditsPerSeat,
  seats,
  addOnAvailable,
  addOnUsed,
})

function useOf({ roster, balance, use }: WorkspaceView): Pick<WorkspaceSummary, 'use'> {
  if (!roster) return {}
  const used = usedIn(roster)
  const { ratios = {}, projected, exhaustedAt } = use?.figures ?? {}
  return {
    use: {
      readAt: rfc3339(roster.readAt),
      ...(used !== undefined && { used }),
      ...(balance && { cycleCredits: cents(creditsOfCycle(balance)) }),
      ratios: Object.fromEntries(Object.entries(ratios).map(([window, value]) => [window, ratio(value)])),
      ...(projected && { projected: projectedCents(projected) }),
      ...(exhaustedAt !== undefined && { exhaustion: rfc3339(exhaustedAt) }),
    },
  }
}

/** What everybody used in this cycle; absent where nobody carries a figure. */
export function usedIn({ people }: NonNullable<WorkspaceView['roster']>): number | undefined {
  let sum: number | undefined
  for (const { used } of people) if (used !== undefined) sum = (sum ?? 0) + used
  return sum === undefined ? undefined : cents(sum)
}

function countStates(scopes: readonly ScopeStatus[]): Readonly<Record<ScopeState, number>> {
  const counts = { in_sync: 0, drifted: 0, held: 0, unknown: 0, rejected: 0, contested: 0, skipped: 0, undeclared: 0 }
  for (const { state } of scopes) counts[state] += 1
  return counts
}

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
  warning: 'a warning stands',
  people: 'people at their cap',
  config: 'config not valid',
  ledger: 'the ledger cannot be written',
}

const SEVERITY_TONES: Readonly<Record<Severity, Tone>> = { error: 'bad', warn: 'warn', info: 'good' }

/** Conditions that show nowhere else. */
export const warningsOf = ({ conditions }: WorkspaceView): readonly Condition[] =>
  byUrgency(conditions).filter(({ type }) => !kindOf(type).hasOwnPlace)

/** More than anybody reads; each has a place of its own besides. Choice. */
const MOST_CONDITIONS = 100

/** What is so now, what needs a person first. */
export const conditionsOf = ({ conditions }: WorkspaceView, { people }: Showing) => ({
  conditions: byUrgency(conditions)
    .slice(0, MOST_CONDITIONS)
    .map(({ type, scope, subject, reason, message, since }) => ({
      type,
      severity: kindOf(type).severity,
      subject: scope?.kind === 'user' ? people.label(scope.email) : people.text(subject),
      reason,
      message: people.text(message),
      since: rfc3339(since),
    })),
  conditionsOmitted: Math.max(0, conditions.length - MOST_CONDITIONS),
})

const many = (count: number, one: string, several = `${one}s`): string => `${count} ${count === 1 ? one : several}`

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
  for (const { id, people, guards } of holds) {
    tell('warn', 'hold', `${guards.join(', ')}: ${many(people, 'person', 'people')} affected, waits for a decision`, `/holds/${id}`)
  }
  const off = counts.drifted + counts.contested
  if (off > 0) tell('warn', 'drift', `${many(off, 'scope')} differ${off === 1 ? 's' : ''} from policy`, '')
  const unread = counts.unknown + counts.rejected
  if (unread > 0) tell('warn', 'unread', `${many(unread, 'scope')} could not be read or ${unread === 1 ? 'was' : 'were'} refused`, '')
  if (pause) tell('warn', 'pause', `paused until ${minuteText(pause.untilAt)}: ${showing.people.text(pause.reason)}`, '')
  const exhaustedAt = view.use?.figures?.exhaustedAt
  if (exhaustedAt !== undefined) tell('warn', 'credits', `add-on credits run out ${minuteText(exhaustedAt)}, before the cycle ends`, '')
  for (const { type, message } of warningsOf(view))
    tell(SEVERITY_TONES[kindOf(type).severity], 'warning', showing.people.text(message), '/health')
  const atCap = countBands(view.people)?.at_cap ?? 0
  if (atCap > 0) tell('good', 'people', `${many(atCap, 'person', 'people')} at their cap`, '/people?band=at_cap')
  return found.toSorted((a, b) => toneRank(a.tone) - toneRank(b.tone))
}

/** What documents say of the daemon. */
export const daemonPart = ({ version, configValid, ledgerWritable }: DaemonFacts) => ({ version, configValid, ledgerWritable })

/** What concerns all workspaces. */
export function daemonAttention(daemon: DaemonFacts, { people }: Showing): readonly AttentionEntry[] {
  const { configValid, ledgerWritable, conditions = [] } = daemon
  const found: AttentionEntry[] = []
  const tell = (subject: AttentionEntry['subject'], text: string): void => {
    found.push({ workspace: '', tone: 'bad', subject, text: people.text(text), path: '/' })
  }
  const told = (type: ConditionType): string | undefined =>
    conditions.find((one) => one.type === type && one.message !== kindOf(type).begun)?.message
  if (!configValid) tell('config', told('ConfigInvalid') ?? 'the config file is not valid; the last good one is in force')
  if (!ledgerWritable) tell('ledger', told('LedgerUnwritable') ?? 'the ledger cannot be written, so no cap is written')
  return found
}

/** Scopes by kind and state. */
export const countsByKind = (scopes: readonly ScopeStatus[]) => ({
  team: countStates(scopes.filter(({ scope }) => scope.kind === 'team')),
  group: countStates(scopes.filter(({ scope }) => scope.kind === 'group')),
  user: countStates(scopes.filter(({ scope }) => scope.kind === 'user')),
})
