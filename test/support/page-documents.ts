// Documents of a workspace as the daemon would make them, with every part a test may want to change: what the pages are made from.

import type { Documents, Query } from '../../src/daemon/http/documents/documents.ts'
import type {
  BurnSeries,
  ChangeListDocument,
  CreditsSeries,
  DriftSeries,
  GroupDocument,
  GroupEntry,
  GroupListDocument,
  HealthDocument,
  HoldDocument,
  HoldListDocument,
  PersonDocument,
  PersonEntry,
  PersonListDocument,
  PolicyListDocument,
  WorkspaceDocument,
  WorkspaceListDocument,
  WorkspaceSummary,
} from '../../src/daemon/http/documents/types.ts'

const AT = '2026-11-20T12:00:00.000Z'
const DAY = 86_400_000
const HEAD = { apiVersion: 'capkeeper/v1', at: AT, peopleShown: 'email' } as const
const headOf = <const K extends string>(kind: K, workspace = 'acme') => ({ ...HEAD, kind, workspace })

export const ago = (ms: number): string => new Date(Date.parse(AT) - ms).toISOString()
const dayOf = (index: number): string => new Date(Date.UTC(2026, 10, 1) + index * DAY).toISOString().slice(0, 10)

const BANDS = { uncapped: 2, under_50: 130, '50_to_85': 40, '85_to_95': 15, '95_to_100': 8, at_cap: 5 } as const
const SCOPES = { in_sync: 14, drifted: 1, held: 2, unknown: 1, rejected: 0, contested: 0, skipped: 1, undeclared: 0 } as const
const place = (line: number) => ({
  file: 'policies/acme.yaml',
  line,
  column: 10,
  url: `https://git.example.com/caps/policies/acme.yaml#L${line}`,
})
export const HOLD_ID = '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b'
const HOLD_MESSAGE =
  'acme: 41 of 120 people would be lowered (34 %), the limit is 15 %; approve hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b or raise guards.maxLowered'

export const summaryOf = (name = 'acme'): WorkspaceSummary => ({
  name,
  mode: 'enforce',
  tone: 'warn',
  verdict: '1 hold to decide',
  lastCycle: { startedAt: ago(62_000), finishedAt: ago(60_000), result: 'held', message: '1 change applied, 1 held' },
  lastSuccessAt: ago(3_600_000),
  scopes: SCOPES,
  holds: 1,
  warnings: 0,
  people: 200,
  bands: BANDS,
  cycle: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  use: {
    readAt: ago(600_000),
    used: 128_400,
    cycleCredits: 180_000,
    ratios: { '24h': 1.3, '7d': 1.1 },
    projected: { p10: 175_000, p50: 192_000, p90: 214_000 },
    exhaustion: '2026-11-27T06:00:00.000Z',
  },
  balance: { readAt: ago(600_000), creditsPerSeat: 500, seats: 200, addOnAvailable: 80_000, addOnUsed: 46_200 },
  policy: { valid: true, digest: 'a1b2c3d4e5f6', revision: '0123456789abcdef0123', loadedAt: ago(3_600_000) },
  conditions: [],
})

export const workspaceListOf = (
  items: readonly WorkspaceSummary[],
  overrides: Partial<WorkspaceListDocument> = {},
): WorkspaceListDocument => ({
  ...HEAD,
  kind: 'WorkspaceList',
  version: '0.1.0',
  configValid: true,
  ledgerWritable: true,
  attention: items
    .filter(({ tone }) => tone !== 'good')
    .slice(0, 8)
    .map(({ name }) => ({
      workspace: name,
      tone: 'warn' as const,
      subject: 'hold' as const,
      text: HOLD_MESSAGE,
      path: `/workspaces/${name}/holds/${HOLD_ID}`,
    })),
  attentionOmitted: Math.max(0, items.filter(({ tone }) => tone !== 'good').length - 8),
  total: items.length,
  page: 1,
  limit: 100,
  items,
  ...overrides,
})

