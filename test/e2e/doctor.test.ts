// `doctor` against the embedded service over real HTTP: each key, each plan, and a ledger in every state. It must never write, and never show
// a key.
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import type { Switches } from '../../src/sandbox/switches.ts'
import { inside } from '../support/inside.ts'
import { realClock } from '../support/real-clock.ts'
import { doctor, doctorOf } from './doctor.ts'
import { configText, place, type Settings, type World, workspace, world, written } from './world.ts'

/** A world whose keys are these, each in a file of its own that only its owner may read. */
async function worldWithKeys(
  keys: Readonly<Record<string, string>>,
  switches: Partial<Switches> = {},
  more: Settings = {},
): Promise<World> {
  const files = Object.fromEntries(Object.keys(keys).map((name) => [name, { file: `key-${name}` }]))
  const one = await world({ sandbox: switches, settings: { keys: files, ...more } })
  for (const [name, value] of Object.entries(keys)) chmodSync(one.write(`key-${name}`, value), 0o600)
  return one
}

/** A request of `doctor` that could write carries no cap, and is for nobody. */
function expectNothingWritten({ service }: World): void {
  for (const { operation, body } of service.calls.log)
    if (operation === 'UsageConfig') expect(body).toEqual({ user_email: 'nobody@capkeeper.invalid' })
  expect(service.capOf('team')).toBeUndefined()
}

