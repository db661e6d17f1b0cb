// The documents about whole workspaces: the overview, one workspace, its policies and its health. Schemas only; see parts-source.ts.

import Type, { type TSchema } from 'typebox'
import { ASPECTS } from '../../../../core/interpret/evidence.ts'
import { BANDS, SCOPE_STATES } from '../../../../core/model/events.ts'
import { BURN_WINDOWS, type BurnWindow } from '../../../../core/use/burn.ts'
import { DAY_GRADES } from '../../../../core/use/history.ts'
import * as t from './parts-source.ts'

export const pause = t.object('A pause: no cap is written until it ends.', {
  until: t.instant('When it ends.'),
  since: t.instant('When it began.'),
  reason: t.text(),
})

export const lastCycle = t.object('The last reconciliation.', {
  startedAt: t.instant('When it began.'),
  finishedAt: t.instant('When it ended.'),
  result: t.reconcileResult,
  message: t.optional(t.text('Its summary, or its error.')),
})

export const POLICY_STATE = {
  valid: t.flag('The files are valid; otherwise the last known good policies stay in force.'),
  digest: t.text('Of the meaning of the policies; empty while there are none.'),
  revision: t.text('The commit of the files; empty outside a worktree.'),
  loadedAt: t.instant('When the files were last read.'),
}
const policyState = t.object('The policies in force.', POLICY_STATE)

export const ratios = Type.Unsafe<Partial<Record<BurnWindow, number>>>({
  type: 'object',
  description: 'Pace of use by window; 1 is an even pace to the end of the cycle.',
  additionalProperties: false,
  properties: Object.fromEntries(BURN_WINDOWS.map((window) => [window, { type: 'number' }])),
})

const use = t.object('Credits that the team used in this cycle.', {
  readAt: t.instant('When people and their use were read.'),
  used: t.optional(t.figure('Of all people; absent where the service shows none.')),
  cycleCredits: t.optional(t.figure('All credits of the cycle: of the seats and add-on credits.')),
  ratios,
  projected: t.optional(t.projection),
  exhaustion: t.optional(t.instant('When the add-on credits are expected to run out; absent when they last.')),
})

const SUMMARY = {
  name: t.text(),
  mode: t.mode,
  tone: t.tone,
  verdict: t.text('What matters most now, in a few words.'),
  pause: t.optional(pause),
  lastCycle: t.optional(lastCycle),
  lastSuccessAt: t.optional(t.instant('When a cycle last ended well.')),
  scopes: t.counts(SCOPE_STATES, 'Managed scopes by state.'),
  holds: t.count('Holds in force.'),
  warnings: t.count('Conditions that no other field shows.'),
  people: t.optional(t.count('People on the roster.')),
  bands: t.optional(t.counts(BANDS, 'People by how near they are to the cap in force; absent while none is known.')),
  cycle: t.optional(t.cycle),
  use: t.optional(use),
  balance: t.optional(t.balance),
  policy: t.optional(policyState),
  ...t.bounded('conditions', t.condition, 'The most urgent first.'),
  heldBy: t.optional(t.text('The replica that holds this workspace.')),
}

const attention = t.object('Something that needs a person.', {
  workspace: t.text(),
  tone: t.tone,
  subject: t.words(['cycle', 'policy', 'hold', 'drift', 'unread', 'pause', 'credits', 'warning', 'people', 'config', 'ledger']),
  text: t.text('One sentence.'),
  path: t.text('The page about it.'),
})

const part = t.object('What the reader sees of one workspace: everything here is of these people only.', {
  name: t.text(),
  people: SUMMARY.people,
  bands: SUMMARY.bands,
  cycle: SUMMARY.cycle,
  readAt: t.optional(t.instant('When people and their use were read.')),
  used: t.optional(t.figure('Credits that they used in this cycle; absent where the service shows none.')),
})

export const WORKSPACES = t.object('All workspaces that the reader may see; what needs a person first.', {
  ...t.head('WorkspaceList'),
  version: t.text('Of capkeeper.'),
  configValid: t.flag('The config file is valid; otherwise the last good one is in force.'),
  ledgerWritable: t.flag('The ledger can be written; otherwise no cap is written.'),
  ...t.bounded('attention', attention, 'The most pressing first.'),
  ...t.bounded('parts', part, 'Workspaces of which the reader sees only some people, by name.'),
  ...t.paged(t.object('One workspace at a glance.', SUMMARY), 'Those that need a person first, then by name.'),
})

