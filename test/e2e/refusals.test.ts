import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { configText, place, policyText, service, workspace, world, written } from './world.ts'

describe('a missing or wrong setting', () => {
  const env = { CAPKEEPER_SERVICE_KEY: 'sandbox-admin' }
  const url = ['--base-url', 'http://127.0.0.1:9']

  test.each<readonly [string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
    [
      'no address',
      ['--policies', 'p.yaml'],
      env,
      /error: default: the address of the service is missing\n.*--base-url, CAPKEEPER_BASE_URL/,
    ],
    [
      'no key',
      ['--policies', 'p.yaml', ...url],
      {},
      /error: default: the service key is missing\n.*--service-key-file, CAPKEEPER_SERVICE_KEY/,
    ],
    ['no policies', url, env, /error: default: no policies are given\n.*--policies, CAPKEEPER_POLICIES/],
    [
      'an unreadable key file',
      ['--policies', 'p.yaml', ...url, '--service-key-file', 'nowhere'],
      {},
      /the key file nowhere does not exist \(ENOENT\)/,
    ],
    ['an empty key file', ['--policies', 'p.yaml', ...url, '--service-key-file', 'empty'], {}, /the key file empty is empty/],
    ['an address that is none', ['--policies', 'p.yaml', '--base-url', 'service'], env, /--base-url: not an http or https address/],
    ['policies that are not there', ['--policies', 'nowhere.yaml', ...url], env, /error: nowhere\.yaml does not exist/],
    ['a config file that is not there', ['--config', 'nowhere.yaml'], env, /error: nowhere\.yaml does not exist/],
    [
      'a misspelt key of the config',
      ['--config', 'config.yaml'],
      env,
      /config\.yaml:3:1: error: .*"workspacs".*\n.*\n +\^+\n +hint: did you mean "workspaces"/,
    ],
    ['a policy with an error', ['--policies', 'bad.yaml', ...url], env, /bad\.yaml:5:15: error: /],
  ])('%s exits 65 for plan and run, and says the way out', async (_row, argv, variables, message) => {
    const at = place()
    at.write('p.yaml', policyText('team: {cap: 500}'))
    at.write('bad.yaml', policyText('team: {cap: -500}'))
    at.write('empty', '\n')
    at.write('config.yaml', 'apiVersion: capkeeper/v1\nkind: Config\nworkspacs: []\n')
    at.write(
      'good.yaml',
      'apiVersion: capkeeper/v1\nkind: Config\nworkspaces: [{name: acme, baseUrl: "http://127.0.0.1:9", policies: [p.yaml]}]\n',
    )
    const check = async (...command: readonly string[]): Promise<void> => {
      const { code, stdout, stderr } = await inside([...command, ...argv], { cwd: at.folder, env: variables })
      expect({ command, code, stdout, stderr }).toEqual({ command, code: 65, stdout: '', stderr: expect.stringMatching(message) })
    }
    await Promise.all([check('plan'), check('run', '--once')])
  })

  test('a workspace that nobody knows is wrong usage for every command, which says what is meant', async () => {
    const at = await world()
    await at.run('apply', '--yes')
    for (const command of [
      ['plan'],
      ['apply', '--yes'],
      ['run'],
      ['run', '--once'],
      ['validate'],
      ['doctor'],
      ['explain', 'team'],
      ['audit'],
      ['report'],
      ['import'],
      ['history'],
      ['simulate'],
      ['recommend'],
      ['approve', '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b'],
      ['pause', '--for', '1h', '--reason', 'x'],
      ['resume'],
      ['notify', 'preview'],
      ['ledger', 'forget', 'ada@example.com'],
    ]) {
      const { code, stdout, stderr } = await at.run(...command, '--workspace', 'acmee')
      expect({ command, code, told: stdout + stderr }).toEqual({
        command,
        code: 64,
        told: expect.stringMatching(/there is no workspace "acmee"[\s\S]*did you mean "acme"/),
      })
    }
  })

  test('the environment alone is enough, with a path prefix, a trailing slash and /api/v1', async () => {
    const fixture = await service()
    const at = place()
    const { code, stdout, stderr } = await inside(['apply', '--yes'], {
      cwd: at.folder,
      env: {
        CAPKEEPER_BASE_URL: `${fixture.url}/api/v1/`,
        CAPKEEPER_SERVICE_KEY_FILE: at.write('key', 'sandbox-admin'),
        CAPKEEPER_POLICIES: at.write('p.yaml', policyText('workspace: blue\nteam: {cap: 500}')),
        CAPKEEPER_LEDGER: ':memory:',
      },
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^blue: plan /)
    expect(fixture.capOf('team')).toBe(500)
  })
})

