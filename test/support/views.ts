// Views of workspaces as the daemon makes them, with every part a test may change.

import type { Hold, ScopeChange } from '../../src/core/model/change.ts'
import type { Condition } from '../../src/core/model/condition.ts'
import type { PersonStatus, ScopeStatus, UseShown, WorkspaceView } from '../../src/core/model/events.ts'
import type { Balance, Cycle, Roster } from '../../src/core/model/observed.ts'
import { groupScope, TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { addOnFigures } from '../../src/core/use/add-on.ts'
import { bandOf } from '../../src/core/use/first-stop.ts'

/** 2026-11-20T12:00Z, where `fakeClock()` starts. */
export const NOW = Date.UTC(2026, 10, 20, 12)

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

export const CYCLE: Cycle = { startAt: Date.UTC(2026, 10, 1), endAt: Date.UTC(2026, 11, 1) }

/** A workspace at its start: nothing was read yet. */
export const emptyView = (workspace = 'acme'): WorkspaceView => ({
  workspace,
  mode: 'enforce',
  scopes: [],
  holds: [],
  approvals: [],
  grants: { pending: 0, active: 0, expiring: 0, ended: 0 },
  groups: [],
  people: [],
  conditions: [],
})

export const personEmail = (index: number): string => `person${index}@example.com`

/** `count` approved people; person n has used n × 10 credits. */
export const rosterOf = (count: number, overrides: Partial<Roster> = {}): Roster => ({
  people: Array.from({ length: count }, (_, index) => ({
    email: personEmail(index),
    name: `Person ${index}`,
    status: 'approved' as const,
    disabled: false,
    used: credits(index * 10),
  })),
  cycle: CYCLE,
  readAt: NOW - 10 * MINUTE,
  statusesAbsent: false,
  duplicates: [],
  ...overrides,
})

export const balanceOf = (overrides: Partial<Balance> = {}): Balance => ({
  creditsPerSeat: credits(500),
  seats: 20,
  addOnAvailable: credits(10_000),
  addOnUsed: credits(400),
  cycle: CYCLE,
  readAt: NOW - 10 * MINUTE,
  ...overrides,
})

/** All people of the roster under one team cap. */
export const peopleOf = (roster: Roster, cap: number, balance?: Balance): readonly PersonStatus[] =>
  roster.people.map(({ email, used }) => {
    const use = addOnFigures({ now: NOW, balance }).of(email, used)?.credits
    const band = bandOf(credits(cap), use)
    return { email, cap: credits(cap), ...(use === undefined ? {} : { used: use }), ...(band === undefined ? {} : { band }) }
  })

export const HOLD: Hold = {
  id: '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b',
  guards: ['maxLowered', 'protected'],
  people: 2,
  changes: [{ scope: userScope('oncall@example.com'), from: credits(900), to: credits(100) }],
  message:
    'acme: 41 of 120 people would be lowered (34 %), the limit is 15 %; approve hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b or raise guards.maxLowered',
}

export const at = (line: number, file = 'policies/acme.yaml') => ({ file, line, column: 10 })

const scopes: readonly ScopeStatus[] = [
  {
    scope: TEAM,
    state: 'drifted',
    desired: credits(500),
    observed: credits(800),
    cause: 'external',
    driftSince: NOW - HOUR,
    readAt: NOW - MINUTE,
    source: at(8),
  },
  {
    scope: groupScope('grp_platform'),
    state: 'in_sync',
    desired: credits(1500),
    observed: credits(1500),
    readAt: NOW - MINUTE,
    source: at(11),
  },
  {
    scope: groupScope('grp_data'),
    state: 'drifted',
    desired: credits(700),
    observed: 'none',
    cause: 'policy',
    driftSince: NOW - MINUTE,
    readAt: NOW - MINUTE,
    source: at(15),
  },
  {
    scope: userScope('ada@example.com'),
    state: 'drifted',
    desired: credits(4000),
    observed: credits(2500),
    cause: 'policy',
    driftSince: NOW - MINUTE,
    readAt: NOW - MINUTE,
    source: at(19),
    reason: 'migration lead',
  },
  {
    scope: userScope('oncall@example.com'),
    state: 'held',
    desired: credits(100),
    observed: credits(900),
    cause: 'policy',
    driftSince: NOW - 2 * HOUR,
    readAt: NOW - MINUTE,
    why: 'kept back by hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b',
  },
  {
    scope: userScope('left@example.com'),
    state: 'drifted',
    observed: credits(300),
    cause: 'orphan',
    driftSince: NOW - MINUTE,
    readAt: NOW - MINUTE,
  },
  {
    scope: userScope('new@example.com'),
    state: 'unknown',
    desired: credits(50),
    observed: 'unknown',
    why: 'GetUsageConfig: timeout after 30 s',
  },
  {
    scope: userScope('pending@example.com'),
    state: 'skipped',
    desired: credits(50),
    observed: 'unknown',
    why: 'pending@example.com is not approved',
  },
]

/** Facts about use beyond the readings. */
export const USE: UseShown = {
  burned: { team: credits(700), groups: { grp_platform: credits(12.5) } },
  runsReadAt: NOW - 10 * MINUTE,
  models: [
    { model: 'Large', mode: 'MODE_DEFAULT', used: credits(1500.5) },
    { model: 'Small', mode: 'UNKNOWN', used: credits(300) },
  ],
  figures: {
    ratios: { '6h': 1.5, '24h': 1.25 },
    projected: { p10: credits(2600), p50: credits(2850.123), p90: credits(3100) },
    exhaustedAt: Date.UTC(2026, 10, 27, 6),
  },
}

/** The message for a key that may not write. */
export const REFUSED: Condition = {
  type: 'KeyRefused',
  subject: 'writes',
  reason: 'WRITES_REFUSED',
  message: 'UsageConfig was refused for oncall@example.com: the key needs Billing Write',
  since: NOW - HOUR,
}

/** A workspace with a part of every kind. */
export function fullView(workspace = 'acme', people = 20): WorkspaceView {
  const roster = rosterOf(people)
  const balance = balanceOf()
  return {
    ...emptyView(workspace),
    pause: { untilAt: NOW + 4 * HOUR, reason: 'incident 12, ask ada@example.com', pausedAt: NOW - MINUTE },
    policy: {
      valid: false,
      digest: 'a1b2c3d4e5f6',
      revision: '0123456789abcdef',
      loadedAt: NOW - HOUR,
      problems: [
        {
          severity: 'error',
          code: 'UNKNOWN_KEY',
          message: 'unknown key "emial" in a user',
          at: at(21),
          sourceLine: '    - emial: grace@example.com',
          length: 5,
          hint: 'did you mean "email"?',
        },
      ],
    },
    scopes,
    holds: [HOLD],
    approvals: [{ id: '0a1b2c3d4e5f', state: 'spent' }],
    grants: { pending: 1, active: 2, expiring: 1, ended: 0 },
    roster,
    groups: [
      { id: 'grp_platform', name: 'Platform', emails: [personEmail(1), personEmail(2)], used: credits(30), readAt: NOW - 10 * MINUTE },
    ],
    balance,
    people: peopleOf(roster, 100, balance),
    use: USE,
    history: { fromAt: NOW - 90 * 24 * HOUR, untilAt: NOW, days: { measured: 1700, reconstructed: 80, partial: 15, missing: 5 }, left: 2 },
    ratePerSecond: 7.5,
    clockSkewMs: -1500,
    seen: {
      caps: {
        value: 'layered',
        at: NOW - HOUR,
        evidence: `after team was written (500 to 600), ${personEmail(3)} kept its 4000`,
        before: { value: 'copied', at: NOW - 3 * HOUR, evidence: `${personEmail(4)} changed` },
      },
      spelling: { value: 'snake', at: NOW - HOUR, evidence: 'an answer' },
    },
    lastCycle: { startedAt: NOW - MINUTE - 2000, finishedAt: NOW - MINUTE, result: 'held', message: '1 change applied, 1 held' },
    lastSuccessAt: NOW - HOUR,
    conditions: [REFUSED],
  }
}

export const CHANGE: ScopeChange = {
  scope: TEAM,
  action: 'set',
  effect: 'lower',
  from: credits(800),
  to: credits(500),
  cause: 'external',
  people: 20,
  healing: true,
  grantEnd: false,
}

/** The ledger's state in a daemon without workspaces. */
export const noLedger = () =>
  pieces(JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'Ledger', createdAt: NOW, key: 'k', workspaces: [] }))

/** A page in pieces. */
export async function* pieces(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts
}
