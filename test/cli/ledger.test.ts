import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UNDECLARED } from '../../src/core/model/policy.ts'
import { scopeKey, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import type { Ledger } from '../../src/ports.ts'
import { fakeClock } from '../support/clock.ts'
import { ownedCap } from '../support/ledger.ts'
import { adaLower, groupRaise } from './plans.ts'
import { run } from './world.ts'

const clock = fakeClock()
const HOLD = '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b'
let folder = ''
let file = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'capkeeper-ledger-'))
  file = join(folder, 'capkeeper.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** What a daemon would have left in the ledger. */
async function daemonWas(names: readonly string[], leaves: (ledger: Ledger, name: string) => unknown = () => undefined): Promise<void> {
  const store = await openLedger({ file, mode: 'write', clock })
  for (const name of names) {
    const ledger = await store.workspace(name, `https://${name}.example`)
    await leaves(ledger, name)
    await ledger.commit()
  }
  await store.close()
}

const look = async <T>(name: string, at: (ledger: Ledger) => T | Promise<T>): Promise<T> => {
  const store = await openLedger({ file, mode: 'read', clock })
  const seen = await at(await store.workspace(name, undefined))
  await store.close()
  return seen
}

const cli = (...argv: readonly string[]) => run([...argv, '--ledger', file], { clock })

describe('pause and resume', () => {
  test('works beside a process that holds the write lock', async () => {
    const store = await openLedger({ file, mode: 'write', clock })
    const ledger = await store.workspace('acme', 'https://acme.example')
    expect((await cli('pause', '--for', '1h', '--reason', 'x')).code).toBe(0)
    expect(await ledger.pause(clock.now())).toMatchObject({ reason: 'x' })
    await store.close()
  })

  test('in a folder without a ledger is an error and makes no file', async () => {
    const ran = await cli('pause', '--for', '4h', '--reason', 'x')
    expect(ran).toMatchObject({ code: 64, stdout: '' })
    expect(ran.stderr).toContain('knows no workspace yet; name one with --workspace, or another file with --ledger')
    expect(existsSync(file)).toBe(false)
  })

  test('before the first run needs the name, and says that no daemon uses it yet', async () => {
    const ran = await cli('pause', '--for', '4h', '--reason', 'x', '--workspace', 'acme')
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('acme: paused until') })
    expect(ran.stderr).toContain('warning: nothing has used')
  })

  test.each([
    ['spec.workspace of the policies', '{workspace: acme, team: {cap: 5}}', 'acme'],
    ['default where they name none', '{team: {cap: 5}}', 'default'],
  ])('before the first run takes the name of plan and apply: %s', async (_name, spec, workspace) => {
    const policies = join(folder, 'policy.yaml')
    writeFileSync(policies, `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: caps}\nspec: ${spec}\n`)
    const ran = await cli('pause', '--for', '4h', '--reason', 'x', '--policies', policies)
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining(`${workspace}: paused until`) })
    expect(ran.stderr).toContain(`warning: nothing has used ${file} for ${workspace} yet`)
    const approved = await run(['approve', HOLD, '--ledger', file], { clock, env: { CAPKEEPER_POLICIES: policies } })
    expect(approved).toMatchObject({ code: 0, stdout: `${workspace}: hold ${HOLD} is approved\n` })
  })

  test('with several workspaces takes the one that the policies name', async () => {
    await daemonWas(['acme', 'beta'])
    const policies = join(folder, 'policy.yaml')
    writeFileSync(policies, 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: caps}\nspec: {workspace: beta}\n')
    expect((await cli('resume', '--policies', policies)).stdout).toBe('beta: was not paused\n')
  })

  test('with several workspaces needs --workspace and lists them', async () => {
    await daemonWas(['acme', 'beta'])
    const ran = await cli('pause', '--for', '4h', '--reason', 'x')
    expect(ran).toMatchObject({ code: 64, stdout: '' })
    expect(ran.stderr).toContain('there are several workspaces: acme, beta; choose one with --workspace')
    expect((await cli('pause', '--for', '4h', '--reason', 'x', '--workspace', 'beta')).stdout).toContain('beta: paused')
    expect((await cli('pause', '--for', '4h', '--reason', 'x', '--workspace', 'gamma')).stderr).toContain(
      'there is no workspace "gamma"; known here: acme, beta',
    )
  })

  test('a workspace that the config no longer has is ignored unless it is named', async () => {
    await daemonWas(['acme', 'beta'])
    const config = join(folder, 'capkeeper.yaml')
    writeFileSync(config, 'apiVersion: capkeeper/v1\nkind: Config\nledger: ./capkeeper.db\nworkspaces: [{name: acme}]\n')
    expect((await run(['pause', '--for', '4h', '--reason', 'x', '--config', config], { clock })).stdout).toContain('acme: paused')
    expect((await run(['resume', '--workspace', 'beta', '--config', config], { clock })).stdout).toBe('beta: was not paused\n')
  })

  test('a broken config does not stop a pause whose ledger is named', async () => {
    await daemonWas(['acme'])
    const config = join(folder, 'capkeeper.yaml')
    writeFileSync(config, 'kind: [')
    expect((await cli('pause', '--for', '4h', '--reason', 'x', '--config', config)).code).toBe(0)
    expect((await run(['resume', '--config', config], { clock })).code).toBe(65)
  })

  test('the ledger can be named by the environment and by the config file', async () => {
    await daemonWas(['acme'])
    expect((await run(['resume'], { clock, env: { CAPKEEPER_LEDGER: file } })).stdout).toBe('acme: was not paused\n')
    const config = join(folder, 'capkeeper.yaml')
    writeFileSync(config, 'apiVersion: capkeeper/v1\nkind: Config\nledger: ./capkeeper.db\nworkspaces: [{name: acme}]\n')
    expect((await run(['resume'], { clock, env: { CAPKEEPER_CONFIG: config } })).stdout).toBe('acme: was not paused\n')
  })
})

