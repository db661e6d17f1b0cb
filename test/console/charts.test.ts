// The charts of the pages: what they draw stays within the plot, all of it is in their table, and they claim nothing that is not known.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ACME, changed, PAGE_PATHS, PERSON, pageAt, textOf } from '../support/pages.ts'

interface Figure {
  readonly id: string
  readonly markup: string
  readonly says: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const cells = (row: string): readonly string[] =>
  [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell).trim())

function figuresIn(page: string): readonly Figure[] {
  return [...page.matchAll(/<figure class="chart"(?: id="([^"]*)")?>.*?<\/figure>/gs)].map(([markup, id = '']) => {
    const [heads = [], ...rows] = [...markup.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => cells(row))
    return { id, markup, heads, rows, says: textOf(/<figcaption>.*?<p[^>]*>(.*?)<\/p>/s.exec(markup)?.[1] ?? '').trim() }
  })
}

const figure = async (id: string, ...page: Parameters<typeof pageAt>): Promise<Figure> => {
  const found = figuresIn(await pageAt(...page)).find((one) => one.id === id)
  if (!found) throw new Error(`no chart ${id}`)
  return found
}

function expectDrawn({ markup, heads, rows }: Figure): void {
  expect(markup).not.toMatch(/style=|<style|NaN|Infinity|undefined|native code/)
  for (const row of rows) expect(row).toHaveLength(heads.length)
  for (const [, height = '', drawing = ''] of markup.matchAll(/viewBox="0 0 1000 (\d+)"[^>]*>(.*?)<\/svg>/gs))
    for (const [, d = ''] of drawing.matchAll(/ d="([^"]*)"/g))
      for (const [, x, y] of d.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)) {
        expect(Number(x)).toBeGreaterThanOrEqual(0)
        expect(Number(x)).toBeLessThanOrEqual(1_000)
        expect(Number(y)).toBeGreaterThanOrEqual(0)
        expect(Number(y)).toBeLessThanOrEqual(Number(height))
      }
}

test('every chart of every page is drawn within its plot, without styles', async () => {
  const figures = (await Promise.all(PAGE_PATHS.map((path) => pageAt(path)))).flatMap(figuresIn)
  expect(figures.length).toBeGreaterThanOrEqual(10)
  figures.forEach(expectDrawn)
})

test.each([
  ['cycle', ACME, '8,385 of 10.1K credits used; 12.3K expected by 1 Dec; the add-on credits run out on 24 Nov.'],
  ['burn-group', ACME, '15.8K credits of agent runs in 66 days; the group that used most is Platform.'],
  ['drift', ACME, '3 changes by others found, 2 reverted in 9 days.'],
  ['pool-research', ACME, '1,540 of 3,000 credits used, 3,000 dealt as caps.'],
  ['person-use', PERSON, '922 credits used, under a cap of 9,000; the cap was changed 2 times in this time.'],
])('the chart %s says in one sentence what it shows', async (id, path, says) => {
  expect((await figure(id, path)).says).toBe(says)
})

test('the chart of a pool says when it is used up, where that is before the end of the cycle', async () => {
  const until = (exhaustion: string) => changed({ poolSeries: ({ pools }) => ({ pools: pools.map((pool) => ({ ...pool, exhaustion })) }) })
  const says = async (at: string) => (await figure('pool-research', ACME, until(at))).says
  expect(await says('2026-11-24T00:00:00Z')).toContain('dealt as caps; used up on 24 Nov.')
  expect(await says('2026-12-02T00:00:00Z')).toContain('dealt as caps.')
})

test.each([
  ['0.5', 0.5],
  ['99.9', 99.9],
  ['578', 577.7],
  ['9,950', 9_950],
  ['10K', 9_999.9],
  ['12.3K', 12_345],
  ['1.25M', 1_250_000],
])('an amount reads as %s', async (text, credits) => {
  expect((await figure('cycle', ACME, changed({ creditsSeries: { credits } }))).says).toContain(` of ${text} credits used`)
})

