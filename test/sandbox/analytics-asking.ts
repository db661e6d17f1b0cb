// A small company, and requests to it: for items, for refusals, and for the values that its rows have.
import { expect } from 'vitest'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts'
import type { Store } from '../../src/sandbox/store.ts'
import type { Switches } from '../../src/sandbox/switches.ts'
import { fakeClock } from '../support/clock.ts'
import type { Known } from './analytics-queries.ts'

export type Body = Readonly<Record<string, unknown>>

export const NOW = Date.UTC(2026, 10, 20, 12)
export const HOUR = 3_600_000
export const sandboxOf = (switches: Partial<Switches> = {}, options: Partial<SandboxOptions> = {}) =>
  createSandbox({ clock: fakeClock(NOW), company: { people: 25, groups: 4, days: 12 }, switches, ...options })

export function ask(sandbox: Sandbox, body: Body, key = 'sandbox-analytics') {
  const { status, body: text } = sandbox.handle('Analytics', { service_key: key, ...body })
  return { status, body: JSON.parse(text) }
}

export function itemsOf(sandbox: Sandbox, query: Body, more: Body = {}, key?: string): readonly Readonly<Record<string, string>>[] {
  const { status, body } = ask(sandbox, { ...more, query_requests: [query] }, key)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.queryResults[0].responseItems.map(({ item }: { item: Readonly<Record<string, string>> }) => item)
}

export function errorOf(sandbox: Sandbox, query: Body): string {
  const { status, body } = ask(sandbox, { query_requests: [query] })
  expect(status, JSON.stringify(query)).toBe(400)
  return body.error
}

/** Items as texts without an order, with sorted keys: an alias may be `__proto__`. */
export const bag = (items: readonly object[]): readonly string[] =>
  items.map((item) => JSON.stringify(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))).sort()

export function knownOf(store: Store): Known {
  const rows = (['autocomplete', 'chat', 'command'] as const).flatMap((source): readonly object[] => [...store.use(source)])
  const all = (name: string): readonly string[] => [...new Set(rows.flatMap((row) => (name in row ? [String(Object(row)[name])] : [])))]
  return {
    ...{ language: all('language'), ide: all('ide'), version: all('version'), model_id: all('model'), latest_intent_type: all('intent') },
    ...{ command_source: all('commandSource'), provider_source: all('providerSource'), model: ['MODEL_CORVID_PRO', '<nil>'] },
    api_key: store.people().map((person) => person.apiKey),
    timestamp: all('at')
      .slice(0, 400)
      .map((at) => new Date(Number(at)).toISOString().replace(/\.\d+/, '')),
  }
}

/**
 * docs/service.md, Fields of the data sources, and docs/service.md, Add-on use per person; typed from there. L: UNSPECIFIED, COUNT; N:
 * SUM, MAX, MIN, AVG; T: SUM, COUNT; U: UNSPECIFIED.
 */
export const INTERFACE: Readonly<Record<string, string>> = {
  USER_DATA:
    'api_key:L date:L date_UTC-x:L hour:L language:L ide:L version:L num_acceptances:N num_lines_accepted:N num_bytes_accepted:N ' +
    'distinct_users:L distinct_developer_days:L distinct_developer_hours:L',
  CHAT_DATA:
    'api_key:L model_id:L date:L date_UTC-x:L ide:L version:L latest_intent_type:L num_chats_received:N chat_accepted:T ' +
    'chat_inserted_at_cursor:T chat_applied:T chat_loc_used:N',
  COMMAND_DATA:
    'api_key:L date:L timestamp:L language:L ide:L version:L command_source:L provider_source:L lines_added:N lines_removed:N ' +
    'bytes_added:N bytes_removed:N selection_lines:N selection_bytes:N accepted:T',
  PCW_DATA:
    'percent_code_written:U assistant_bytes:U user_bytes:U total_bytes:U assistant_bytes_by_autocomplete:U assistant_bytes_by_command:U',
  CASCADE_DATA: 'api_key:L date:L prompts_used:N flex_credits_used:N model:L ide:L metadata:L',
}

export const fieldNames = (list: string): readonly string[] =>
  list.split(' ').map((entry) => entry.replace(/:.*/, '').replace('_UTC', ' UTC'))