export const workspaceOf = (overrides: Partial<WorkspaceDocument> = {}): WorkspaceDocument => ({
  ...headOf('Workspace'),
  ...summaryOf(),
  people: 200,
  problems: [],
  problemsOmitted: 0,
  scopesByKind: { team: { ...SCOPES, in_sync: 0 }, group: SCOPES, user: SCOPES },
  attention: [
    {
      kind: 'team',
      scope: 'team',
      state: 'drifted',
      desired: 500,
      observed: 800,
      cause: 'external',
      driftSince: ago(3_600_000),
      readAt: ago(60_000),
      source: place(8),
    },
    {
      kind: 'user',
      scope: 'oncall@example.com',
      state: 'held',
      desired: 100,
      observed: 900,
      cause: 'policy',
      why: `kept back by hold ${HOLD_ID}`,
      source: place(30),
    },
    {
      kind: 'user',
      scope: 'new@example.com',
      state: 'unknown',
      desired: 50,
      observed: 'unknown',
      why: 'GetUsageConfig: timeout after 30 s',
    },
  ],
  attentionOmitted: 0,
  driftCredits: { above: 300, below: 0 },
  held: [{ id: HOLD_ID, guards: ['maxLowered'], people: 41, changes: 3, message: HOLD_MESSAGE, since: ago(7_200_000) }],
  approvals: [{ id: '0a1b2c3d4e5f', state: 'spent' }],
  grants: [
    {
      scope: 'bob@example.com',
      cap: 6000,
      state: 'active',
      until: '2026-11-28T00:00:00.000Z',
      reason: 'release week',
      ticket: 'OPS-12',
      source: place(44),
    },
  ],
  models: [
    { model: 'Large', mode: 'MODE_DEFAULT', used: 80_500.5 },
    { model: 'Small', mode: 'UNKNOWN', used: 30_000 },
    { model: 'Medium', mode: 'MODE_DEFAULT', used: 17_900 },
  ],
  modelsOmitted: 0,
  pools: [],
  warningTexts: [],
  ...overrides,
})

const used = (index: number): number => Math.round(6_420 * (index + 1) * (0.9 + 0.1 * Math.sin(index)))

export const creditsOf = (overrides: Partial<CreditsSeries> = {}): CreditsSeries => ({
  ...headOf('CreditsSeries'),
  cycle: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  credits: 180_000,
  included: 100_000,
  addOn: 80_000,
  exhaustion: '2026-11-27T06:00:00.000Z',
  days: Array.from({ length: 30 }, (_, index) => ({
    day: dayOf(index),
    even: 6_000 * (index + 1),
    ...(index < 20
      ? { used: used(index) }
      : { projected: { p10: 128_400 + 4_600 * (index - 19), p50: 128_400 + 6_360 * (index - 19), p90: 128_400 + 8_560 * (index - 19) } }),
  })),
  ...overrides,
})

const burnOf = (by: BurnSeries['by']): BurnSeries => {
  const names =
    by === 'group' ? ['Platform', 'Data', 'Payments', 'Mobile', 'Support', 'Research', 'Web', 'other'] : ['Large', 'Small', 'Medium']
  return {
    ...headOf('BurnSeries'),
    by,
    days: Array.from({ length: 20 }, (_, index) => dayOf(index)),
    lines: names.map((name, line) => ({
      name,
      total: 10_000,
      values: Array.from({ length: 20 }, (_, index) =>
        Math.round((1_500 / (line + 1)) * (index % 7 > 4 ? 0.25 : 1) * (1 + 0.2 * Math.sin(index * (line + 1)))),
      ),
    })),
  }
}

const driftOf = (): DriftSeries => ({
  ...headOf('DriftSeries'),
  days: Array.from({ length: 20 }, (_, index) => ({
    day: dayOf(index),
    found: (index * 7) % 4,
    reverted: (index * 7) % 4,
    written: index % 3,
    failed: 0,
  })),
})

const GROUPS: readonly GroupEntry[] = ['Platform', 'Data', 'Payments', 'Mobile', 'Support'].map((name, index) => ({
  id: `grp_${name.toLowerCase()}`,
  name,
  known: index !== 4,
  members: 40 - index * 5,
  cap: 1_500,
  observed: 1_500,
  state: 'in_sync',
  used: 30_000 / (index + 1),
  share: 0.3 / (index + 1),
  bands: { uncapped: 0, under_50: 25 - index * 4, '50_to_85': 8, '85_to_95': 4, '95_to_100': index, at_cap: index === 0 ? 3 : 0 },
  near: 4 + index,
  source: place(20 + index),
  readAt: ago(600_000),
}))

export const groupListOf = (overrides: Partial<GroupListDocument> = {}): GroupListDocument => ({
  ...headOf('GroupList'),
  total: GROUPS.length,
  page: 1,
  limit: 50,
  items: GROUPS,
  ...overrides,
})

