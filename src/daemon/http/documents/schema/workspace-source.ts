// The documents about whole workspaces: the overview, one workspace, its policies and its health. Schemas only; see parts-source.ts.

import Type, { type TSchema } from 'typebox'
import { ASPECTS } from '../../../../core/interpret/evidence.ts'
import { BANDS, SCOPE_STATES } from '../../../../core/model/events.ts'
import { BURN_WINDOWS, type BurnWindow } from '../../../../core/use/burn.ts'
import { DAY_GRADES } from '../../../../core/use/history.ts'
import {
  balance,
  bounded,
  cap,
  cause,
  condition,
  count,
  counts,
  cycle,
  day,
  documentOf,
  figure,
  flag,
  grantState,
  guard,
  head,
  instant,
  list,
  listOf,
  mode,
  object,
  observed,
  optional,
  paged,
  place,
  problem,
  projection,
  reconcileResult,
  scopeKind,
  scopeName,
  scopeState,
  text,
  tone,
  words,
} from './parts-source.ts'

export const pause = object('A pause: no cap is written until it ends.', {
  until: instant('When it ends.'),
  since: instant('When it began.'),
  reason: text(),
})

export const lastCycle = object('The last reconciliation.', {
  startedAt: instant('When it began.'),
  finishedAt: instant('When it ended.'),
  result: reconcileResult,
  message: optional(text('Its summary, or its error.')),
})

export const POLICY_STATE = {
  valid: flag('The files are valid; otherwise the last known good policies stay in force.'),
  digest: text('Of the meaning of the policies; empty while there are none.'),
  revision: text('The commit of the files; empty outside a worktree.'),
  loadedAt: instant('When the files were last read.'),
}
const policyState = object('The policies in force.', POLICY_STATE)

export const ratios = Type.Unsafe<Partial<Record<BurnWindow, number>>>({
  type: 'object',
  description: 'Pace of use by window; 1 is an even pace to the end of the cycle.',
  additionalProperties: false,
  properties: Object.fromEntries(BURN_WINDOWS.map((window) => [window, { type: 'number' }])),
})

const use = object('Credits that the team used in this cycle.', {
  readAt: instant('When people and their use were read.'),
  used: optional(figure('Of all people; absent where the service shows none.')),
  cycleCredits: optional(figure('All credits of the cycle: of the seats and add-on credits.')),
  ratios,
  projected: optional(projection),
  exhaustion: optional(instant('When the add-on credits are expected to run out; absent when they last.')),
})

const SUMMARY = {
  name: text(),
  mode,
  tone,
  verdict: text('What matters most now, in a few words.'),
  pause: optional(pause),
  lastCycle: optional(lastCycle),
  lastSuccessAt: optional(instant('When a cycle last ended well.')),
  scopes: counts(SCOPE_STATES, 'Managed scopes by state.'),
  holds: count('Holds in force.'),
  warnings: count('Conditions that no other field shows.'),
  people: optional(count('People on the roster.')),
  bands: optional(counts(BANDS, 'People by how near they are to the cap in force; absent while none is known.')),
  cycle: optional(cycle),
  use: optional(use),
  balance: optional(balance),
  policy: optional(policyState),
  ...bounded('conditions', condition, 'The most urgent first.'),
  heldBy: optional(text('The replica that holds this workspace.')),
}

const attention = object('Something that needs a person.', {
  workspace: text(),
  tone,
  subject: words(['cycle', 'policy', 'hold', 'drift', 'unread', 'pause', 'credits', 'warning', 'people', 'config', 'ledger']),
  text: text('One sentence.'),
  path: text('The page about it.'),
})

const part = object('What the reader sees of one workspace: everything here is of these people only.', {
  name: text(),
  people: SUMMARY.people,
  bands: SUMMARY.bands,
  cycle: SUMMARY.cycle,
  readAt: optional(instant('When people and their use were read.')),
  used: optional(figure('Credits that they used in this cycle; absent where the service shows none.')),
})