describe('a key that the service does not like', () => {
  test.each<readonly [string, string, RegExp]>([
    ['a wrong key', 'not-a-key-of-this-service', /GetUsageConfig: .*Billing Read/],
    ['a key that may not read caps', 'sandbox-teams-read', /GetUsageConfig: .*Billing Read/],
    ['a key that may not read people', 'sandbox-billing-read', /UserPageAnalytics: .*Teams Read-only/],
  ])('plan with %s names the operation and the permission', async (_row, key, message) => {
    const at = await world()
    at.write('key', key)
    const { stdout, stderr } = await at.run('plan')
    expect(stdout + stderr).toMatch(message)
    expect(stdout + stderr).not.toContain(key)
  })

  test('plan and explain with a wrong key say first that nothing could be read, and why, and exit 1', async () => {
    const at = await world()
    at.write('key', 'not-a-key-of-this-service')
    const why = /^error: acme: nothing could be read: GetUsageConfig: the key was refused \(401\): needs Billing Read/
    for (const command of [['plan'], ['plan', '--detailed-exitcode'], ['explain', 'team'], ['explain', 'ada.lovelace@example.com']]) {
      const { code, stdout, stderr } = await at.run(...command)
      expect({ command, code }).toEqual({ command, code: 1 })
      expect(stderr).toMatch(why)
      expect(stdout).not.toMatch(/No changes|nothing to write/)
    }
    expect((await at.run('plan')).stdout).toMatch(/^acme: plan [^\n]*\n\nNothing could be read, so nothing is planned\./)
    const markdown = await at.run('plan', '--output', 'markdown')
    expect(markdown).toMatchObject({ code: 1, stdout: expect.stringMatching(/^### capkeeper: acme\n\n\*\*Nothing could be read\*\*, so/) })
  })

  test('plan without a service at the address exits 1 and says why, also while no scope is declared', async () => {
    const at = await world({ policy: 'protected: [ada@example.com]' })
    at.write('config.yaml', configText([workspace('acme', 'http://127.0.0.1:1')]))
    const { code, stdout, stderr } = await at.run('plan')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: acme: nothing could be read: .*ECONNREFUSED/)
    expect(stdout).not.toContain('No changes')
    expect(stdout).toContain('Nothing could be read, so nothing is planned.')
  })

  test('apply with a balance that is refused keeps the caps all the same', async () => {
    const at = await world()
    const front = createServer(async (request, response) => {
      if (request.url?.endsWith('/GetTeamCreditBalance')) return response.writeHead(403).end()
      const body = await text(request)
      const answer = await fetch(`${at.service.url}${request.url}`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json' },
      })
      return response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
    })
    const listening = Promise.withResolvers<void>()
    front.listen(0, '127.0.0.1', listening.resolve)
    await listening.promise
    onTestFinished(() => void front.close())
    const address = front.address()
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    at.write('config.yaml', configText([workspace('acme', url)]))
    const { code, stdout, stderr } = await at.run('apply', '--yes')
    expect({ code, cap: at.service.capOf('team') }).toEqual({ code: 0, cap: 500 })
    expect(stdout + stderr).toContain('GetTeamCreditBalance: the key was refused (403): needs Billing Read')
  })

  test('apply with a key that may not write names UsageConfig and Billing Write, and exits 1', async () => {
    const at = await world()
    at.service.sandbox.store.saveKey({ secret: 'key-for-reading', permissions: ['Teams Read-only', 'Billing Read'] })
    at.write('key', 'key-for-reading')
    const { code, stderr } = await at.run('apply', '--yes')
    expect({ code, writes: at.service.sandbox.store.caps() }).toEqual({ code: 1, writes: [] })
    expect(stderr).toMatch(/UsageConfig: .*Billing Write/)
    // One key for each permission is as good as one for all.
    const config = JSON.parse(at.read('config.yaml'))
    config.workspaces[0].keys.billingWrite = { env: 'WRITE_KEY' }
    at.write('config.yaml', JSON.stringify(config))
    const ran = await inside(['apply', '--yes', ...at.flags], { env: { WRITE_KEY: 'sandbox-billing-write' } })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(written(at.service)).toHaveLength(2)
    expect(at.service.capOf('team')).toBe(500)
  })
})
