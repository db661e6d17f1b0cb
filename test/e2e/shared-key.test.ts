// Two workspaces with one key on two replicas: the service counts what arrives, and together they never send more than the key may.
import { describe, expect, test } from 'vitest'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { hasPostgres, postgresForFile } from '../support/postgres.ts'
import { startDaemon, until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { configText, place, policyText, service, workspace, world } from './world.ts'

const server = postgresForFile()
const clock = realClock()
/** Requests per second of the key. */
const MAX = 8
const NAMES = ['acme', 'beta'] as const

async function company() {
  const at = place()
  at.write('key', 'sandbox-admin\n')
  const one = await service({ people: 24 })
  const address = await server().create()
  const people = one.sandbox.store.people().flatMap(({ email, status }) => (status === 'APPROVED' ? [email.toLowerCase()] : []))
  for (const [index, name] of NAMES.entries()) {
    const own = people.filter((_, place) => place % 2 === index)
    at.write(`policies/${name}.yaml`, policyText(['users:', ...own.map((email) => `  - {email: ${email}, cap: 500}`)].join('\n'), name))
  }
  const settings = {
    rate: { start: MAX, max: MAX },
    guards: { maxAffected: 'off', maxRaise: 'off' },
    interval: '100ms',
    usageInterval: '1h',
  }
  const all = NAMES.map((name, index) =>
    workspace(name, one.url, { ...settings, ...(index > 0 && { mode: 'audit' }), policies: [`policies/${name}.yaml`] }),
  )
  const flags = ['--config', at.write('config.yaml', configText(all, { ledger: address }))]
  return { one, address, replica: () => startDaemon(flags, { cwd: at.folder }) }
}

const RATE = 'capkeeper_api_rate_limit_requests_per_second'
const REQUESTS = 'capkeeper_api_requests_total'

describe.skipIf(!hasPostgres)('a key that two workspaces use', () => {
  test('is never sent with faster than rate.max, also by two replicas', async () => {
    const { one, replica } = await company()
    const both = [await replica(), await replica()]
    const held = (name: string) => Promise.all(both.map((daemon) => daemon.metric('capkeeper_workspace_held', { workspace: name })))
    await until('each replica keeps one of them', async () => {
      const [acme, beta] = [await held('acme'), await held('beta')]
      return acme.includes(1) && beta.includes(1) && acme.indexOf(1) !== beta.indexOf(1)
    })
    const isSending = (name: string): Promise<boolean> =>
      Promise.all(both.map((daemon) => daemon.metric(RATE, { workspace: name }))).then((rates) => rates.some((rate) => rate !== undefined))
    await until('both send', async () => (await isSending('acme')) && (await isSending('beta')))
    const sent = (name: string): Promise<number> =>
      Promise.all(both.map((daemon) => daemon.metrics())).then((all) =>
        all.flatMap((metrics) => metrics.series(REQUESTS, { workspace: name })).reduce((sum, { value }) => sum + value, 0),
      )
    const before = await Promise.all(NAMES.map(sent))
    one.calls.clear()
    const begun = clock.monotonic()
    await until('30 requests', () => one.calls.count() >= 30)
    const [count, seconds] = [one.calls.count(), (clock.monotonic() - begun) / 1000]
    // A request that is late by a slow timer may follow the next one closely.
    expect(count).toBeLessThanOrEqual(MAX * seconds + 2 * NAMES.length)
    for (const [index, name] of NAMES.entries()) expect(await sent(name), name).toBeGreaterThan((before[index] ?? 0) + 5)
  })

  test('begins at the limit that another workspace has met, and does not record it as its own', async () => {
    const { one, address, replica } = await company()
    const store = await openLedger({ file: address, mode: 'write', clock, env: {} })
    const ledger = await store.workspace('acme', one.url)
    ledger.saveFact('pace', { default: { rate: 1.5, limited: true } })
    await ledger.commit()
    const daemon = await replica()
    await until('beta has sent', async () => (await daemon.metric(RATE, { workspace: 'beta' })) !== undefined)
    // Its part of rate.max would be more.
    expect(await daemon.metric(RATE, { workspace: 'beta' })).toBeLessThan(2)
    daemon.signal('SIGTERM')
    await daemon.ended
    expect((await store.paces(new Set(['beta']))).get('beta')?.['default']).not.toMatchObject({ rate: 1.5, limited: true })
    await store.close()
  })
})

test('a workspace that comes with a reload has a part of the rate that another one had alone', async () => {
  const rate = { start: 40, max: 40 }
  const at = await world({ policy: 'workspace: acme\nteam: {cap: 400}', sandbox: { people: 9, groups: 2, seed: 2 } })
  const acme = workspace('acme', at.service.url, { rate })
  at.write('config.yaml', configText([acme]))
  const daemon = await at.daemon()
  const rateOf = (name: string) => daemon.metric('capkeeper_api_rate_limit_requests_per_second', { workspace: name })
  await until('alone it has the whole rate', async () => (await rateOf('acme')) === 40)
  at.write('policies/beta.yaml', policyText('workspace: beta\nteam: {cap: 400}', 'beta'))
  at.write('config.yaml', configText([acme, workspace('beta', at.service.url, { mode: 'audit', rate })]))
  await until('the second has half of it', async () => (await rateOf('beta')) === 20)
  daemon.signal('SIGHUP')
  await until('and the first the other half', async () => (await rateOf('acme')) === 20)
})

test('people are shown by the same hashes in every workspace of a ledger, also by commands', async () => {
  const at = await world({ policy: 'workspace: acme\nteam: {cap: 400}', sandbox: { people: 9, groups: 4, seed: 2 } })
  at.write('policies/beta.yaml', policyText('workspace: beta\nteam: {cap: 400}', 'beta'))
  const both = [workspace('acme', at.service.url), workspace('beta', at.service.url, { mode: 'audit' })]
  at.write('config.yaml', configText(both, { people: 'hash' }))
  await at.run('run', '--once')
  const hashes = async (name: string): Promise<readonly string[]> => {
    const { stdout } = await at.run('report', '--workspace', name, '--by', 'user', '--output', 'csv')
    return (stdout.match(/\b[0-9a-f]{12}\b/g) ?? []).toSorted()
  }
  const acme = await hashes('acme')
  expect(acme.length).toBeGreaterThan(2)
  expect(await hashes('beta')).toEqual(acme)
})
