// CascadeAnalytics: lines, runs and tools of agent use, from the raw rows. Runs are shown as they were recorded: one conversation may be
// split over several, and `UNKNOWN` is kept. Never sums runs; clients do that.

import { createHash } from 'node:crypto'
import { WIRE } from '../api/wire.generated.ts'
import type { Wire } from '../api/wire.ts'
import { DAY_MS } from '../core/model/units.ts'
import { IDES } from './company/company.ts'
import { type Fields, isObject, listField, Refusal, textField, textsField, timeField } from './refusal.ts'
import { kept, peopleByEmail, peopleOf, type ServiceContext } from './roster.ts'
import type { AgentFilter, DayLines, StoredKey, ToolCount } from './store.ts'
import type { Switches } from './switches.ts'
import { formatSeconds } from './time.ts'
import type { AgentUse } from './use.ts'

const { query_requests: QUERIES } = WIRE.components.schemas.CascadeAnalyticsRequest.properties
/** The most query requests in a request. Choice. */
const MAX_QUERIES = QUERIES.maxItems
const SOURCES = QUERIES.items.oneOf.map(({ required: [name] }) => name)
type Source = (typeof SOURCES)[number]
type Result = Wire<'CascadeAnalyticsAnswer'>['queryResults'][number]

/** The most runs in an answer. Choice. */
const MAX_RUNS = 1_000_000

/** How far runs outside the range are away. */
const AROUND_MS = 3 * DAY_MS

/**
 * docs/service.md, CascadeAnalytics. Without a range all rows count; both ends are included (choice). Lines and tools are not recorded for the
 * terminal, so these are empty when `ide_types` is only `cli`, also in conversations that were continued elsewhere (choice).
 */
export function cascadeAnalytics(context: ServiceContext, key: StoredKey, fields: Fields): Wire<'CascadeAnalyticsAnswer'> {
  const { store, now, switches } = context
  const groupName = textField(fields, 'group_name')
  const emails = textsField(fields, 'emails')
  if (groupName !== undefined && emails.length > 0) throw new Refusal(400, 'group_name and emails cannot be combined')
  const around = switches.runsOrder === 'around' ? AROUND_MS : 0
  const fromAt = (timeField(fields, 'start_timestamp') ?? 0) - around
  const untilAt = Math.min((timeField(fields, 'end_timestamp') ?? now) + around, now - switches.analyticsDelay)
  const ides = idesOf(fields)
  const sources = sourcesOf(fields)
  const all = peopleOf(store, key, groupName)
  const people = (emails.length > 0 && switches.runsFilter === 'kept' ? peopleByEmail(all, emails) : all).map((person) => person.id)
  const filter = { fromAt, untilAt, people, ides: ides.length > 0 ? ides : undefined }
  let room = MAX_RUNS
  const results = sources.map((source) => {
    const result = resultOf(source, filter, context, room)
    room -= 'cascadeRuns' in result ? (result.cascadeRuns.cascadeRuns?.length ?? 0) : 0
    if (room < 0)
      throw new Refusal(400, `the answer would hold more than ${MAX_RUNS} runs: ask for a shorter range, or in several requests`)
    return result
  })
  return { queryResults: switches.runsOrder === 'doubled' ? [...results, ...results] : results }
}

/** Empty: no filter. */
function idesOf(fields: Fields): readonly string[] {
  const ides = textsField(fields, 'ide_types')
  const unknown = ides.find((ide) => !IDES.some((known) => known === ide))
  if (unknown !== undefined) throw new Refusal(400, `invalid ide_types: ${unknown.slice(0, 200)}; valid are ${IDES.join(', ')}`)
  return ides
}

/** The data source of each query request; each must be an object with exactly one of the three. */
function sourcesOf(fields: Fields): readonly Source[] {
  const requests = listField(fields, 'query_requests') ?? []
  if (requests.length === 0) throw new Refusal(400, 'query_requests is required')
  if (requests.length > MAX_QUERIES) throw new Refusal(400, `query_requests has ${requests.length} elements: at most ${MAX_QUERIES}`)
  return requests.map((request, index) => {
    const [[name, value] = [], ...more] = isObject(request) ? Object.entries(request) : []
    const source = SOURCES.find((one) => one === name)
    const place = `query_requests[${index}]`
    if (!source || more.length > 0) throw new Refusal(400, `${place}: each query request must hold exactly one of ${SOURCES.join(', ')}`)
    if (!isObject(value) || Object.keys(value).length > 0) throw new Refusal(400, `${place}.${source} must be an empty object`)
    return source
  })
}

/** Each query has a result, even an empty one. Reading one run more than allowed shows that there are too many. */
function resultOf(source: Source, filter: AgentFilter, { store, switches }: ServiceContext, room: number): Result {
  switch (source) {
    case 'cascade_lines':
      return {
        cascadeLines: {
          cascadeLines: kept(
            store.agentLines(filter).map((one) => lineOf(one, switches)),
            switches,
          ),
        },
      }
    case 'cascade_runs': {
      const recorded = store.agentRuns(filter, room + 1).map((one) => runOf(one, switches))
      return { cascadeRuns: { cascadeRuns: kept(switches.runsOrder === 'reversed' ? recorded.reverse() : recorded, switches) } }
    }
    case 'cascade_tool_usage':
      return { cascadeToolUsage: { cascadeToolUsage: kept(store.agentTools(filter).map(toolOf), switches) } }
  }
}

/** docs/service.md, Rows of the agent: all strings. */
const lineOf = ({ day, suggested, accepted }: DayLines, switches: Switches) => ({
  day: formatSeconds(day * DAY_MS),
  linesSuggested: kept(String(suggested), switches),
  linesAccepted: kept(String(accepted), switches),
})

const toolOf = ({ tool, count }: ToolCount) => ({ tool, count: String(count) })

function runOf(row: AgentUse, switches: Switches) {
  const day = Math.floor(row.at / DAY_MS)
  return {
    day: formatSeconds(day * DAY_MS),
    model: row.model,
    mode: row.mode,
    messagesSent: kept(String(row.messages), switches),
    cascadeId: conversationId(row.person, day, row.conversation),
    promptsUsed: switches.plan === 'quota' ? undefined : kept(String(row.cents), switches),
  }
}

function conversationId(person: number, day: number, conversation: number): string {
  const hex = createHash('sha256').update(`${person}/${day}/${conversation}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
