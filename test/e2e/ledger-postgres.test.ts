// The daemon with its ledger in a real PostgreSQL: one that is away at the start, one that goes away, an apply beside it, and doctor.
import { chmodSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { freePort, hasPostgres, startPostgres } from '../support/postgres.ts'
import { startDaemon, until } from '../support/process.ts'
import { configText, place, policyText, service, workspace } from './world.ts'

const PASSWORD = 'hunter2-is-long'

describe.skipIf(!hasPostgres)('a daemon with its ledger in PostgreSQL', () => {
  test('waits for a database that is away, writes nothing while it is, goes on by itself, and lets no apply beside it', async () => {
    const database = await startPostgres()
    onTestFinished(() => database.remove())
    const ledger = await database.create()
    await database.stop()
    const at = place()
    const one = await service()
    at.write('key', 'sandbox-admin')
    at.write('policies/one.yaml', policyText('workspace: one\nteam: {cap: 500}', 'one'))
    const config = at.write('config.yaml', configText([workspace('one', one.url, { interval: '10s' })]))
    const env = { CAPKEEPER_LEDGER: ledger.replace('postgres@', `postgres:${PASSWORD}@`) }
    const daemon = await startDaemon(['--config', config, '--listen', `127.0.0.1:${await freePort()}`], { cwd: at.folder, env })
    expect(await daemon.get('/readyz')).toMatchObject({ status: 503, text: expect.stringContaining('the database cannot be reached') })
    expect(await daemon.metric('capkeeper_ledger_writable')).toBe(0)
    expect(one.calls.log).toEqual([])

    await database.start()
    await until('being ready', async () => (await daemon.get('/readyz')).status === 200)
    await until('the team', () => one.capOf('team') === 500)
    const beside = await inside(['apply', '--yes', '--config', config], { cwd: at.folder, env })
    expect(beside).toMatchObject({ code: 1, stderr: expect.stringContaining('one is held by') })

    await database.stop()
    one.setCap('team', 9)
    daemon.signal('SIGHUP')
    await until('not being ready', async () => (await daemon.get('/readyz')).status === 503)
    expect(one.capOf('team')).toBe(9)
    expect((await daemon.get('/status')).status).toBe(200)
    await database.start()
    daemon.signal('SIGHUP')
    await until('the healing', () => one.capOf('team') === 500)
    await until('being ready', async () => (await daemon.get('/readyz')).status === 200)

    const checked = await inside(['doctor', '--config', config], { cwd: at.folder, env })
    expect(checked.stdout).toMatch(/ok +postgres:\/\/postgres@127\.0\.0\.1:\d+\/ledger_1: PostgreSQL \d/)
    expect(checked.stdout).toMatch(/an answer takes [\d.]+ ms/)
    expect(checked.stdout).toMatch(/every row can be read/)
    daemon.signal('SIGTERM')
    expect(await daemon.ended).toEqual({ code: 0, signal: null })
    const history = await inside(['history', '--config', config], { cwd: at.folder, env })
    expect(history).toMatchObject({ code: 0, stdout: expect.stringContaining('9 → 500') })
    for (const text of [daemon.stdout(), daemon.stderr(), beside.stderr, checked.stdout, history.stdout])
      expect(text).not.toContain(PASSWORD)
  })

  test('takes its password from a password file, and warns of one that others may read', async () => {
    const database = await startPostgres()
    onTestFinished(() => database.remove())
    const ledger = (await database.create()).replace('postgres@', 'keeper@')
    await database.sql('postgres', `CREATE ROLE keeper LOGIN SUPERUSER PASSWORD '${PASSWORD}'`)
    await database.rules('host all keeper 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n')
    const at = place()
    const file = at.write('pass', `127.0.0.1:${database.port}:*:keeper:${PASSWORD}\n`)
    const env = { CAPKEEPER_LEDGER: ledger, PGPASSFILE: file }
    chmodSync(file, 0o640)
    const open = await inside(['ledger', 'check'], { cwd: at.folder, env })
    expect(open).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the password file .*pass is not used, because other users may read it/),
    })
    chmodSync(file, 0o600)
    at.write('policies/one.yaml', policyText('workspace: one\nteam: {cap: 500}', 'one'))
    at.write('key', 'sandbox-admin')
    const config = at.write('config.yaml', configText([workspace('one', (await service()).url)]))
    expect(await inside(['apply', '--yes', '--config', config], { cwd: at.folder, env })).toMatchObject({ code: 0, stderr: '' })
    at.write('pass', `127.0.0.1:${database.port}:*:keeper:another\n`)
    const wrong = await inside(['ledger', 'check'], { cwd: at.folder, env })
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('the server does not let this user in') })
    const none = await inside(['ledger', 'check'], { cwd: at.folder, env: { CAPKEEPER_LEDGER: ledger, HOME: at.folder } })
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('the server does not let this user in') })
    expect([open, wrong].map(({ stderr }) => stderr).join('')).not.toContain(PASSWORD)
  })
})
