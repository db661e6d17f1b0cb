// Collecting the past of people: against every way in which a service answers, ended at any point, and by two processes at once. What the
// ledger has in the end is compared with the sandbox's own rows.
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { failing } from '../../api/answers.ts'
import { testClient } from '../../api/world.ts'
import { hastyClock } from '../../support/clock.ts'
import {
  asked,
  closeAll,
  kept,
  newLedger,
  opened,
  partsOf,
  run,
  type Service,
  service,
  sorted,
  toldOfAll,
  URL_A,
} from '../../support/collecting.ts'
import { DAY, HOUR } from '../../support/declare.ts'
import type { SandboxFixtureOptions } from '../../support/sandbox.ts'
import { temporaryFolder } from '../../support/temporary.ts'

type RunsQuestion = Parameters<Service['client']['readRuns']>[0]

afterAll(closeAll)

/** The requests about single people that one more run makes. */
async function askedAgain(one: Service, ledger: Parameters<typeof kept>[0]): Promise<readonly string[]> {
  const before = asked(one).length
  await run(one, partsOf(one, ledger))
  return asked(one).slice(before)
}

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
    expect(await askedAgain(one, ledger)).toEqual([])
  })

  test('and each person is asked for once in each range of 30 days', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    await run(one, partsOf(one, ledger))
    // Each person in three ranges, and one question about nobody.
    expect(asked(one)).toHaveLength(6 * 3 + 1)
  })
})

describe('nothing is kept', () => {
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
    expect(ledger.fact('history')).toEqual({ droppedAt: one.clock.now() })
  })

  test('of somebody new, where the filter was real when it was proven and the others were read', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    const readers = one.roster.people.slice(1)
    await run({ ...one, roster: { ...one.roster, people: readers } }, partsOf(one, ledger))
    const readRuns = ({ email: _, ...question }: RunsQuestion) => one.client.readRuns(question)
    expect((await run(one, partsOf(one, ledger, { readRuns }))).stopped).toEqual({ code: 'HISTORY_UNFILTERED' })
    expect((await kept(ledger, one)).size).toBe(0)
  })

  test('but all is, where use has only arrived since the workspace was read', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    // Use of the last days arrives with each answer, of the workspace and of people alike.
    let growth = 1
    const readRuns = async (question: RunsQuestion) => {
      growth *= 1.02
      const { rows } = await one.client.readRuns(question)
      return { rows: rows.map((row) => ({ ...row, ...(row.used !== undefined && { used: credits(row.used * growth) }) })) }
    }
    expect((await run(one, partsOf(one, ledger, { readRuns }), { concurrency: 1 })).stopped).toBeUndefined()
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
    const { client: broken } = testClient(() => failing(500, 'a fault'))
    const readRuns = (question: RunsQuestion) => (question.email === ada?.email ? broken : one.client).readRuns(question)
    const why = { kind: 'server', message: expect.stringContaining('a fault') }
    expect(await run(one, partsOf(one, ledger, { readRuns }))).toMatchObject({ failed: 3, why })
    const again = (await askedAgain(one, ledger)).map((body) => JSON.parse(body).emails)
    expect(again).toEqual([[expect.stringMatching(/^nobody-/)], ...Array(3).fill([ada?.email])])
  })
})

describe('what a listing of active days tells', () => {
  test('is not believed where nobody was active on days on which the workspace used something', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    const inactive = new Map(one.roster.people.map(({ email }) => [email, 0]))
    await run(one, partsOf(one, ledger, { readActiveDays: async () => inactive }))
    expect(sorted(await kept(ledger, one))).toEqual(sorted(one.truth))
  })

  test('is not believed of a person who used something in a cycle that began since', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    const [ada = ''] = one.roster.people.map(({ email }) => email)
    const readActiveDays = async (...question: Parameters<typeof one.client.readActiveDays>) =>
      new Map([...(await one.client.readActiveDays(...question)), [ada, 0] as const])
    await run(one, partsOf(one, ledger, { readActiveDays }))
    const inCycle = ([place]: readonly [string, number]) => Number(place.split(' ')[1]) >= Date.UTC(2026, 10, 1)
    expect(sorted(await kept(ledger, one)).filter(inCycle)).toEqual(sorted(one.truth).filter(inCycle))
  })
})