describe('approve', () => {
  test('records the release of a hold that shows, and only once', async () => {
    await daemonWas(['acme'], (ledger) => ledger.saveFact('holdsShown', { [HOLD]: { people: 41, at: clock.now() } }))
    expect(await cli('approve', HOLD)).toEqual({ code: 0, stdout: `acme: hold ${HOLD} is approved (41 people)\n`, stderr: '' })
    const approval = { id: HOLD, via: 'command', approvedAt: clock.now(), state: 'pending', people: 41, released: [] }
    expect(await look('acme', (ledger) => ledger.approvals())).toEqual([approval])
    expect((await cli('approve', HOLD.toUpperCase())).stdout).toBe(`acme: hold ${HOLD} was approved at 2026-11-20 12:00:00Z already\n`)
    expect(await look('acme', (ledger) => ledger.approvals())).toEqual([approval])
  })

  test('accepts a hold that nothing shows, with a warning', async () => {
    await daemonWas(['acme'])
    const ran = await cli('approve', HOLD)
    expect(ran).toMatchObject({ code: 0, stdout: `acme: hold ${HOLD} is approved\n` })
    expect(ran.stderr).toContain(`warning: acme has no hold ${HOLD} now`)
  })

  test('takes the first digits of a current hold, and of no other', async () => {
    const gone = `${HOLD.slice(0, 8)}${'0'.repeat(HOLD.length - 8)}`
    const shown = { people: 41, at: clock.now() }
    await daemonWas(['acme'], (ledger) => ledger.saveFact('holdsShown', { [HOLD]: shown, [gone]: { ...shown, goneAt: clock.now() } }))
    expect((await cli('approve', HOLD.slice(0, 8))).stdout).toBe(`acme: hold ${HOLD} is approved (41 people)\n`)
    const refused = await cli('approve', gone.slice(0, 12))
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain(`no hold of acme in the last plan of apply or run begins with ${gone.slice(0, 12)}`)
    expect((await cli('approve', gone)).stderr).toContain(`warning: acme has no hold ${gone} now`)
  })

  test('finds the workspace that shows the hold', async () => {
    await daemonWas(['acme', 'beta'], (ledger, name) => {
      if (name === 'beta') ledger.saveFact('holdsShown', { [HOLD]: { people: 1, at: clock.now() } })
    })
    expect((await cli('approve', HOLD)).stdout).toBe(`beta: hold ${HOLD} is approved (1 person)\n`)
  })

  test('renews an approval that is spent or void', async () => {
    await daemonWas(['acme'], (ledger) =>
      ledger.saveApproval({ id: HOLD, via: 'command', approvedAt: 0, state: 'void', people: 3, released: [] }),
    )
    await cli('approve', HOLD)
    expect(await look('acme', (ledger) => ledger.approvals())).toMatchObject([{ state: 'pending', approvedAt: clock.now(), released: [] }])
  })
})

