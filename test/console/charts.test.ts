// Charts as functions from figures to markup: what they draw stays within the plot, and all of it is in their table.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amountTable } from '../../src/console/chart/bars.ts'
import { type Chart, chartFigure } from '../../src/console/chart/chart.ts'
import { compareChart } from '../../src/console/chart/compare.ts'
import { cycleChart } from '../../src/console/chart/cycle.ts'
import { driftChart } from '../../src/console/chart/drift.ts'
import { heatMap } from '../../src/console/chart/heat.ts'
import { personChart } from '../../src/console/chart/person.ts'
import { poolCharts } from '../../src/console/chart/pool.ts'
import { dayTicks, valueScale } from '../../src/console/chart/scale.ts'
import { stackChart } from '../../src/console/chart/stack.ts'
import { DAY_MS } from '../../src/core/model/units.ts'

const START = Date.UTC(2026, 10, 1)
const END = Date.UTC(2026, 11, 1)
const day = (index: number): number => START + index * DAY_MS

const CYCLE = {
  startAt: START,
  endAt: END,
  now: day(20),
  used: Array.from({ length: 21 }, (_, index) => ({ at: day(index), value: index * 100 })),
  budget: 4_000,
  projected: [
    { at: day(25), p10: 2_300, p50: 2_500, p90: 3_000 },
    { at: END, p10: 2_600, p50: 3_000, p90: 4_500 },
  ],
  exhaustedAt: day(27),
}

function one(chart: Chart | undefined): Chart {
  if (!chart) throw new Error('no chart')
  return chart
}

const CHARTS: readonly (readonly [name: string, chart: Chart, says: string])[] = [
  [
    'credits over the cycle',
    cycleChart(CYCLE),
    '2,000 of 4,000 credits used; 3,000 expected by 1 Dec; the add-on credits run out on 28 Nov.',
  ],
  [
    'burn by day',
    stackChart({
      id: 'b',
      title: 'Burn',
      noun: 'group',
      days: [
        {
          at: START,
          parts: new Map([
            ['a', 10],
            ['b', 30],
          ]),
        },
        { at: day(1), parts: new Map([['a', 5]]) },
      ],
    }),
    '45 credits in 2 days; the group that used most is b.',
  ],
  [
    'a person against the cap',
    one(
      personChart({
        addOn: 60,
        use: {
          days: [
            { day: '2026-11-01', burned: 10, addOn: 10 },
            { day: '2026-11-02', burned: 30, addOn: 40, cap: 50 },
            { day: '2026-11-03', burned: 20, addOn: 60, cap: 100, changed: true },
          ],
          addOnSource: 'measured',
        },
      }),
    ),
    '60 credits used, under a cap of 100; the cap was changed once in this time.',
  ],
  [
    'drift',
    driftChart({
      days: [
        { day: '2026-11-01', found: 2, reverted: 1 },
        { day: '2026-11-02', found: 0, reverted: 1 },
      ],
    }),
    '2 changes by others found, 2 reverted in 2 days.',
  ],
  [
    'a pool',
    one(
      poolCharts({
        apiVersion: 'capkeeper/v1',
        kind: 'PoolSeries',
        at: '2026-11-06T00:00:00Z',
        peopleShown: 'email',
        workspace: 'acme',
        cycle: { start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' },
        pools: [
          {
            name: 'ml',
            credits: 1_000,
            exhaustion: '2026-11-21T00:00:00Z',
            days: [
              { day: '2026-11-01', used: 0, dealt: 900 },
              { day: '2026-11-05', used: 300, dealt: 950 },
            ],
          },
        ],
        poolsOmitted: 0,
      })[0],
    ),
    '300 of 1,000 credits used, 950 dealt as caps.',
  ],
]

/** Every coordinate in the stretched part of a drawing. */
function coordinates(markup: string): readonly (readonly [x: number, y: number])[] {
  const paths = [...markup.matchAll(/ d="([^"]*)"/g)].flatMap(([, d = '']) => [...d.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)])
  return paths.map(([, x, y]) => [Number(x), Number(y)])
}

describe('every chart', () => {
  test.each(CHARTS)('%s says in one sentence what it shows', (_, { summary }, says) => {
    expect(summary).toBe(says)
  })

  test.each(CHARTS)('%s is drawn without styles, and each part of its time axis has a row in its table', (_, chart) => {
    const { markup } = chartFigure(chart)
    expect(markup).not.toMatch(/style=|<style|NaN|Infinity|undefined/)
    expect(markup).toContain('role="img"')
    expect(chart.table.rows).toHaveLength(chart.plot.slots.length)
    for (const row of chart.table.rows) expect(row).toHaveLength(chart.table.heads.length)
  })

  test.each(CHARTS)('%s draws within its plot', (_, chart) => {
    for (const [x, y] of coordinates(chartFigure(chart).markup)) {
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x).toBeLessThanOrEqual(1_000)
      expect(y).toBeGreaterThanOrEqual(0)
      expect(y).toBeLessThanOrEqual(chart.plot.height ?? 190)
    }
  })
})

describe('a chart of the cycle', () => {
  test('claims nothing that is not known', () => {
    const { budget: _, projected: __, exhaustedAt: ___, ...known } = CYCLE
    const { markup } = chartFigure(cycleChart(known))
    expect(markup).not.toContain('even pace')
    expect(markup).not.toContain('run out')
  })

  test('follows the projection day by day in its table', () => {
    const rows = cycleChart(CYCLE).table.rows
    expect([rows[22], rows[24], rows[29]].map((row) => row?.[3])).toEqual([2_300, 2_500, 3_000])
    expect(rows[10]?.[3]).toBeUndefined()
  })

  test('is drawn before anything was used', () => {
    const { markup } = chartFigure(cycleChart({ ...CYCLE, used: [] }))
    expect(markup).not.toMatch(/NaN|Infinity/)
  })
})

