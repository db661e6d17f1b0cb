// /status from the views: plain JSON, bounded lists, what needs a person first. It is older than /api/v1: here a line of a policy is a text, and `people`
// says how people are shown. Names of people and keys never get in.

import type { Hold } from '../../../core/model/change.ts'
import { byUrgency } from '../../../core/model/condition.ts'
import {
  GRANT_STATES,
  type LeaseShown,
  type PersonStatus,
  type PolicyStatus,
  type PoolStatus,
  type UseShown,
  type WorkspaceView,
} from '../../../core/model/events.ts'
import type { GroupMembers, Roster } from '../../../core/model/observed.ts'
import { formatPosition, type Position } from '../../../core/model/problem.ts'
import { ADD_ON_SOURCES, addOnFigures, totalAddOn } from '../../../core/use/add-on.ts'
import { usedInCycle } from '../../../core/use/burn.ts'
import { bandRank, countBands } from '../../../core/use/first-stop.ts'
import { from, ifKnown, type Kind, object, optional, record } from '../documents/field.ts'
import * as t from '../documents/parts.ts'
import type { DaemonFacts, Showing } from '../documents/types.ts'

/** Bounds of the lists; what exceeds them is counted in `…Omitted`. Choice. */
const STATUS_LIMITS = {
  scopes: 500,
  people: 100,
  changes: 50,
  problems: 50,
  pools: 100,
  rules: 100,
} as const

const line = (description: string): Kind<Position, string> => ({
  schema: t.text(`${description} \`file:line:column\`.`).schema,
  show: (at, { people }) => people.text(formatPosition(at)),
})

const addOnSource = t.words(ADD_ON_SOURCES, 'Where the figure comes from.')

const lease = object<LeaseShown>('The replica that holds the workspace, where several replicas share the ledger.')({
  isHere: t.flag('It is this replica.'),
  holder: optional(t.plain('Its name; absent while no replica holds it.')),
})

const { length: _, ...PROBLEM } = t.problemWith(line('Where.'))

const policy = object<PolicyStatus>('The policies in force.')({
  ...t.POLICY_STATE,
  ...t.bounded(
    'problems',
    STATUS_LIMITS.problems,
    object<PolicyStatus['problems'][number]>('A problem in a policy file.')(PROBLEM),
    'In the order of the files.',
  ),
})

const hold = object<Hold>('Changes that a guard holds.')({
  id: t.plain('32 hex digits.'),
  guards: t.list(t.guard, 'Which guards.'),
  people: t.count('People who are affected.'),
  message: t.text(),
  ...t.bounded(
    'changes',
    STATUS_LIMITS.changes,
    object<Hold['changes'][number]>('A held change.')({ scope: t.scopeName, from: t.cap(), to: t.cap() }),
    'In the order of writing.',
  ),
})

const pool = object<PoolStatus>('A budget over caps in this cycle, in credits.')({
  name: t.text(),
  credits: t.figure('Credits of all members together.'),
  people: ifKnown(t.count('Its members.'), ({ figures }) => figures?.members),
  readAt: ifKnown(t.instant('When the use was read.'), ({ figures }) => figures?.readAt),
  used: ifKnown(t.amount('Credits used; absent until use was read.'), ({ figures }) => figures?.used),
  dealt: ifKnown(t.dealt, ({ figures }) => figures?.dealt),
  exhaustion: t.poolExhaustion,
  dealtAt: optional(t.instant('When it was dealt last.')),
  frozen: optional(t.text('Why the last deal stays.')),
})

const rule = record('A rule.')({ name: t.text(), people: t.count('People for whom it is the first match.') })

/** A view with a roster. */
type Rostered = WorkspaceView & { readonly roster: Roster }

const addOn = object<ReturnType<typeof addOnOf>>('Add-on use of people in this cycle, by which bands and guards go.')({
  source: addOnSource,
  credits: optional(t.figure('The sum; absent when nothing is known.')),
  readAt: ifKnown(t.instant('When it was measured.'), ({ measured }) => measured?.readAt),
  latestDay: ifKnown(t.day('The last day with measured use.'), ({ measured }) => measured?.latestDayAt),
  notMeasured: optional(t.words(['absent', 'denied'], 'The service does not have it, or does not give it to this key.')),
})

function addOnOf(view: Rostered, { now }: Pick<Showing, 'now'>) {
  const { measured, notMeasured, balance, roster } = view
  const figures = addOnFigures({ now, cycle: t.cycleOf(view), measured, balance })
  const isMeasured = figures.source === 'measured'
  return {
    source: figures.source,
    credits: totalAddOn(figures, roster.people),
    measured: isMeasured ? measured : undefined,
    notMeasured: isMeasured ? undefined : notMeasured,
  }
}

