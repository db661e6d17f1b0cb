// Comparisons with real ledgers and the real thread, and how requests share them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { compare, compareStart, createComparisons } from '../../../src/daemon/replay/comparisons.ts'
import { systemClock } from '../../../src/daemon/schedule/system.ts'
import { loadPolicies } from '../../../src/policy/load/load.ts'
import { BUSY, COMPANY, recordedPlace } from '../../cli/recorded-place.ts'
import { fakeClock } from '../../support/clock.ts'
import { ownedCap, TEAM } from '../../support/ledger.ts'
import { hasPostgres, postgresForFile } from '../../support/postgres.ts'
import { type RecordedCompany, recordCompany } from '../../support/recorded.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const DIGEST = 'digest'
const BOUND_MS = 90_000

/** The date is the end of the company's days; threads take real time. */
const clock = { ...systemClock, now: () => COMPANY.untilAt }

/** Waits for the comparison of these policies. */
async function comparedBy(comparisons: ReturnType<typeof createComparisons>, digest = DIGEST) {
  return vi.waitFor(
    () => {
      const { made, since } = comparisons.of('acme', digest)
      if (!made || since !== undefined) throw new Error('no comparison yet')
      return made.compared
    },
    { timeout: BOUND_MS, interval: 10 },
  )
}

async function fill(
  ledger: Parameters<typeof recordCompany>[0],
  at: { readonly policy: string },
  company = COMPANY,
): Promise<Promise<void>> {
  const revision = (await loadPolicies([at.policy], { now: clock.now() })).sets.get('acme')
  if (revision) ledger.saveFact('policy', revision)
  ledger.saveOwned([ownedCap(TEAM, 10_000)])
  await recordCompany(ledger, company)
  await ledger.commit()
}

/** Fills a ledger with the company's days and the policy in force; the daemon has it open all the time. */
async function filled(file: string) {
  const place = await recordedPlace('empty')
  const store = await openLedger({ file, mode: 'write', clock })
  await fill(await store.workspace('acme', 'https://a.example/api/v1'), place)
  return store
}

const at = (ledger: string): Pick<Parameters<typeof createComparisons>[0], 'ledger'> => ({ ledger: () => ({ file: ledger }) })

/** A ledger file with the company's days and the policy in force. */
async function place(): Promise<string> {
  const file = join(temporaryFolder(), 'ledger.db')
  const store = await filled(file)
  await store.close()
  return file
}

function keeper(options: Partial<Parameters<typeof createComparisons>[0]> = {}) {
  const told: string[] = []
  const comparisons = createComparisons({
    clock,
    ledger: () => ({ file: '' }),
    env: {},
    prices: () => ({ pricePerCredit: 0.5 }),
    onMade: (workspace) => told.push(workspace),
    ...options,
  })
  return { comparisons, told }
}

test('the policies in force are compared once for all requests, with the figures of simulate, and again when they change', async () => {
  const { comparisons, told } = keeper(at(await place()))
  expect(comparisons.of('acme', DIGEST)).toEqual(comparisons.of('acme', DIGEST))
  const compared = await comparedBy(comparisons)
  if (compared.kind !== 'made') throw new Error(compared.kind)
  const { cycles, blocked, losses, policy, unreached, capsReached } = compared.simulation
  expect(cycles.map(({ total }) => [total.kept, total.keptMoney])).toEqual([
    [expect.any(Number), expect.any(Number)],
    [expect.any(Number), expect.any(Number)],
    [expect.any(Number), expect.any(Number)],
  ])
  // As simulate says of the same records: 1,500 credits kept, 3 people blocked on 69 of 260 days.
  expect(cycles.reduce((sum, { total }) => sum + total.kept, 0)).toBe(1_500)
  expect(cycles.reduce((sum, { total }) => sum + total.policy.blockedDays.middle, 0)).toBe(69)
  expect(cycles[0]?.groups.map(({ name }) => name)).toEqual(['in no group', 'Web'])
  expect(new Set(blocked.items.map(({ email }) => email))).toContain(BUSY)
  expect([losses.items.length, losses.omitted, unreached.items.length + capsReached]).toEqual([3, 0, 2])
  expect(policy.digest).toMatch(/^[0-9a-f]{12}$/)
  expect(told).toEqual(['acme'])
  expect(comparisons.of('acme', DIGEST).since).toBeUndefined()
  // The old one is shown until the next is made.
  expect(comparisons.of('acme', 'another')).toMatchObject({ since: clock.now(), made: { compared: { kind: 'made' } } })
  await comparedBy(comparisons, 'another')
  expect(told).toEqual(['acme', 'acme'])
})

