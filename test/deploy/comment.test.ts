// The one comment of a pull request: found again, changed, never doubled, never somebody else's, never too long.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { COMMENT_LIMIT, commentBody, firstOfAll, markOf, type Place, summaryBody, upsertComment } from '../../deploy/ci/action/comment.mts'
import { MARKDOWN_LIMIT } from '../../src/cli/render-plan-markdown.ts'
import { fakeGithub, GITHUB_TOKEN, type StoredComment } from '../support/github.ts'

const frame = { label: 'default', commit: '4f2a9c81d0e7b3556677', runUrl: 'https://git.example.com/acme/policies/actions/runs/9' }
const placeOf = (apiUrl: string): Place => ({ apiUrl, repository: 'acme/policies', pullRequest: 7, token: GITHUB_TOKEN })
const by = (type: 'Bot' | 'User', body: string): Omit<StoredComment, 'id'> => ({ body, user: { type } })
const plan = (name: string, length = 100): string => `### capkeeper: ${name}\n${'x'.repeat(length)}`

describe('the comment', () => {
  test('is made once and changed from then on', async () => {
    const github = await fakeGithub([by('User', 'looks good')])
    const place = placeOf(github.url)
    expect(await upsertComment(place, 'default', commentBody([plan('one')], frame))).toBe('created')
    expect(await upsertComment(place, 'default', commentBody([plan('two')], frame))).toBe('updated')
    expect(await upsertComment(place, 'default', commentBody([plan('two')], frame))).toBe('unchanged')
    expect(github.comments().map(({ body }) => body)).toEqual(['looks good', commentBody([plan('two')], frame)])
    expect(github.requests.filter((request) => !request.startsWith('GET'))).toEqual([
      'POST /repos/acme/policies/issues/7/comments',
      'PATCH /repos/acme/policies/issues/comments/2',
    ])
  })

  test('is found behind a hundred others', async () => {
    const others = Array.from({ length: 130 }, (_, index) => by('User', `remark ${index}`))
    const github = await fakeGithub([...others, by('Bot', commentBody([plan('old')], frame))])
    expect(await upsertComment(placeOf(github.url), 'default', commentBody([plan('new')], frame))).toBe('updated')
    expect(github.comments()).toHaveLength(131)
  })

  test.each([
    ["a person's, with the same mark", by('User', `${markOf('default')}\n\nmine`)],
    ["a bot's, which quotes the mark further down", by('Bot', `see ${markOf('default')}`)],
    ["another label's", by('Bot', commentBody([plan('one')], { ...frame, label: 'globex' }))],
  ])('leaves %s alone', async (_name, before) => {
    const github = await fakeGithub([before])
    expect(await upsertComment(placeOf(github.url), 'default', commentBody([plan('one')], frame))).toBe('created')
    expect(github.comments()[0]?.body).toBe(before.body)
  })

  test('that may not be written says which permission is missing', async () => {
    const github = await fakeGithub()
    const place = { ...placeOf(github.url), token: 'another' }
    await expect(upsertComment(place, 'default', 'x')).rejects.toThrow('answered 403 to GET /repos/acme/policies/issues/7/comments')
    await expect(upsertComment(place, 'default', 'x')).rejects.toThrow('pull-requests: write')
    await expect(upsertComment(place, 'default', 'x')).rejects.not.toThrow('another')
  })

  test('cannot be left by what a label holds', () => {
    expect(markOf('a --> <script>')).toBe('<!-- capkeeper plan: a --_ _script_ -->')
  })
})

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
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-comment-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [file, summary] = [join(folder, 'plan.md'), join(folder, 'summary.md')]
  writeFileSync(file, plan('acme'))
  const script = join(import.meta.dirname, '../../deploy/ci/action/comment.mts')
  const said = execFileSync(process.execPath, [script, file], { env: { GITHUB_STEP_SUMMARY: summary }, encoding: 'utf8' })
  expect(said).toContain('no pull request')
  expect(readFileSync(summary, 'utf8')).toContain('### capkeeper: acme')
})

describe('the length', () => {
  const long = plan('long', MARKDOWN_LIMIT - 100)

  test('of a comment takes the longest plan there is', () => {
    expect(commentBody([long], frame)).toContain(long)
  })

  test.each([
    [
      'the plans that fit, in order',
      [plan('a'), long, plan('c', 10_000)],
      ['### capkeeper: a', '### capkeeper: long'],
      '1 more plan stands',
    ],
    ['no part of a plan that does not fit', [long, long, plan('c')], ['### capkeeper: long'], '2 more plans stand'],
    ['nothing of the summary when all fit', [plan('a'), plan('b')], ['### capkeeper: a', '### capkeeper: b'], undefined],
  ])('of a comment leaves room for %s', (_name, plans, heads, more) => {
    const body = commentBody(plans, frame)
    expect(body.length).toBeLessThanOrEqual(COMMENT_LIMIT)
    expect(body.match(/^### .*/gm)).toEqual(heads)
    expect(body.includes('summary of the job')).toBe(more !== undefined)
    expect(body).toContain(more ?? 'for 4f2a9c81d0e7, by [this job](https://git.example.com/acme/policies/actions/runs/9)')
  })

  test('of the summary takes what the comment does not', () => {
    expect(summaryBody([long, long, plan('c')]).match(/^### .*/gm)).toHaveLength(3)
    expect(summaryBody(Array.from({ length: 20 }, () => long))).toContain('12 more did not fit')
  })
})