const CHAIN: GroupDocument['chain'] = [
  {
    kind: 'grant',
    scope: 'ada@example.com',
    cap: 4_000,
    wins: true,
    why: 'the narrowest scope decides, and a grant beats a rule',
    state: 'active',
    until: '2026-11-28T00:00:00.000Z',
    reason: 'migration lead',
    ticket: 'OPS-12',
    source: place(40),
  },
  { kind: 'rule', scope: 'group:grp_platform', cap: 1_500, wins: false, why: 'a narrower scope decides', source: place(24) },
  { kind: 'rule', scope: 'team', cap: 500, wins: false, why: 'a narrower scope decides', source: place(8) },
]

const EXPLAINED = {
  chain: CHAIN,
  desired: 4_000,
  state: 'in_sync',
  readings: [
    { scope: 'ada@example.com', observed: 4_000, readAt: ago(60_000) },
    { scope: 'team', observed: 800, readAt: ago(60_000) },
  ],
  nextReadingAt: ago(-240_000),
  history: [
    {
      at: ago(5 * DAY),
      scope: 'ada@example.com',
      effect: 'raise',
      from: 2_500,
      to: 4_000,
      cause: 'policy',
      result: 'applied',
      reason: 'migration lead',
      source: place(40),
      planId: '42bc86716855f9f4',
      revision: '0123456789abcdef',
    },
    {
      at: ago(9 * DAY),
      scope: 'ada@example.com',
      effect: 'set',
      from: 'none',
      to: 2_500,
      cause: 'policy',
      result: 'applied',
      planId: '197cd26a3f2c47f7',
      revision: '0123456789abcdef',
    },
  ],
  conditions: ['The grant ends on 28 Nov: the cap goes back to 1500.', 'A change at policies/acme.yaml:24 would not change it.'],
} satisfies Partial<PersonDocument>

export const groupOf = (): GroupDocument => ({
  ...headOf('Group'),
  ...EXPLAINED,
  id: 'grp_platform',
  name: 'Platform',
  known: true,
  members: 40,
  cap: 1_500,
  observed: 1_500,
  used: 30_000,
  addOn: 12_000,
  share: 0.3,
  bands: { uncapped: 0, under_50: 25, '50_to_85': 8, '85_to_95': 4, '95_to_100': 0, at_cap: 3 },
  near: 7,
  use: { days: Array.from({ length: 20 }, (_, index) => ({ day: dayOf(index), used: 900 + (index % 5) * 200 })) },
  top: [{ person: 'ada@example.com', cap: 4_000, addOn: 3_950, band: '95_to_100' }],
  topOmitted: 39,
})

const personEntry = (index: number): PersonEntry => ({
  person: index === 0 ? 'ada@example.com' : `person${index}@example.com`,
  status: 'approved',
  groups: [{ id: 'grp_platform', name: 'Platform' }],
  cap: 1_500,
  from: 'group:grp_platform',
  declared: 1_500,
  rule: { kind: 'group', name: 'group:grp_platform', source: place(24) },
  used: 2_000 - index,
  addOn: Math.max(0, 1_500 - index * 10),
  headRoom: Math.min(1_500, index * 10),
  share: Math.max(0, 1 - index / 150),
  band: index === 0 ? 'at_cap' : index < 8 ? '95_to_100' : index < 22 ? '85_to_95' : '50_to_85',
  state: 'in_sync',
})

export const personListOf = (overrides: Partial<PersonListDocument> = {}): PersonListDocument => ({
  ...headOf('PersonList'),
  total: 5_000,
  page: 1,
  limit: 50,
  items: Array.from({ length: 50 }, (_, index) => personEntry(index)),
  bands: { uncapped: 2, under_50: 4_000, '50_to_85': 700, '85_to_95': 200, '95_to_100': 80, at_cap: 18 },
  groups: GROUPS.map(({ id, name }) => ({ id, name })),
  rules: [
    { name: 'group:grp_platform', people: 40 },
    { name: 'team', people: 160 },
  ],
  ...overrides,
})

export const personOf = (overrides: Partial<PersonDocument> = {}): PersonDocument => ({
  ...headOf('Person'),
  ...personEntry(0),
  ...EXPLAINED,
  cap: 4_000,
  from: 'ada@example.com',
  addOn: 3_150,
  headRoom: 850,
  share: 0.79,
  band: '50_to_85',
  guards: [],
  use: {
    days: Array.from({ length: 20 }, (_, index) => ({
      day: dayOf(index),
      burned: 160,
      addOn: 165 * index,
      cap: index < 9 ? 'none' : index < 15 ? 2_500 : 4_000,
      ...((index === 9 || index === 15) && { changed: true }),
    })),
    runsOutOn: '2026-11-26',
    paceADay: 160,
  },
  ...overrides,
})

