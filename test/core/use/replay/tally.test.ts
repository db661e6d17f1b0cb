// What is said of single people and caps over all cycles, and in which order.
import { expect, test } from 'vitest'
import { DAY, email } from '../../../support/declare.ts'
import { cyclesOf, START, simulated, weekdays } from '../../../support/replay.ts'

const all = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, weekdays(10)]))
const whose = (list: readonly { readonly email: string }[]): readonly string[] => list.map((one) => one.email.replace('@example.com', ''))

test('caps that were reached come first, then by their names', () => {
  const { caps } = simulated({ use: all('ada', 'bob', 'cy', 'zoe'), caps: { caps: { zoe: 10, ada: 1000, cy: 500, bob: 20 } } })
  expect(caps.map(({ scope, isReached }) => [scope, isReached])).toEqual([
    [email('bob'), true],
    [email('zoe'), true],
    [email('ada'), false],
    [email('cy'), false],
  ])
})

test('blocked people are by cycle, the last one first, then by days, then by name', () => {
  const use = Object.fromEntries(['cy', 'bob', 'ada'].map((name) => [name, weekdays(10, 56)]))
  const { blocked } = simulated({
    use,
    cycles: cyclesOf(2),
    caps: { caps: { cy: 100, bob: 50, ada: 100 } },
    against: { caps: { ada: 100 } },
  })
  expect(blocked.map((one) => [one.email.replace('@example.com', ''), (one.cycleStartAt - START) / (28 * DAY), one.policy?.days])).toEqual([
    ['bob', 1, 15],
    ['ada', 1, 10],
    ['cy', 1, 10],
    ['bob', 0, 15],
    ['ada', 0, 10],
    ['cy', 0, 10],
  ])
  expect(blocked.map((one) => [one.workingDays, one.beside?.days, one.beside !== undefined])).toEqual([
    [20, undefined, false],
    [20, 10, true],
    [20, undefined, false],
    [20, undefined, false],
    [20, 10, true],
    [20, undefined, false],
  ])
})

/** Over two cycles, so that sums are told from single ones. */
const LESS = { caps: { zoe: 50, eve: 100, dan: 101, bob: 101, ada: 105, cy: 1000 } }
const inAll = Object.fromEntries(['cy', 'zoe', 'eve', 'dan', 'bob', 'ada'].map((name) => [name, weekdays(10, 56)]))

test('gains are by days, then by credits, then by name; with equal days more use is a gain', () => {
  const { gains, losses } = simulated({ use: inAll, cycles: cyclesOf(2), caps: {}, against: LESS })
  expect([whose(gains), losses]).toEqual([['zoe', 'eve', 'bob', 'dan', 'ada'], []])
  const more = simulated({
    use: inAll,
    cycles: cyclesOf(2),
    caps: { caps: { zoe: 55, eve: 105, dan: 105, bob: 105, ada: 102 } },
    against: LESS,
  })
  expect([whose(more.gains), whose(more.losses)]).toEqual([['eve', 'zoe', 'bob', 'dan'], []])
})
