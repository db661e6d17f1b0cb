import { describe, expect, test } from 'vitest'
import { renderPlanText } from '../../src/cli/plan/render.ts'
import { releaseBy, writeKey } from '../../src/cli/plan/view.ts'
import type { Paint } from '../../src/cli/shared/context.ts'
import type { Change } from '../../src/core/model/change.ts'
import { userScope } from '../../src/core/model/scope.ts'
import { adaLower, bobHold, fullPlan, groupRaise, plan, teamSet } from './plans.ts'

const lines = (...text: readonly string[]): string => `${text.join('\n')}\n`
const HEAD = 'acme: plan 3f9c2a1b7d5e4c08, policies 9a1b2c3d4e5f'

describe('a plan as text', () => {
  const rows: readonly (readonly [string, Parameters<typeof renderPlanText>, string])[] = [
    [
      'puts a long scope on a line of its own in a narrow terminal',
      [{ plan: plan({ changes: [teamSet, groupRaise], counts: { set: 1, raise: 1 } }) }, { width: 60 }],
      lines(
        HEAD,
        '',
        '  + set    team  none → 500   120 people  policy',
        '           policies/acme.yaml:5:10',
        '  ~ raise  group:grp_platform',
        '           1000 → 1500  12 people   policy',
        '           policies/acme.yaml:9:12 · builds the build',
        '',
        'Plan: 1 to set, 1 to raise.',
      ),
    ],
    [
      'after an apply, says how each change ended',
      [
        {
          plan: plan({ changes: [teamSet, groupRaise, adaLower], counts: { set: 1, raise: 1, lower: 1, inSync: 2 } }),
          outcomes: new Map([
            [writeKey(teamSet), { result: 'applied' }],
            [writeKey(groupRaise), { result: 'failed', error: 'HTTP 400: cap too high' }],
          ]),
        },
      ],
      lines(
        HEAD,
        '',
        '  + set    team                none → 500   120 people  policy',
        '           policies/acme.yaml:5:10',
        '           applied',
        '  ~ raise  group:grp_platform  1000 → 1500  12 people   policy',
        '           policies/acme.yaml:9:12 · builds the build',
        '           failed: HTTP 400: cap too high',
        '  ~ lower  ada@example.com     9000 → 4000  1 person    external',
        '           policies/acme.yaml:14:12',
        '           not tried',
        '',
        'Applied: 1 set, 1 failed, 1 not tried. 2 scopes are in sync.',
      ),
    ],
    [
      'after an apply, tells what another write had already brought about from what was not tried',
      [
        {
          plan: plan({ changes: [teamSet, adaLower], counts: { set: 1, lower: 1 } }),
          outcomes: new Map([
            [writeKey(teamSet), { result: 'applied' }],
            [writeKey(adaLower), { result: 'satisfied' }],
          ]),
        },
      ],
      lines(
        HEAD,
        '',
        '  + set    team             none → 500   120 people  policy',
        '           policies/acme.yaml:5:10',
        '           applied',
        '  ~ lower  ada@example.com  9000 → 4000  1 person    external',
        '           policies/acme.yaml:14:12',
        '           already as asked',
        '',
        'Applied: 1 set, 1 already as asked.',
      ),
    ],
  ]
  test.each(rows)('%s', (_name, input, expected) => {
    expect(renderPlanText(...input)).toBe(expected)
  })

  test('stays within the width of the terminal whatever the length of names and reasons, but for the command to copy', () => {
    const long: Change = { ...adaLower, scope: userScope(`${'a'.repeat(50)}@example.com`), reason: 'because '.repeat(40) }
    const text = renderPlanText({ plan: { ...fullPlan, changes: [...fullPlan.changes, long] } }, { width: 80 })
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([
      `  To release exactly this change: capkeeper approve ${bobHold.id}`,
    ])
    expect(text).toContain(`${'a'.repeat(50)}@example.com`)
  })

  test('neutralises control characters and line breaks of a reason', () => {
    const text = renderPlanText({ plan: plan({ changes: [{ ...teamSet, reason: 'a\u001b[2Jb\nNo changes.\u202ec' }] }) })
    expect(text).toContain('· a�[2Jb No changes.�c')
  })

  test('names the flags that reach the same ledger in the command that releases a hold', () => {
    const text = renderPlanText({ plan: fullPlan }, { releaseCommand: releaseBy(['--ledger', 'team.db']) })
    expect(text).toContain('capkeeper approve 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b --ledger team.db\n')
    expect(renderPlanText({ plan: fullPlan }, { releaseCommand: releaseBy([], true) })).toContain(
      'capkeeper apply --approve 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b',
    )
  })

  test('colours do not shift any column', () => {
    const paint: Paint = (style, text) => `<${style}>${text}</>`
    const painted = renderPlanText({ plan: fullPlan }, { paint }).replace(/<\/?\w*>/g, '')
    expect(painted).toBe(renderPlanText({ plan: fullPlan }))
  })
})
