// Days of people in the ledger: two processes that save them, people who were forgotten, and their size on the disk.
import { createHmac } from 'node:crypto'
import { statSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { DAY, email } from '../../support/declare.ts'
import { newFile, open } from '../../support/ledger.ts'

const URL_A = 'https://a.example/api/v1'

const ALL = { fromAt: 0, untilAt: 500 * DAY }

type Ledger = Awaited<ReturnType<Awaited<ReturnType<typeof open>>['workspace']>>

/** Saves the same use on each day of a range. */
const tell = (ledger: Ledger, names: string | readonly string[], from: number, until: number, used: number): Promise<boolean> => {
  const range = { fromAt: from * DAY, untilAt: until * DAY }
  const rows = Array.from({ length: until - from }, (_, day) => ({ dayAt: (from + day) * DAY, used: credits(used) }))
  return ledger.changeHistory([names].flat().map(email), (before) => ({
    history: { ...before, known: [...before.known, { ...range, readAt: 900 * DAY }] },
    told: { ...range, rows },
  }))
}

test('two processes that save the days of people lose none and count none twice, in any order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ byNote: fc.boolean(), name: fc.constantFrom('ada', 'bob'), day: fc.nat(5) }), { maxLength: 12 }),
      async (steps) => {
        const file = newFile()
        const [keeper, note] = [await open(file, 'write'), await open(file, 'note')]
        const ledgers = { keeper: await keeper.workspace('acme', URL_A), note: await note.workspace('acme', URL_A) }
        await Promise.all(steps.map(({ byNote, name, day }) => tell(byNote ? ledgers.note : ledgers.keeper, name, day, day + 1, 3)))
        for (const name of ['ada', 'bob']) {
          const days = new Set(steps.filter((step) => step.name === name).map(({ day }) => day))
          expect((await ledgers.keeper.useOfPerson(email(name), ALL)).length).toBe(days.size)
          const kept = (await ledgers.note.histories()).find((one) => one.email === email(name))
          expect(kept?.known.length ?? 0).toBe(steps.filter((step) => step.name === name).length)
        }
        await keeper.close()
        await note.close()
      },
    ),
    { numRuns: 20 },
  )
})

test('a person who is forgotten leaves no day and no range, but a keyed hash', async () => {
  const store = await open(newFile(), 'write')
  const ledger = await store.workspace('acme', URL_A)
  await tell(ledger, ['ada', 'bob'], 0, 20, 5)
  await ledger.forget(email('ada'))
  expect((await ledger.histories()).map((one) => one.email)).toEqual([email('bob')])
  expect(await ledger.useOfPerson(email('ada'), ALL)).toEqual([])
  const salt = ledger.fact('peopleSalt') ?? ''
  expect(salt).toMatch(/^[0-9a-f]{32}$/)
  expect(ledger.fact('forgottenHashes')).toEqual([createHmac('sha256', salt).update(email('ada')).digest('hex')])
  await ledger.forget(email('ada'))
  expect(ledger.fact('forgottenHashes')).toHaveLength(1)
})

test('on the disk, a day of a person takes at most 60 bytes', async () => {
  const file = newFile()
  const store = await open(file, 'write')
  const ledger = await store.workspace('acme', URL_A)
  const [people, days] = [100, 360]
  for (let person = 0; person < people; person += 1)
    for (let from = 0; from < days; from += 30) await tell(ledger, `person${person}.of.some.length`, from, from + 30, 123.45)
  await store.close()
  expect(statSync(file).size / (people * days)).toBeLessThan(60)
})
