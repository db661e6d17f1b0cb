// Collecting the past of people: against every way in which a service answers, ended at any point, and by two processes at once. What the
// ledger has in the end is compared with the sandbox's own rows.
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { createReadClient } from '../../../src/api/client.ts'
import { createKeyRing } from '../../../src/api/keys.ts'
import { createPaces } from '../../../src/api/transport/paces.ts'
import { credits, DAY_MS, midnight } from '../../../src/core/model/units.ts'
import { collectHistory, type HistoryRun, historyPlan, wantedDays } from '../../../src/daemon/collect/history.ts'
import { type CollectParts, newCollector } from '../../../src/daemon/collect/kept.ts'
import { collectRunsBack } from '../../../src/daemon/collect/runs.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import type { Clock, Ledger, ReadClient, RunsQuestion } from '../../../src/ports.ts'
import { temporaryFolder } from '../../support/ledger.ts'
import { type SandboxFixtureOptions, startSandbox } from '../../support/sandbox.ts'

const URL_A = 'https://a.example/api/v1'
const DAYS = 70
const open: { close(): Promise<void> }[] = []
afterAll(() => Promise.all(open.map((one) => one.close())))

/** A clock on which every wait is over at once. */
function patientClock(): Clock {
  let elapsed = 0
  return {
    now: () => Date.UTC(2026, 10, 20, 12) + elapsed,
    monotonic: () => elapsed,
    async sleep(ms) {
      elapsed += ms
    },
  }
}

/** A service with past use, and what its rows say of each person and day. */
async function service(options: SandboxFixtureOptions = {}) {
  const clock = patientClock()
  const fixture = await startSandbox({ clock, people: 6, groups: 1, days: 100, ...options })
  open.push(fixture)
  const keys = createKeyRing({ default: { env: 'KEY' } }, { env: { KEY: 'sandbox-admin' }, clock })
  const rate = { start: 1_000, max: 1_000, concurrency: 3 }
  const client = createReadClient({ transport: fixture.transport, keys, clock, random: { next: () => 0 }, rate, paces: createPaces() })
  const roster = await client.readRoster()
  const wanted = wantedDays(clock.now(), DAYS)
  const truth = new Map<string, number>()
  for (const person of fixture.sandbox.store.people())
    for (const { at, cents } of fixture.sandbox.store.agentRuns(
      { ...wanted, untilAt: wanted.untilAt - 1, people: [person.id] },
      1_000_000,
    )) {
      const place = `${person.email} ${midnight(at)}`
      if (cents > 0) truth.set(place, (truth.get(place) ?? 0) + cents)
    }
  return { fixture, clock, client, roster, wanted, truth }
}

type Service = Awaited<ReturnType<typeof service>>

async function newLedger(clock: Clock): Promise<Ledger> {
  const store = await openLedger({ file: join(temporaryFolder(), 'capkeeper.db'), mode: 'write', clock })
  open.push(store)
  return store.workspace('acme', URL_A)
}

const partsOf = ({ client, clock }: Service, ledger: Ledger, more: Partial<ReadClient> = {}, by = 'a'): CollectParts => ({
  config: { name: 'acme' },
  client: { ...client, ...more },
  ledger,
  clock,
  collector: newCollector(by),
})

/** The team's days first, as every collector does. */
async function run(one: Service, parts: CollectParts, more: Partial<HistoryRun> = {}) {
  const state = {
    policy: { set: { groups: [] } },
    usage: { roster: one.roster, groups: [] },
    measured: undefined,
    unknownGroups: [],
  } as unknown as Parameters<typeof collectRunsBack>[1]
  await collectRunsBack(parts, state, one.wanted.fromAt)
  return collectHistory(parts, { roster: one.roster, wanted: one.wanted, concurrency: 3, ...more })
}

