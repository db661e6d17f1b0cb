// A workspace at a glance: one verdict, the counts, what a person should look at first, and the parts that /status, the pages and /api/v1 have in
// common. It weighs what is known and finds nothing itself.

import { type ConditionType, kindOf } from '../../../core/model/condition.ts'
import { SCOPE_STATES, type WorkspaceView } from '../../../core/model/events.ts'
import type { Roster } from '../../../core/model/observed.ts'
import { whileInvalid } from '../../../core/model/policy.ts'
import { count, formatInstant } from '../../../core/model/units.ts'
import { usedInCycle } from '../../../core/use/burn.ts'
import { countBands } from '../../../core/use/first-stop.ts'
import { fields, from, ifKnown, object, optional, record, type Shown } from './field.ts'
import * as t from './parts.ts'
import { ratio } from './show.ts'
import type { DaemonFacts } from './types.ts'

type Tone = Shown<typeof t.tone>

const TONES: readonly Tone[] = ['bad', 'warn', 'good']
export const toneRank = (tone: Tone): number => TONES.indexOf(tone)

/** What may need a person, and the verdict where it is what matters most. */
const VERDICTS = {
  cycle: 'the last cycle failed',
  policy: 'policy not valid',
  hold: 'a hold to decide about',
  drift: 'caps differ from policy',
  unread: 'caps unread or refused',
  pause: 'paused',
  credits: 'credits run out early',
  warning: 'a warning',
  config: 'config not valid',
  ledger: 'the ledger cannot be written',
} as const

export const attention = record('Something that needs a person.')({
  workspace: t.plain(),
  tone: t.words(['bad', 'warn'], 'How much it needs one.'),
  subject: t.words(Object.keys(VERDICTS) as (keyof typeof VERDICTS)[]),
  text: t.text('One sentence.'),
  path: t.plain('The page about it.'),
})
export type AttentionEntry = Shown<typeof attention>

const use = object<WorkspaceView & { readonly roster: Roster }>('Credits that the team used in this cycle.')({
  readAt: from(t.instant('When people and their use were read.'), ({ roster }) => roster.readAt),
  used: ifKnown(t.figure('Of all people; absent where the service shows none.'), ({ roster }) => usedInCycle(roster)),
  cycleCredits: ifKnown(t.amount('All credits of the cycle: of the seats and add-on credits.'), t.creditsNow),
  ratios: from(t.ratios, (view) =>
    Object.fromEntries(Object.entries(view.use?.figures?.ratios ?? {}).map(([window, value]) => [window, ratio(value)])),
  ),
  projected: ifKnown(t.projection, (view) => view.use?.figures?.projected),
  exhaustion: ifKnown(
    t.instant('When the add-on credits are expected to run out; absent when they last, or that is not known.'),
    (view) => view.use?.figures?.exhaustedAt,
  ),
  lasts: ifKnown(t.flag('They are expected to last to the end of the cycle.'), (view) => view.use?.figures?.lasts),
})

/** One workspace for the overview, and the head of its own page. */
export const SUMMARY = fields<ReturnType<typeof summaryOf>>()({
  name: from(t.plain(), ({ workspace }) => workspace),
  ...t.STATE,
  tone: t.tone,
  verdict: t.plain('What matters most now, in a few words.'),
  heldBy: ifKnown(t.text('The replica that holds this workspace.'), ({ lease }) => lease?.holder),
  scopes: from(t.counts(SCOPE_STATES, 'Managed scopes by state.'), ({ scopes }) => t.countStates(scopes)),
  holds: from(t.count('Holds in force.'), ({ holds }) => holds.length),
  people: ifKnown(t.count('People on the roster.'), ({ roster }) => roster?.people.length),
  bands: ifKnown(t.bandCounts('People by how near they are to the cap in force; absent while none is known.'), ({ people }) =>
    countBands(people),
  ),
  cycle: ifKnown(t.cycle, t.cycleOf),
  use: ifKnown(use, ({ roster, ...view }) => roster && { ...view, roster }),
  balance: ifKnown(t.balance, t.balanceNow),
  policy: optional(t.policyState),
})