describe('keys', () => {
  const PROPER = {
    analyticsRead: 'sandbox-analytics',
    teamsRead: 'sandbox-teams-read',
    billingRead: 'sandbox-billing-read',
    billingWrite: 'sandbox-billing-write',
  }

  test('a key that can only write is recognised', async () => {
    const one = await worldWithKeys({ default: 'sandbox-billing-write' })
    expect((await doctorOf(one)).line('keys', 'default')).toMatch(
      /^failed: default \(.*\) holds Billing Write; lacks Analytics Read, Teams Read-only, Billing Read$/,
    )
    expectNothingWritten(one)
  })

  test('one key for each permission holds its own and nothing else, and nothing is written', async () => {
    const one = await worldWithKeys(PROPER)
    const found = await doctorOf(one)
    expect(found.line('keys', 'analyticsRead')).toBe(
      `ok: analyticsRead (file ${one.path('key-analyticsRead')}) holds Analytics Read; lacks Teams Read-only, Billing Read, Billing Write`,
    )
    expect(found.line('keys', 'teamsRead')).toContain('ok: teamsRead')
    expect(found.line('keys', 'billingRead')).toContain('ok: billingRead')
    expect(found.line('keys', 'billingWrite')).toContain('holds Billing Write; lacks Analytics Read, Teams Read-only, Billing Read')
    expect(found.code).toBe(0)
    expectNothingWritten(one)
  })

  test('one key under several names is asked once', async () => {
    const one = await worldWithKeys({ default: 'sandbox-admin', billingWrite: 'sandbox-admin\n' })
    const found = await doctorOf(one)
    expect(found.line('keys', 'default, billingWrite')).toContain('holds Analytics Read, Teams Read-only, Billing Read, Billing Write')
    expect(written(one.service)).toHaveLength(1)
    expect(found.document.workspaces[0]?.keys).toMatchObject([
      { names: ['default', 'billingWrite'], permissions: { analyticsRead: 'held', billingWrite: 'held' } },
    ])
  })

  const rows: readonly (readonly [string, Readonly<Record<string, string>>, string, string, number, Settings])[] = [
    [
      'that should write and cannot fails',
      { ...PROPER, billingWrite: 'sandbox-billing-read' },
      'billingRead, billingWrite',
      'failed',
      1,
      {},
    ],
    ['that should read caps and cannot fails', { ...PROPER, billingRead: 'sandbox-teams-read' }, 'teamsRead, billingRead', 'failed', 1, {}],
    [
      'that need not write in audit mode is fine',
      { ...PROPER, billingWrite: 'sandbox-billing-read' },
      'billingRead, billingWrite',
      'ok',
      0,
      { mode: 'audit' },
    ],
    ['that only reads and could write is a warning', { ...PROPER, analyticsRead: 'sandbox-admin' }, 'analyticsRead', 'warning', 0, {}],
    [
      'that lacks analytics alone is a warning',
      { ...PROPER, analyticsRead: 'sandbox-teams-read' },
      'analyticsRead, teamsRead',
      'warning',
      0,
      {},
    ],
    ['that nobody knows fails', { default: 'no-such-key-at-all' }, 'default', 'failed', 1, {}],
    ['that is empty fails', { default: '\n' }, 'default', 'failed', 1, {}],
  ]
  test.each(rows)('a key %s', async (_row, keys, name, status, code, more) => {
    const one = await worldWithKeys(keys, {}, more)
    const found = await doctorOf(one)
    expect(found.line('keys', name)).toMatch(new RegExp(`^${status}: ${name}`))
    expect(found.code).toBe(code)
    expectNothingWritten(one)
  })

  test.each<readonly [string, Partial<Switches>]>([
    ['an object with an error', { errors: 'error' }],
    ['an error in a success', { errors: 'ok' }],
    ['the live names and strings', { names: 'live', int64: 'string', zeros: 'omitted' }],
    ['zero bytes and snake case', { writeBody: 'empty', capSpelling: 'snake' }],
    ['refusals for the rate', { rateLimit: { limit: 20, windowMs: 1000 }, retryAfter: 'seconds' }],
  ])('are told apart on a service that answers with %s', async (_row, switches) => {
    const one = await worldWithKeys(PROPER, switches)
    const found = await doctorOf(one)
    expect(found.checks.filter((check) => check.area === 'keys').map((check) => check.status)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expectNothingWritten(one)
  })

  test('from the environment show by the name of the variable', async () => {
    const one = await world()
    const found = await doctor(['--base-url', one.service.url, '--policies', one.path('policies'), '--ledger', one.path('l.db')], {
      CAPKEEPER_SERVICE_KEY: 'sandbox-admin',
    })
    expect(found.line('keys', 'default')).toContain('default (environment variable CAPKEEPER_SERVICE_KEY) holds')
    expect(found.code).toBe(0)
  })
})

describe('the plan', () => {
  test('without a balance is a warning', async () => {
    const found = await doctorOf(await world({ sandbox: { plan: 'team' } }))
    expect(found.line('plan', 'balance')).toContain('warning: this plan has no credit balance')
    expect(found.code).toBe(0)
  })

  test('without credits in analytics is a warning', async () => {
    const found = await doctorOf(await world({ sandbox: { plan: 'quota', days: 5 } }))
    expect(found.line('plan', 'agentCredits')).toContain('warning: agent analytics tell no credits')
  })

  test('with a group that the service does not know fails, and names the way out', async () => {
    const one = await world({ policy: 'groups: [{id: grp_x, name: No such group, cap: 5}]', sandbox: { days: 5 } })
    const found = await doctorOf(one)
    expect(found.line('plan', 'group grp_x')).toContain('failed: No such group (grp_x): UserPageAnalytics')
    expect(found.line('plan', 'agentCredits')).toBe('ok: agent analytics tell the credits used by model')
    expect(found.line('plan', 'status')).toContain('ok: team statuses are there')
    expect(found.code).toBe(1)
  })
})

describe('how the deployment works', () => {
  test('is observed at people without an explicitly set cap in a team that has one', async () => {
    const one = await world()
    one.service.setCap('team', 500)
    expect((await doctorOf(one)).line('deployment', 'reads')).toMatch(/^ok: reads: explicit, .* reads unset while the team has 500$/)
  })

  test('is not guessed where a read may show what applies', async () => {
    const one = await world({ sandbox: { capReads: 'inherited' } })
    one.service.setCap('team', 500)
    expect((await doctorOf(one)).line('deployment', 'reads')).toBeUndefined()
  })

  test('and contradicts the configuration is a warning with what to set', async () => {
    const one = await world({ settings: { capSemantics: 'layered' } })
    const store = await openLedger({ file: one.path('ledger.db'), mode: 'write', clock: realClock() })
    const ledger = await store.workspace('acme', one.service.url)
    ledger.saveFact('seen', {
      caps: { value: 'copied', at: realClock().now(), evidence: 'ada changed without a write' },
    })
    await ledger.commit()
    await store.close()
    expect((await doctorOf(one)).checks.find(({ name }) => name === 'caps')).toMatchObject({
      status: 'warning',
      hint: 'capSemantics is layered; set capSemantics: copied',
    })
  })
})

describe('the configuration', () => {
  test('that does not parse exits 65 with its places, and nothing else is asked', async () => {
    const at = place()
    const found = await doctor(['--config', at.write('config.yaml', 'apiVersion: capkeeper/v1\nkind: Config\nworkspces: []\n')])
    expect(found.checks.find(({ area }) => area === 'config')).toMatchObject({ status: 'failed', problems: [{ at: { line: 3 } }] })
    expect(found.code).toBe(65)
  })

  test('without address and key exits 65 and says what to give', async () => {
    const found = await doctor(['--ledger', place().path('l.db')])
    expect(found.checks.find(({ area }) => area === 'config')).toMatchObject({ problems: [{ code: 'NO_BASE_URL' }, { code: 'NO_KEY' }] })
    expect(found.code).toBe(65)
  })

  test('with an invalid policy exits 65, and still checks the keys', async () => {
    const one = await world({ policy: 'team: {cap: -5}' })
    const found = await doctorOf(one)
    expect(found.line('policies', 'policies')).toBe('failed: policies are not valid')
    expect(found.line('keys', 'default')).toContain('ok: default')
    expect(found.code).toBe(65)
  })

  test('with several workspaces checks all, or the one that is named', async () => {
    const one = await world()
    const text = configText([workspace('acme', one.service.url), workspace('beta', `${one.service.url}/beta`, { policies: [] })])
    const flags = ['--config', one.write('two.yaml', text)]
    const all = await doctor(flags)
    expect(new Set(all.checks.map((check) => check.workspace))).toEqual(new Set([undefined, 'acme', 'beta']))
    const beta = await doctor([...flags, '--workspace', 'beta'])
    expect(new Set(beta.checks.map((check) => check.workspace))).toEqual(new Set([undefined, 'beta']))
    expect((await doctor([...flags, '--workspace', 'gamma'])).code).toBe(64)
  })
})

describe('files', () => {
  test('that everybody may read are warnings with the command that closes them', async () => {
    const one = await world()
    const key = one.path('key')
    chmodSync(key, 0o644)
    expect((await doctorOf(one)).checks.find(({ name }) => name === 'key default')).toMatchObject({
      status: 'warning',
      hint: `chmod o-r ${key}`,
    })
    chmodSync(key, 0o400)
    expect((await doctorOf(one)).line('files', 'key default')).toMatch(/^ok: /)
  })

  test('in a folder that is not there fail', async () => {
    const one = await world()
    const found = await doctor([...one.flags, '--ledger', one.path('nowhere/l.db')])
    expect(found.line('ledger', 'folder')).toBe(`failed: there is no folder ${one.path('nowhere')} for the ledger`)
    expect(found.line('ledger', 'integrity')).toBeUndefined()
  })

  test('in an address that is none fail, without its password', async () => {
    const one = await world()
    const found = await doctor([...one.flags, '--ledger', 'postgresq://capkeeper:topsecret@127.0.0.1/ledger'])
    expect(JSON.stringify(found)).toContain('this one begins with postgresq://')
    expect(JSON.stringify(found)).not.toContain('topsecret')
  })

  test('that are no ledger fail, and stay as they are', async () => {
    const one = await world()
    writeFileSync(one.path('ledger.db'), 'this is no database, but it is long enough to look like one to a hasty reader')
    const before = statSync(one.path('ledger.db')).mtimeMs
    const found = await doctorOf(one)
    expect(found.line('ledger', 'integrity')).toMatch(/^failed: /)
    expect(statSync(one.path('ledger.db')).mtimeMs).toBe(before)
    expect(found.code).toBe(1)
  })
})

describe('beside a daemon', () => {
  test('the lock, the records and the evidence are shown, and the daemon goes on', async () => {
    const one = await world({
      policy: 'team: {cap: 500}\nusers: [{email: ada.lovelace@example.com, cap: 4000}]',
      sandbox: { capSpelling: 'snake' },
    })
    const before = await doctorOf(one)
    expect(before.line('ledger', 'integrity')).toContain('there is no ledger')
    expect(before.line('records', 'binding')).toContain('nothing is recorded of acme yet')
    const daemon = await one.daemon()
    await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'team', state: 'in_sync' })
    const found = await doctorOf(one)
    expect(found.line('ledger', 'lock')).toBe('ok: a running capkeeper holds the write lock')
    expect(found.line('records', 'binding')).toContain(`bound to ${one.service.url}`)
    expect(found.line('deployment', 'spelling')).toContain('ok: the name of the cap: snake')
    daemon.signal('SIGTERM')
    await daemon.ended
    expect((await doctorOf(one)).line('ledger', 'lock')).toBe('ok: no capkeeper writes to it now')
  })
})

test('as text, checks are listed under their area with the way out, and the last line counts them', async () => {
  const one = await world({ settings: { keys: { default: { file: 'nowhere' } } } })
  const ran = await inside(['doctor', ...one.flags], { cwd: one.folder })
  expect(ran.code).toBe(1)
  expect(ran.stdout).toMatch(/^program\n {2}ok {11}capkeeper /)
  expect(ran.stdout).toMatch(/\nacme: files\n {2}failed {7}\S+nowhere cannot be read \(ENOENT\)\n {15}→ mount or write it/)
  expect(ran.stdout).toMatch(/\n\d failed, .*\d+ ok, \d+ not checked\n$/)
})

test('wrong usage exits 64', async () => {
  expect((await inside(['doctor', '--output', 'markdown'])).code).toBe(64)
})
