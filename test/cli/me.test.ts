import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { run } from './world.ts'

const mine = {
  apiVersion: 'capkeeper/v1',
  kind: 'Me',
  workspaces: [
    {
      workspace: 'acme',
      used: 1323.11,
      addOn: 823.11,
      addOnSource: 'estimated',
      cap: 1000,
      entry: { kind: 'group', reason: 'builds the build' },
      left: 176.89,
      stopsFirst: { what: 'cap', on: '2026-11-29' },
      grants: [{ kind: 'grant', cap: 1800, until: '2026-11-30T00:00:00.000Z', reason: 'launch' }],
      cycleEnd: '2026-12-01T00:00:00.000Z',
      requestUrl: 'https://forge.example/new?for=ada%40example.com',
    },
  ],
}

describe('me', () => {
  let server: Server | undefined
  afterEach(() => {
    server?.close()
    server = undefined
  })

  const serve = async (status: number, body: string): Promise<string> => {
    const listening = createServer((request, response) => {
      const isKnown = request.url === '/api/v1/me' && request.headers.authorization === 'Bearer token'
      response.statusCode = isKnown ? status : 401
      response.end(isKnown ? body : '{"kind":"Error","message":"sign in"}')
    })
    server = listening
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
  }

  const env = { CAPKEEPER_TOKEN: 'token' }

  test('says what is left, from where, what stops it first and where to ask for more', async () => {
    const ran = await run(['me', '--url', await serve(200, JSON.stringify(mine))], { env })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout.split('\n')).toEqual([
      'acme: 176.89 of 1000 credits left until 2026-12-01',
      '  used 1323.11, 823.11 of it add-on credits (estimated)',
      '  cap from: group: builds the build',
      '  stops first: your cap, expected on 2026-11-29',
      '  ask for more: https://forge.example/new?for=ada%40example.com',
      '  grant: 1800 until 2026-11-30: launch',
      '',
    ])
  })

  test('prints the document itself as JSON', async () => {
    const ran = await run(['me', '--url', await serve(200, JSON.stringify(mine)), '--output', 'json'], { env })
    expect(JSON.parse(ran.stdout)).toEqual(mine)
  })

  test('says so where no workspace lists the reader', async () => {
    const ran = await run(['me', '--url', await serve(200, JSON.stringify({ ...mine, workspaces: [] }))], { env })
    expect(ran).toMatchObject({ code: 0, stdout: 'no workspace lists your address\n' })
  })

  test.each([
    ['a token that is missing', {}, 200, '', 'answered 401: sign in; give --token-file FILE, or set CAPKEEPER_TOKEN'],
    ['what the daemon says', env, 404, '{"kind":"Error","message":"no address of yours"}', 'answered 404: no address of yours'],
    ['another document', env, 200, '{"kind":"Status"}', 'answered 200; is that a capkeeper daemon, or a proxy that lets you in?'],
  ])('fails with %s', async (_name, given, status, body, message) => {
    const ran = await run(['me', '--url', await serve(status, body)], { env: given })
    expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
  })
})