describe('a stack', () => {
  test('gives colours to six, and sums all others', () => {
    const parts = new Map(Array.from({ length: 9 }, (_, index) => [`g${index}`, 10 - index]))
    const chart = stackChart({ id: 'b', title: 'Burn', noun: 'group', days: [{ at: START, parts }] })
    expect(chart.legend.map(({ text }) => text)).toEqual(['g0', 'g1', 'g2', 'g3', 'g4', 'g5', 'others'])
    expect(chart.table.rows[0]).toEqual(['1 Nov', 10, 9, 8, 7, 6, 5, 9])
  })

  test('takes groups and models by any name, also one that every object has, and its own word for the rest', () => {
    const names = ['constructor', '__proto__', 'others', 'toString', 'valueOf', 'hasOwnProperty', 'g6', 'g7']
    const full = new Map(names.map((name, index) => [name, 10 - index]))
    const days = [
      { at: START, parts: full },
      { at: day(1), parts: new Map([['g6', 0.5]]) },
    ]
    const chart = stackChart({ id: 'b', title: 'Burn', noun: 'group', days, names: new Map([['g6', 'Six']]) })
    expect(chart.legend.map(({ text }) => text)).toEqual([...names.slice(0, 6), 'others'])
    expect(chart.table.rows).toEqual([
      ['1 Nov', 10, 9, 8, 7, 6, 5, 7],
      ['2 Nov', 0, 0, 0, 0, 0, 0, 0.5],
    ])
    expect(chartFigure(chart).markup).not.toMatch(/NaN|native code/)
  })
})

describe('scales', () => {
  test('end at or above the highest figure, in few round steps', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (highest) => {
        const { max, ticks } = valueScale(highest)
        expect(max).toBeGreaterThanOrEqual(highest * (1 - 1e-6))
        expect(max).toBeLessThanOrEqual(highest * 2.01)
        expect(ticks.length).toBeGreaterThanOrEqual(3)
        expect(ticks.length).toBeLessThanOrEqual(7)
        expect(ticks.at(-1)).toBe(max)
      }),
    )
  })

  test('of counts have no parts of one', () => {
    expect(valueScale(1, true).ticks).toEqual([0, 1])
    expect(valueScale(3, true).ticks).toEqual([0, 1, 2, 3])
    expect(valueScale(40, true).ticks).toEqual([0, 10, 20, 30, 40])
  })

  test('label seven midnights at most, all within', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: DAY_MS }), (days, offset) => {
        const ticks = dayTicks(START + offset, START + offset + days * DAY_MS)
        expect(ticks.length).toBeLessThanOrEqual(7)
        for (const tick of ticks) {
          expect(tick % DAY_MS).toBe(0)
          expect(tick).toBeGreaterThanOrEqual(START + offset)
          expect(tick).toBeLessThanOrEqual(START + offset + days * DAY_MS)
        }
      }),
    )
  })
})

describe('tables that draw', () => {
  test('a heat map tells every figure and leads to those people', () => {
    const columns = [
      { head: 'under 50 %', tone: 'cool' as const },
      { head: 'at cap', tone: 'hot' as const },
      { head: 'no cap', tone: 'none' as const },
    ]
    const { markup } = heatMap('Group', columns, [
      { name: 'Platform', href: '/g', cellHref: (column) => `/p?${column}`, counts: [8, 1, 0] },
    ])
    expect(markup).toContain('<td class="number heat-cool h5"><a href="/p?0">8</a></td>')
    expect(markup).toContain('<td class="number heat-hot h1"><a href="/p?1">1</a></td>')
    expect(markup).toContain('<td class="number heat-none h0"><span class="soft">0</span></td>')
  })

  test('a comparison draws both sides on one scale, and says the difference', () => {
    const { markup } = compareChart({
      title: 'Days blocked',
      head: 'Cycle',
      names: { beside: 'in force', policy: 'this policy' },
      rows: [
        { name: 'October', beside: 40, policy: 10 },
        { name: 'November', beside: 20, policy: 30 },
      ],
    })
    expect(markup).toContain('this policy: 40; in force: 60.')
    expect(markup).toContain('<td class="number">-30</td>')
    expect(markup).toContain('<td class="number">+10</td>')
    expect([...markup.matchAll(/class="bar t-(rest|main)" width="([\d.]+)%"/g)].map(([, tone, width]) => `${tone} ${width}`)).toEqual([
      'rest 100',
      'main 25',
      'rest 50',
      'main 75',
    ])
  })

  test('amounts are shown with their share and a bar', () => {
    const { markup } = amountTable('Model', 'Credits used', [
      { name: 'large', amount: 75 },
      { name: 'small', amount: 25 },
    ])
    expect(markup).toContain('<td class="number">75 %</td>')
    expect(markup).toContain('class="bar t-main" width="33.33%"')
  })
})

test.each([
  ['the service told all of', 'reconstructed', [10, 40, 100]],
  ['only readings tell of', 'partial', [50, 80, 100]],
] as const)('use that is missing from the cycle, beside days that %s', (_name, grade, expected) => {
  const days = [
    { day: '2026-11-01', burned: 10, addOn: 10, grade, starts: true },
    { day: '2026-11-02', burned: 30, addOn: 40, grade },
    { day: '2026-11-03', burned: 20, addOn: 60 },
  ]
  const chart = personChart({ addOn: 100, use: { days, addOnSource: 'estimated' } })
  expect(chart?.table.rows.map(([, used]) => used)).toEqual(expected)
})