/** `E-MAIL DAY` to cents, as the ledger has them. */
async function kept(ledger: Ledger, { roster, wanted }: Service): Promise<ReadonlyMap<string, number>> {
  const all = new Map<string, number>()
  for (const { email } of roster.people)
    for (const { dayAt, used } of await ledger.useOfPerson(email, wanted)) all.set(`${email} ${dayAt}`, Math.round(used * 100))
  return all
}

const sorted = (days: ReadonlyMap<string, number>) => [...days].sort(([a], [b]) => (a < b ? -1 : 1))

/** Requests about single people. */
const asked = ({ fixture }: Service): readonly string[] =>
  fixture.calls.log.flatMap(({ operation, body }) => (operation === 'CascadeAnalytics' && body['emails'] ? [JSON.stringify(body)] : []))

describe('the days in the ledger are those of the service', () => {
  const ways: readonly (readonly [string, SandboxFixtureOptions])[] = [
    ['as the interface says', {}],
    ['that leaves zeros out', { zeros: 'omitted' }],
    ['that sends rows backwards', { runsOrder: 'reversed' }],
    ['that also sends the days around the range', { runsOrder: 'around' }],
    ['with the names of live deployments, and numbers as texts', { names: 'live', int64: 'string' }],
    ['that fails now and then', { faults: { '5xx': 0.05, truncated: 0.05 } }],
  ]
  test.each(ways)('of one %s', async (_name, options) => {
    const one = await service(options)
    const ledger = await newLedger(one.clock)
    const parts = partsOf(one, ledger)
    for (let attempt = 0; attempt < 10; attempt += 1) if ((await run(one, parts)).failed === 0) break
    expect(sorted(await kept(ledger, one))).toEqual(sorted(one.truth))
    expect(await historyPlan(parts, one)).toEqual([])
  })

  test('and each person is asked for once in each range of 30 days', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    await run(one, partsOf(one, ledger))
    const first = asked(one).length
    // Each person in three ranges, and one question about nobody.
    expect(first).toBe(6 * 3 + 1)
    await run(one, partsOf(one, ledger))
    expect(asked(one)).toHaveLength(first)
  })
})

describe('nothing is kept', () => {
  test('where an answer about one person tells of others', async () => {
    const one = await service({ runsFilter: 'ignored' })
    const ledger = await newLedger(one.clock)
    expect((await run(one, partsOf(one, ledger))).stopped).toEqual({ code: 'HISTORY_UNFILTERED' })
    expect(await ledger.histories()).toEqual([])
    expect((await kept(ledger, one)).size).toBe(0)
  })

  test('where people together have more than the workspace, and what was kept before is removed', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    const client = one.client
    // The filter works for people whom the service does not know, and for nobody else.
    const readRuns = async ({ email, ...question }: RunsQuestion) =>
      email?.startsWith('nobody-') ? client.readRuns({ ...question, email }) : client.readRuns(question)
    expect((await run(one, partsOf(one, ledger, { readRuns }), { concurrency: 1 })).stopped).toEqual({ code: 'HISTORY_UNFILTERED' })
    expect((await kept(ledger, one)).size).toBe(0)
    expect(await ledger.histories()).toEqual([])
    expect(ledger.fact('history')).toMatchObject({ isFiltered: false })
  })

  test('where runs carry no credits', async () => {
    const one = await service({ plan: 'quota' })
    const ledger = await newLedger(one.clock)
    expect((await run(one, partsOf(one, ledger))).stopped).toEqual({ code: 'HISTORY_WITHOUT_CREDITS' })
    expect(asked(one)).toEqual([])
  })
})