/** `source`: how the document names the line of the declaration. */
export const scopeWith = <T extends TSchema>(source: T) =>
  t.object('The state of one scope.', {
    kind: t.scopeKind,
    scope: t.scopeName,
    state: t.scopeState,
    desired: t.optional(t.cap('The desired cap.')),
    observed: t.observed(),
    readAt: t.optional(t.instant('When it was read.')),
    cause: t.optional(t.cause),
    driftSince: t.optional(t.instant('Since when they differ.')),
    source,
    reason: t.optional(t.text('As the policy gives it.')),
    why: t.optional(t.text('Why it is held, unknown, rejected or skipped, or why a raise by a pool is deferred.')),
  })

const scope = scopeWith(t.optional(t.place))

const grant = t.object('A temporary cap.', {
  scope: t.scopeName,
  cap: t.optional(Type.Integer({ minimum: 0, description: 'What it sets.' })),
  add: t.optional(Type.Integer({ minimum: 0, description: 'What it adds.' })),
  state: t.grantState,
  from: t.optional(t.instant('When it starts.')),
  until: t.optional(t.instant('When it ends; absent while not known.')),
  reason: t.text(),
  ticket: t.optional(t.text()),
  source: t.place,
  note: t.optional(t.text('Why the state differs from what the clock says.')),
})

const pool = t.object('A budget of add-on credits that people share.', {
  name: t.text(),
  credits: t.figure('Credits of all members together, in one cycle.'),
  used: t.optional(t.figure('Credits used.')),
  dealt: t.optional(t.figure('The sum of their caps.')),
  people: t.count('Its members.'),
  share: t.words(['need', 'equal']),
  exhaustion: t.optional(t.instant('When it is used up.')),
  dealtAt: t.optional(t.instant('When caps were last dealt.')),
  frozen: t.optional(t.text('Why it is not dealt now.')),
  source: t.optional(t.place),
})

export const HOLD_ENTRY = {
  id: t.text('32 hex digits.'),
  guards: t.list(t.guard, 'Which guards.'),
  people: t.count('People affected.'),
  changes: t.count('Held changes.'),
  message: t.text(),
  since: t.optional(t.instant('When it was first shown.')),
}

export const approval = t.object('The release of a hold.', { id: t.text(), state: t.words(['pending', 'spent', 'void']) })

export const model = t.object('Use of one model in one mode in this cycle.', {
  model: t.text(),
  mode: t.text(),
  used: t.figure('Credits.'),
})

export const scopesByKind = t.object('Managed scopes by kind and state.', {
  team: t.counts(SCOPE_STATES, 'The team.'),
  group: t.counts(SCOPE_STATES, 'Groups.'),
  user: t.counts(SCOPE_STATES, 'People.'),
})

export const WORKSPACE = t.documentOf('Workspace', 'One workspace.', {
  ...SUMMARY,
  ...t.bounded('problems', t.problem, 'Problems of the policy files.'),
  scopesByKind,
  team: t.optional(scope),
  ...t.bounded('attention', scope, 'Scopes that are not in sync, those that need a person first.'),
  driftCredits: t.object('Drift in credits per person, not times people.', {
    above: t.figure('Observed above desired.'),
    below: t.figure('Observed below desired.'),
  }),
  held: t.listOf('Holds in force.', 'Changes that a guard holds.', HOLD_ENTRY),
  approvals: t.list(approval, 'Approvals and their states.'),
  grants: t.list(grant, 'Temporary caps.'),
  ...t.bounded('models', model, 'The most used first.'),
  pools: t.list(pool, 'Budgets over caps.'),
  warningTexts: t.list(t.text(), 'Messages of conditions that no other field shows.'),
})

