// The comparison of the policies in force with the caps that were in force, over past cycles, as documents show it.
import type { Instant } from '../../../../core/model/units.ts'
import type { BlockedPerson, PersonChange, Simulation } from '../../../../core/use/replay/simulation.ts'
import { type ComparedPolicies, type ComparisonState, cutToShow } from '../../../replay/comparisons.ts'
import { EMAIL_LABELS } from '../../labels.ts'
import type { Seen } from '../documents.ts'
import { type Field, from, ifKnown, type Kind, object, optional, record } from '../field.ts'
import * as t from '../parts.ts'

const banded = (description: string) =>
  record(description)({
    low: t.figure('If caps cut off no demand.'),
    middle: t.figure('If cut-off demand was the usual use on such weekdays.'),
    high: t.figure('If cut-off demand was the highest use on such weekdays.'),
  })

const credits = banded('Add-on credits used.')
const blockedPeople = banded('People blocked on at least one day.')
const blockedDays = banded('Working days on which people were blocked, summed over people.')

const ROW = {
  key: t.text('`team`, `group:ID`, `-` for people in no group, or `pool:NAME`.'),
  name: t.text(),
  people: t.count('Approved today, or with use in the cycle.'),
  workingDays: t.number({ minimum: 0, description: 'Days with use, summed over people.' }),
  policy: record('Under the policies in force.')({ credits, blockedPeople, blockedDays }),
  beside: record('Under the caps that were in force; before the first cap on record nothing tells who was blocked.')({
    credits,
    blockedPeople: optional(blockedPeople),
    blockedDays: optional(blockedDays),
  }),
  kept: t.figure('Add-on credits that the policies would have saved; negative: would have spent in addition.'),
  keptMoney: optional(t.figure('The same in money, where a price is configured.')),
}
const row = record('All people, a group or a pool in one cycle.')(ROW)

const cycle = object<ComparedPolicies['cycles'][number]>('One billing cycle.')({
  ...t.cycle.fields,
  total: row,
  groups: t.list(row, 'Those with the most blocked days first.'),
  pools: t.list(record('A pool.')({ ...ROW, credits: t.figure('Its credits for a cycle.') }), 'Pools of the policies.'),
  groupsOmitted: t.omitted,
})

const stopped = object<NonNullable<BlockedPerson['policy']>>('How a cap blocked the person.')({
  from: from(t.day('The first day.'), ({ fromAt }) => fromAt),
  days: t.figure('How many of their working days.'),
  cap: t.figure('The cap on that day.'),
})

const blocked = object<BlockedPerson>('A person who would have been blocked in a cycle.')({
  person: from(t.person(), ({ email }) => email),
  cycleStart: from(t.instant('The start of the cycle.'), ({ cycleStartAt }) => cycleStartAt),
  workingDays: t.figure('In that cycle.'),
  policy: optional(stopped),
  beside: optional(stopped),
})

const both = (description: string) =>
  record(description)({ policy: t.figure('Under the policies.'), beside: t.figure('Under the caps that were in force.') })

const difference = object<PersonChange>('A person for whom the policies make a difference, over all cycles.')({
  person: from(t.person(), ({ email }) => email),
  credits: both('Add-on credits used.'),
  blockedDays: both('Working days on which they were blocked.'),
})

const unreached = record('A cap, and how far it was used.')({
  scope: t.scopeName,
  cap: t.figure('Credits.'),
  highest: t.figure('The highest use of one person with this cap in one cycle.'),
})

/** A list that is bounded already. */
const cut = <const Name extends string, In, Out>(name: Name, items: Kind<In, Out>, description: string) => {
  type Source = { readonly [N in Name]: { readonly items: readonly In[]; readonly omitted: number } }
  return {
    [name]: from(t.list(items, description), (source: Source) => source[name].items),
    [`${name}Omitted`]: from(t.omitted, (source: Source) => source[name].omitted),
  } as { readonly [N in Name]: Field<Source, readonly Out[]> } & { readonly [N in `${Name}Omitted`]: Field<Source, number> }
}

const figures = object<ComparedPolicies>('The comparison.')({
  policy: record('The policies that were replayed.')({ digest: t.plain() }),
  addOn: t.words(['measured', 'estimated'], 'Where add-on use comes from.'),
  pricePerCredit: optional(t.figure('As configured.')),
  cycles: t.list(cycle, 'In order.'),
  ...cut('blocked', blocked, 'Blocked under the policies, the latest cycle and the longest first.'),
  ...cut('gains', difference, 'Blocked on fewer days, or allowed to use more; the most first.'),
  ...cut('losses', difference, 'Blocked on more days; the most first.'),
  ...cut('unreached', unreached, 'Caps that no person reached.'),
  capsReached: t.count('Caps that at least one person reached.'),
  notes: t.list(t.text(), 'What recorded use cannot tell.'),
})

/** The figures of a simulation in which people show as they are. */
export const comparisonFigures = (simulation: Simulation, now: Instant) =>
  figures.show(cutToShow(simulation), { people: EMAIL_LABELS, now })

type ComparisonKnown = Pick<Seen, 'view'> & ReturnType<typeof progressOf> & Pick<ComparisonState, 'made' | 'since'>

export const COMPARISON = object<ComparisonKnown>('The policies in force beside the caps that were in force, over recorded cycles.')({
  ...t.about('Comparison'),
  state: t.words(['made', 'running', 'lacking', 'failed'], '`running`: it is being made, and `figures` are older.'),
  message: optional(t.text('Why there are no figures.')),
  since: optional(t.instant('When making it began.')),
  madeAt: ifKnown(t.instant('When it was made.'), ({ made }) => made?.at),
  figures: ifKnown(figures, ({ made }) => (made?.compared.kind === 'made' ? made.compared.simulation : undefined)),
})

/** `state` is undefined where comparisons are not made, and until a policy was read. */
export const comparisonDocument = (seen: Seen, state: ComparisonState | undefined) =>
  COMPARISON.show({ view: seen.view, ...state, ...progressOf(state) }, seen)

const TOO_LITTLE = {
  'no-policy': 'no policies have been read yet',
  'no-days': 'no day of anybody’s use is recorded yet; days are recorded while the daemon runs',
  'no-cycle': 'the service names no billing cycle',
} as const

function progressOf(known: ComparisonState | undefined): {
  readonly state: 'made' | 'running' | 'lacking' | 'failed'
  readonly message?: string
} {
  if (!known) return { state: 'lacking', message: TOO_LITTLE['no-policy'] }
  const compared = known.made?.compared
  if (known.since !== undefined || !compared) return { state: 'running' }
  switch (compared.kind) {
    case 'made':
      return { state: 'made' }
    case 'failed':
      return { state: 'failed', message: compared.message }
    case 'too-little':
      return { state: 'lacking', message: `${compared.message}; capkeeper collect reads more of the past` }
    default:
      return { state: 'lacking', message: TOO_LITTLE[compared.kind] }
  }
}
