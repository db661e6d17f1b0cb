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