describe('history', () => {
  const writes = async (ledger: Ledger): Promise<void> => {
    for (const [index, change] of [groupRaise, adaLower].entries()) {
      const common = { planId: '3f9c2a1b7d5e4c08', digest: '9a1b2c3d4e5f', revision: '' }
      const at = clock.now() - (2 - index) * 86_400_000
      const intent = await ledger.recordIntent({ at, change, entry: UNDECLARED, ...common })
      const { scope, action, effect, from, to, cause } = change
      await ledger.recordOutcome(intent, { at, scope, action, effect, from, to, cause, result: 'applied', ...common }, 'kept')
    }
  }

  test.each([
    ['of one scope', ['group:grp_platform'], ['group']],
    ['of one person in any case', ['ADA@example.com'], ['user']],
    ['since a time', ['--since', '36h'], ['user']],
    ['up to a limit', ['--limit', '1'], ['user']],
  ])('shows only those %s', async (_name, argv, kinds) => {
    await daemonWas(['acme'], writes)
    const ran = await cli('history', ...argv, '--output', 'json')
    expect(JSON.parse(ran.stdout)).toMatchObject({
      kind: 'History',
      workspace: 'acme',
      entries: kinds.map((kind) => ({ scope: { kind } })),
    })
  })

  test.each([
    ['1', 'there are older entries; --limit shows more\n'],
    ['2', ''],
  ])('up to %s of two says whether there are more', async (limit, said) => {
    await daemonWas(['acme'], writes)
    expect((await cli('history', '--limit', limit)).stderr).toBe(said)
  })

  test.each([
    ['with a workspace', ['--workspace', 'acme']],
    ['without one', []],
  ])('of a ledger that is not there says so and makes none, %s', async (_name, argv) => {
    expect(await cli('history', ...argv)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`there is no ledger at ${file} yet`),
    })
    expect(existsSync(file)).toBe(false)
  })
})

describe('ledger', () => {
  test.each([
    [['approve', HOLD]],
    [['pause', '--for', '1h', '--reason', 'x']],
    [['resume']],
    [['history']],
    [['ledger', 'check']],
    [['ledger', 'backup', 'copy.db']],
    [['validate']],
  ])('%j takes the flags of the commands beside it, so that one set does for all', async (argv) => {
    await daemonWas(['acme'])
    writeFileSync(join(folder, 'policy.yaml'), 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: caps}\nspec: {}\n')
    const shared = ['--base-url', 'https://acme.example', '--service-key-file', 'key', '--policies', folder, '--log-format', 'json']
    const named = argv.map((word) => (word === 'copy.db' ? join(folder, word) : word))
    expect(await cli(...named, ...shared, '--log-level', 'warn', '--allow-plain-http')).toMatchObject({ code: 0 })
  })
})

describe('ledger forget', () => {
  test('erases the records of a person, also beside a daemon, and refuses while they have a cap of ours', async () => {
    const scope = userScope('ada@example.com')
    await daemonWas(['acme'], async (ledger) => {
      ledger.saveFact('driftSince', { [scopeKey(scope)]: 5, [scopeKey(userScope('bob@example.com'))]: 6 })
      ledger.saveOwned([ownedCap(scope, 4000)])
      const used = new Map([['ada@example.com', credits(12)]])
      const burned = { team: credits(12), groups: {}, highest: used }
      await ledger.saveBurn({ burned, readAt: clock.now(), increases: used, isNewCycle: false, raised: [...used.keys()] })
    })
    const refused = await cli('ledger', 'forget', 'Ada@Example.com')
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('has a cap of ours (4000)') })
    const store = await openLedger({ file, mode: 'write', clock })
    const ledger = await store.workspace('acme', 'https://acme.example')
    ledger.releaseOwned([scopeKey(scope)])
    await ledger.commit()
    expect(await cli('ledger', 'forget', 'Ada@Example.com')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 writes, 1 day of use'),
    })
    await ledger.load()
    expect(ledger.fact('driftSince')).toEqual({ 'bob@example.com': 6 })
    await store.close()
    const bytes = readFileSync(file, 'latin1')
    expect([bytes.includes('bob@example.com'), bytes.includes('ada@example.com')]).toEqual([true, false])
  })

  test('of something that is no address is wrong usage', async () =>
    expect(await cli('ledger', 'forget', 'group:grp_a')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('not an e-mail address'),
    }))
})