export const WORKSPACES = object('All workspaces that the reader may see; what needs a person first.', {
  ...head('WorkspaceList'),
  version: text('Of capkeeper.'),
  configValid: flag('The config file is valid; otherwise the last good one is in force.'),
  ledgerWritable: flag('The ledger can be written; otherwise no cap is written.'),
  ...bounded('attention', attention, 'The most pressing first.'),
  ...bounded('parts', part, 'Workspaces of which the reader sees only some people, by name.'),
  ...paged(object('One workspace at a glance.', SUMMARY), 'Those that need a person first, then by name.'),
})

/** `source`: how the document names the line of the declaration. */
export const scopeWith = <T extends TSchema>(source: T) =>
  object('The state of one scope.', {
    kind: scopeKind,
    scope: scopeName,
    state: scopeState,
    desired: optional(cap('The desired cap.')),
    observed: observed(),
    readAt: optional(instant('When it was read.')),
    cause: optional(cause),
    driftSince: optional(instant('Since when they differ.')),
    source,
    reason: optional(text('As the policy gives it.')),
    why: optional(text('Why it is held, unknown, rejected or skipped, or why a raise by a pool is deferred.')),
  })

const scope = scopeWith(optional(place))

const grant = object('A temporary cap.', {
  scope: scopeName,
  cap: optional(Type.Integer({ minimum: 0, description: 'What it sets.' })),
  add: optional(Type.Integer({ minimum: 0, description: 'What it adds.' })),
  state: grantState,
  from: optional(instant('When it starts.')),
  until: optional(instant('When it ends; absent while not known.')),
  reason: text(),
  ticket: optional(text()),
  source: place,
  note: optional(text('Why the state differs from what the clock says.')),
})

const pool = object('A budget of add-on credits that people share.', {
  name: text(),
  credits: figure('Credits of all members together, in one cycle.'),
  used: optional(figure('Credits used.')),
  dealt: optional(figure('The sum of their caps.')),
  people: count('Its members.'),
  share: words(['need', 'equal']),
  exhaustion: optional(instant('When it is used up.')),
  dealtAt: optional(instant('When caps were last dealt.')),
  frozen: optional(text('Why it is not dealt now.')),
  source: optional(place),
})

const hold = object('Changes that a guard holds.', {
  id: text('32 hex digits.'),
  guards: list(guard, 'Which guards.'),
  people: count('People affected.'),
  changes: count('Held changes.'),
  message: text(),
  since: optional(instant('When it was first shown.')),
})

export const approval = object('The release of a hold.', { id: text(), state: words(['pending', 'spent', 'void']) })

export const model = object('Use of one model in one mode in this cycle.', { model: text(), mode: text(), used: figure('Credits.') })

export const scopesByKind = object('Managed scopes by kind and state.', {
  team: counts(SCOPE_STATES, 'The team.'),
  group: counts(SCOPE_STATES, 'Groups.'),
  user: counts(SCOPE_STATES, 'People.'),
})

export const WORKSPACE = documentOf('Workspace', 'One workspace.', {
  ...SUMMARY,
  ...bounded('problems', problem, 'Problems of the policy files.'),
  scopesByKind,
  team: optional(scope),
  ...bounded('attention', scope, 'Scopes that are not in sync, those that need a person first.'),
  driftCredits: object('Drift in credits per person, not times people.', {
    above: figure('Observed above desired.'),
    below: figure('Observed below desired.'),
  }),
  held: list(hold, 'Holds in force.'),
  approvals: list(approval, 'Approvals and their states.'),
  grants: list(grant, 'Temporary caps.'),
  ...bounded('models', model, 'The most used first.'),
  pools: list(pool, 'Budgets over caps.'),
  warningTexts: list(text(), 'Messages of conditions that no other field shows.'),
})

