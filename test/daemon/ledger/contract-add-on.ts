// The contract of every ledger about add-on use, checked against plain maps.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AddOnRow } from '../../../src/core/model/observed.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import type { DayRange, Ledger } from '../../../src/ports.ts'
import { addOnBatch, modelAddOn } from '../../support/add-on.ts'
import { DAY } from '../../support/declare.ts'
import { realClock } from '../../support/real-clock.ts'

/** `DAY E-MAIL` to cents and cents paid from add-on credits, as a replay reads them. */
async function byDay(ledger: Ledger, range: DayRange) {
  const { people, days } = await ledger.useByDay(range, 'measured')
  return new Map(
    days.flatMap(({ dayAt, people: places, cents, addOnCents }) =>
      [...places].map((place, row) => [`${dayAt} ${people[place]}`, [cents[row], addOnCents?.[row]]] as const),
    ),
  )
}

function summed(rows: readonly AddOnRow[]) {
  const sums = new Map<string, [number, number]>()
  for (const { dayAt, email, used, addOn } of rows) {
    if (email === '') continue
    const [cents, paid] = sums.get(`${dayAt} ${email}`) ?? [0, 0]
    sums.set(`${dayAt} ${email}`, [cents + Math.round(used * 100), paid + Math.round(addOn * 100)])
  }
  return sums
}

/** `place` returns the path or the address of a ledger that does not exist yet. */
export function addOnContract(name: string, place: () => string | Promise<string>, numRuns: number): void {
  test(`after any batches of add-on use, a ledger in ${name} is equal to plain maps`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(addOnBatch, { maxLength: 8 }), fc.integer({ min: 0, max: 32 }), async (batches, day) => {
        const store = await openLedger({ file: await place(), mode: 'write', clock: realClock() })
        try {
          const ledger = await store.workspace('acme', 'http://a')
          const model = modelAddOn(() => undefined)
          for (const batch of batches) for (const one of [ledger, model]) await one.saveAddOnUse(batch)
          const days = { fromAt: day * DAY, untilAt: 60 * DAY }
          expect(await ledger.addOnUse(days)).toEqual(await model.addOnUse(days))
          expect([...(await ledger.addOnSums(days))]).toEqual([...(await model.addOnSums(days))])
          for (const who of ['ada@example.com', '__proto__@example.com', 'nobody@example.com'])
            for (const asked of [days, { fromAt: 0, untilAt: 8_640_000_000_000_000 }])
              expect(await ledger.addOnOfPerson(who, asked)).toEqual(await model.addOnOfPerson(who, asked))
          expect(ledger.fact('addOnAsked')).toEqual(batches.at(-1)?.asked)
          expect(await byDay(ledger, days)).toEqual(summed(await model.addOnUse(days)))
        } finally {
          await store.close()
        }
      }),
      { numRuns },
    )
  })
}
