// Documents of a workspace as the daemon makes them, with every part a test may change: the input of the pages.

import type { Query } from '../../src/daemon/http/documents/documents.ts'
import type { Documents } from '../../src/daemon/http/documents/make.ts'
import type {
  HealthDocument,
  HoldDocument,
  HoldListDocument,
  LeadDocument,
  MeDocument,
  PolicyListDocument,
  WorkspaceDocument,
  WorkspaceListDocument,
  WorkspaceSummary,
} from '../../src/daemon/http/documents/types.ts'
import { comparisonOf } from './page-comparison.ts'
import { ago, BANDS, HEAD, HOLD_ID, HOLD_MESSAGE, headOf, place, SCOPES } from './page-parts.ts'
import { groupListOf, groupOf, personListOf, personOf } from './page-people.ts'
import { burnOf, creditsOf, driftOf, nearOf, poolsOf } from './page-series.ts'
import { changesOf, planOf } from './page-story.ts'

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
  conditionsOmitted: 0,
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
  parts: [],
  partsOmitted: 0,
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
      edit: `capkeeper edit approve ${HOLD_ID}`,
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
  conditionsOmitted: 0,
  replicas: [],
  ...overrides,
})

const meOf = (): MeDocument => ({
  ...{ apiVersion: 'capkeeper/v1', kind: 'Me' },
  workspaces: [
    {
      ...{ workspace: 'acme', used: 1320.5, addOn: 820.5, addOnSource: 'measured', cap: 1000, left: 179.5 },
      entry: { kind: 'group', reason: 'builds the build' },
      stopsFirst: { what: 'cap', on: '2026-11-26' },
      grants: [{ kind: 'user grant', cap: 6000, until: '2026-12-15T00:00:00.000Z', reason: 'release week' }],
      ...{ cycleEnd: '2026-12-01T00:00:00.000Z', requestUrl: 'https://git.example/new?for=ada%40example.com' },
    },
  ],
})

export const leadOf = (overrides: Partial<LeadDocument> = {}): LeadDocument => ({
  ...{ apiVersion: 'capkeeper/v1', kind: 'Lead', at: '2026-11-20T12:00:00.000Z', peopleShown: 'email', workspace: 'acme' },
  near: [
    { person: 'ada@example.com', cap: 1000, used: 1004.5, source: 'measured', band: 'at_cap' },
    { person: 'grace.hopper@a-very-long-name-of-a-domain.example.com', cap: 1500, used: 1300, source: 'estimated', band: '85_to_95' },
  ],
  nearOmitted: 3,
  grants: [{ scope: 'ada@example.com', cap: 6000, until: '2026-11-25T00:00:00.000Z', reason: 'release week' }],
  grantsOmitted: 0,
  changes: [
    ...[{ at: '2026-11-20T10:00:00.000Z', scope: 'group:grp_platform', from: 'none', to: 1500, effect: 'set', cause: 'policy' } as const],
    ...[{ at: '2026-11-19T10:00:00.000Z', scope: 'ada@example.com', from: 7, to: 1000, effect: 'raise', cause: 'external' } as const],
  ],
  changesOmitted: 0,
  ...overrides,
})

/** Answers every request with these documents; `overrides` replace some. */
export const documentsOf = (overrides: Partial<Documents> = {}): Documents => ({
  status: () => Promise.reject(new Error('no page asks for it')),
  me: async () => meOf(),
  workspaces: async (_query?: Query) => workspaceListOf([summaryOf()]),
  workspace: async () => workspaceOf(),
  lead: async () => leadOf(),
  parts: () => [],
  groups: async () => groupListOf(),
  group: async () => groupOf(),
  people: async () => personListOf(),
  person: async () => personOf(),
  changes: async () => changesOf(),
  plan: async () => planOf(),
  holds: async () => holdListOf(),
  hold: async () => holdOf(),
  policies: async () => policiesOf(),
  health: async () => healthOf(),
  comparison: async () => comparisonOf(),
  creditsSeries: async () => creditsOf(),
  burnSeries: async (_workspace, query) => burnOf(query?.['by'] === 'model' ? 'model' : 'group'),
  driftSeries: async () => driftOf(),
  nearSeries: async () => nearOf(),
  poolSeries: async () => poolsOf(),
  ...overrides,
})
