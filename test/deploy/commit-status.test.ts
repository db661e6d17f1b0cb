// The status of a commit, set by the example script as it is copied, from messages as the daemon sends them. The forge is a stand-in that takes only
// what GitHub and GitLab document: path, method, headers, states, and the length of a description.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DEFAULT_TEMPLATES, PAYLOADS, written } from '../../src/core/notify/settings.ts'
import { serve, type TestServer } from '../api/world.ts'
import { start, until } from '../support/process.ts'
import { DEPLOY } from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'

const SECRET = 'secretsecretsecret1'
const TOKEN = 'a-token-for-statuses'
const SHA = '0123456789abcdef0123456789abcdef01234567'

type Forge = 'github' | 'gitlab'

/** Undefined: the request is as documented. */
function offence(forge: Forge, { method, url, headers }: Asked, body: Readonly<Record<string, unknown>>): string | undefined {
  if (method !== 'POST') return 'method'
  if (headers['content-type'] !== 'application/json') return 'content-type'
  if (forge === 'github') {
    if (!/^\/repos\/acme\/policies\/statuses\/[0-9a-f]{40}$/.test(url)) return 'path'
    if (headers['authorization'] !== `Bearer ${TOKEN}`) return 'authorization'
    if (headers['accept'] !== 'application/vnd.github+json' || headers['x-github-api-version'] === undefined) return 'accept'
    if (headers['user-agent'] === undefined) return 'user-agent'
    if (!['error', 'failure', 'pending', 'success'].includes(String(body['state']))) return 'state'
    if (String(body['description']).length > 140) return 'description'
    return Object.keys(body).every((key) => ['state', 'target_url', 'description', 'context'].includes(key)) ? undefined : 'fields'
  }
  // A project's path is one part of the address.
  if (!/^\/api\/v4\/projects\/acme%2Fpolicies\/statuses\/[0-9a-f]{40}$/.test(url)) return 'path'
  if (headers['private-token'] !== TOKEN) return 'private-token'
  if (!['pending', 'running', 'success', 'failed', 'canceled', 'skipped'].includes(String(body['state']))) return 'state'
  return Object.keys(body).every((key) => ['state', 'ref', 'name', 'target_url', 'description', 'coverage'].includes(key))
    ? undefined
    : 'fields'
}

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

async function stage(forge: Forge) {
  const api: TestServer & { status: number } = Object.assign(
    await serve((_request, response) => response.writeHead(api.status).end('{}')),
    { status: 201 },
  )
  const root = temporaryFolder()
  writeFileSync(join(root, 'token'), `${TOKEN}\n`)
  writeFileSync(join(root, 'secret'), `${SECRET}\n`)
  const env = {
    ...{ FORGE: forge, API_URL: forge === 'github' ? api.url : `${api.url}/api/v4/`, REPOSITORY: 'acme/policies' },
    ...{ TOKEN_FILE: join(root, 'token'), SECRET_FILE: join(root, 'secret'), PORT: '0' },
  }
  const { stdout, stderr } = start([], { command: [process.execPath, join(DEPLOY, 'examples/commit-status/status.mts')], env })
  const port = await until('the port of the script', () => /listening on (\d+)/.exec(stdout())?.[1])
  const send = async (body: string, path = `/${SECRET}`): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })).status
  const statuses = () =>
    api.requests.map(({ request, body }) => {
      const fields = JSON.parse(body) as Record<string, unknown>
      const asked = { method: request.method ?? '', url: request.url ?? '', headers: request.headers }
      expect(offence(forge, asked, fields)).toBeUndefined()
      return `${fields['state']} ${fields['context'] ?? fields['name']}: ${fields['description']}`
    })
  return { api, send, statuses, said: () => stdout() + stderr() }
}

/** As the daemon sends it. */
type Values = Parameters<typeof written>[1]

function message(values: Values, kind: 'event' | 'digest' = 'event'): string {
  const all = { workspace: 'acme', of: 'Workspace', title: '', count: 3, items: [], revision: SHA, held: 0, rejected: 0, ...values }
  return JSON.stringify(PAYLOADS.json({ kind, workspace: 'acme', values: all, ...written(DEFAULT_TEMPLATES.event, all) }))
}

describe.each(['github', 'gitlab'] as const)('on %s', (forge) => {
  const failure = forge === 'github' ? 'failure' : 'failed'

  test('each message sets the state of its commit', async () => {
    const { send, statuses } = await stage(forge)
    const rows: readonly (readonly [Values, string])[] = [
      [{ event: 'applied' }, 'success capkeeper/acme: 3 caps written'],
      [{ event: 'held', held: 4 }, 'pending capkeeper/acme: 4 changes held, an approval is needed'],
      [{ event: 'applied', held: 4 }, 'pending capkeeper/acme: 4 changes held, an approval is needed'],
      [{ event: 'paused' }, 'pending capkeeper/acme: writing is paused'],
      [{ event: 'rejected', held: 4, rejected: 1 }, `${failure} capkeeper/acme: 1 rejected`],
    ]
    for (const [values] of rows) expect(await send(message(values))).toBe(200)
    expect(statuses()).toEqual(rows.map(([, expected]) => expected))
  })
})

test('what is about no commit sets no status', async () => {
  const { send, api } = await stage('github')
  const none = [
    message({ event: 'applied', revision: '' }),
    message({ event: 'applied', revision: `${SHA}+dirty` }),
    message({ event: 'applied', revision: '../../../user' }),
    message({ event: 'reverted' }),
    message({ event: 'grantEnding' }),
    message({ event: 'applied' }, 'digest'),
    '[]',
    'null',
  ]
  for (const body of none) expect(await send(body)).toBe(204)
  expect(await send('{')).toBe(400)
  expect(api.requests).toEqual([])
})

test('nobody without the secret path sets a status, and neither token nor secret is printed', async () => {
  const { send, api, said } = await stage('github')
  for (const path of ['/', '/secretsecretsecret2', `/${SECRET}/x`, `/${SECRET}?x`])
    expect(await send(message({ event: 'applied' }), path)).toBe(404)
  expect(api.requests).toEqual([])
  await send(message({ event: 'applied' }))
  expect(said()).toContain('the forge answered 201')
  expect(said()).not.toMatch(new RegExp(`${SECRET}|${TOKEN}`))
})

test('capkeeper sees an error of the forge where trying again helps, and else that its message is refused', async () => {
  const { api, send } = await stage('github')
  for (const [forge, expected] of [
    [503, 502],
    [401, 502],
    [422, 422],
  ] as const) {
    api.status = forge
    expect(await send(message({ event: 'applied' }))).toBe(expected)
  }
})
