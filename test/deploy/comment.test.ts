// The one comment of a pull request: found again, changed, never doubled, never somebody else's, never too long.
import { describe, expect, test } from 'vitest'
import { COMMENT_LIMIT, commentBody, markOf, type Place, summaryBody, upsertComment } from '../../deploy/ci/action/comment.mts'
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
