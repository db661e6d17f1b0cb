// The past of people (G28): the requests it takes and how long, a second run at once, bytes on the disk, runs that end at any of 100 points, two
// collectors at once, and how near reconstructed add-on use is to what the service measures. A number as its argument is how many people.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { credits, DAY_MS, midnight } from '../../src/core/model/units.ts'
import { sumOfDays } from '../../src/core/use/history.ts'
import { commonDays, historyPlan } from '../../src/daemon/collect/history.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import type { Ledger } from '../../src/ports.ts'
import { asked, kept, newLedger, opened, partsOf, run, type Service, service, sorted, URL_A } from '../support/collecting.ts'
import { realClock } from '../support/real-clock.ts'
import { atMost, exactly, median, percent, publish, type Row, seconds, told, took } from './bench.ts'
import { openFolder } from './world.ts'

const people = Number(process.argv[2] ?? 300)
const DAYS = 180
const RATE = 50
const POINTS = 100
const FOLDER = openFolder().path
const SMALL = { people: 6, groups: 1, days: 100 } as const

/** A company over real time: requests, the time they take at a fixed rate, and the size of the ledger. */
async function costRows(): Promise<readonly Row[]> {
  const one = await service(
    { people, groups: 8, days: DAYS + 10, clock: realClock() },
    { clock: realClock(), ratePerSecond: RATE, wantedFor: DAYS },
  )
  const file = join(FOLDER, 'cost.db')
  const store = await openLedger({ file, mode: 'write', clock: one.clock })
  const ledger = await store.workspace('acme', URL_A)
  const parts = partsOf(one, ledger)
  const planned = (await historyPlan(parts, one)).reduce((sum, { emails }) => sum + emails.length, 0)
  const before = one.fixture.calls.count()
  const tookMs = await took(() => run(one, parts, { concurrency: 8 }))
  const requests = one.fixture.calls.count() - before
  const first = asked(one).length
  await run(one, parts, { concurrency: 8 })
  const again = asked(one).length - first
  await store.close()
  const days = people * DAYS
  const bytes = statSync(file).size / days
  return [
    atMost('G28', `${people} people, ${DAYS} days: requests to people x ranges`, String(requests), requests / planned, 1.02),
    atMost('G28', `time to requests / rate, at ${RATE}/s`, seconds(tookMs), tookMs / 1000 / (requests / RATE), 1.05),
    // Soon after midnight the last day may still change (usageLag), and is read again.
    atMost('G28', 'requests about people of a second run at once, to people', String(again), again / people, 1),
    atMost('G28', 'bytes a person-day on the disk, of 60', bytes.toFixed(1), bytes / 60, 1),
  ]
}

const isTrue = async (ledger: Ledger, one: Service): Promise<boolean> =>
  JSON.stringify(sorted(await kept(ledger, one))) === JSON.stringify(sorted(one.truth))

/** Runs that end at each of 100 records, before or after it is on the disk, and are started again; and two collectors at once. */
async function lossRows(): Promise<readonly Row[]> {
  const one = await service(SMALL)
  let wrong = 0
  for (let point = 0; point < POINTS; point += 1) {
    const ledger = await newLedger(one.clock, ':memory:')
    let left = Math.floor(point / 2)
    const dying: Ledger = {
      ...ledger,
      async changeHistory(emails, change) {
        if (left === 0 && point % 2 === 0) throw new Error('killed')
        const changed = await ledger.changeHistory(emails, change)
        if (left === 0) throw new Error('killed')
        left -= 1
        return changed
      },
    }
    await run(one, partsOf(one, dying, {}, 'dead')).catch(() => undefined)
    await one.clock.sleep(3 * 60_000)
    await run(one, partsOf(one, ledger))
    if (!(await isTrue(ledger, one))) wrong += 1
  }
  const file = join(FOLDER, 'two.db')
  const stores = [await openLedger({ file, mode: 'write', clock: one.clock }), await openLedger({ file, mode: 'note', clock: one.clock })]
  const ledgers = await Promise.all(stores.map((store) => store.workspace('acme', URL_A)))
  const begun = asked(one).length
  await Promise.all(ledgers.map((ledger, index) => run(one, partsOf(one, ledger, {}, `process ${index}`))))
  const both = await Promise.all(ledgers.map((ledger) => isTrue(ledger, one)))
  const twice = asked(one).length - begun
  for (const store of stores) await store.close()
  return [
    exactly('G28', `runs ended at ${POINTS} points whose days are wrong after the next run`, wrong, 0),
    exactly('G28', 'of two collectors at once, ledgers whose days are wrong', both.filter((isRight) => !isRight).length, 0),
    told('G28', 'their requests about people, and those of one', `${twice}, ${SMALL.people * 3 + 1}`),
  ]
}

/** Reconstructed add-on use by person and cycle beside what the service measures. */
async function truthRows(): Promise<readonly Row[]> {
  const one = await service({ people: 100, groups: 4, days: 100, addOnRows: 'served' })
  const ledger = await newLedger(one.clock, ':memory:')
  await run(one, partsOf(one, ledger), { concurrency: 8 })
  const balance = await one.client.readBalance()
  const seat = balance === 'unavailable' ? credits(0) : balance.creditsPerSeat
  const errors: number[] = []
  for (const [from, until] of [
    [8, 9],
    [9, 10],
  ] as const) {
    const cycle = { fromAt: Date.UTC(2026, from, 1), untilAt: Date.UTC(2026, until, 1) }
    const measured = new Map<string, number>()
    for (let fromAt = cycle.fromAt; fromAt < cycle.untilAt; fromAt += 30 * DAY_MS) {
      const reading = await one.client.readAddOnUse({ fromAt, untilAt: Math.min(cycle.untilAt, fromAt + 30 * DAY_MS) })
      if (reading === 'unavailable') return []
      for (const { email, addOn } of reading.rows) measured.set(email, (measured.get(email) ?? 0) + addOn)
    }
    for (const { email } of one.roster.people) {
      const sum = Math.max(0, sumOfDays(await ledger.useOfPerson(email, cycle)) - seat)
      const real = measured.get(email) ?? 0
      if (midnight(one.wanted.fromAt) <= cycle.fromAt && Math.max(sum, real) > 0) errors.push(Math.abs(sum - real) / Math.max(sum, real))
    }
  }
  const known = await commonDays(ledger, one.clock.now())
  return [
    told('G28', `reconstructed add-on use, ${errors.length} people and cycles: median error`, percent(median(errors))),
    told('G28', 'the same, at most', percent(Math.max(0, ...errors))),
    told('G28', 'with the fifth source: days come from it, so the error is', known.measured ? '0' : '0 (read as the service tells it)'),
  ]
}

const rows = [...(await costRows()), ...(await lossRows()), ...(await truthRows())]
publish('The past of people', rows)
await Promise.all(opened.map((one) => one.close()))
