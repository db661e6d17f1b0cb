// `status` and `me` against pages of a daemon: what they make of odd documents, and of what is no daemon.
import { expect, test } from 'vitest'
import { serve as listening } from '../api/world.ts'
import { fakeClock } from '../support/clock.ts'
import { serve } from '../support/serve.ts'
import { emptyView, fullView } from '../support/views.ts'
import { run } from './world.ts'

const answering = async (handler: Parameters<typeof listening>[0]): Promise<string> => (await listening(handler)).url

const env = { CAPKEEPER_TOKEN: 'a-token' }
const saying = (body: unknown) =>
  answering(({ url, headers }, response) => {
    const isKnown = url === '/api/v1/me' && headers.authorization === 'Bearer a-token'
    response.writeHead(isKnown ? 200 : 418).end(JSON.stringify(body))
  })

test('me says what is left, from where, what stops it first and where to ask for more', async () => {
  const acme = {
    ...{ workspace: 'acme', used: 1323.11, addOn: 823.11, addOnSource: 'estimated', cap: 1000, left: 176.89 },
    entry: { kind: 'group', reason: 'builds the build' },
    stopsFirst: { what: 'cap', on: '2026-11-29' },
    grants: [{ kind: 'grant', cap: 1800, until: '2026-11-30T00:00:00.000Z', reason: 'launch' }],
    cycleEnd: '2026-12-01T00:00:00.000Z',
    requestUrl: 'https://forge.example/new?for=ada%40example.com',
  }
  const mine = {
    apiVersion: 'capkeeper/v1',
    kind: 'Me',
    workspaces: [acme, { workspace: 'beta', stopsFirst: { what: 'nothing' }, grants: [] }],
  }
  const url = await saying(mine)
  const { stdout } = await run(['me', '--url', url], { env })
  expect(stdout.split('\n')).toEqual([
    'acme: 176.89 of 1000 credits left until 2026-12-01 00:00:00Z',
    '  used 1323.11, 823.11 of it add-on credits (estimated)',
    '  cap from: group: builds the build',
    '  stops first: your cap, expected on 2026-11-29',
    '  ask for more: https://forge.example/new?for=ada%40example.com',
    '  grant: 1800 until 2026-11-30 00:00:00Z: launch',
    '',
    'beta: cap not known',
    '  stops first: nothing in this cycle',
    '',
  ])
  expect(JSON.parse((await run(['me', '--url', url, '--output', 'json'], { env })).stdout)).toEqual(mine)
  expect((await run(['me', '--url', await saying({ ...mine, workspaces: [] })], { env })).stdout).toBe('no workspace lists your address\n')
  expect((await run(['me', '--url', await saying({ kind: 'Status' })], { env })).stderr).toContain(
    'answered 200; is that a capkeeper daemon',
  )
})

test('status says what is broken of the daemon itself, and counts what is too much to list', async () => {
  const pool = { name: 'labs', credits: 500 as never, frozen: 'the roster was not read yet' }
  const scopes = Array(103).fill({ scope: { kind: 'team' }, state: 'rejected', observed: 'unknown' })
  const views = () => [{ ...emptyView(), scopes, pools: Array(103).fill(pool) }, fullView('beta')]
  const { url } = await serve({ views, health: () => ({ configValid: false, ledgerWritable: false }) })
  const { stdout } = await run(['status', '--url', url])
  expect(stdout).toContain('The config file is broken; the last good one is in force.\nThe ledger cannot be written, so nothing is written')
  expect(stdout).toContain('acme       enforce  none yet')
  expect(stdout).toContain(
    'labs  500      ?     ?           ?                nothing dealt yet  the last deal stays: the roster was not read',
  )
  expect(stdout.split('labs')).toHaveLength(41)
  expect(stdout).toContain('and 83 more scopes; /status lists 80 of them\n')
  expect(stdout).toContain('and 63 more pools\n')
  const asked = await run(['status', '--url', url, '--output', 'json'])
  expect(JSON.parse(asked.stdout)).toEqual(await (await fetch(`${url}/status`)).json())
})

test('status gives up on a daemon that does not finish its answer within 10 s', async () => {
  const clock = fakeClock()
  const asked = Promise.withResolvers<void>()
  const url = await answering((_request, response) => {
    response.write('{')
    asked.resolve()
  })
  const running = run(['status', '--url', url], { clock })
  await asked.promise
  await clock.advance(10_000)
  expect(await running).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('(no answer within 10 s)') })
  expect(clock.sleeping()).toBe(0)
})

test.each([
  ['a line', 401, 'sign in at the proxy', 'answered 401: sign in at the proxy; give --token-file FILE, or set CAPKEEPER_TOKEN'],
  ['an error', 503, '{"kind":"Error","message":"too busy"}', 'answered 503: too busy'],
  ['a page', 404, '<!doctype html>', 'answered 404; is that a capkeeper daemon, or a proxy that lets you in?'],
  ['a page to sign in', 302, '', 'it redirects, as a proxy does that asks to sign in: give a token that it takes'],
  ['a page that is no status', 200, '<html>', 'did not answer with a capkeeper status'],
  ['JSON that is no status', 200, '{"kind":"Plan"}', 'did not answer with a capkeeper status'],
])('status refuses %s', async (_name, status, body, message) => {
  const headers = status === 302 ? { location: 'https://login.example/start?rd=secret' } : {}
  const url = await answering((_request, response) => response.writeHead(status, headers).end(body))
  const ran = await run(['status', '--url', url])
  expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
})