const reach = object('A declared cap, and the people it applies to.', {
  kind: words(['team', 'group', 'user', 'grant', 'rule', 'pool']),
  name: text('`team`, `group:ID`, a person, or the name of a rule or pool.'),
  cap: optional(cap('The declared cap.')),
  credits: optional(figure('Of a pool: credits of all members together, in one cycle.')),
  add: optional(Type.Integer({ minimum: 0, description: 'What a grant adds.' })),
  state: optional(words([...SCOPE_STATES, 'pending', 'active', 'expiring', 'ended'], 'Of the scope, or of the grant.')),
  observed: optional(observed()),
  people: count('People for whom it decides now.'),
  members: optional(count('People in its scope; a more specific declaration may decide for some.')),
  near: count('People for whom it decides who are at 85 % of their cap or more.'),
  source: place,
  reason: optional(text()),
  ticket: optional(text()),
  from: optional(instant('When a grant starts.')),
  until: optional(instant('When a grant ends.')),
})

export const POLICIES = documentOf('PolicyList', 'Every declared cap with its line and the people it applies to.', {
  policy: optional(policyState),
  ...bounded('problems', problem, 'Problems of the files.'),
  documents: list(text(), 'Names of the policy documents.'),
  ...bounded('protected', object('A person whose cap is never lowered.', { person: text(), source: place }), 'Protected people.'),
  ...paged(reach, 'The team, groups, rules, pools, people, grants.'),
})

const evidence = {
  value: text(),
  at: instant('When it was seen.'),
  evidence: text('What was seen.'),
}

export const finding = object('Evidence of how this deployment treats caps.', {
  aspect: words(ASPECTS),
  ...evidence,
  before: optional(object('Earlier evidence that contradicts it.', evidence)),
})

const operation = object('Requests of one kind since the daemon started.', {
  operation: text(),
  requests: count('All of them.'),
  failed: count('Those without a good answer.'),
  lastFailure: optional(object('The last failure.', { at: instant('When.'), outcome: text() })),
  medianMs: optional(figure('Half of the last 100 were faster.')),
})

export const history = object('How much of the past of people is known.', {
  from: day('The first day.'),
  until: day('The last day.'),
  days: counts(DAY_GRADES, 'Days of people by what is known of them.'),
  left: count('Requests for one person and 30 days that are still to be made.'),
  stopped: optional(text('The code of the reason why no more is read.')),
})

export const HEALTH = documentOf('Health', 'How the daemon runs one workspace.', {
  version: text('Of capkeeper.'),
  mode,
  lastCycle: optional(lastCycle),
  lastSuccessAt: optional(instant('When a cycle last ended well.')),
  configValid: flag('The config file is valid.'),
  ledgerWritable: flag('The ledger can be written.'),
  ratePerSecond: optional(figure('Requests per second, as learned.')),
  history: optional(history),
  clockSkewSeconds: optional(figure("The service's clock minus ours.")),
  model: object('The service model.', {
    layers: words(['layered', 'copied']),
    layersProven: flag('A cap survived a write of an ancestor.'),
    copying: optional(text('The evidence that caps are copied, if there is any.')),
    reads: words(['explicit', 'inherited', 'open']),
    zero: text('What the service does with a cap of 0; `open` while not known.'),
  }),
  seen: list(finding, 'Evidence from answers of the service.'),
  operations: list(operation, 'Requests to the service.'),
  unread: count('Scopes whose last reading failed.'),
  oldestReadingAt: optional(instant('The oldest reading of a managed scope.')),
  settings: object('As configured.', {
    interval: figure('Seconds between readings of caps.'),
    usageInterval: figure('Seconds between readings of people and use.'),
    capSemantics: text(),
    capReads: text(),
    onDrift: text(),
    prune: Type.Boolean(),
    approvals: text(),
    guards: Type.Record(Type.String(), Type.String(), { description: 'Each guard and its limit, in words.' }),
  }),
  warnings: list(text(), 'Messages of conditions that no other field shows.'),
  ...bounded('conditions', condition, 'The most urgent first.'),
  replicas: listOf('Empty where there is only one replica.', 'A running capkeeper.', {
    name: text(),
    version: optional(text()),
    keeps: flag('It holds this workspace.'),
  }),
})

export const SCOPE = scope
