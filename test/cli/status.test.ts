import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { SCOPE_STATES, type ScopeState } from '../../src/core/model/events.ts'
import type { StatusDocument, WorkspaceStatus } from '../../src/daemon/http/documents/types.ts'
import { fakeClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/ledger.ts'
import { run } from './world.ts'

const zeros = <K extends string>(keys: readonly K[]): Record<K, number> =>
  Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>

const counts = (states: Partial<Record<ScopeState, number>>): WorkspaceStatus['scopeCounts'] => ({
  team: zeros(SCOPE_STATES),
  group: zeros(SCOPE_STATES),
  user: { ...zeros(SCOPE_STATES), ...states },
})

const quiet: WorkspaceStatus = {
  workspace: 'acme',
  mode: 'enforce',
  policy: { valid: true, digest: '9a1b2c3d4e5f', revision: '', loadedAt: '2026-11-20T11:00:00.000Z', problems: [], problemsOmitted: 0 },
  lastCycle: { startedAt: '2026-11-20T11:57:00.000Z', finishedAt: '2026-11-20T11:58:00.000Z', result: 'noop' },
  scopeCounts: counts({ in_sync: 42 }),
  scopes: [],
  scopesOmitted: 0,
  holds: [],
  approvals: [],
  grants: { pending: 0, active: 0, expiring: 0, ended: 0 },
  pools: [],
  poolsOmitted: 0,
  rules: [],
  rulesOmitted: 0,
  groups: [],
  conditions: [],
  conditionsOmitted: 0,
  warnings: [],
}

const troubled: WorkspaceStatus = {
  ...quiet,
  workspace: 'beta',
  mode: 'paused',
  pause: { until: '2026-11-20T16:00:00.000Z', reason: 'billing migration', since: '2026-11-20T12:00:00.000Z' },
  scopeCounts: counts({ in_sync: 3, held: 1, unknown: 30 }),
  scopes: [
    {
      kind: 'user',
      scope: 'bob@example.com',
      state: 'held',
      desired: 100 as never,
      observed: 800 as never,
      cause: 'policy',
      why: 'maxBlocked',
    },
    { kind: 'user', scope: 'eve@example.com', state: 'unknown', observed: 'unknown', why: 'HTTP 503' },
  ],
  holds: [
    {
      id: '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b',
      guards: ['maxBlocked'],
      people: 1,
      message: 'beta: 1 of 20 people would be blocked',
      changes: [],
      changesOmitted: 0,
    },
  ],
  warnings: ['the key may not read the balance'],
}

const document = (workspaces: readonly WorkspaceStatus[]): StatusDocument => ({
  apiVersion: 'capkeeper/v1',
  kind: 'Status',
  version: '0.1.0',
  at: '2026-11-20T12:00:00.000Z',
  people: 'email',
  conditions: [],
  configValid: true,
  ledgerWritable: true,
  workspaces,
})

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

const serve = async (status: number, body: string): Promise<string> => {
  const listening = createServer((request, response) => {
    response.statusCode = request.url === '/status' ? status : 418
    if (status === 302) response.setHeader('location', 'https://login.example/start?rd=secret')
    response.end(body)
  })
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
}

/** The table of a daemon with this state. */
const told = async (state: StatusDocument): Promise<string> =>
  (await run(['status', '--url', await serve(200, JSON.stringify(state))])).stdout

describe('the state of a daemon as text', () => {
  test('is a table with one row per workspace', async () => {
    expect(await told(document([quiet]))).toBe(
      [
        'capkeeper 0.1.0 at 2026-11-20 12:00:00Z',
        '',
        'WORKSPACE  MODE     LAST CYCLE       IN SYNC  DRIFTED  HELD  OTHER  POLICIES',
        'acme       enforce  noop, 2 min ago  42       0        0     0      9a1b2c3d4e5f',
        '',
      ].join('\n'),
    )
  })

  test('lists what needs a person below the table, and counts the rest', async () => {
    const text = await told({ ...document([quiet, troubled]), ledgerWritable: false })
    expect(text).toContain('The ledger cannot be written, so nothing is written to the service.\n')
    expect(text.slice(text.indexOf('\nbeta\n'))).toBe(
      [
        '',
        'beta',
        '  paused until 2026-11-20 16:00:00Z: billing migration',
        '  hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b by maxBlocked, 1 person: beta: 1 of 20 people would be blocked',
        '  warning: the key may not read the balance',
        '  held     bob@example.com  800 → 100  policy  maxBlocked',
        '  unknown  eve@example.com  unknown            HTTP 503',
        '  and 29 more scopes; /status lists them',
        '',
      ].join('\n'),
    )
  })

  test('lists pools and rules, with unknown figures marked', async () => {
    const pooled: WorkspaceStatus = {
      ...quiet,
      pools: [
        { name: 'research', credits: 20_000, used: 16_012.5, dealt: 19_990, people: 12, dealtAt: '2026-11-20T08:00:00.000Z' },
        { name: 'labs', credits: 500, frozen: 'the roster was not read yet' },
      ],
      poolsOmitted: 3,
      rules: [{ name: 'contractors', people: 41 }],
    }
    expect((await told(document([pooled]))).split('\n').slice(5)).toEqual([
      'WORKSPACE  POOL      CREDITS  USED           COUNTED AT  PEOPLE  USED UP  DEALT',
      'acme       research  20,000   16,013 (80 %)  19,990      12               2026-11-20 08:00:00Z',
      'acme       labs      500      ?              ?           ?                nothing dealt yet     the last deal stays: the roster was not read yet',
      'and 3 more pools',
      '',
      'WORKSPACE  RULE         PEOPLE',
      'acme       contractors  41',
      '',
    ])
  })

  test('says "none yet" for what was never known', async () => {
    const { policy: _policy, lastCycle: _cycle, ...fresh } = quiet
    expect(await told(document([fresh]))).toContain('acme       enforce  none yet    42       0        0     0      none yet\n')
  })
})

describe('status', () => {
  test.each<[string, readonly string[], Record<string, string>, string | undefined]>([
    ['without one', [], {}, undefined],
    ['of the environment', [], { CAPKEEPER_TOKEN: 'from-env' }, 'Bearer from-env'],
    ['of a file, before the environment', ['--token-file', 'FILE'], { CAPKEEPER_TOKEN: 'from-env' }, 'Bearer from-file'],
  ])('shows the daemon a token, %s', async (_row, flags, env, shown) => {
    const file = join(temporaryFolder(), 'token')
    writeFileSync(file, 'from-file\n')
    const seen: (string | undefined)[] = []
    const listening = createServer((request, response) => {
      seen.push(request.headers.authorization)
      response.statusCode = request.headers.authorization === shown && shown !== undefined ? 200 : 401
      response.end(JSON.stringify(document([quiet])))
    })
    server = listening
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
    const ran = await run(['status', '--url', url, ...flags.map((flag) => (flag === 'FILE' ? file : flag))], { env })
    expect(seen).toEqual([shown])
    expect(ran.code).toBe(shown === undefined ? 1 : 0)
    if (shown === undefined) expect(ran.stderr).toContain('give --token-file FILE, or set CAPKEEPER_TOKEN')
    expect(ran.stdout + ran.stderr).not.toContain('from-')
  })

  test('refuses a token file that holds none', async () => {
    const ran = await run(['status', '--url', 'http://127.0.0.1:1', '--token-file', join(temporaryFolder(), 'none')])
    expect(ran).toMatchObject({ code: 64, stderr: expect.stringContaining('holds no token, or cannot be read') })
  })

  test('asks the daemon at --url and prints its table', async () => {
    const url = await serve(200, JSON.stringify(document([quiet])))
    for (const spelling of [url, `${url}/`, `${url}/status`]) {
      const ran = await run(['status', '--url', spelling])
      expect(ran).toMatchObject({ code: 0, stderr: '', stdout: await told(document([quiet])) })
    }
  })

  test('prints the document itself as JSON', async () => {
    const ran = await run(['status', '--url', await serve(200, JSON.stringify(document([troubled]))), '--output', 'json'])
    expect(JSON.parse(ran.stdout)).toEqual(document([troubled]))
  })

  test('says so when no daemon listens', async () => {
    const url = await serve(200, '')
    server?.close()
    server = undefined
    const ran = await run(['status', '--url', url])
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(/^error: no daemon answers at http:\/\/127\.0\.0\.1:\d+\/status \(ECONNREFUSED\)/)
  })

  test('gives up on a daemon that does not finish its answer within 10 s', async () => {
    const clock = fakeClock()
    const asked = Promise.withResolvers<void>()
    const listening = createServer((_request, response) => {
      response.write('{')
      asked.resolve()
    })
    server = listening
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    const running = run(['status', '--url', `http://127.0.0.1:${(listening.address() as AddressInfo).port}`], { clock })
    await asked.promise
    await clock.advance(10_000)
    expect(await running).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('(no answer within 10 s)') })
    expect(clock.sleeping()).toBe(0)
  })

  test.each([
    [
      'a daemon with auth',
      401,
      'sign in at the proxy',
      'answered 401: sign in at the proxy; give --token-file FILE, or set CAPKEEPER_TOKEN',
    ],
    ['an error', 503, '{"kind":"Error","message":"too busy"}', 'answered 503: too busy'],
    ['what is no daemon', 404, '<!doctype html>', 'answered 404; is that a capkeeper daemon, or a proxy that lets you in?'],
    [
      'a proxy that asks to sign in',
      302,
      '',
      'it redirects to login.example, as a proxy does that asks to sign in: give a token that it takes',
    ],
    ['a page that is no status', 200, '<html>', 'did not answer with a capkeeper status'],
    ['JSON that is no status', 200, '{"kind":"Plan"}', 'did not answer with a capkeeper status'],
  ])('refuses %s', async (_name, status, body, message) => {
    const ran = await run(['status', '--url', await serve(status, body)])
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toContain(message)
  })
})
