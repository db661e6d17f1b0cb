// The one comment of a pull request, and the one note of a merge request: found again, changed, never doubled, never somebody else's, never too long.
// What a reviewer must see stands first in it, and without a pull request the plan goes elsewhere.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMENT_LIMIT, commentBody, firstOfAll, markOf, summaryBody, upsertComment } from '../../deploy/ci/action/comment.mts'
import { type MergeRequest, upsertNote } from '../../deploy/ci/action/note.mts'
import { serve } from '../api/world.ts'
import { fakeGithub, GITHUB_TOKEN } from '../support/github.ts'
import { temporaryFolder } from '../support/temporary.ts'

const frame = { label: 'default', commit: '4f2a9c81d0e7b3556677', runUrl: 'https://git.example.com/acme/policies/actions/runs/9' }
const plan = (name: string, length = 100): string => `### capkeeper: ${name}\n${'x'.repeat(length)}`

interface Note {
  readonly id: number
  readonly body: string
  readonly author: { readonly id: number }
}

const GITLAB_TOKEN = 'glpat-of-this-project'
const ME = 41
const NOTES = '/projects/7/merge_requests/3/notes'

/** As much of the GitLab API as keeping a note needs. */
async function gitlab(
  before: readonly Omit<Note, 'id'>[] = [],
): Promise<{ readonly place: MergeRequest; readonly notes: () => readonly Note[]; readonly requests: readonly string[] }> {
  let notes: readonly Note[] = before.map((one, index) => ({ ...one, id: index + 1 }))
  const requests: string[] = []
  const answer = (method: string, url: URL, sent: string): readonly [status: number, value: unknown] => {
    if (url.pathname === '/user') return [200, { id: ME }]
    const body: string = method === 'GET' ? '' : JSON.parse(sent).body
    if (method === 'GET' && url.pathname === NOTES) {
      const [size, page] = [Number(url.searchParams.get('per_page')), Number(url.searchParams.get('page'))]
      return [200, notes.slice((page - 1) * size, page * size)]
    }
    if (method === 'POST' && url.pathname === NOTES) {
      notes = [...notes, { id: notes.length + 1, body, author: { id: ME } }]
      return [201, notes.at(-1)]
    }
    const id = Number(/\/notes\/(\d+)$/.exec(url.pathname)?.[1])
    notes = notes.map((one) => (one.id === id && method === 'PUT' ? { ...one, body } : one))
    return [200, {}]
  }
  const { url: apiUrl } = await serve((request, response, sent) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    requests.push(`${request.method} ${url.pathname}`)
    const [status, value] = request.headers['private-token'] === GITLAB_TOKEN ? answer(request.method ?? '', url, sent) : [401, {}]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  })
  return { place: { apiUrl, project: '7', iid: 3, token: GITLAB_TOKEN }, notes: () => notes, requests }
}

interface Forge {
  readonly upsert: (body: string, token?: string) => Promise<string>
  readonly bodies: () => readonly string[]
  readonly requests: readonly string[]
}

/** By us, or by somebody else. */
type Before = readonly (readonly [isOurs: boolean, body: string])[]

const FORGES: readonly (readonly [
  string,
  (before?: Before) => Promise<Forge>,
  { readonly changes: readonly string[]; readonly needs: RegExp },
])[] = [
  [
    'GitHub',
    async (before = []) => {
      const github = await fakeGithub(before.map(([isOurs, body]) => ({ body, user: { type: isOurs ? 'Bot' : 'User' } })))
      const place = { apiUrl: github.url, repository: 'acme/policies', pullRequest: 7 }
      const upsert: Forge['upsert'] = (body, token = GITHUB_TOKEN) => upsertComment({ ...place, token }, 'default', body)
      return { upsert, bodies: () => github.comments().map(({ body }) => body), requests: github.requests }
    },
    {
      changes: ['POST /repos/acme/policies/issues/7/comments', 'PATCH /repos/acme/policies/issues/comments/2'],
      needs: /answered 403 to GET \/repos\/acme\/policies\/issues\/7\/comments.*pull-requests: write/s,
    },
  ],
  [
    'GitLab',
    async (before = []) => {
      const { place, notes, requests } = await gitlab(before.map(([isOurs, body]) => ({ body, author: { id: isOurs ? ME : 9 } })))
      const upsert: Forge['upsert'] = (body, token = GITLAB_TOKEN) => upsertNote({ ...place, token }, 'default', body)
      return { upsert, bodies: () => notes().map(({ body }) => body), requests }
    },
    { changes: [`POST ${NOTES}`, `PUT ${NOTES}/2`], needs: /the token needs the scope api/ },
  ],
]
const body = (text: string, label = 'default'): string => commentBody([plan(text)], { ...frame, label })

describe.each(FORGES)('the comment on %s', (_name, forge, { changes, needs }) => {
  test('is made once and changed from then on', async () => {
    const { upsert, bodies, requests } = await forge([[false, 'looks good']])
    expect(await upsert(body('one'))).toBe('created')
    expect(await upsert(body('two'))).toBe('updated')
    expect(await upsert(body('two'))).toBe('unchanged')
    expect(bodies()).toEqual(['looks good', body('two')])
    expect(requests.filter((request) => !request.startsWith('GET'))).toEqual(changes)
  })

  test('is found behind a hundred others', async () => {
    const { upsert, bodies } = await forge([
      ...Array.from({ length: 130 }, (_, index) => [false, `remark ${index}`] as const),
      [true, body('old')],
    ])
    expect(await upsert(body('new'))).toBe('updated')
    expect(bodies()).toHaveLength(131)
  })

  test.each([
    ["somebody's, with the same mark", false, `${markOf('default')}\n\nmine`],
    ['ours, which quotes the mark further down', true, `see ${markOf('default')}`],
    ["another label's", true, body('one', 'globex')],
  ])('leaves %s alone', async (_row, isOurs, before) => {
    const { upsert, bodies } = await forge([[isOurs, before]])
    expect(await upsert(body('one'))).toBe('created')
    expect(bodies()[0]).toBe(before)
  })

  test('that may not be written says what the token needs, and not the token', async () => {
    const { upsert } = await forge()
    await expect(upsert('x', 'another')).rejects.toThrow(needs)
    await expect(upsert('x', 'another')).rejects.not.toThrow('another')
  })
})

test('a comment cannot be left by what a label holds', () => {
  expect(markOf('a --> <script>')).toBe('<!-- capkeeper plan: a --_ _script_ -->')
})

describe('the length', () => {
  /** Plans end at 60,000 characters. */
  const long = plan('long', 59_900)

  test('of a comment takes the longest plan there is', () => {
    expect(commentBody([long], frame)).toContain(long)
  })

  test.each([
    ['plans that fit, in order', [plan('a'), long, plan('c', 10_000)], ['### capkeeper: a', '### capkeeper: long'], '1 more plan stands'],
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