const reach = t.object('A declared cap, and the people it applies to.', {
  kind: t.words(['team', 'group', 'user', 'grant', 'rule', 'pool']),
  name: t.text('`team`, `group:ID`, a person, or the name of a rule or pool.'),
  cap: t.optional(t.cap('The declared cap.')),
  credits: t.optional(t.figure('Of a pool: credits of all members together, in one cycle.')),
  add: t.optional(Type.Integer({ minimum: 0, description: 'What a grant adds.' })),
  state: t.optional(t.words([...SCOPE_STATES, 'pending', 'active', 'expiring', 'ended'], 'Of the scope, or of the grant.')),
  observed: t.optional(t.observed()),
  people: t.count('People for whom it decides now.'),
  members: t.optional(t.count('People in its scope; a more specific declaration may decide for some.')),
  near: t.count('People for whom it decides who are at 85 % of their cap or more.'),
  source: t.place,
  reason: t.optional(t.text()),
  ticket: t.optional(t.text()),
  from: t.optional(t.instant('When a grant starts.')),
  until: t.optional(t.instant('When a grant ends.')),
})

export const POLICIES = t.documentOf('PolicyList', 'Every declared cap with its line and the people it applies to.', {
  policy: t.optional(policyState),
  ...t.bounded('problems', t.problem, 'Problems of the files.'),
  documents: t.list(t.text(), 'Names of the policy documents.'),
  ...t.bounded('protected', t.object('A person whose cap is never lowered.', { person: t.text(), source: t.place }), 'Protected people.'),
  ...t.paged(reach, 'The team, groups, rules, pools, people, grants.'),
})

const evidence = {
  value: t.text(),
  at: t.instant('When it was seen.'),
  evidence: t.text('What was seen.'),
}

export const finding = t.object('Evidence of how this deployment treats caps.', {
  aspect: t.words(ASPECTS),
  ...evidence,
  before: t.optional(t.object('Earlier evidence that contradicts it.', evidence)),
})

const operation = t.object('Requests of one kind since the daemon started.', {
  operation: t.text(),
  requests: t.count('All of them.'),
  failed: t.count('Those without a good answer.'),
  lastFailure: t.optional(t.object('The last failure.', { at: t.instant('When.'), outcome: t.text() })),
  medianMs: t.optional(t.figure('Half of the last 100 were faster.')),
})

export const history = t.object('How much of the past of people is known.', {
  from: t.day('The first day.'),
  until: t.day('The last day.'),
  days: t.counts(DAY_GRADES, 'Days of people by what is known of them.'),
  left: t.count('Requests for one person and 30 days that are still to be made.'),
  stopped: t.optional(t.text('The code of the reason why no more is read.')),
})

export const HEALTH = t.documentOf('Health', 'How the daemon runs one workspace.', {
  version: t.text('Of capkeeper.'),
  mode: t.mode,
  lastCycle: t.optional(lastCycle),
  lastSuccessAt: t.optional(t.instant('When a cycle last ended well.')),
  configValid: t.flag('The config file is valid.'),
  ledgerWritable: t.flag('The ledger can be written.'),
  ratePerSecond: t.optional(t.figure('Requests per second, as learned.')),
  history: t.optional(history),
  clockSkewSeconds: t.optional(t.figure("The service's clock minus ours.")),
  model: t.object('The service model.', {
    layers: t.words(['layered', 'copied']),
    layersProven: t.flag('A cap survived a write of an ancestor.'),
    copying: t.optional(t.text('The evidence that caps are copied, if there is any.')),
    reads: t.words(['explicit', 'inherited', 'open']),
    zero: t.text('What the service does with a cap of 0; `open` while not known.'),
  }),
  seen: t.list(finding, 'Evidence from answers of the service.'),
  operations: t.list(operation, 'Requests to the service.'),
  unread: t.count('Scopes whose last reading failed.'),
  oldestReadingAt: t.optional(t.instant('The oldest reading of a managed scope.')),
  settings: t.object('As configured.', {
    interval: t.figure('Seconds between readings of caps.'),
    usageInterval: t.figure('Seconds between readings of people and use.'),
    capSemantics: t.text(),
    capReads: t.text(),
    onDrift: t.text(),
    prune: Type.Boolean(),
    approvals: t.text(),
    guards: Type.Record(Type.String(), Type.String(), { description: 'Each guard and its limit, in words.' }),
  }),
  warnings: t.list(t.text(), 'Messages of conditions that no other field shows.'),
  ...t.bounded('conditions', t.condition, 'The most urgent first.'),
  replicas: t.listOf('Empty where there is only one replica.', 'A running capkeeper.', {
    name: t.text(),
    version: t.optional(t.text()),
    keeps: t.flag('It holds this workspace.'),
  }),
})