test('a ledger in memory is compared by a copy, which is removed afterwards', async () => {
  const store = await openLedger({ file: ':memory:', mode: 'write', clock })
  const ledger = await store.workspace('acme', 'https://a.example/api/v1')
  await fill(ledger, await recordedPlace('empty'))
  const { share } = store
  if (!share) throw new Error('it cannot be shared')
  let name = ''
  const { comparisons } = keeper({
    ledger: async () => {
      const copy = await share()
      name = copy.file
      return copy
    },
  })
  expect(await comparedBy(comparisons)).toMatchObject({ kind: 'made' })
  await store.close()

  const left = await openLedger({ file: name, mode: 'read', clock })
  await expect(left.workspaces()).rejects.toThrow('no such table')
  await left.close()
})

test.each<readonly [string, RecordedCompany, object]>([
  [
    'no whole cycle',
    { ...COMPANY, fromAt: Date.UTC(2026, 10, 9) },
    {
      kind: 'too-little',
      message: expect.stringMatching(/is known for 0 % of the people.*; the first that can be read as a whole ends on 20\d\d-\d\d-01$/),
    },
  ],
  ['no days', { ...COMPANY, untilAt: COMPANY.fromAt }, { kind: 'no-days' }],
])('with %s a comparison says what is missing', async (_name, company, expected) => {
  const store = await openLedger({ file: ':memory:', mode: 'write', clock })
  const ledger = await store.workspace('acme', 'https://a.example/api/v1')
  await fill(ledger, await recordedPlace('empty'), company)
  const options = { workspace: 'acme', now: clock.now() }
  expect(compare(await compareStart(ledger, options), options)).toMatchObject(expected)
  await store.close()
})

test('of very many people fewer days are replayed, which is said', async () => {
  const store = await openLedger({ file: ':memory:', mode: 'write', clock })
  const ledger = await store.workspace('acme', 'https://a.example/api/v1')
  await fill(ledger, await recordedPlace('empty'))
  const options = { workspace: 'acme', now: clock.now() }
  const all = await compareStart(ledger, options)
  const { roster, ...usage } = all.use.usage ?? expect.unreachable()
  ledger.saveFact('usage', { ...usage, roster: { ...roster, people: roster.people.flatMap((one) => Array(60_000).fill(one)) } })
  const some = await compareStart(ledger, options)
  // These people work on weekdays.
  expect([all.onlyDays, some.onlyDays, some.use.recorded.days.length]).toEqual([undefined, 62, 44])
  expect(compare({ ...all, onlyDays: 62 }, options)).toMatchObject({
    simulation: {
      notes: expect.arrayContaining([expect.stringContaining('only the last 62 are replayed; `capkeeper simulate` replays all')]),
    },
  })
  await store.close()
})

test('without a ledger a comparison fails, and is made again after a while', async () => {
  const now = fakeClock()
  const { comparisons } = keeper({ ...at(temporaryFolder()), clock: { ...clock, now: now.now } })
  expect(await comparedBy(comparisons)).toMatchObject({ kind: 'failed' })
  expect(comparisons.of('acme', DIGEST).since).toBeUndefined()
  await now.advance(10 * 60_000)
  expect(comparisons.of('acme', DIGEST).since).toBe(now.now())
  comparisons.close()
})

describe.skipIf(!hasPostgres)('in PostgreSQL', () => {
  const postgres = postgresForFile()
  const PASSWORD = 'a pass:word'

  /** Another role, for which the server requires a password. */
  async function withPassword() {
    const server = postgres()
    const address = await server.create()
    const database = new URL(address).pathname.slice(1)
    const store = await filled(address)
    for (const statement of [
      `CREATE ROLE looking LOGIN PASSWORD '${PASSWORD}'`,
      'GRANT USAGE ON SCHEMA capkeeper TO looking',
      'GRANT SELECT ON ALL TABLES IN SCHEMA capkeeper TO looking',
    ])
      await server.sql(database, statement)
    await server.rules('host all looking 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n')
    return { address: address.replace('postgres@', 'looking@'), store }
  }

  test('the ledger is read while the daemon has it open, with the password that the driver finds (needs PostgreSQL)', async () => {
    const { address, store } = await withPassword()
    const file = join(temporaryFolder(), 'passwords')
    writeFileSync(file, `*:*:*:looking:${PASSWORD.replace(':', '\\:')}\n`, { mode: 0o600 })
    const ways: readonly (readonly [env: Readonly<Record<string, string>>, kind: Awaited<ReturnType<typeof compare>>['kind']])[] = [
      [{ PGPASSWORD: PASSWORD }, 'made'],
      [{ PGPASSFILE: file }, 'made'],
      [{ HOME: temporaryFolder() }, 'failed'],
    ]
    for (const [env, kind] of ways) {
      const compared = await comparedBy(keeper({ ...at(address), env }).comparisons)
      expect([Object.keys(env), compared]).toEqual([Object.keys(env), expect.objectContaining({ kind })])
      expect(JSON.stringify(compared)).not.toContain(PASSWORD)
    }
    await store.close()
  })
})
