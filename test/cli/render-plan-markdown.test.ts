import { describe, expect, test } from 'vitest'
import { MARKDOWN_LIMIT, renderPlanMarkdown } from '../../src/cli/plan/render-markdown.ts'
import type { Change } from '../../src/core/model/change.ts'
import { userScope } from '../../src/core/model/scope.ts'
import { adaLower, bobHold, fullPlan, plan, teamSet } from './plans.ts'

describe('a plan as Markdown', () => {
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
