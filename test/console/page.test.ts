import { describe, expect, test } from 'vitest'
import { renderPage } from '../../src/console/page.ts'
import { ago, span } from '../../src/console/text.ts'
import { html } from '../../src/core/escape/html.ts'
import type { WorkspaceView } from '../../src/core/model/events.ts'
import { groupScope } from '../../src/core/model/scope.ts'
import { statusDocument } from '../../src/daemon/http/status.ts'
import { EMAIL_LABELS } from '../../src/daemon/http/status-labels.ts'
import { emptyView, fullView, HOLD, NOW, REFUSED } from '../support/views.ts'

const HEALTHY = { configValid: true, ledgerWritable: true }
const pageOf = (views: readonly WorkspaceView[], health = HEALTHY) =>
  renderPage(statusDocument({ views, health, people: EMAIL_LABELS, now: NOW, version: '0.1.0' }))

/** What a reader sees, roughly: the markup without tags. */
const textOf = (page: string) =>
  page
    .replace(/<style>.*<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')

describe('the page', () => {
  const shown: readonly (readonly [string, string])[] = [
    ['the policy in force by digest', 'a1b2c3d4e5f6 , loaded 1 h ago'],
    ['that the policy is not valid', 'The policy files are not valid; the last good set stays in force'],
    ['where a policy is wrong', 'policies/acme.yaml:21:10'],
    ['the pause, until when and why', 'Paused until 2026-11-20 16:00 UTC (4 h more): incident 12'],
    ['the last cycle with its age', 'held, 1 min ago'],
    ['how to release a hold', `capkeeper approve ${HOLD.id}`],
    ['how fast credits go', '1.5 in 6h, 1.3 in 24h'],
    ['what will have been used at the end', '2,850 likely 2,600 to 3,100'],
    ['when the add-on credits run out', 'Add-on credits run out 2026-11-27 06:00 UTC'],
    ['what the models used', 'Large MODE_DEFAULT 1,500.5'],
    ['a drifting scope with both values and its cause', 'drifted 500 800 external 1 h'],
    ['why a scope is unknown', 'GetUsageConfig: timeout after 30 s'],
    [
      'what needs a person, and for how long',
      'KeyRefused UsageConfig was refused for oncall@example.com: the key needs Billing Write for 1 h',
    ],
    ['the balance', 'Add-on credits available 10,000'],
    ['the age of what was read', 'read 10 min ago'],
    ['people by band', 'under 50 %: 20'],
    [
      'what was seen of the deployment',
      'Team and group caps kept in layers after team was written (500 to 600), person3@example.com kept its 4000 1 h ago',
    ],
    ['what contradicts it', 'Before, copied to each member: person4@example.com changed 3 h ago'],
    ['declared groups', 'Platform grp_platform 2 30'],
  ]
  test.each(shown)('shows %s', (_, text) => {
    expect(textOf(pageOf([fullView()]))).toContain(text)
  })

  test('says of a quiet workspace that it is in sync', () => {
    const view: WorkspaceView = { ...emptyView(), lastCycle: { startedAt: NOW, finishedAt: NOW, result: 'noop' }, lastSuccessAt: NOW }
    expect(textOf(pageOf([view]))).toContain('acme in sync enforce')
  })

  test('claims nothing before the first cycle', () => {
    const text = textOf(pageOf([emptyView()]))
    expect(text).toContain('first cycle under way')
    expect(text).not.toContain('in sync')
  })

  test('says so when nothing can be written or the configuration is broken', () => {
    const text = textOf(pageOf([], { configValid: false, ledgerWritable: false }))
    expect(text).toContain('The ledger cannot be written')
    expect(text).toContain('The configuration file is not valid')
    expect(text).toContain('No workspace yet.')
  })

  test('escapes every value, wherever it came from', () => {
    const hostile = `<script>alert("x")</script><img src=x onerror='alert(1)'>&amp;`
    const view = fullView(hostile)
    const page = pageOf([
      {
        ...view,
        conditions: [{ ...REFUSED, message: hostile }],
        groups: view.groups.map((group) => ({ ...group, id: hostile, name: hostile })),
        scopes: [{ scope: groupScope(hostile), state: 'drifted', observed: 'none', why: hostile, reason: hostile }],
        holds: [{ ...HOLD, message: hostile }],
      },
    ])
    expect(page).not.toContain('<script')
    expect(page).not.toContain('<img')
    expect(page).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;')
  })

  test('has no script, no inline style and nothing to fetch from elsewhere', () => {
    const page = pageOf([fullView()])
    expect(page).not.toMatch(/<script|\sstyle=|\son\w+=|https?:\/\//)
  })
})

describe('the template', () => {
  test('escapes text, keeps markup of its own, and leaves out what is not there', () => {
    const { markup } = html`<p>${'<b>'}${html`<i>${1}</i>`}${undefined}${false}${['a', html`<hr>`]}</p>`
    expect(markup).toBe('<p>&lt;b&gt;<i>1</i>a<hr></p>')
  })
})

describe('ages', () => {
  test.each([
    ['0 s', 0],
    ['12 s', 12],
    ['1 min', 60],
    ['1 min 1 s', 61],
    ['4 h 5 min', 4 * 3600 + 5 * 60 + 9],
    ['3 d', 3 * 86_400],
    ['3 d 2 h', 3 * 86_400 + 2 * 3600],
  ])('read as %s', (text, seconds) => {
    const from = '2026-11-20T12:00:00.000Z'
    const to = new Date(Date.parse(from) + seconds * 1000).toISOString()
    expect(span(from, to)).toBe(text)
    expect(ago(from, to)).toBe(`${text} ago`)
  })
})
