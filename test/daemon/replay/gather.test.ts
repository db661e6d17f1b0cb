// What the records of people tell a replay, beside the use of the whole workspace.
import { afterAll, expect, test } from 'vitest'
import { recordedUseOf, replayStart } from '../../../src/daemon/replay/gather.ts'
import { closeAll, newLedger, partsOf, run, service } from '../../support/collecting.ts'

afterAll(closeAll)

test('a person who was renamed counts twice, which is said', async () => {
  const one = await service()
  const ledger = await newLedger(one.clock)
  await run(one, partsOf(one, ledger))
  const [ada, ...others] = one.roster.people
  if (!ada) throw new Error('nobody')
  const notesWith = async (people: typeof one.roster.people) => {
    ledger.saveFact('usage', { roster: { ...one.roster, people }, groups: [] })
    const start = replayStart(await recordedUseOf('acme', ledger), {
      policy: {} as Parameters<typeof replayStart>[1]['policy'],
      now: one.clock.now(),
    })
    return start.kind === 'inputs' ? start.inputs.notes.filter((note) => note.includes('renamed')) : start.kind
  }
  expect(await notesWith(one.roster.people)).toEqual([])
  const rows = await ledger.useOfPerson(ada.email, one.wanted)
  const days = (await ledger.histories()).find(({ email }) => email === ada.email)
  await ledger.changeHistory('ada.byron@example.com', (before) => ({
    history: { ...before, known: days?.known ?? [], isFound: true },
    told: { ...one.wanted, rows },
  }))
  expect(await notesWith([{ ...ada, email: 'ada.byron@example.com' }, ...others])).toEqual([
    expect.stringMatching(/^People together have 1\d\d % .* 1 person with use is not on the roster: who was renamed counts twice\.$/),
  ])
})
