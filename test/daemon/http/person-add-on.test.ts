// Add-on use of a person by day, as the documents show it: measured where the ledger has measured days, else estimated.
import { expect, test } from 'vitest'
import { createLibrary } from '../../../src/daemon/http/documents/make.ts'
import { sourceOf } from '../../../src/daemon/http/documents/source.ts'
import { EMAIL_LABELS } from '../../../src/daemon/http/status/labels.ts'
import { live, MINUTE } from '../../support/living.ts'
import { daily, noon, recordPast } from '../../support/use.ts'
import { testWorld, type World } from '../../support/world.ts'

async function personIn(one: World) {
  const library = createLibrary({
    sources: () => [sourceOf(one.workspace, () => 1)],
    daemon: () => ({ version: '0.1.0', configValid: true, ledgerWritable: true }),
    people: EMAIL_LABELS,
    clock: { ...one.clock, monotonic: () => 0 },
  })
  return library.for(() => true).person('acme', 'ada@example.com')
}

test.each([
  ['served', 'measured'],
  ['refused', 'estimated'],
] as const)('where add-on rows are %s, the days of a person are %s', async (addOnRows, source) => {
  const one = await testWorld({ people: ['ada', 'bob'], switches: { addOnRows } })
  recordPast(one, daily('ada', 100, noon(2)))
  const life = live(one)
  life.set({ caps: { team: 5000 } })
  await one.clock.pass(MINUTE)
  const { addOn, addOnSource, use } = await personIn(one)
  expect({ now: addOnSource, days: use.addOnSource }).toEqual({ now: source, days: source })
  if (source === 'measured') {
    // The credits of the seat go first: five days of a hundred.
    const figures = use.days.filter(({ day }) => day >= '2026-11-05').map((day) => day.addOn)
    expect(figures.slice(0, 4)).toEqual([0, 0, 100, 200])
    expect(use.days.at(-1)?.addOn).toBe(addOn)
  }
  await life.stop()
})
