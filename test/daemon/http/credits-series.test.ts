// What a day burned, where use was read on some days only.
import { expect, test } from 'vitest'
import { credits, DAY_MS } from '../../../src/core/model/units.ts'
import { EVERYBODY } from '../../../src/daemon/http/auth.ts'
import { fakeClock } from '../../support/clock.ts'
import { libraryOf } from '../../support/documents.ts'
import { emptyView, rosterOf } from '../../support/views.ts'

const START = Date.parse('2026-11-01T00:00:00Z')

test.each([
  ['every day was read', [1, 2, 3, 4, 5], [1000, 1000, 1000, 1000, 1000]],
  ['two days were not read', [1, 2, 5], [1000, 1000, undefined, undefined, undefined]],
  ['the daemon came on the fifth day', [5], [undefined, undefined, undefined, undefined, undefined]],
])('a day has what it burned only after a day that was read: %s', async (_case, known, burned) => {
  const now = START + 4 * DAY_MS + DAY_MS / 2
  const days = known.map((day) => ({
    ...{ dayAt: START + (day - 1) * DAY_MS, found: 0, reverted: 0, written: 0, failed: 0 },
    used: credits(day * 1000),
  }))
  const view = { ...emptyView(), roster: { ...rosterOf(1, { cycle: { startAt: START, endAt: START + 30 * DAY_MS } }), readAt: now } }
  const people = view.roster.people.map((one) => ({ ...one, used: credits(5000) }))
  const library = libraryOf({
    views: () => [{ ...view, roster: { ...view.roster, people } }],
    clock: fakeClock(now),
    facts: () => ({ journal: { entries: [], days, isOut: false } }),
  })
  const series = await library.for(EVERYBODY).creditsSeries(view.workspace)
  expect(series.days.slice(0, 5).map((day) => day.burned)).toEqual(burned)
})
