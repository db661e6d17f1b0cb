// `capkeeper sandbox` as a process: what it prints, what it serves, fixtures in and out, and what it says when something is wrong.
import { readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { start, until } from '../support/process.ts'
import { place } from './world.ts'

const SMALL = ['--people', '9', '--days', '5']

/** Starts it on a free port, and waits for its address. */
async function served(argv: readonly string[], cwd: string) {
  const running = start(['sandbox', '--port', '0', ...argv], { cwd })
  const url = await until('the address', () => /^http\S+$/m.exec(running.stdout())?.[0])
  const ask = async (operation: string, body: object) => {
    const answer = await fetch(`${url}/api/v1/${operation}`, {
      method: 'POST',
      body: JSON.stringify({ service_key: 'sandbox-admin', ...body }),
    })
    return { status: answer.status, body: JSON.parse(await answer.text()) }
  }
  return { ...running, url, ask }
}

describe('serving', () => {
  test('prints its address, its keys and a line to try; ends with 0 when it is told to', async () => {
    const sandbox = await served(SMALL, place().folder)
    expect(sandbox.stdout()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n\nkeys:\n {2}sandbox-admin .*Billing Write\n/)
    for (const key of ['analytics', 'teams-read', 'billing-read', 'billing-write']) expect(sandbox.stdout()).toContain(`  sandbox-${key} `)
    expect(sandbox.stdout()).toContain(`curl -s ${sandbox.url}/api/v1/`)
    expect((await sandbox.ask('UserPageAnalytics', {})).body.userTableStats).toHaveLength(9)
    sandbox.signal('SIGTERM')
    expect(await sandbox.ended).toEqual({ code: 0, signal: null })
    expect(sandbox.stderr()).toBe('')
  })

  test('keeps caps in a data file from start to start', async () => {
    const { folder } = place()
    const first = await served([...SMALL, '--data', 'sandbox.db'], folder)
    await first.ask('UsageConfig', { team_level: true, set_add_on_credit_cap: 321 })
    first.signal('SIGINT')
    await first.ended
    const second = await served([...SMALL, '--data', 'sandbox.db'], folder)
    // What a process writes to two pipes may arrive in either order.
    expect(await until('the warning', () => second.stderr() || undefined)).toBe(
      'sandbox.db holds a company already: --people, --days change nothing\n',
    )
    expect((await second.ask('GetUsageConfig', { team_level: true })).body).toEqual({ addOnCreditCap: 321 })
    expect((await second.ask('UserPageAnalytics', {})).body.userTableStats).toHaveLength(9)
  })

  test('takes the switches of its flags, and its keys for what each may do', async () => {
    const flags = ['--cap-spelling', 'snake', '--errors', 'connect', '--rate-limit', '2/h', '--retry-after', 'seconds']
    const sandbox = await served([...SMALL, ...flags], place().folder)
    const write = { service_key: 'sandbox-billing-write', team_level: true, set_add_on_credit_cap: 5 }
    expect(await sandbox.ask('UsageConfig', write)).toMatchObject({ status: 200 })
    expect(await sandbox.ask('GetUsageConfig', { ...write, set_add_on_credit_cap: undefined })).toMatchObject({ status: 403 })
    expect((await sandbox.ask('GetUsageConfig', { team_level: true })).body).toEqual({ add_on_credit_cap: 5 })
    expect((await sandbox.ask('GetUsageConfig', {})).body).toMatchObject({ code: 'invalid_argument' })
    expect(await sandbox.ask('GetUsageConfig', {})).toMatchObject({ status: 429, body: { code: 'resource_exhausted' } })
  })
})

test('a fixture is served, and exported from a data file while that is open', async () => {
  const at = place()
  const keys = [{ secret: 'of-zoe', permissions: ['Billing Read', 'Billing Write'] }]
  at.write('b.json', JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'SandboxFixture', people: [{ email: 'zoe@example.com' }], keys }))
  const sandbox = await served(['--fixture', 'b.json', '--data', 'b.db'], at.folder)
  expect(sandbox.stdout()).toMatch(/^ {2}of-zoe +Billing Read, Billing Write$/m)
  await sandbox.ask('UsageConfig', { user_email: 'zoe@example.com', set_add_on_credit_cap: 77 })
  const { code, stdout } = await inside(['sandbox', '--data', 'b.db', '--export', '-'], { cwd: at.folder })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ people: [{ email: 'zoe@example.com' }], caps: { 'zoe@example.com': 77 } })
})

describe('an error is told in one line, and nothing is left behind', () => {
  /** Runs it to its end; the files that it left. */
  const refused = async (argv: readonly string[], at = place()) => {
    const before = readdirSync(at.folder)
    const ran = await inside(['sandbox', '--port', '0', ...argv], { cwd: at.folder })
    expect(ran.stdout).toBe('')
    expect(ran.stderr).not.toMatch(/\bat .*\.(ts|js):/)
    expect(readdirSync(at.folder)).toEqual(before)
    return ran
  }

  test('a port in use ends it with 1, before anything is seeded', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    const port = await until('a port', () => {
      const address = other.address()
      return typeof address === 'object' ? address?.port : undefined
    })
    const { code, stderr } = await refused(['--port', String(port), '--data', 'sandbox.db'])
    expect(code).toBe(1)
    expect(stderr).toBe(`error: 127.0.0.1:${port} is in use; choose another port with --port\n`)
  })

  test('invalid input, 65: a data file that is no database', async () => {
    const at = place()
    at.write('sandbox.db', 'not a database, and longer than the head of one '.repeat(4))
    const { code, stderr } = await refused(['--data', 'sandbox.db'], at)
    expect([code, stderr]).toEqual([65, expect.stringContaining('sandbox.db')])
  })

  test('invalid input, 65: a data file that another sandbox serves; it can be exported meanwhile', async () => {
    const at = place()
    await served([...SMALL, '--data', 'sandbox.db'], at.folder)
    const { code, stderr } = await refused(['--data', 'sandbox.db'], at)
    expect(code).toBe(65)
    expect(stderr).toMatch(
      /^error: sandbox data sandbox\.db is in use by another sandbox; stop that one first, or name another file with --data\n/,
    )
    expect((await inside(['sandbox', '--data', 'sandbox.db', '--export', '-'], { cwd: at.folder })).code).toBe(0)
  })
})