const near = object<PersonStatus>('A person at 85 % of their cap or more.')({
  person: from(t.person('As `people` says.'), ({ email }) => email),
  cap: optional(t.cap()),
  used: optional(t.figure('Add-on credits.')),
  source: optional(addOnSource),
  band: from(t.band, ({ band = 'at_cap' }) => band),
})

const use = object<Rostered>('Use in this cycle, in credits.')({
  readAt: from(t.instant('When it was read.'), ({ roster }) => roster.readAt),
  people: from(t.count('On the roster.'), ({ roster }) => roster.people.length),
  used: ifKnown(t.figure('Of all people.'), ({ roster }) => usedInCycle(roster)),
  cycleStart: ifKnown(t.instant('Its first instant.'), (view) => t.cycleOf(view)?.startAt),
  cycleEnd: ifKnown(t.instant('The first instant of the next.'), (view) => t.cycleOf(view)?.endAt),
  addOn: from(addOn, addOnOf),
  bands: ifKnown(t.bandCounts('People by how near they are to their cap; absent while nothing is known.'), ({ people }) =>
    countBands(people),
  ),
  ...t.bounded('nearCap', STATUS_LIMITS.people, near, 'The nearest first.', ({ people }: Rostered) =>
    people
      .filter(({ band }) => bandRank(band) >= bandRank('85_to_95'))
      .sort((a, b) => bandRank(b.band) - bandRank(a.band) || (b.used ?? 0) - (a.used ?? 0)),
  ),
})

const burn = object<UseShown>('How fast credits are burned, and where that leads.')({
  ratios: from(t.ratios, ({ figures }) => figures?.ratios ?? {}),
  projected: ifKnown(t.projection, ({ figures }) => figures?.projected),
  exhaustion: ifKnown(
    t.instant('When the add-on credits are expected to run out; absent when they last.'),
    ({ figures }) => figures?.exhaustedAt,
  ),
  ...t.models(({ models }: UseShown) => models),
})

const group = object<GroupMembers>('A declared group.')({
  id: t.text(),
  name: t.text(),
  members: from(t.count('How many.'), ({ emails }) => emails.length),
  used: optional(t.figure('Credits in this cycle.')),
  readAt: t.instant('When it was read.'),
})

const workspace = object<WorkspaceView>('One workspace.')({
  workspace: t.plain('Its name.'),
  ...t.STATE,
  lease: optional(lease),
  policy: optional(policy),
  scopeCounts: from(t.scopesByKind, ({ scopes }) => scopes),
  ...t.bounded(
    'scopes',
    STATUS_LIMITS.scopes,
    t.scopeWith(line('The declaration.')),
    'Those that need attention first.',
    ({ scopes }: WorkspaceView) => [...t.notInSync(scopes), ...scopes.filter(({ state }) => state === 'in_sync')],
  ),
  holds: t.list(hold, 'Holds in force.'),
  approvals: t.list(t.approval, 'Those on record.'),
  grants: t.counts(GRANT_STATES, 'Grants by state.'),
  ...t.bounded('pools', STATUS_LIMITS.pools, pool, 'By name.', ({ pools = [] }: WorkspaceView) => pools),
  ...t.bounded('rules', STATUS_LIMITS.rules, rule, 'In the order in which they apply.', ({ rules = [] }: WorkspaceView) => rules),
  use: ifKnown(use, ({ roster, ...view }) => roster && { ...view, roster }),
  balance: optional(t.balance),
  burn: ifKnown(burn, (view) => view.use),
  history: optional(t.history),
  groups: t.list(group, 'Declared groups.'),
  ratePerSecond: optional(t.figure('Requests per second, as learned.')),
  clockSkewSeconds: ifKnown(t.clockSkew, ({ clockSkewMs }) => clockSkewMs),
  seen: ifKnown(t.findings, ({ seen = {} }) => seen),
  warnings: from(t.warnings, (view) => view),
})

export const STATUS = object<DaemonFacts & { readonly workspaces: readonly WorkspaceView[] }>('The state of every workspace.')({
  apiVersion: t.literal('capkeeper/v1'),
  kind: t.literal('Status'),
  version: t.plain('Of capkeeper.'),
  at: from(t.instant('When this was made.'), (_, { now }) => now),
  people: from(t.words(['hash', 'email'], 'How people are shown.'), (_, { people }) => people.shown),
  configValid: t.flag('The config file is valid.'),
  ledgerWritable: t.flag('The ledger can be written.'),
  conditions: from(t.list(t.condition, 'Of the process as a whole.'), ({ conditions = [] }) => byUrgency(conditions)),
  workspaces: t.list(workspace, 'In the order of the config.'),
})

/** The state of every workspace as a document; docs/metrics.md. */
export const statusDocument = (workspaces: readonly WorkspaceView[], daemon: DaemonFacts, showing: Showing) =>
  STATUS.show({ ...daemon, workspaces }, showing)
