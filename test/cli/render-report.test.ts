import { describe, expect, test } from 'vitest'
import { renderReportMarkdown, renderReportText } from '../../src/cli/report/render.ts'
import { renderReportCsv, renderReportJson } from '../../src/cli/report/run.ts'
import { renderReportPage } from '../../src/console/report.ts'
import { TEAM } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { addOnFigures } from '../../src/core/use/add-on.ts'
import { type Report, type ReportInputs, reportOf } from '../../src/core/use/report.ts'
import { measuredAddOn } from '../support/add-on.ts'
import { NOW } from '../support/declare.ts'

const CYCLE = { startAt: Date.UTC(2026, 10, 1), endAt: Date.UTC(2026, 11, 1) }

const report = (more: Partial<ReportInputs> = {}) =>
  reportOf({
    workspace: 'acme',
    which: 'current',
    by: 'user',
    cycle: CYCLE,
    people: [
      { email: 'ada@example.com', groups: [], used: credits(195), cap: credits(100) },
      { email: 'bob@example.com', groups: [], used: credits(5), cap: 'none' },
    ],
    groups: [],
    addOn: addOnFigures({ now: NOW, cycle: CYCLE, balance: { creditsPerSeat: credits(100) } }),
    balance: { creditsPerSeat: credits(100), seats: 3, addOnAvailable: credits(1000), addOnUsed: credits(95), readAt: NOW },
    figures: { ratios: {}, projected: { p10: credits(300), p50: credits(400.4), p90: credits(500) }, exhaustedAt: Date.UTC(2026, 10, 29) },
    writes: [
      {
        at: NOW,
        scope: TEAM,
        action: 'set',
        effect: 'raise',
        from: credits(1),
        to: credits(2),
        cause: 'policy',
        result: 'applied',
        planId: 'p',
        digest: 'd',
        revision: '',
      },
    ],
    pricePerCredit: 2,
    notes: [],
    ...more,
  })

const HOSTILE = report({ people: [{ email: '=cmd|"x"@e.com', groups: [], used: credits(1) }], workspace: '<script>alert(1)</script>' })

describe('a report as text', () => {
  test('cuts long tables with a count', () => {
    const people = Array.from({ length: 60 }, (_, index) => ({ email: `p${index}@e.com`, groups: [], used: credits(index) }))
    const text = renderReportText([report({ people })])
    expect(text).toContain('… and 10 more; --output csv or json has all')
    expect(text.match(/p\d+@e\.com/g)).toHaveLength(50)
  })
})

describe('a report as CSV', () => {
  test('hands no formula to a spreadsheet, and quotes what would break a line', () => {
    expect(renderReportCsv([HOSTILE])).toContain(`,"'=cmd|""x""@e.com",1,`)
  })
})

describe('a report as a page', () => {
  test('is one document that fetches nothing and escapes what it shows', () => {
    const page = renderReportPage([HOSTILE], NOW)
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).not.toMatch(/<script|src=|href="(?!data:)|@import|url\(/)
    expect(page).toContain('@media print')
  })

  test('draws the cycle and each day by model where runs are known, and works without runs', () => {
    const runs = [0, 1, 2].map((index) => ({
      dayAt: CYCLE.startAt + index * 86_400_000,
      model: 'Large',
      mode: '',
      messages: 1,
      used: credits(10 * (index + 1)),
    }))
    const page = renderReportPage([report({ runs })], NOW)
    expect(page).toContain('60 credits of agent runs in 3 days.')
    expect(page).toContain('<figure class="chart" id="cycle-acme">')
    expect(page).not.toMatch(/\sstyle=|NaN/)
    expect(renderReportPage([report()], NOW)).not.toContain('<figure')
  })
})

const MEASURED = addOnFigures({ now: NOW, cycle: CYCLE, measured: measuredAddOn({ ada: 40 }) })
const NOTE = 'Add-on use is measured: the service tells it by person and day, about 3 hours late.'
test.each<readonly [string, (reports: readonly Report[]) => string, string]>([
  ['text', renderReportText, 'measured'],
  ['CSV', renderReportCsv, ',measured'],
  ['Markdown', renderReportMarkdown, '| measured |'],
  ['HTML', (reports) => renderReportPage(reports, NOW), '>measured<'],
  ['JSON', (reports) => renderReportJson(reports, NOW), '"addOnSource": "measured"'],
])('a report as %s says of each figure that it is measured, and how late', (form, render, expected) => {
  const text = render([report({ addOn: MEASURED })])
  expect(text).toContain(expected)
  expect(text).not.toContain('estimated')
  if (form !== 'CSV') expect(text).toContain(NOTE)
})

test('a report as Markdown neutralises what could break a table', () => {
  const markdown = renderReportMarkdown([HOSTILE])
  expect(markdown).toContain('&#124;')
  expect(markdown).not.toContain('<script>')
})
