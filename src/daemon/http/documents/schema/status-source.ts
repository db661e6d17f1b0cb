// The schema of /status, which is older than /api/v1: here a line of a policy is a text, and `people` says how people are shown. Schemas only; see
// parts-source.ts.
import Type from 'typebox'
import { BANDS, GRANT_STATES } from '../../../../core/model/events.ts'
import { ADD_ON_SOURCES } from '../../../../core/use/add-on.ts'
import {
  balance,
  band,
  bounded,
  boundedOf,
  cap,
  condition,
  count,
  counts,
  day,
  figure,
  flag,
  guard,
  instant,
  list,
  mode,
  object,
  optional,
  projection,
  scopeName,
  text,
  words,
} from './parts-source.ts'
import { approval, finding, history, lastCycle, model, POLICY_STATE, pause, ratios, scopesByKind, scopeWith } from './workspace-source.ts'

const line = (description: string) => optional(text(`${description} \`file:line:column\`.`))
const addOnSource = words(ADD_ON_SOURCES, 'Where the figure comes from.')

const lease = object('The replica that holds the workspace, where several replicas share the ledger.', {
  isHere: flag('It is this replica.'),
  holder: optional(text('Its name; absent while no replica holds it.')),
})

const problem = object('A problem in a policy file.', {
  severity: words(['error', 'warning']),
  code: text(),
  message: text(),
  at: line('Where.'),
  sourceLine: optional(text('The text of the line; of a very long line the part around the place.')),
  sourceColumn: optional(Type.Integer({ minimum: 1, description: 'The column at which `sourceLine` begins; absent: 1.' })),
  hint: optional(text('The way out.')),
})

const policy = object('The policies in force.', {
  ...POLICY_STATE,
  ...bounded('problems', problem, 'In the order of the files.'),
})

const scope = scopeWith(line('The declaration.'))

const hold = object('Changes that a guard holds.', {
  id: text('32 hex digits.'),
  guards: list(guard, 'Which guards.'),
  people: count('People who are affected.'),
  message: text(),
  ...bounded('changes', object('A held change.', { scope: scopeName, from: cap(), to: cap() }), 'In the order of writing.'),
})

const pool = object('A budget over caps in this cycle, in credits.', {
  name: text(),
  credits: figure('Credits of all members together.'),
  used: optional(figure('Credits used; absent until use was read.')),
  dealt: optional(
    figure(
      'Sum over the members of the greatest of use, cap in force, cap dealt and any cap lowered too lately for use under it to show; absent while somebody counts at no cap.',
    ),
  ),
  people: optional(count('Its members.')),
  exhaustion: optional(instant('When it is expected to be used up; absent when not within the cycle.')),
  readAt: optional(instant('When the use was read.')),
  dealtAt: optional(instant('When it was dealt last.')),
  frozen: optional(text('Why the last deal stays.')),
})

const addOn = object('Add-on use of people in this cycle, by which bands and guards go.', {
  source: addOnSource,
  credits: optional(figure('The sum; absent when nothing is known.')),
  readAt: optional(instant('When it was measured.')),
  latestDay: optional(day('The last day with measured use.')),
  notMeasured: optional(words(['absent', 'denied'], 'The service does not have it, or does not give it to this key.')),
})

const near = object('A person at 85 % of their cap or more.', {
  person: text('As `people` says.'),
  cap: optional(cap()),
  used: optional(figure('Add-on credits.')),
  source: optional(addOnSource),
  band,
})

const use = object('Use in this cycle, in credits.', {
  readAt: instant('When it was read.'),
  people: count('On the roster.'),
  used: optional(figure('Of all people.')),
  cycleStart: optional(instant('Its first instant.')),
  cycleEnd: optional(instant('The first instant of the next.')),
  addOn,
  bands: optional(counts(BANDS, 'People by how near they are to their cap; absent while nothing is known.')),
  ...bounded('nearCap', near, 'The nearest first.'),
})

const burn = object('How fast credits are burned, and where that leads.', {
  ratios,
  projected: optional(projection),
  exhaustion: optional(instant('When the add-on credits are expected to run out; absent when they last.')),
  ...bounded('models', model, 'The most used first.'),
})

const group = object('A declared group.', {
  id: text(),
  name: text(),
  members: count('How many.'),
  used: optional(figure('Credits in this cycle.')),
  readAt: instant('When it was read.'),
})

const workspace = object('One workspace.', {
  workspace: text('Its name.'),
  mode,
  lease: optional(lease),
  pause: optional(pause),
  policy: optional(policy),
  lastCycle: optional(lastCycle),
  lastSuccessAt: optional(instant('When a cycle last ended well.')),
  scopeCounts: scopesByKind,
  ...bounded('scopes', scope, 'Those that need attention first.'),
  holds: list(hold, 'Holds in force.'),
  approvals: list(approval, 'Those on record.'),
  grants: counts(GRANT_STATES, 'Grants by state.'),
  ...bounded('pools', pool, 'By name.'),
  ...boundedOf('rules', 'In the order in which they apply.', 'A rule.', {
    name: text(),
    people: count('People for whom it is the first match.'),
  }),
  use: optional(use),
  balance: optional(balance),
  burn: optional(burn),
  history: optional(history),
  groups: list(group, 'Declared groups.'),
  ratePerSecond: optional(figure('Requests per second, as learned.')),
  clockSkewSeconds: optional(figure("The service's clock minus ours.")),
  seen: optional(list(finding, 'Evidence from answers of the service.')),
  ...bounded('conditions', condition, 'The most urgent first.'),
  warnings: list(text(), 'Messages of conditions that no other field shows.'),
})

export const STATUS = object('The state of every workspace.', {
  apiVersion: Type.Literal('capkeeper/v1'),
  kind: Type.Literal('Status'),
  version: text('Of capkeeper.'),
  at: instant('When this was made.'),
  people: words(['hash', 'email'], 'How people are shown.'),
  configValid: flag('The config file is valid.'),
  ledgerWritable: flag('The ledger can be written.'),
  conditions: list(condition, 'Of the process as a whole.'),
  workspaces: list(workspace, 'In the order of the config.'),
})