export const changesOf = (overrides: Partial<ChangeListDocument> = {}): ChangeListDocument => ({
  ...headOf('ChangeList'),
  limit: 50,
  items: [
    { id: '1', at: ago(60_000), kind: 'hold', tone: 'warn', text: HOLD_MESSAGE, hold: HOLD_ID, guards: ['maxLowered'], people: 41 },
    {
      id: '2',
      at: ago(120_000),
      kind: 'write',
      tone: 'good',
      text: 'team was put back from 800 to 500',
      scope: 'team',
      effect: 'lower',
      from: 800,
      to: 500,
      cause: 'external',
      result: 'applied',
      planId: '42bc86716855f9f4',
      revision: '0123456789abcdef',
      source: place(8),
    },
    {
      id: '3',
      at: ago(180_000),
      kind: 'foreign',
      tone: 'warn',
      text: 'somebody else set team from 500 to 800',
      scope: 'team',
      from: 500,
      to: 800,
    },
    {
      id: '4',
      at: ago(DAY),
      kind: 'policy',
      tone: 'good',
      text: 'policies changed to a1b2c3d4e5f6',
      digest: 'a1b2c3d4e5f6',
      revision: '0123456789abcdef',
    },
    { id: '5', at: ago(DAY + 60_000), kind: 'pause', tone: 'warn', text: 'paused for 4 h: incident 12', reason: 'incident 12' },
    { id: '6', at: ago(DAY + 120_000), kind: 'outage', tone: 'bad', text: 'the service did not answer: 503' },
  ],
  next: 'older',
  ...overrides,
})

export const holdListOf = (overrides: Partial<HoldListDocument> = {}): HoldListDocument => ({
  ...headOf('HoldList'),
  total: 1,
  page: 1,
  limit: 50,
  items: [{ id: HOLD_ID, guards: ['maxLowered', 'protected'], people: 41, changes: 3, message: HOLD_MESSAGE, since: ago(7_200_000) }],
  ...overrides,
})

export const holdOf = (): HoldDocument => ({
  ...headOf('Hold'),
  id: HOLD_ID,
  guards: ['maxLowered', 'protected'],
  people: 41,
  changes: 3,
  message: HOLD_MESSAGE,
  since: ago(7_200_000),
  arithmetic: [
    {
      guard: 'maxLowered',
      what: 'people whose cap falls',
      counted: 41,
      of: 120,
      percent: 34,
      limit: '15 %, never under 3',
      allowed: 18,
      exceeded: true,
      setting: 'guards.maxLowered',
    },
    {
      guard: 'maxAffected',
      what: 'people lowered, blocked or cleared',
      counted: 41,
      of: 120,
      percent: 34,
      limit: '40 %',
      allowed: 48,
      exceeded: false,
      setting: 'guards.maxAffected',
    },
  ],
  counted: { lowered: 38, blocked: 3, cleared: 0, raised: 0 },
  held: [{ scope: 'group:grp_platform', from: 1_500, to: 900, effect: 'lower', cause: 'policy', people: 40, source: place(24) }],
  heldOmitted: 2,
  releases: [
    {
      how: 'policy',
      who: 'whoever may merge a policy',
      text: `spec:\n  approvals:\n    - ${HOLD_ID}`,
      file: 'policies/acme.yaml',
      note: 'In a pull request of its own, after the daemon has shown this hold.',
    },
    { how: 'command', who: 'whoever may write the ledger', text: `capkeeper approve ${HOLD_ID}` },
    { how: 'apply', who: 'whoever has the write key', text: `capkeeper apply --approve ${HOLD_ID}` },
    { how: 'setting', who: 'whoever may change the config', text: 'guards:\n  maxLowered: 35 %' },
  ],
  void: 'An approval is void after 14 days, or when more than 51 people are affected.',
  total: 41,
  page: 1,
  limit: 50,
  items: Array.from({ length: 41 }, (_, index) => ({
    person: `person${index}@example.com`,
    before: 1_500,
    after: 900,
    effect: index < 3 ? ('blocked' as const) : ('lowered' as const),
    addOn: 1_000 - index * 20,
    ...(index === 0 && { protected: true }),
  })),
})