/** A view with what matters most in it. */
export const summaryOf = (view: WorkspaceView) => ({ ...view, ...verdictOf(view, attentionOf(view)[0]) })

function verdictOf(view: WorkspaceView, first: AttentionEntry | undefined): { readonly tone: Tone; readonly verdict: string } {
  const isBroken = view.policy?.valid === false
  if (!view.lastCycle) return isBroken ? { tone: 'bad', verdict: VERDICTS.policy } : { tone: 'warn', verdict: 'first cycle under way' }
  if (!first) return { tone: 'good', verdict: 'in sync' }
  return { tone: first.tone, verdict: VERDICTS[first.subject] }
}

/** What a person should look at in one workspace, the most pressing first. */
export function attentionOf(view: WorkspaceView): readonly AttentionEntry[] {
  const { workspace, lastCycle, policy, pause, holds, scopes } = view
  const found: AttentionEntry[] = []
  const base = `/workspaces/${encodeURIComponent(workspace)}`
  const tell = (tone: AttentionEntry['tone'], subject: AttentionEntry['subject'], text: string, path = ''): void => {
    found.push({ workspace, tone, subject, text, path: `${base}${path}` })
  }
  const counts = t.countStates(scopes)
  if (lastCycle?.result === 'error')
    tell('bad', 'cycle', ['the last cycle failed', ...(lastCycle.message === undefined ? [] : [lastCycle.message])].join(': '), '/health')
  if (policy && !policy.valid) tell('bad', 'policy', `the policy files are not valid; ${whileInvalid(policy.digest)}`, '/policies')
  const refused = policy?.valid ? policy.problems.filter(({ severity }) => severity === 'error').length : 0
  if (refused > 0) tell('warn', 'policy', `${count(refused, 'error')} in what teams declare; what was accepted last stays`, '/policies')
  for (const { type, message } of view.conditions) if (type === 'EnvelopeRefused') tell('warn', 'policy', message, '/policies')
  for (const { id, people, guards } of holds) {
    tell('warn', 'hold', `${guards.join(', ')}: ${count(people, 'person', 'people')} affected, waits for a decision`, `/holds/${id}`)
  }
  const off = counts.drifted + counts.contested
  if (off > 0) tell('warn', 'drift', `${count(off, 'scope')} differ${off === 1 ? 's' : ''} from policy`)
  const unread = counts.unknown + counts.rejected
  if (unread > 0) tell('warn', 'unread', `${count(unread, 'scope')} could not be read or ${unread === 1 ? 'was' : 'were'} refused`)
  if (pause) tell('warn', 'pause', `paused until ${formatInstant(pause.untilAt)}: ${pause.reason}`)
  const exhaustedAt = view.use?.figures?.exhaustedAt
  if (exhaustedAt !== undefined) tell('warn', 'credits', `add-on credits run out ${formatInstant(exhaustedAt)}, before the cycle ends`)
  for (const { type, message } of t.warningsOf(view)) {
    const { severity } = kindOf(type)
    if (severity !== 'info') tell(severity === 'error' ? 'bad' : 'warn', 'warning', message, '/health')
  }
  return found.toSorted((a, b) => toneRank(a.tone) - toneRank(b.tone))
}

/** What concerns the whole daemon. */
export function daemonAttention({ configValid, ledgerWritable, conditions = [] }: DaemonFacts): readonly AttentionEntry[] {
  const entry = (subject: AttentionEntry['subject'], type: ConditionType, usual: string): AttentionEntry => {
    const detail = conditions.find((one) => one.type === type && one.message !== kindOf(type).begun)?.message
    return { workspace: '', tone: 'bad', subject, text: detail ?? usual, path: '/' }
  }
  return [
    ...(configValid ? [] : [entry('config', 'ConfigInvalid', 'the config file is not valid; the last good one is in force')]),
    ...(ledgerWritable ? [] : [entry('ledger', 'LedgerUnwritable', 'the ledger cannot be written, so no cap is written')]),
  ]
}
