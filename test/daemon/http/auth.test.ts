// Access over real HTTP: by token, through a proxy, and to which workspaces.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createGate, ledgerGate, networkList } from '../../../src/daemon/http/auth.ts'
import { fakeClock } from '../../support/clock.ts'
import { serve as start } from '../../support/serve.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { emptyView, fullView, HOLD, REFUSED } from '../../support/views.ts'

type AuthSettings = NonNullable<ReturnType<Parameters<typeof createGate>[0]['settings']>>

const TOKEN = 'a-token-of-the-test'
const VIEWS = () => [fullView('acme'), { ...emptyView('other'), conditions: [{ ...REFUSED, message: 'only for others' }] }]

async function serve(settings: AuthSettings | undefined, more: Parameters<typeof start>[0] = {}) {
  const clock = more.clock ?? fakeClock()
  const gate = createGate({ settings: () => settings, env: { TOKEN } })
  return start({ views: VIEWS, clock, gate, isChecked: () => settings, ...more })
}

const BY_TOKEN: AuthSettings = { token: { env: 'TOKEN' }, metrics: false }
const byProxy = (from: readonly string[], viewers?: AuthSettings['viewers']): AuthSettings => ({
  proxy: { header: 'X-Groups', from },
  metrics: false,
  ...(viewers && { viewers }),
})

const CHECKED = ['/', '/status', '/ledger', '/openapi.json', '/api/v1/workspaces', '/api/v1/workspaces/acme/people', '/nothing']
const STREAM = '/api/v1/events'

const status = async (url: string, headers: Record<string, string> = {}): Promise<number> => {
  const answer = await fetch(url, { headers })
  await answer.body?.cancel()
  return answer.status
}

describe('with a token', () => {
  test.each([...CHECKED, STREAM])('%s is 401 without it and with a wrong one, and answers with it', async (path) => {
    const { url } = await serve(BY_TOKEN)
    const bare = await fetch(url + path)
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await bare.text()).not.toContain(TOKEN)
    for (const wrong of ['Bearer wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, 'Bearer ']) {
      expect(await status(url + path, { authorization: wrong }), wrong).toBe(401)
    }
    expect(await status(url + path, { authorization: `Bearer ${TOKEN}` })).toBe(path === '/nothing' ? 404 : 200)
  })

  test('/livez, /readyz and /metrics answer every client, and /readyz names no workspace', async () => {
    const { url } = await serve(BY_TOKEN, { ready: () => ({ ready: false, reasons: ['acme: not attempted yet'] }) })
    expect([await status(`${url}/livez`), await status(`${url}/metrics`)]).toEqual([200, 200])
    expect(await (await fetch(`${url}/readyz`)).text()).toBe('not ready\n')
  })

  test('/metrics is checked where the config says so', async () => {
    const { url } = await serve({ ...BY_TOKEN, metrics: true })
    expect(await status(`${url}/metrics`)).toBe(401)
    expect(await status(`${url}/metrics`, { authorization: `Bearer ${TOKEN}` })).toBe(200)
  })

  test('a file is read again when it changes, and an emptied one keeps its last good token', async () => {
    const file = join(temporaryFolder(), 'token')
    writeFileSync(file, 'first\n')
    let settings: AuthSettings = { token: { file }, metrics: false }
    const gate = createGate({ settings: () => settings, env: {} })
    const asks = (token: string) => {
      const verdict = gate({ headers: { authorization: `Bearer ${token}` }, remoteAddress: '127.0.0.1' })
      return 'status' in verdict ? verdict.status : 'in'
    }
    expect([asks('first'), asks('second')]).toEqual(['in', 401])
    writeFileSync(file, 'second\n')
    expect([asks('first'), asks('second')]).toEqual([401, 'in'])
    writeFileSync(file, '')
    expect([asks('second'), asks('')]).toEqual(['in', 401])
    // The config is read again.
    settings = { token: { file }, metrics: false }
    expect([asks('second'), asks('')]).toEqual(['in', 401])
  })

  test('a file that cannot be read any more keeps its last good token, and is told once', () => {
    const file = join(temporaryFolder(), 'token')
    writeFileSync(file, 'good\n')
    const told: string[] = []
    const gate = ledgerGate({ host: '10.0.0.1', token: { file }, env: {}, onUnread: (message) => told.push(message) })
    const asks = (token: string) => gate(`Bearer ${token}`)?.status ?? 'in'
    expect([asks('good'), asks('bad')]).toEqual(['in', 401])
    rmSync(file)
    mkdirSync(file)
    expect([asks('good'), asks('bad'), asks('good')]).toEqual(['in', 401, 'in'])
    expect(told).toEqual([`the token file ${file} is not a regular file (NOT_A_FILE); the last good token is used`])
    rmSync(file, { recursive: true })
    writeFileSync(file, '')
    expect([asks('good'), asks('bad')]).toEqual(['in', 401])
    expect(told.slice(1)).toEqual([`the token file ${file} is empty, or has more than one line; the last good token is used`])
    writeFileSync(file, 'new\n')
    expect([asks('good'), asks('new')]).toEqual([401, 'in'])
  })

  test('/ledger has a token of its own where the config names one', async () => {
    const own = ledgerGate({ host: '127.0.0.1', token: { env: 'LEDGER' }, env: { LEDGER: 'another-token' } })
    const { url } = await serve(BY_TOKEN, { ledgerGate: own, ledgerHasToken: true })
    expect(await status(`${url}/ledger`, { authorization: 'Bearer another-token' })).toBe(200)
    expect(await status(`${url}/ledger`, { authorization: `Bearer ${TOKEN}` })).toBe(401)
    expect(await status(`${url}/status`, { authorization: 'Bearer another-token' })).toBe(401)
  })
})