describe('a person', () => {
  test('who was active and of whom the service never tells a run is unknown', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    const [ada] = one.roster.people
    const readRuns = (question: RunsQuestion) =>
      question.email === ada?.email ? Promise.resolve({ rows: [] }) : one.client.readRuns(question)
    await run(one, partsOf(one, ledger, { readRuns }))
    const histories = await ledger.histories()
    expect(histories.filter(({ known }) => known.some(({ isSilent }) => isSilent)).map(({ email }) => email)).toEqual([ada?.email])
  })

  test('whose answer failed is asked for again, and nobody else', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    const [ada] = one.roster.people
    const { ApiError } = await import('../../../src/api/errors.ts')
    const fails = new ApiError({ operation: 'CascadeAnalytics', kind: 'server', message: 'a fault' })
    const readRuns = (question: RunsQuestion) => (question.email === ada?.email ? Promise.reject(fails) : one.client.readRuns(question))
    expect(await run(one, partsOf(one, ledger, { readRuns }))).toMatchObject({ failed: 3, why: { message: 'a fault' } })
    const plan = await historyPlan(partsOf(one, ledger), one)
    expect(plan.map(({ emails }) => emails)).toEqual([[ada?.email], [ada?.email], [ada?.email]])
  })
})

describe('ended at any point, and started again', () => {
  test('it loses nothing and counts nothing twice', async () => {
    const one = await service()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 60 }), fc.boolean(), async (step, isKept) => {
        const ledger = await newLedger(one.clock)
        let left = step
        const dying: Ledger = {
          ...ledger,
          async changeHistory(email, change) {
            if (left === 0 && !isKept) throw new Error('killed before')
            const changed = await ledger.changeHistory(email, change)
            if (left === 0) throw new Error('killed after')
            left -= 1
            return changed
          },
        }
        await run(one, partsOf(one, dying, {}, 'dead')).catch((error: unknown) => expect(String(error)).toContain('killed'))
        // A dead process still claims the people whom it was reading; its claims run out.
        await one.clock.sleep(3 * 60_000)
        await run(one, partsOf(one, ledger))
        expect(sorted(await kept(ledger, one))).toEqual(sorted(one.truth))
        expect(await historyPlan(partsOf(one, ledger), one)).toEqual([])
      }),
      { numRuns: 30 },
    )
  })

  test('two at once share the people', async () => {
    const one = await service()
    const file = join(temporaryFolder(), 'capkeeper.db')
    const stores = [await openLedger({ file, mode: 'write', clock: one.clock }), await openLedger({ file, mode: 'note', clock: one.clock })]
    open.push(...stores)
    const ledgers = await Promise.all(stores.map((store) => store.workspace('acme', URL_A)))
    await Promise.all(ledgers.map((ledger, index) => run(one, partsOf(one, ledger, {}, `process ${index}`))))
    const [first, second] = ledgers
    if (!first || !second) throw new Error('no ledgers')
    await second.load()
    expect(sorted(await kept(first, one))).toEqual(sorted(one.truth))
    expect(sorted(await kept(second, one))).toEqual(sorted(one.truth))
  })
})

describe('the comparison with the roster', () => {
  test('finds no doubt where both are right, and one where they are apart', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    await run(one, partsOf(one, ledger))
    expect((await ledger.histories()).filter(({ doubt }) => doubt)).toEqual([])
    const doubled = { ...one.roster, people: one.roster.people.map((person) => ({ ...person, used: credits((person.used ?? 0) * 2) })) }
    const other = await newLedger(one.clock)
    await run({ ...one, roster: doubled }, partsOf(one, other), { roster: doubled })
    const doubts = (await other.histories()).flatMap(({ doubt }) => doubt ?? [])
    expect(doubts.length).toBeGreaterThan(0)
    for (const { told, listed } of doubts) expect(listed).toBeCloseTo(told * 2, 0)
  })
})

test('the days that are wanted end before the present day', () => {
  const now = Date.UTC(2026, 10, 20, 12)
  expect(wantedDays(now, 2)).toEqual({ fromAt: Date.UTC(2026, 10, 18), untilAt: Date.UTC(2026, 10, 20) })
  expect(wantedDays(now, 9_999)).toEqual({ fromAt: midnight(now) - 400 * DAY_MS, untilAt: midnight(now) })
})