export const policiesOf = (overrides: Partial<PolicyListDocument> = {}): PolicyListDocument => ({
  ...headOf('PolicyList'),
  policy: { valid: true, digest: 'a1b2c3d4e5f6', revision: '0123456789abcdef', loadedAt: ago(3_600_000) },
  problems: [],
  problemsOmitted: 0,
  documents: ['acme', 'temporary'],
  protected: [{ person: 'oncall@example.com', source: place(60) }],
  protectedOmitted: 0,
  total: 4,
  page: 1,
  limit: 50,
  items: [
    { kind: 'team', name: 'team', cap: 500, state: 'drifted', observed: 800, people: 160, near: 20, source: place(8) },
    {
      kind: 'group',
      name: 'group:grp_platform',
      cap: 1_500,
      state: 'in_sync',
      observed: 1_500,
      people: 38,
      members: 40,
      near: 7,
      source: place(24),
      reason: 'builds the build',
    },
    { kind: 'user', name: 'ada@example.com', cap: 4_000, state: 'in_sync', observed: 4_000, people: 1, near: 0, source: place(40) },
    {
      kind: 'grant',
      name: 'bob@example.com',
      add: 800,
      state: 'active',
      people: 1,
      near: 0,
      until: '2026-11-28T00:00:00.000Z',
      reason: 'release week',
      ticket: 'OPS-12',
      source: place(44),
    },
  ],
  ...overrides,
})

export const BROKEN_POLICY = {
  policy: { valid: false, digest: 'a1b2c3d4e5f6', revision: '0123456789abcdef', loadedAt: ago(60_000) },
  problems: [
    {
      severity: 'error' as const,
      code: 'UNKNOWN_KEY',
      message: 'unknown key "emial" in a user',
      at: { file: 'policies/acme.yaml', line: 21, column: 7 },
      sourceLine: '    - emial: grace@example.com',
      length: 5,
      hint: 'did you mean "email"?',
    },
  ],
}

export const healthOf = (overrides: Partial<HealthDocument> = {}): HealthDocument => ({
  ...headOf('Health'),
  version: '0.1.0',
  mode: 'enforce',
  lastCycle: { startedAt: ago(62_000), finishedAt: ago(60_000), result: 'held' },
  lastSuccessAt: ago(3_600_000),
  configValid: true,
  ledgerWritable: true,
  ratePerSecond: 7.5,
  clockSkewSeconds: -1.5,
  model: { layers: 'layered', layersProven: true, reads: 'explicit', zero: 'is kept as 0' },
  seen: [
    {
      aspect: 'caps',
      value: 'layered',
      at: ago(3_600_000),
      evidence: 'after team was written (500 to 600), person3@example.com kept its 4000',
    },
  ],
  operations: [
    { operation: 'GetUsageConfig', requests: 1_240, failed: 3, lastFailure: { at: ago(600_000), outcome: 'rate_limited' }, medianMs: 41 },
  ],
  unread: 1,
  oldestReadingAt: ago(290_000),
  settings: {
    interval: 300,
    usageInterval: 900,
    capSemantics: 'layered',
    capReads: 'auto',
    onDrift: 'heal',
    prune: true,
    approvals: 'separate',
    guards: { maxLowered: '15 %, never under 3', maxRaise: '100 % of the credits that remain' },
  },
  warnings: [],
  conditions: [],
  replicas: [],
  ...overrides,
})

/** Answers every question with these documents; `overrides` answer in their place. */
export const documentsOf = (overrides: Partial<Documents> = {}): Documents => ({
  status: () => Promise.reject(new Error('no page asks for it')),
  workspaces: async (_query?: Query) => workspaceListOf([summaryOf()]),
  workspace: async () => workspaceOf(),
  groups: async () => groupListOf(),
  group: async () => groupOf(),
  people: async () => personListOf(),
  person: async () => personOf(),
  changes: async () => changesOf(),
  holds: async () => holdListOf(),
  hold: async () => holdOf(),
  policies: async () => policiesOf(),
  health: async () => healthOf(),
  creditsSeries: async () => creditsOf(),
  burnSeries: async (_workspace, query) => burnOf(query?.['by'] === 'model' ? 'model' : 'group'),
  driftSeries: async () => driftOf(),
  nearSeries: async () => ({ ...headOf('NearSeries'), rows: [], rowsOmitted: 0 }),
  ...overrides,
})