describe('behind a proxy', () => {
  const groups = { 'x-groups': 'platform, acme-admins' }

  test.each([...CHECKED, STREAM])('%s is 403 from any other address, and 401 where the proxy names no groups', async (path) => {
    const foreign = await serve(byProxy(['10.0.0.0/8', 'fd00::/8']))
    expect(await status(foreign.url + path, groups)).toBe(403)
    const { url } = await serve(byProxy(['127.0.0.0/8']))
    expect(await status(url + path)).toBe(401)
    expect(await status(url + path, { 'x-groups': ' , ' })).toBe(401)
    expect(await status(url + path, groups)).toBe(path === '/nothing' ? 404 : 200)
  })

  const viewers = [
    { groups: ['acme-admins'], workspaces: ['acme'] },
    { groups: ['everything'], workspaces: ['*'] },
    { groups: ['*'], workspaces: ['commons'] },
  ]

  test('a reader sees the workspaces of their groups, and hears of no other, anywhere', async () => {
    const { url } = await serve(byProxy(['127.0.0.1'], viewers))
    const get = async (path: string, of = 'acme-admins') => (await fetch(url + path, { headers: { 'x-groups': of } })).text()
    expect(JSON.parse(await get('/api/v1/workspaces')).items.map(({ name }: { name: string }) => name)).toEqual(['acme'])
    for (const path of ['/', '/status', '/api/v1/workspaces']) expect(await get(path), path).not.toContain('only for others')
    for (const path of ['', '/people', '/holds', '/changes', '/health', '/policies', '/series/credits', '/groups']) {
      expect(await status(`${url}/api/v1/workspaces/other${path}`, { 'x-groups': 'acme-admins' }), path).toBe(404)
      expect(await status(`${url}/api/v1/workspaces/other${path}`, { 'x-groups': 'everything' }), path).toBe(200)
    }
    expect(await status(`${url}/api/v1/workspaces/acme/holds/${HOLD.id}`, { 'x-groups': 'nobody' })).toBe(404)
    expect(await status(`${url}${STREAM}?workspace=other`, { 'x-groups': 'acme-admins' })).toBe(404)
    // What one reader was given is not kept for another.
    expect(JSON.parse(await get('/api/v1/workspaces', 'nobody')).items).toEqual([])
    expect(JSON.parse(await get('/api/v1/workspaces', 'everything')).items).toHaveLength(2)
  })

  test.each(['/ledger', '/metrics'])('%s, which is about all workspaces, needs a reader who sees all', async (path) => {
    const { url } = await serve({ ...byProxy(['127.0.0.1'], viewers), metrics: true })
    expect([
      await status(url + path, { 'x-groups': 'acme-admins' }),
      await status(url + path, { 'x-groups': 'everything' }),
      await status(url + path),
    ]).toEqual([403, 200, 401])
  })

  test('and of problems of the whole daemon only that they exist, because a message may name any workspace', async () => {
    const rules = [
      { groups: ['ops'], workspaces: ['*'] },
      { groups: ['leads'], workspaces: ['acme'] },
    ]
    const condition = {
      type: 'ConfigInvalid',
      subject: 'capkeeper',
      reason: 'CONFIG_INVALID',
      message: 'c.yaml:9:9: secretproject',
      since: 1,
    } as const
    const { url } = await serve(byProxy(['127.0.0.1'], rules), {
      health: () => ({ configValid: false, ledgerWritable: true, conditions: [condition] }),
    })
    for (const path of ['/status', '/', '/api/v1/workspaces']) {
      const read = async (group: string) => (await fetch(url + path, { headers: { 'x-groups': group } })).text()
      expect(await read('ops'), path).toContain('secretproject')
      const text = await read('leads')
      expect(text, path).not.toContain('secretproject')
      expect(text, path).toMatch(/config.* is (invalid|not valid)/i)
    }
  })

  test('names of groups come as UTF-8', async () => {
    const { url } = await serve(byProxy(['127.0.0.1'], [{ groups: ['équipe-語'], workspaces: ['acme'] }]))
    const sent = Buffer.from('a, équipe-語').toString('latin1')
    expect(await status(`${url}/workspaces/acme`, { 'x-groups': sent })).toBe(200)
  })

  test('a reader of no group that sees anything is 403', async () => {
    const { url } = await serve(byProxy(['127.0.0.1'], viewers.slice(0, 2)))
    expect(await status(`${url}/`, { 'x-groups': 'others' })).toBe(403)
  })
})

