// The document that compares the policies in force with the caps that were in force, over past cycles. Schemas only; see parts-source.ts.
import Type from 'typebox'
import { bounded, count, day, documentOf, figure, flag, instant, list, object, optional, scopeName, text, words } from './parts-source.ts'

const banded = (description: string) =>
  object(description, {
    low: figure('If caps cut off no demand.'),
    middle: figure('If cut-off demand was the usual use on such weekdays.'),
    high: figure('If cut-off demand was the highest use on such weekdays.'),
  })

const credits = banded('Add-on credits used.')
const blockedPeople = banded('People blocked on at least one day.')
const blockedDays = banded('Working days on which people were blocked, summed over people.')

const ROW = {
  key: text('`team`, `group:ID`, `-` for people in no group, or `pool:NAME`.'),
  name: text(),
  people: count('Approved today, or with use in the cycle.'),
  workingDays: Type.Number({ minimum: 0, description: 'Days with use, summed over people.' }),
  policy: object('Under the policies in force.', { credits, blockedPeople, blockedDays }),
  beside: object('Under the caps that were in force; before the first cap on record nothing tells who was blocked.', {
    credits,
    blockedPeople: optional(blockedPeople),
    blockedDays: optional(blockedDays),
  }),
  kept: figure('Add-on credits that the policies would have saved; negative: would have spent in addition.'),
  keptMoney: optional(figure('The same in money, where a price is configured.')),
}

const row = object('All people, a group or a pool in one cycle.', ROW)

const cycle = object('One billing cycle.', {
  start: instant('Its first instant.'),
  end: instant('The first instant of the next.'),
  whole: flag('It has ended, and all of its days are recorded.'),
  total: row,
  ...bounded('groups', row, 'Those with the most blocked days first.'),
  pools: list(object('A pool.', { ...ROW, credits: figure('Its credits for a cycle.') }), 'Pools of the policies.'),
})

const stopped = object('How a cap blocked the person.', {
  from: day('The first day.'),
  days: figure('How many of their working days.'),
  cap: figure('The cap on that day.'),
})

const blocked = object('A person who would have been blocked in a cycle.', {
  person: text(),
  cycleStart: instant('The start of the cycle.'),
  workingDays: figure('In that cycle.'),
  policy: optional(stopped),
  beside: optional(stopped),
})

const both = (description: string) =>
  object(description, { policy: figure('Under the policies.'), beside: figure('Under the caps that were in force.') })

const change = object('A person for whom the policies make a difference, over all cycles.', {
  person: text(),
  credits: both('Add-on credits used.'),
  blockedDays: both('Working days on which they were blocked.'),
})

const reach = object('A cap, and how far it was used.', {
  scope: scopeName,
  cap: figure('Credits.'),
  highest: figure('The highest use of one person with this cap in one cycle.'),
})

const figures = object('The comparison.', {
  policy: object('The policies that were replayed.', { digest: text(), revision: text() }),
  addOn: words(['measured', 'estimated'], 'Where add-on use comes from.'),
  creditsPerSeat: optional(figure('Included in each seat.')),
  pricePerCredit: optional(figure('As configured.')),
  recorded: object('Days that are recorded.', { from: day('The first.'), through: day('The last.') }),
  cycles: list(cycle, 'In order.'),
  ...bounded('blocked', blocked, 'Blocked under the policies, the latest cycle and the longest first.'),
  ...bounded('gains', change, 'Blocked on fewer days, or allowed to use more; the most first.'),
  ...bounded('losses', change, 'Blocked on more days; the most first.'),
  ...bounded('unreached', reach, 'Caps that no person reached.'),
  capsReached: count('Caps that at least one person reached.'),
  notes: list(text(), 'What recorded use cannot tell.'),
})

export const COMPARISON = documentOf('Comparison', 'The policies in force beside the caps that were in force, over recorded cycles.', {
  state: words(['made', 'running', 'lacking', 'failed'], '`running`: it is being made, and `figures` are older.'),
  message: optional(text('Why there are no figures.')),
  since: optional(instant('When making it began.')),
  madeAt: optional(instant('When it was made.')),
  wholeFrom: optional(day('When the first whole cycle will be recorded, where none is yet.')),
  figures: optional(figures),
})
