// Views of workspaces as the daemon makes them, with every part a test may change.

import type { Hold, ScopeChange } from '../../src/core/model/change.ts'
import type { Condition } from '../../src/core/model/condition.ts'
import type { PersonStatus, ScopeState, ScopeStatus, UseShown, WorkspaceView } from '../../src/core/model/events.ts'
import type { Balance, Roster } from '../../src/core/model/observed.ts'
import { TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { addOnFigures } from '../../src/core/use/add-on.ts'
import { bandOf } from '../../src/core/use/first-stop.ts'
import { CYCLE, cap, HOUR, NOW, type PlainCap, scope } from './declare.ts'

export const MINUTE = 60_000
export { CYCLE, HOUR, NOW }

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
export const peopleOf = (roster: Roster, most: number, balance?: Balance): readonly PersonStatus[] =>
  roster.people.map(({ email, used }) => {
    const use = addOnFigures({ now: NOW, balance }).of(email, used)?.credits
    const band = bandOf(credits(most), use)
    return { email, cap: credits(most), ...(use === undefined ? {} : { used: use }), ...(band === undefined ? {} : { band }) }
  })

export const HOLD: Hold = {
  id: '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b',
  guards: ['maxLowered', 'protected'],
  people: 2,
  changes: [{ scope: userScope('oncall@example.com'), from: credits(900), to: credits(100) }],
  message:
    'acme: 41 of 120 people would be lowered (34 %), the limit is 15 %; approve hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b or raise guards.maxLowered',
}

const at = (line: number, file = 'policies/acme.yaml') => ({ file, line, column: 10 })

const status = (name: string, state: ScopeState, desired: number | undefined, more: Partial<ScopeStatus>): ScopeStatus => ({
  ...{ scope: scope(name), state, observed: 'unknown' },
  ...(desired !== undefined && { desired: credits(desired) }),
  ...more,
})

const read = (observed: PlainCap, since?: number): Partial<ScopeStatus> => ({
  ...{ observed: cap(observed), readAt: NOW - MINUTE },
  ...(since !== undefined && { driftSince: NOW - since }),
})

const scopes: readonly ScopeStatus[] = [
  status('team', 'drifted', 500, { ...read(800, HOUR), cause: 'external', source: at(8) }),
  status('group:grp_platform', 'in_sync', 1500, { ...read(1500), source: at(11) }),
  status('group:grp_data', 'drifted', 700, { ...read('none', MINUTE), cause: 'policy', source: at(15) }),
  status('ada', 'drifted', 4000, { ...read(2500, MINUTE), cause: 'policy', source: at(19), reason: 'migration lead' }),
  status('oncall', 'held', 100, { ...read(900, 2 * HOUR), cause: 'policy', why: 'kept back by hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b' }),
  status('left', 'drifted', undefined, { ...read(300, MINUTE), cause: 'orphan' }),
  status('new', 'unknown', 50, { why: 'GetUsageConfig: timeout after 30 s' }),
  status('pending', 'skipped', 50, { why: 'pending@example.com is not approved' }),
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
    notMeasured: 'denied',
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
