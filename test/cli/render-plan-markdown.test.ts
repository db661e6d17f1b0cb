import { describe, expect, test } from 'vitest'
import { MARKDOWN_LIMIT, renderPlanMarkdown } from '../../src/cli/plan/render-markdown.ts'
import type { Change } from '../../src/core/model/change.ts'
import { userScope } from '../../src/core/model/scope.ts'
import { adaLower, bobBlock, bobHold, fullPlan, plan, teamSet } from './plans.ts'

const lines = (...text: readonly string[]): string => `${text.join('\n')}\n`

describe('a plan as Markdown', () => {
  test('puts people first, then holds, then the changes, and folds the details', () => {
    const view = {
      plan: plan({ changes: [teamSet, adaLower, bobBlock], holds: [bobHold], counts: { set: 1, lower: 1, held: 1, inSync: 7 } }),
    }
    expect(renderPlanMarkdown([view])).toBe(
      lines(
        '### capkeeper: acme',
        '',
        '**1 person with less, 120 people with a first cap.** 2 changes. **1 change held by a guard.**',
        '',
        '> [!WARNING]',
        '> **Hold `7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b` by maxBlocked, protected**: 1 change, 1 person',
        '>',
        '> acme: bob@\u2060example.com is protected; approve hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b or take the line out of spec.protected',
        '>',
        '> - &#33; block `bob@example.com` 800 → **100**',
        '>',
        '> To release exactly this change: `capkeeper approve 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b`, or add `7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b` to `spec.approvals`: `capkeeper edit approve 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b`.',
        '',
        '| Change | Who | Cap | People | Why |',
        '| --- | --- | --- | --- | --- |',
        '| &#126; lower | `ada@example.com` | 9000 → **4000** | 1 person | external |',
        '| &#43; set | `team` | none → **500** | 120 people | policy |',
        '',
        '<details>',
        '<summary>3 changes with source and cause</summary>',
        '',
        '| Change | Who | Cap | Cause | Source | State |',
        '| --- | --- | --- | --- | --- | --- |',
        '| &#33; block | `bob@example.com` | 800 → **100** | policy | `policies/acme.yaml:16:12` | held, `7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b` |',
        '| &#126; lower | `ada@example.com` | 9000 → **4000** | external | `policies/acme.yaml:14:12` | goes out |',
        '| &#43; set | `team` | none → **500** | policy | `policies/acme.yaml:5:10` | goes out |',
        '',
        '</details>',
        '',
        'Plan: 1 to set, 1 to lower. 1 held. 7 scopes are in sync.',
        '',
        '<sub>plan 3f9c2a1b7d5e4c08, policies 9a1b2c3d4e5f, 2026-11-20T12:00:00.000Z</sub>',
      ),
    )
  })

  test('says in bold that nothing changes', () => {
    expect(renderPlanMarkdown([{ plan: plan({ counts: { inSync: 3 } }) }])).toContain('**Nothing changes.** 0 changes.')
  })

  test('a reason can neither break the table, nor inject markup, nor call people', () => {
    const reason = 'a | b\n| c `x` <img src=x onerror=1> **bold** [l](u) @team \\| ![i](u) $m$'
    const text = renderPlanMarkdown([{ plan: plan({ changes: [{ ...teamSet, reason }] }) }])
    const rows = text.split('\n').filter((line) => line.startsWith('| &#43; set'))
    expect(rows[0]?.match(/(?<!\\)\|/g)).toHaveLength(6)
    expect(text).not.toMatch(/<img|\*\*bold|`x`|\]\(u\)|@team|\$m/)
    expect(text).toContain('&#60;img src=x onerror=1&#62;')
  })

  test('stays within the limit of a comment and counts what it leaves out', () => {
    const many: Change[] = Array.from({ length: 3000 }, (_, index) => ({
      ...adaLower,
      scope: userScope(`person${index}@example.com`),
      reason: '|'.repeat(5000),
    }))
    const problems = Array.from({ length: 500 }, () => ({ severity: 'error' as const, code: 'X_Y', message: '<b>'.repeat(1000) }))
    const holds = Array.from({ length: 40 }, () => ({ ...bobHold, message: '*'.repeat(5000) }))
    const text = renderPlanMarkdown([{ plan: { ...fullPlan, changes: many, problems, holds } }])
    expect(text.length).toBeLessThanOrEqual(MARKDOWN_LIMIT)
    expect(text).toMatch(/Left out for length: \d+ holds, \d+ changes, \d+ problems; `capkeeper plan` shows all\./)
    const several = renderPlanMarkdown(Array.from({ length: 400 }, () => ({ plan: fullPlan })))
    expect(several.length).toBeLessThanOrEqual(MARKDOWN_LIMIT)
    expect(several).toMatch(/\d+ workspaces left out for length/)
  })
})
