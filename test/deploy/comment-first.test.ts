// What a reviewer must see before anything else in the comment, and where the plan goes when there is no pull request.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMENT_LIMIT, commentBody, firstOfAll, summaryBody } from '../../deploy/ci/action/comment.mts'
import { temporaryFolder } from '../support/temporary.ts'

const frame = { label: 'default', commit: '4f2a9c81d0e7b3556677', runUrl: 'https://git.example.com/acme/policies/actions/runs/9' }
const plan = (name: string): string => `### capkeeper: ${name}\n${'x'.repeat(100)}`

describe('what lets something through', () => {
  const weak = '### capkeeper: labs\n\n- policy weakens guards.maxLowered: 15 % → 90 %\n\n1 change.'
  const release = '### capkeeper: acme\n\n> releases hold 7d1f0c2a9b34 (policies/acme.yaml:12): 41 people\n'

  test('stands first, with its workspace, and its plan before the others', () => {
    const body = commentBody([plan('globex'), release, weak], frame)
    expect(
      body
        .split('\n')
        .filter((line) => line !== '')
        .slice(1, 6),
    ).toEqual([
      '> [!CAUTION]',
      '> **This lets through what a guard would hold:**',
      '>',
      '> - acme: releases hold 7d1f0c2a9b34 (policies/acme.yaml:12): 41 people',
      '> - labs: policy weakens guards.maxLowered: 15 % → 90 %',
    ])
    expect(body.match(/^### .*/gm)).toEqual(['### capkeeper: acme', '### capkeeper: labs', '### capkeeper: globex'])
    expect(summaryBody([plan('globex'), weak]).startsWith('> [!CAUTION]')).toBe(true)
  })

  test('is not said of plans that only speak of releasing', () => {
    const held = '### capkeeper: acme\n\n> To release exactly this change: `capkeeper approve 7d1f0c2a9b34`'
    expect(firstOfAll([held, plan('one')])).toBe('')
  })

  test('is cut when there is very much of it', () => {
    const many = `### capkeeper: acme\n${Array.from({ length: 400 }, (_, index) => `- releases hold ${index} ${'x'.repeat(900)}`).join('\n')}`
    expect(firstOfAll([many])).toContain('and 380 more')
    expect(commentBody([many], frame).length).toBeLessThanOrEqual(COMMENT_LIMIT)
  })
})

test('without a pull request, in a merge queue, the plan goes into the summary of the job, and nothing is asked of GitHub', () => {
  const folder = temporaryFolder()
  const [file, summary] = [join(folder, 'plan.md'), join(folder, 'summary.md')]
  writeFileSync(file, plan('acme'))
  const script = join(import.meta.dirname, '../../deploy/ci/action/comment.mts')
  const said = execFileSync(process.execPath, [script, file], { env: { GITHUB_STEP_SUMMARY: summary }, encoding: 'utf8' })
  expect(said).toContain('no pull request')
  expect(readFileSync(summary, 'utf8')).toContain('### capkeeper: acme')
})