describe('the cycle', () => {
  const dayOf = (index: number): string => new Date(Date.UTC(2026, 10, 1 + index)).toISOString().slice(0, 10)
  const days = (count: number, shown: (index: number) => object) =>
    Array.from({ length: count }, (_, index) => ({ day: dayOf(index), ...shown(index) }))

  test('has the projection of its end in its table, and no figure for the days until then', async () => {
    const { rows } = await figure('cycle', ACME)
    expect([rows[0], rows[20], rows[29]]).toEqual([
      ['1 Nov', '0', '337', '–'],
      ['21 Nov', '–', '7,070', '–'],
      ['30 Nov', '–', '10,100', '12,311'],
    ])
  })

  test('claims nothing that is not known, and is drawn before anything was used', async () => {
    const known = days(30, (index) => (index < 20 && index !== 4 ? { used: 100 * index } : {}))
    const unknown = changed({ creditsSeries: { credits: undefined, exhaustion: undefined, projected: undefined, days: known } })
    const { markup, rows } = await figure('cycle', ACME, unknown)
    expect(markup).not.toMatch(/even pace|run out/)
    expect(rows.slice(3, 6).map(([, used]) => used)).toEqual(['300', '–', '500'])
    const none = changed({ creditsSeries: { days: days(30, () => ({})) } })
    expect(figuresIn(await pageAt(ACME, none)).map(({ id }) => id)).not.toContain('cycle')
    const first = changed({ creditsSeries: { days: days(30, (index) => (index === 0 ? { used: 0 } : {})) } })
    expectDrawn(await figure('cycle', ACME, first))
  })

  test('is drawn within its plot for any amounts, on a scale of few round steps', async () => {
    const amount = fc.integer({ min: 0, max: 1e12 }).map((cents) => cents / 100)
    await fc.assert(
      fc.asyncProperty(amount, amount, fc.integer({ min: 1, max: 30 }), async (used, credits, count) => {
        const shown = days(30, (index) => (index < count ? { used: (used * (index + 1)) / count } : {}))
        const drawn = await figure('cycle', ACME, changed({ creditsSeries: { credits, days: shown } }))
        expectDrawn(drawn)
        expect(drawn.markup.match(/class="grid"/g)?.length).toBeLessThanOrEqual(7)
        expect(drawn.markup.match(/class="tick(?: odd)?" x="[\d.]+%"/g)?.length).toBeLessThanOrEqual(8)
      }),
      { numRuns: 20 },
    )
  })
})

test('a stack gives colours to six, sums all others, and takes groups by any name, also one that every object has', async () => {
  const names = ['constructor', '__proto__', 'others', 'toString', 'valueOf', 'hasOwnProperty', 'g6', 'g7']
  const lines = names.map((name, index) => ({ name, total: 10 - index, values: [10 - index, name === 'g6' ? 0.5 : 0] }))
  const burn = changed({ burnSeries: ({ by }) => (by === 'model' ? {} : { days: ['2026-11-01', '2026-11-02'], lines }) })
  const { heads, rows, markup } = await figure('burn-group', ACME, burn)
  expect(heads.slice(1)).toEqual([...names.slice(0, 6), 'others'])
  expect(rows).toEqual([
    ['1 Nov', '10', '9', '8', '7', '6', '5', '7'],
    ['2 Nov', '0', '0', '0', '0', '0', '0', '0.5'],
  ])
  expectDrawn({ id: '', says: '', markup, heads, rows })
})

test('a stack begins with the first day that was read, and a person’s table tells the grade of each day', async () => {
  const dates = ['2026-11-01', '2026-11-02', '2026-11-03']
  const lines = [null, 5].map((last, at) => ({ name: `g${at}`, total: 5 * at, values: [null, null, last] }))
  const series = changed({ burnSeries: { by: 'group', days: dates, lines } })
  const burn = await figure('burn-group', ACME, series)
  expect([burn.says, burn.rows]).toEqual(['5 credits of agent runs in 1 day; the group that used most is g1.', [['3 Nov', '5', '–']]])
  const days = [
    { day: '2026-11-01', burned: 10, addOn: 10, cap: 50, grade: 'measured', starts: true },
    { day: '2026-11-02', burned: 0, addOn: 10, cap: 50, grade: 'missing' },
  ] as const
  const last = { day: '2026-11-03', burned: 0, addOn: 10, cap: 50 }
  const { rows, markup } = await figure('person-use', PERSON, changed({ person: { addOn: 10, use: { days: [...days, last] } } }))
  expect(rows.map(([, , grade]) => grade)).toEqual(['measured', 'missing', '–'])
  expect(markup).toContain('1 Nov: 10 used, measured')
})

test('tables that draw tell every figure, lead to those people, and have both sides of a comparison on one scale', async () => {
  const groups = await pageAt(`${ACME}/groups`)
  const cell = `${ACME}/people?group=grp_payments&amp;band=50_to_85`
  expect(groups).toContain(`<td class="number heat-cool h2"><a href="${cell}">2</a></td>`)
  expect(groups).toContain('<td class="number heat-none h0"><span class="soft">0</span></td>')
  expect(textOf(groups)).toMatch(/in no declared group( \d+){6}/)
  const [, credits] = figuresIn(await pageAt(`${ACME}/simulate`))
  expect(credits?.says).toBe('these policies: 7,738.8; as it was: 10,076.7.')
  expect(credits?.rows[0]?.slice(0, 4)).toEqual(['1 Oct 2026', '10.1K', '7,739', '-2,337.8'])
  expect(credits?.markup.match(/class="bar t-\w+" width="[\d.]+%"/g)).toEqual([
    'class="bar t-rest" width="100%"',
    'class="bar t-main" width="76.8%"',
  ])
})

test('what the days of a person do not sum to is on the last one, which has the figure of the present', async () => {
  const days = [
    { day: '2026-11-01', addOn: 10, grade: 'reconstructed' },
    { day: '2026-11-02', addOn: 40, grade: 'partial' },
    { day: '2026-11-03', addOn: 60 },
  ] as const
  const { rows } = await figure('person-use', PERSON, changed({ person: { addOn: 100, use: { days } } }))
  expect(rows.map(([, used]) => used)).toEqual(['10', '40', '100'])
})