test('of ranges in which the workspace’s runs carry no credits nothing is known', async () => {
  const one = await service()
  const ledger = await newLedger(one.clock)
  const since = one.wanted.untilAt - 40 * DAY
  const readRuns = async (question: RunsQuestion) => ({
    rows: (await one.client.readRuns(question)).rows.map((row) => (row.dayAt < since ? { ...row, used: undefined } : row)),
  })
  expect(await run(one, partsOf(one, ledger, { readRuns }))).toMatchObject({ withoutCredits: 6, stopped: undefined })
  for (const { known } of await ledger.histories()) expect(known.map(({ fromAt }) => fromAt)).toEqual([one.wanted.untilAt - 60 * DAY])
})

test('what readings told of days is unknown once the use that replaced it was removed', async () => {
  const one = await service()
  const ledger = await newLedger(one.clock)
  const now = one.clock.now()
  const add = (readAt: number, step: number) =>
    ledger.saveBurn({
      ...{ burned: { team: credits(step), groups: {}, highest: new Map([['ada@example.com', credits(step)]]) }, readAt },
      ...{ increases: new Map([['ada@example.com', credits(1)]]), isNewCycle: false, raised: ['ada@example.com'], used: undefined },
    })
  for (const day of [20, 10, 0]) await add(now - day * DAY, 30 - day)
  await ledger.dropHistories(now - 5 * DAY)
  expect((await toldOfAll(ledger, now)).recorded?.fromAt).toBe(Math.floor(now / DAY) * DAY - 5 * DAY)
})

test('the part of a day that belongs to the cycle before makes no doubt', async () => {
  const one = await service()
  const [{ email: ada = '', used: listed = credits(0) } = {}] = one.roster.people
  const begins = Date.UTC(2026, 10, 1)
  // On the day of the border she used as much again, before it.
  const readRuns = async (question: RunsQuestion) => {
    const { rows } = await one.client.readRuns(question)
    const more = { dayAt: begins, model: '', mode: '', messages: 1, used: listed }
    const isAsked = begins >= question.fromAt && begins < (question.untilAt ?? one.clock.now())
    return { rows: isAsked && (question.email ?? ada) === ada ? [...rows, more] : rows }
  }
  const doubtAfter = async (startAt: number, days = 0) => {
    const ledger = await newLedger(one.clock)
    const roster = { ...one.roster, cycle: { startAt, endAt: Date.UTC(2026, 11, 1) } }
    await run({ ...one, roster, wanted: shifted(one, days) }, partsOf(one, ledger, { readRuns }))
    return (await ledger.histories(ada))[0]?.doubt
  }
  expect(listed).toBeGreaterThan(20)
  expect([await doubtAfter(begins + 9 * HOUR), await doubtAfter(begins)]).toEqual([undefined, expect.objectContaining({ listed })])
  // Days whose use has not all arrived are not read yet, with a `usageLag` of days too.
  expect(await doubtAfter(begins, -2)).toEqual(await doubtAfter(begins))
})

test('add-on use is measured from its first row on, because a service may have begun to measure', async () => {
  const one = await service()
  const ledger = await newLedger(one.clock)
  const { fromAt, untilAt } = one.wanted
  const asked = {
    fromAt,
    throughAt: untilAt,
    readAt: one.clock.now(),
    wideAt: one.clock.now(),
    hasRows: true,
    emptyDays: 30,
    isWhole: true,
  }
  const row = { email: 'ada@example.com', model: '', used: credits(3), addOn: credits(1) }
  await ledger.saveAddOnUse({ fromAt, untilAt, asked, rows: [{ ...row, dayAt: fromAt + 40 * DAY }] })
  expect((await toldOfAll(ledger, one.clock.now())).measured).toEqual({ fromAt: fromAt + 40 * DAY, untilAt: untilAt + DAY })
})

