// A person by day, as the documents show it: add-on use, measured where the ledger has measured days, else estimated, and the cap in force.

import { expect, test } from 'vitest'
import { EVERYBODY } from '../../../src/daemon/http/auth.ts'
import { createLibrary, sourceOf } from '../../../src/daemon/http/documents/make.ts'
import { EMAIL_LABELS, hashLabels } from '../../../src/daemon/http/status/labels.ts'
import { sha256 } from '../../../src/daemon/schedule/system.ts'
import { worldClock } from '../../support/clock.ts'
import { DAY, HOUR } from '../../support/declare.ts'
import { HASHED_LABELS } from '../../support/documents.ts'
import { live, MINUTE } from '../../support/living.ts'
import { daily, midnight, noon, recordPast } from '../../support/use.ts'
import { testWorld, type World } from '../../support/world.ts'

async function personIn(one: World, people = EMAIL_LABELS) {
  const library = createLibrary({
    sources: () => [sourceOf(one.workspace, () => 1)],
    daemon: () => ({ version: '0.1.0', configValid: true, ledgerWritable: true }),
    people,
    hashed: HASHED_LABELS,
    clock: { ...one.clock, monotonic: () => 0 },
    requestUrl: () => 'https://git.example/new?for={email}&cap={cap}',
  })
  return library.for(EVERYBODY).person('acme', people.label('ada@example.com'))
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

test('past days are reconstructed from the service, begin anew with each cycle, and say so', async () => {
  const one = await testWorld({ people: ['ada', 'bob'], config: { historyDays: 90 } })
  recordPast(one, daily('ada', 100, noon(1, 10)))
  const life = live(one)
  life.set({ caps: { team: 5000 } })
  await one.clock.pass(2 * MINUTE)
  const { use } = await personIn(one)
  await life.stop()
  expect(use.days).toHaveLength(90)
  expect(use.days.flatMap(({ day, starts }) => (starts ? [day] : []))).toEqual(['2026-09-01', '2026-10-01', '2026-11-01'])
  expect(use.days.map(({ grade }) => grade)).toEqual([...Array(89).fill('reconstructed'), undefined])
  // Five days of a hundred are the credits of the seat.
  const addOnOn = (day: string) => use.days.find((one) => one.day === day)?.addOn
  expect(['2026-09-30', '2026-10-05', '2026-10-31', '2026-11-01', '2026-11-07'].map(addOnOn)).toEqual([0, 0, 2600, 0, 200])
})

test('the cap of a past day is the one that was in force, also a foreign one that was not reverted', async () => {
  const one = await testWorld({
    clock: worldClock(midnight(5)),
    config: { onDrift: 'alert', intervalMs: 6 * HOUR, usageIntervalMs: 6 * HOUR },
  })
  const life = live(one)
  life.set({ caps: { ada: 500 } })
  await one.clock.pass(2 * DAY + HOUR)
  one.foreign('ada', 9000)
  await one.clock.pass(2 * DAY)
  const { use, cap } = await personIn(one)
  await life.stop()
  const shown = use.days.filter(({ day }) => day >= '2026-11-06').map((one) => [one.day.slice(-2), one.cap, one.changed ?? false])
  expect(cap).toBe(9000)
  expect(shown).toEqual([
    ['06', 500, false],
    ['07', 9000, true],
    ['08', 9000, false],
    ['09', 9000, false],
  ])
})

test('the link to ask for more has the name by which the person is shown, so that a hash stays a hash', async () => {
  const one = await testWorld({ people: ['ada'] })
  const life = live(one)
  life.set({ caps: { team: 5000 } })
  await one.clock.pass(MINUTE)
  expect((await personIn(one)).requestUrl).toBe('https://git.example/new?for=ada%40example.com&cap=5000')
  const hashed = await personIn(one, hashLabels(sha256, 'salt'))
  expect(hashed.requestUrl).toBe(`https://git.example/new?for=${encodeURIComponent(hashed.person)}&cap=5000`)
  expect(hashed.requestUrl).not.toContain('ada')
  await life.stop()
})
