// Comparisons as the daemon keeps them: real ledgers, the real thread, and what is shared between those who ask.
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import type { Compared } from '../../../src/daemon/replay/compare.ts'
import { type ComparisonOptions, type Comparisons, createComparisons } from '../../../src/daemon/replay/comparisons.ts'
import { systemClock } from '../../../src/daemon/schedule/system.ts'
import { loadPolicies } from '../../../src/policy/load/load.ts'
import type { Ledger } from '../../../src/ports.ts'
import { BUSY, COMPANY, recordedPlace } from '../../cli/recorded-place.ts'
import { fakeClock } from '../../support/clock.ts'
import { ownedCap, TEAM, temporaryFolder } from '../../support/ledger.ts'
import { type RecordedCompany, recordCompany } from '../../support/recorded.ts'

const DIGEST = 'digest'
const BOUND_MS = 20_000

/** The days are counted from the company's end; threads take real time. */
const clock = { ...systemClock, now: () => COMPANY.untilAt }

/** A comparison as soon as there is one that answers for these policies. */
async function comparedBy(comparisons: Comparisons, digest = DIGEST): Promise<Compared> {
  return vi.waitFor(
    () => {
      const { made, since } = comparisons.of('acme', digest)
      if (!made || since !== undefined) throw new Error('no comparison yet')
      return made.compared
    },
    { timeout: BOUND_MS, interval: 10 },
  )
}

async function fill(ledger: Ledger, at: { readonly policy: string }, company: RecordedCompany | undefined = COMPANY): Promise<void> {
  const revision = loadPolicies([at.policy], { now: clock.now() }).sets.get('acme')
  if (revision) ledger.saveFact('policy', revision)
  ledger.saveOwned([ownedCap(TEAM, 10_000)])
  if (company) await recordCompany(ledger, company)
  await ledger.commit()
}

/** A ledger file with the company's days and the policy in force. */
async function place(company?: RecordedCompany): Promise<string> {
  const at = await recordedPlace('empty')
  const file = join(temporaryFolder(), 'ledger.db')
  const store = await openLedger({ file, mode: 'write', clock })
  await fill(await store.workspace('acme', 'https://a.example/api/v1'), at, company)
  await store.close()
  return file
}

function keeper(options: Partial<ComparisonOptions> = {}) {
  const told: string[] = []
  const comparisons = createComparisons({
    clock,
    ledger: '',
    env: {},
    inMemory: () => undefined,
    pricePerCredit: () => 0.5,
    onMade: (workspace) => told.push(workspace),
    ...options,
  })
  return { comparisons, told }
}

test('the policies in force are compared with the caps that were in force, with the figures of simulate', async () => {
  const { comparisons, told } = keeper({ ledger: await place() })
  const compared = await comparedBy(comparisons)
  if (compared.kind !== 'made') throw new Error(compared.kind)
  const { cycles, blocked, losses, policy, unreached, capsReached } = compared.simulation
  expect(cycles.map(({ isWhole, total }) => [isWhole, total.kept, total.keptMoney])).toEqual([
    [true, expect.any(Number), expect.any(Number)],
    [true, expect.any(Number), expect.any(Number)],
    [true, expect.any(Number), expect.any(Number)],
  ])
  // As simulate says of the same records: 1,500 credits kept, 3 people blocked on 69 of 260 days.
  expect(cycles.reduce((sum, { total }) => sum + total.kept, 0)).toBe(1_500)
  expect(cycles.reduce((sum, { total }) => sum + total.policy.blockedDays.middle, 0)).toBe(69)
  expect(cycles[0]?.groups.map(({ name }) => name)).toEqual(['in no group', 'Web'])
  expect(new Set(blocked.items.map(({ email }) => email))).toContain(BUSY)
  expect([losses.items.length, losses.omitted, unreached.items.length + capsReached]).toEqual([3, 0, 2])
  expect(policy.digest).toMatch(/^[0-9a-f]{12}$/)
  expect(told).toEqual(['acme'])
})

test('one is made for all who ask, and another for other policies, with the old one standing there meanwhile', async () => {
  const { comparisons, told } = keeper({ ledger: await place() })
  expect(comparisons.of('acme', DIGEST)).toEqual(comparisons.of('acme', DIGEST))
  await comparedBy(comparisons)
  expect(comparisons.of('acme', DIGEST).since).toBeUndefined()
  expect(comparisons.of('acme', 'another')).toMatchObject({ since: clock.now(), made: { compared: { kind: 'made' } } })
  await comparedBy(comparisons, 'another')
  expect(told).toEqual(['acme', 'acme'])
})

test('a ledger that is in this process alone is compared too', async () => {
  const store = await openLedger({ file: ':memory:', mode: 'write', clock })
  const ledger = await store.workspace('acme', 'https://a.example/api/v1')
  await fill(ledger, await recordedPlace('empty'))
  const { comparisons } = keeper({ ledger: ':memory:', inMemory: () => ledger })
  expect(await comparedBy(comparisons)).toMatchObject({ kind: 'made' })
  await store.close()
})

test('without whole cycles it says from when on there will be one', async () => {
  const { comparisons } = keeper({ ledger: await place({ ...COMPANY, fromAt: Date.UTC(2026, 10, 9) }) })
  expect(await comparedBy(comparisons)).toMatchObject({ kind: 'made', wholeAt: Date.UTC(2027, 0, 1) })
})

test('without days, policies or a ledger it says what is missing, and looks again after a while', async () => {
  const now = fakeClock()
  const { comparisons } = keeper({ ledger: temporaryFolder(), clock: { ...clock, now: now.now } })
  expect(await comparedBy(comparisons)).toMatchObject({ kind: 'failed' })
  expect(comparisons.of('acme', DIGEST).since).toBeUndefined()
  await now.advance(10 * 60_000)
  expect(comparisons.of('acme', DIGEST).since).toBe(now.now())
  comparisons.close()
  const empty = { ...COMPANY, untilAt: COMPANY.fromAt }
  const { comparisons: early } = keeper({ ledger: await place(empty) })
  expect(await comparedBy(early)).toMatchObject({ kind: 'no-days', wholeAt: expect.any(Number) })
})
