// The schema of /status, which is older than /api/v1: here a line of a policy is a text, and `people` says how people are shown. Schemas only; see
// parts-source.ts.
import Type from 'typebox'
import { BANDS, GRANT_STATES } from '../../../../core/model/events.ts'
import { ADD_ON_SOURCES } from '../../../../core/use/add-on.ts'
import * as t from './parts-source.ts'
import { approval, finding, history, lastCycle, model, POLICY_STATE, pause, ratios, scopesByKind, scopeWith } from './workspace-source.ts'

const line = (description: string) => t.optional(t.text(`${description} \`file:line:column\`.`))
const addOnSource = t.words(ADD_ON_SOURCES, 'Where the figure comes from.')

const lease = t.object('The replica that holds the workspace, where several replicas share the ledger.', {
  isHere: t.flag('It is this replica.'),
  holder: t.optional(t.text('Its name; absent while no replica holds it.')),
})

const { length: _, ...problem } = t.problemWith(line('Where.'))

const policy = t.object('The policies in force.', {
  ...POLICY_STATE,
  ...t.boundedOf('problems', 'In the order of the files.', 'A problem in a policy file.', problem),
})

const scope = scopeWith(line('The declaration.'))

const hold = t.object('Changes that a guard holds.', {
  id: t.text('32 hex digits.'),
  guards: t.list(t.guard, 'Which guards.'),
  people: t.count('People who are affected.'),
  message: t.text(),
  ...t.bounded('changes', t.object('A held change.', { scope: t.scopeName, from: t.cap(), to: t.cap() }), 'In the order of writing.'),
})

const pool = t.object('A budget over caps in this cycle, in credits.', {
  name: t.text(),
  credits: t.figure('Credits of all members together.'),
  used: t.optional(t.figure('Credits used; absent until use was read.')),
  dealt: t.dealt,
  people: t.optional(t.count('Its members.')),
  exhaustion: t.optional(t.instant('When it is expected to be used up; absent when not within the cycle.')),
  readAt: t.optional(t.instant('When the use was read.')),
  dealtAt: t.optional(t.instant('When it was dealt last.')),
  frozen: t.optional(t.text('Why the last deal stays.')),
})

const addOn = t.object('Add-on use of people in this cycle, by which bands and guards go.', {
  source: addOnSource,
  credits: t.optional(t.figure('The sum; absent when nothing is known.')),
  readAt: t.optional(t.instant('When it was measured.')),
  latestDay: t.optional(t.day('The last day with measured use.')),
  notMeasured: t.optional(t.words(['absent', 'denied'], 'The service does not have it, or does not give it to this key.')),
})

const near = t.object('A person at 85 % of their cap or more.', {
  person: t.text('As `people` says.'),
  cap: t.optional(t.cap()),
  used: t.optional(t.figure('Add-on credits.')),
  source: t.optional(addOnSource),
  band: t.band,
})

const use = t.object('Use in this cycle, in credits.', {
  readAt: t.instant('When it was read.'),
  people: t.count('On the roster.'),
  used: t.optional(t.figure('Of all people.')),
  cycleStart: t.optional(t.instant('Its first instant.')),
  cycleEnd: t.optional(t.instant('The first instant of the next.')),
  addOn,
  bands: t.optional(t.counts(BANDS, 'People by how near they are to their cap; absent while nothing is known.')),
  ...t.bounded('nearCap', near, 'The nearest first.'),
})

const burn = t.object('How fast credits are burned, and where that leads.', {
  ratios,
  projected: t.optional(t.projection),
  exhaustion: t.optional(t.instant('When the add-on credits are expected to run out; absent when they last.')),
  ...t.bounded('models', model, 'The most used first.'),
})

const group = t.object('A declared group.', {
  id: t.text(),
  name: t.text(),
  members: t.count('How many.'),
  used: t.optional(t.figure('Credits in this cycle.')),
  readAt: t.instant('When it was read.'),
})

const workspace = t.object('One workspace.', {
  workspace: t.text('Its name.'),
  mode: t.mode,
  lease: t.optional(lease),
  pause: t.optional(pause),
  policy: t.optional(policy),
  lastCycle: t.optional(lastCycle),
  lastSuccessAt: t.optional(t.instant('When a cycle last ended well.')),
  scopeCounts: scopesByKind,
  ...t.bounded('scopes', scope, 'Those that need attention first.'),
  holds: t.list(hold, 'Holds in force.'),
  approvals: t.list(approval, 'Those on record.'),
  grants: t.counts(GRANT_STATES, 'Grants by state.'),
  ...t.bounded('pools', pool, 'By name.'),
  ...t.boundedOf('rules', 'In the order in which they apply.', 'A rule.', {
    name: t.text(),
    people: t.count('People for whom it is the first match.'),
  }),
  use: t.optional(use),
  balance: t.optional(t.balance),
  burn: t.optional(burn),
  history: t.optional(history),
  groups: t.list(group, 'Declared groups.'),
  ratePerSecond: t.optional(t.figure('Requests per second, as learned.')),
  clockSkewSeconds: t.optional(t.figure("The service's clock minus ours.")),
  seen: t.optional(t.list(finding, 'Evidence from answers of the service.')),
  ...t.bounded('conditions', t.condition, 'The most urgent first.'),
  warnings: t.list(t.text(), 'Messages of conditions that no other field shows.'),
})

export const STATUS = t.object('The state of every workspace.', {
  apiVersion: Type.Literal('capkeeper/v1'),
  kind: Type.Literal('Status'),
  version: t.text('Of capkeeper.'),
  at: t.instant('When this was made.'),
  people: t.words(['hash', 'email'], 'How people are shown.'),
  configValid: t.flag('The config file is valid.'),
  ledgerWritable: t.flag('The ledger can be written.'),
  conditions: t.list(t.condition, 'Of the process as a whole.'),
  workspaces: t.list(workspace, 'In the order of the config.'),
})
