// Analytics: reads, compiles, runs and shows each query of a request, in the order of the request. Bounds the size of an answer.
import type { AnalyticsAnswer, WireAnalyticsResult, WireResponseItem } from '../../api/wire.ts'
import type { ServiceContext } from '../context.ts'
import { Refusal } from '../refusal.ts'
import { type Fields, textField, timeField } from '../request.ts'
import { peopleOf } from '../roster.ts'
import type { SqlValue, StoredKey } from '../store.ts'
import { type Column, compile, type Reach } from './compile.ts'
import { type Query, queriesOf } from './query.ts'
import { type ApiKeyOf, writeCell } from './values.ts'

/** The most characters of names and values in one answer, before JSON; a larger answer is refused with 400. Choice. */
const MAX_ANSWER_CHARACTERS = 80_000_000

/**
 * interface-spec.md, Endpoints 1. The time range of the request applies only to sources of totals, both ends included; without one all
 * rows count (choice). A key limited to one group sees only the people of that group.
 */
export function analytics(context: ServiceContext, key: StoredKey, fields: Fields): AnalyticsAnswer {
  const { store, switches, now } = context
  const groupName = textField(fields, 'group_name')
  const fromAt = timeField(fields, 'start_timestamp') ?? 0
  const untilAt = timeField(fields, 'end_timestamp') ?? now
  const queries = queriesOf(fields, switches)
  const seenUntil = now - switches.analyticsDelay
  const limited = groupName !== undefined || key.groupId !== undefined
  const people = peopleOf(store, key, groupName)
  const whose = { departed: store.meta('departed') === 1, ...(limited ? { people: people.map((one) => one.id) } : {}) }
  const apiKeys = new Map(people.map((one) => [one.id, one.apiKey]))
  let room = MAX_ANSWER_CHARACTERS
  const queryResults = queries.map((query): WireAnalyticsResult => {
    const span = query.source.totals ? { fromAt, untilAt: Math.min(untilAt, seenUntil) } : { fromAt: 0, untilAt: seenUntil }
    const { items, characters } = run(context, query, { ...whose, ...span, limit: room }, (person) => apiKeys.get(person) ?? '')
    room -= characters
    return items.length === 0 && switches.zeros === 'omitted' ? {} : { responseItems: items }
  })
  return { queryResults }
}

interface Answered {
  readonly items: readonly WireResponseItem[]
  readonly characters: number
}

/** `reach.limit` counts characters here. It also bounds the rows, because no row is shorter than one character. */
function run({ store }: ServiceContext, query: Query, reach: Reach, apiKeyOf: ApiKeyOf): Answered {
  const names = query.selections.concat().reduce((sum, one) => sum + one.alias.length, 0)
  const perItem = query.groups.reduce((sum, one) => sum + one.alias.length, names)
  const { sql, parameters, columns } = compile(query, { ...reach, limit: Math.ceil(reach.limit / perItem) + 1 })
  let characters = 0
  const items = store.select(sql, parameters).map((row): WireResponseItem => {
    const item = itemOf(row, columns, apiKeyOf)
    characters += perItem + Object.values(item).reduce((sum, value) => sum + value.length, 0)
    if (characters > reach.limit) throw new Refusal(400, TOO_LARGE)
    return { item }
  })
  return { items, characters }
}

const TOO_LARGE = `the answer would be larger than ${MAX_ANSWER_CHARACTERS} characters: select or filter for less, or ask in several requests`

/** `Object.fromEntries` makes own properties of all names: an alias may be `__proto__`. */
const itemOf = (row: readonly SqlValue[], columns: readonly Column[], apiKeyOf: ApiKeyOf): Readonly<Record<string, string>> =>
  Object.fromEntries(columns.map(({ alias, type }, index) => [alias, writeCell(type, row[index] ?? null, apiKeyOf)]))