describe('networks', () => {
  test('hold exactly the addresses whose first bits they name, also written as IPv6', () => {
    const part = fc.integer({ min: 0, max: 255 })
    const address = fc.tuple(part, part, part, part)
    const number = (parts: readonly number[]): number => parts.reduce((sum, one) => sum * 256 + one, 0)
    fc.assert(
      fc.property(address, address, fc.integer({ min: 1, max: 32 }), (network, other, bits) => {
        const size = 2 ** (32 - bits)
        const isIn = Math.floor(number(network) / size) === Math.floor(number(other) / size)
        const settings = byProxy([`${network.join('.')}/${bits}`])
        const gate = createGate({ settings: () => settings, env: {} })
        for (const remoteAddress of [other.join('.'), `::ffff:${other.join('.')}`]) {
          const verdict = gate({ headers: { 'x-groups': 'a' }, remoteAddress })
          expect('status' in verdict).toBe(!isIn)
        }
      }),
    )
  })

  test('a client without an address is in no network', () => {
    expect(networkList(['0.0.0.0/0']).check('127.0.0.1')).toBe(true)
    const gate = createGate({ settings: () => byProxy(['0.0.0.0/0', '::/0']), env: {} })
    expect(gate({ headers: { 'x-groups': 'a' }, remoteAddress: undefined })).toMatchObject({ status: 403 })
  })
})

const own = (options: Partial<Parameters<typeof ledgerGate>[0]>) =>
  ledgerGate({ host: '127.0.0.1', token: undefined, env: { TOKEN }, ...options })

const rows: readonly (readonly [string, Parameters<typeof own>[0], string | undefined, number | undefined])[] = [
  ['anybody on this machine, without a token', {}, undefined, undefined],
  ['nobody from elsewhere, without a token', { host: '0.0.0.0' }, undefined, 403],
  ['nobody from elsewhere, whatever they show, without a token', { host: '::' }, `Bearer ${TOKEN}`, 403],
  ['who shows the token', { host: '0.0.0.0', token: { env: 'TOKEN' } }, `Bearer ${TOKEN}`, undefined],
  ['who shows it in other words', { host: '0.0.0.0', token: { env: 'TOKEN' } }, `bearer  ${TOKEN} `, undefined],
  ['not who shows none', { token: { env: 'TOKEN' } }, undefined, 401],
  ['not who shows the beginning of it', { token: { env: 'TOKEN' } }, `Bearer ${TOKEN.slice(0, -1)}`, 401],
  ['not who shows more than it', { token: { env: 'TOKEN' } }, `Bearer ${TOKEN}x`, 401],
  ['not who shows it as a password', { token: { env: 'TOKEN' } }, `Basic ${TOKEN}`, 401],
  ['nobody while the token cannot be read', { token: { env: 'NONE' } }, 'Bearer ', 403],
  ['nobody while its file is missing', { token: { file: '/nowhere/token' } }, 'Bearer undefined', 403],
]
test.each(rows)('access to /ledger: %s', (_name, options, header, status) => {
  expect(own(options)(header)?.status).toBe(status)
  expect(own(options)(header)?.message ?? '').not.toContain(TOKEN)
})
