// CascadeAnalytics: agent use from the raw rows. Answers `cascade_runs`; the other two data sources are refused with 501 until they
// are built, never answered with invented figures.
import { createHash } from 'node:crypto'
import type { CascadeAnswer, CascadeSource, WireCascadeRun } from '../api/wire.ts'
import { IDES } from './company.ts'
import type { ServiceContext } from './context.ts'
import { Refusal } from './refusal.ts'
import { type Fields, fieldsOf, listField, textField, textsField, timeField } from './request.ts'
import { peopleByEmail, peopleOf } from './roster.ts'
import type { AgentUse, StoredKey } from './store.ts'
import { DAY_MS, formatSeconds } from './time.ts'

const SOURCES: readonly CascadeSource[] = ['cascade_lines', 'cascade_runs', 'cascade_tool_usage']

/** interface-spec.md, Endpoints 3. Without a range: everything there is (choice). */
export function cascadeAnalytics(context: ServiceContext, key: StoredKey, fields: Fields): CascadeAnswer {
  const { store, now, switches } = context
  const groupName = textField(fields, 'group_name')
  const emails = textsField(fields, 'emails')
  if (groupName !== undefined && emails.length > 0) throw new Refusal(400, 'group_name and emails cannot be combined')
  const fromAt = timeField(fields, 'start_timestamp') ?? 0
  const untilAt = Math.min(timeField(fields, 'end_timestamp') ?? now, now - switches.analyticsDelay)
  const ides = idesOf(fields)
  const sources = sourcesOf(fields)
  const listed = peopleOf(store, key, groupName)
  const people = new Set((emails.length > 0 ? peopleByEmail(listed, emails) : listed).map((person) => person.id))
  const rows = store.agentUse({ fromAt, untilAt }).filter((row) => people.has(row.person) && ides.has(row.ide))
  return { queryResults: sources.map(() => ({ cascadeRuns: { cascadeRuns: rows.map((row) => runOf(row, context)) } })) }
}

function idesOf(fields: Fields): ReadonlySet<string> {
  const ides = textsField(fields, 'ide_types')
  const unknown = ides.find((ide) => !IDES.some((known) => known === ide))
  if (unknown !== undefined) throw new Refusal(400, `invalid ide_types: ${unknown.slice(0, 200)}; valid are ${IDES.join(', ')}`)
  return new Set(ides.length > 0 ? ides : IDES)
}

/** The data source of each query request; refuses what is not exactly one of the three with an empty object. */
function sourcesOf(fields: Fields): readonly CascadeSource[] {
  const requests = listField(fields, 'query_requests') ?? []
  if (requests.length === 0) throw new Refusal(400, 'query_requests is required')
  const sources = requests.map((request) => {
    const given = Object.keys(fieldsOf(request))
    const source = SOURCES.find((name) => name === given[0])
    if (!source || given.length !== 1) throw new Refusal(400, `each query request must hold exactly one of ${SOURCES.join(', ')}`)
    return source
  })
  const missing = sources.find((source) => source !== 'cascade_runs')
  if (missing) throw new Refusal(501, `${missing} is not part of this sandbox yet`)
  return sources
}

/** interface-spec.md, Agent analytics result objects: all strings. */
function runOf(row: Omit<AgentUse, 'source'>, { switches }: ServiceContext): WireCascadeRun {
  const day = Math.floor(row.at / DAY_MS)
  return {
    day: formatSeconds(day * DAY_MS),
    model: row.model,
    mode: row.mode,
    messagesSent: String(row.messages),
    cascadeId: conversationId(row.person, day, row.conversation),
    ...(switches.plan === 'quota' || (row.cents === 0 && switches.zeros === 'omitted') ? {} : { promptsUsed: String(row.cents) }),
  }
}

function conversationId(person: number, day: number, conversation: number): string {
  const hex = createHash('sha256').update(`${person}/${day}/${conversation}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