describe('ended at any point, and started again', () => {
  test('it loses nothing and counts nothing twice', async () => {
    const one = await service()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 60 }), fc.boolean(), async (step, isKept) => {
        const ledger = await newLedger(one.clock)
        let left = step
        const dying: typeof ledger = {
          ...ledger,
          async changeHistory(emails, change) {
            if (left === 0 && !isKept) throw new Error('killed before')
            const changed = await ledger.changeHistory(emails, change)
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
        expect(await askedAgain(one, ledger)).toEqual([])
      }),
      { numRuns: 12 },
    )
  })

  test('one that is stopped leaves no claim, so that the next one need not wait', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    const stop = new AbortController()
    let requests = 0
    const readRuns = async (question: RunsQuestion, signal?: AbortSignal) => {
      requests += 1
      if (requests > 6) stop.abort(new Error('interrupted'))
      signal?.throwIfAborted()
      return one.client.readRuns(question, signal)
    }
    await expect(run(one, partsOf(one, ledger, { readRuns }), { signal: stop.signal })).rejects.toThrow('interrupted')
    const histories = await ledger.histories()
    expect(histories.length).toBeGreaterThan(0)
    expect(histories.filter(({ claim }) => claim)).toEqual([])
  })

  test('two at once share the people', async () => {
    const one = await service()
    const file = join(temporaryFolder(), 'capkeeper.db')
    const stores = [await openLedger({ file, mode: 'write', clock: one.clock }), await openLedger({ file, mode: 'note', clock: one.clock })]
    opened.push(...stores)
    const ledgers = await Promise.all(stores.map((store) => store.workspace('acme', URL_A)))
    await Promise.all(ledgers.map((ledger, index) => run(one, partsOf(one, ledger, {}, `process ${index}`))))
    const [first, second] = ledgers
    if (!first || !second) throw new Error('no ledgers')
    await second.load()
    expect(sorted(await kept(first, one))).toEqual(sorted(one.truth))
    expect(sorted(await kept(second, one))).toEqual(sorted(one.truth))
    // Each person and range once, and a proof of each process.
    expect(asked(one).length).toBeLessThanOrEqual(6 * 3 + 2)
  })
})

test('who is claimed by a process that ended is waited for, and nobody else is read again meanwhile', async () => {
  const clock = hastyClock()
  // The day before may still change: each new run reads it again.
  const night = { ...clock, now: () => clock.now() - 11 * HOUR }
  const one = await service({}, { clock: night })
  const ledger = await newLedger(night)
  await ledger.changeHistory(['ada.lovelace@example.com'], (before) => ({
    history: { ...before, claim: { by: 'dead', untilAt: night.now() + HOUR / 120 } },
  }))
  await run(one, partsOf(one, ledger))
  expect(sorted(await kept(ledger, one))).toEqual(sorted(one.truth))
  expect(asked(one)).toHaveLength(6 * 3 + 1)
})

/** The wanted days of a clock that is so many days ahead. */
const shifted = ({ wanted: { fromAt, untilAt } }: Service, days: number) => ({ fromAt: fromAt + days * DAY, untilAt: untilAt + days * DAY })

describe('a clock that is ahead by days', () => {
  const aheadOf = ({ clock }: Service) => ({ ...clock, now: () => clock.now() + 3 * DAY })

  test('closes no day that is not over by the service’s', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    const clock = aheadOf(one)
    const parts = partsOf({ ...one, clock }, ledger, { clockSkewMs: () => -3 * DAY, serviceNow: () => one.clock.now() })
    await run({ ...one, clock }, parts)
    expect(sorted(await kept(ledger, one))).toEqual(sorted(one.truth))
    expect(await askedAgain(one, ledger)).toEqual([])
    expect((await ledger.histories()).filter(({ doubt }) => doubt)).toEqual([])
  })

  test('has read nothing that counts, where the service told no time', async () => {
    const one = await service()
    const ledger = await newLedger(one.clock)
    const clock = aheadOf(one)
    await run(
      { ...one, clock, wanted: shifted(one, 3) },
      partsOf({ ...one, clock }, ledger, { clockSkewMs: () => undefined, serviceNow: () => undefined }),
    )
    expect((await askedAgain(one, ledger)).length).toBeGreaterThanOrEqual(6 * 3)
    expect(sorted(await kept(ledger, one))).toEqual(sorted(one.truth))
    expect(await askedAgain(one, ledger)).toEqual([])
  })
})

test('one that is behind by days takes nobody’s later use for a doubt', async () => {
  const one = await service()
  const ledger = await newLedger(one.clock)
  const clock = { ...one.clock, now: () => one.clock.now() - 5 * DAY }
  await run({ ...one, clock, wanted: shifted(one, -5) }, partsOf({ ...one, clock }, ledger, { clockSkewMs: () => 5 * DAY }))
  expect((await ledger.histories()).length).toBeGreaterThan(0)
  expect((await ledger.histories()).filter(({ doubt }) => doubt)).toEqual([])
})
