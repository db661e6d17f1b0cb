// Made-up series for charts.

import type { BurnSeries, CreditsSeries, DriftSeries, NearSeries, PoolSeries } from '../../src/daemon/http/documents/types.ts'
import { dayOf, headOf } from './page-parts.ts'

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

export const burnOf = (by: BurnSeries['by']): BurnSeries => {
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

export const driftOf = (): DriftSeries => ({
  ...headOf('DriftSeries'),
  days: Array.from({ length: 20 }, (_, index) => ({
    day: dayOf(index),
    found: (index * 7) % 4,
    reverted: (index * 7) % 4,
    written: index % 3,
    failed: 0,
  })),
})

export const nearOf = (): NearSeries => ({
  ...headOf('NearSeries'),
  rows: [
    { id: 'grp_platform', name: 'Platform', people: 40, shares: [10, 8, 5, 4, 3, 2, 2, 1, 1, 1, 3, 0] },
    { name: 'in no declared group', people: 12, shares: [6, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2] },
  ],
  rowsOmitted: 0,
})

export const poolsOf = (): PoolSeries => ({
  ...headOf('PoolSeries'),
  cycle: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  pools: [
    {
      name: 'research',
      credits: 20_000,
      exhaustion: '2026-11-28T12:00:00.000Z',
      days: Array.from({ length: 20 }, (_, index) => ({ day: dayOf(index), used: 700 * index, dealt: 19_900 - 10 * index })),
    },
  ],
  poolsOmitted: 0,
})
