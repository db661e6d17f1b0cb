// The made-up document of a comparison: three cycles, a pool, people who gain and people who lose.
import type { ComparisonDocument } from '../../src/daemon/http/documents/types.ts'
import { ago, headOf } from './page-parts.ts'

type Figures = NonNullable<ComparisonDocument['figures']>
type Row = Figures['cycles'][number]['total']

const exact = (value: number) => ({ low: value, middle: value, high: value })
const side = (credits: number, people: number, days: number): Row['policy'] => ({
  credits: { low: credits - 40, middle: credits, high: credits + 60 },
  blockedPeople: exact(people),
  blockedDays: exact(days),
})

const row = (key: string, name: string, scale: number): Row => ({
  key,
  name,
  people: 100 * scale,
  workingDays: 2_100 * scale,
  policy: side(9_000 * scale, 4 * scale, 31 * scale),
  beside: side(12_000 * scale, 6 * scale, 63 * scale),
  kept: 3_000 * scale,
  keptMoney: 120 * scale,
})

const cycle = (month: number): Figures['cycles'][number] => ({
  start: new Date(Date.UTC(2026, month, 1)).toISOString(),
  end: new Date(Date.UTC(2026, month + 1, 1)).toISOString(),
  whole: true,
  total: row('team', 'everybody', 2),
  groups: [row('group:grp_platform', 'Platform', 1), row('group:grp_data', 'Data', 0.5), row('-', 'in no group', 0.5)],
  groupsOmitted: 3,
  pools: [{ ...row('pool:shared', 'pool shared', 0.5), credits: 20_000 }],
})

const people = Array.from({ length: 50 }, (_, index) => `person${index}@example.com`)

export const figuresOf = (overrides: Partial<Figures> = {}): Figures => ({
  policy: { digest: 'a1b2c3d4e5f6', revision: '0123456789abcdef' },
  addOn: 'estimated',
  creditsPerSeat: 500,
  pricePerCredit: 0.04,
  recorded: { from: '2026-08-01', through: '2026-11-19' },
  cycles: [cycle(7), cycle(8), cycle(9)],
  blocked: people.map((person, index) => ({
    person,
    cycleStart: '2026-10-01T00:00:00.000Z',
    workingDays: 21,
    policy: { from: '2026-10-12', days: 8.5, cap: 400 },
    ...(index % 2 === 0 && { beside: { from: '2026-10-20', days: 3, cap: 500 } }),
  })),
  blockedOmitted: 7,
  gains: people.slice(0, 9).map((person) => ({ person, credits: { policy: 900, beside: 700 }, blockedDays: { policy: 0, beside: 4 } })),
  gainsOmitted: 0,
  losses: people.slice(10, 14).map((person) => ({ person, credits: { policy: 400, beside: 700 }, blockedDays: { policy: 9, beside: 0 } })),
  lossesOmitted: 0,
  unreached: [
    { scope: 'group:grp_data', cap: 1_500, highest: 610.5 },
    { scope: 'ada@example.com', cap: 4_000, highest: 1_200 },
  ],
  unreachedOmitted: 0,
  capsReached: 3,
  notes: ['Groups and roles are those of today.'],
  ...overrides,
})

export const comparisonOf = (overrides: Partial<ComparisonDocument> = {}): ComparisonDocument => ({
  ...headOf('Comparison'),
  state: 'made',
  madeAt: ago(120_000),
  figures: figuresOf(),
  ...overrides,
})
