// Plans on merge requests of GitLab: the pipeline that a policy repository copies, and its one note, beside a GitLab on loopback.
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { markOf } from '../../deploy/ci/action/comment.mts'
import { type MergeRequest, upsertNote } from '../../deploy/ci/action/note.mts'
import { callsIn, offenceOf } from '../support/command-lines.ts'
import { readDeploy } from '../support/rules.ts'
import { readYaml } from '../support/workflows.ts'

interface Note {
  readonly id: number
  readonly body: string
  readonly author: { readonly id: number }
}

const TOKEN = 'glpat-of-this-project'
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
  const server = createServer(async (request, response) => {
    let sent = ''
    for await (const chunk of request) sent += String(chunk)
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    requests.push(`${request.method} ${url.pathname}`)
    const [status, value] = request.headers['private-token'] === TOKEN ? answer(request.method ?? '', url, sent) : [401, {}]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const apiUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return { place: { apiUrl, project: '7', iid: 3, token: TOKEN }, notes: () => notes, requests }
}

const by = (id: number, body: string): Omit<Note, 'id'> => ({ body, author: { id } })
const bodyOf = (text: string): string => `${markOf('default')}\n\n${text}`

describe('the note', () => {
  test('is made once and changed from then on', async () => {
    const { place, notes, requests } = await gitlab([by(9, 'looks good')])
    expect(await upsertNote(place, 'default', bodyOf('one'))).toBe('created')
    expect(await upsertNote(place, 'default', bodyOf('two'))).toBe('updated')
    expect(await upsertNote(place, 'default', bodyOf('two'))).toBe('unchanged')
    expect(notes().map(({ body }) => body)).toEqual(['looks good', bodyOf('two')])
    expect(requests.filter((request) => !request.startsWith('GET'))).toEqual([`POST ${NOTES}`, `PUT ${NOTES}/2`])
  })

  test('is found behind a hundred others', async () => {
    const { place, notes } = await gitlab([...Array.from({ length: 130 }, (_, index) => by(9, `remark ${index}`)), by(ME, bodyOf('old'))])
    expect(await upsertNote(place, 'default', bodyOf('new'))).toBe('updated')
    expect(notes()).toHaveLength(131)
  })

  test.each([
    ["somebody's, with the same mark", by(9, bodyOf('mine'))],
    ['our own, which quotes the mark further down', by(ME, `see ${markOf('default')}`)],
    ["another label's", by(ME, `${markOf('globex')}\n\none`)],
  ])('leaves %s alone', async (_row, before) => {
    const { place, notes } = await gitlab([before])
    expect(await upsertNote(place, 'default', bodyOf('one'))).toBe('created')
    expect(notes()[0]?.body).toBe(before.body)
  })

  test('that may not be written says what the token needs, and not the token', async () => {
    const { place } = await gitlab()
    await expect(upsertNote({ ...place, token: 'another' }, 'default', 'x')).rejects.toThrow('the token needs the scope api')
    await expect(upsertNote({ ...place, token: 'another' }, 'default', 'x')).rejects.not.toThrow('another')
  })
})

describe('the pipeline', () => {
  interface PipelineJob {
    readonly extends: string
    readonly rules: readonly { readonly if: string }[]
    readonly script: readonly string[]
  }
  const text = readDeploy('ci/gitlab-ci.yml')
  const {
    '.capkeeper': shared,
    'capkeeper validate': validate,
    'capkeeper plan': plan,
  } = readYaml<Readonly<Record<string, PipelineJob>>>(text)

  test('validates every push, and plans merge requests of the project itself, trains too', () => {
    expect(validate?.rules).toEqual([{ if: '$CI_PIPELINE_SOURCE == "merge_request_event" || $CI_PIPELINE_SOURCE == "push"' }])
    expect(plan?.rules).toEqual([
      { if: '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID' },
    ])
  })

  test('never applies, and calls only what the program takes', () => {
    const lines = [...(validate?.script ?? []), ...(plan?.script ?? [])]
    expect(
      lines
        .flatMap(callsIn)
        .map(offenceOf)
        .filter((offence) => offence !== undefined),
    ).toEqual([])
    expect(lines.join('\n')).not.toMatch(/\b(apply|approve|pause|resume)\b/)
  })

  test('hands the key and the token to the plan alone, and installs the version of this tree', () => {
    expect(JSON.stringify([shared, validate])).not.toMatch(/READ_KEY|GITLAB_TOKEN/)
    expect(shared).toMatchObject({ variables: { CAPKEEPER_PACKAGE: `capkeeper@${JSON.parse(readDeploy('../package.json')).version}` } })
  })

  test('says how the plan ended, also when the note was written', () => {
    expect(plan?.script.at(-1)).toBe('exit "$code"')
    expect(plan?.script.findIndex((line) => line.includes('note.mts'))).toBe(2)
  })
})
