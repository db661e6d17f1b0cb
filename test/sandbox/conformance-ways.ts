// Sends requests to a sandbox in the two ways that must give the same answers: in process and over loopback HTTP.
import type { Operation } from '../../src/core/model/observed.ts'

import { readFixture } from '../../src/sandbox/fixture/file.ts'
import type { SandboxFixture } from '../support/sandbox.ts'

export type Body = Readonly<Record<string, unknown>>

export interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The JSON value of the body. */
  readonly body: ReturnType<typeof JSON.parse>
}

export type Ask = (fixture: SandboxFixture, operation: Operation, body: Body, key?: string) => Promise<Told>

export const WAYS: readonly (readonly [way: string, ask: Ask])[] = [
  [
    'in process',
    async (fixture, operation, body, key = 'sandbox-admin') => {
      const answer = await fixture.transport.send(operation, { service_key: key, ...body }, { timeoutMs: 1000 })
      if (!('status' in answer)) throw new Error(answer.message)
      return { ...answer, body: JSON.parse(answer.body) }
    },
  ],
  [
    'over HTTP',
    async ({ url }, operation, body, key = 'sandbox-admin') => {
      const answer = await fetch(`${url}/api/v1/${operation}`, {
        method: 'POST',
        body: JSON.stringify({ service_key: key, ...body }),
        headers: { 'content-type': 'application/json' },
      })
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: JSON.parse(await answer.text()) }
    },
  ],
]

/** The instant of the company below, and the present of a fake clock. */
export const NOW = '2026-11-20T12:00:00Z'

const place = { language: 'GO', ide: 'editor', version: '1.5.0' }
const at = (who: string, when: string) => ({ person: `${who}@example.com`, at: when })
const agent = (who: string, when: string, more: Body = {}) => ({
  ...at(who, when),
  ...{ ide: 'editor', model: 'Meridian Large', mode: 'CONVERSATIONAL_PLANNER_MODE_DEFAULT', ...more },
})
const autocomplete = (who: string, when: string, acceptances: number) => ({ ...at(who, when), ...place, acceptances })
const command = (who: string, when: string, accepted: boolean) => ({
  ...at(who, when),
  ...{ ...place, accepted, commandSource: 'COMMAND_REQUEST_SOURCE_DEFAULT', providerSource: 'PROVIDER_SOURCE_COMMAND_EDIT' },
})

const MODES = ['DEFAULT', 'READ_ONLY', 'NO_TOOL'].map((mode) => `CONVERSATIONAL_PLANNER_MODE_${mode}`)

/** A company of one person for each thing that can be said of a person, with rows that can be counted by hand. */
export const company = () =>
  readFixture(
    'company.json',
    JSON.stringify({
      ...{ apiVersion: 'capkeeper/v1', kind: 'SandboxFixture', asOf: NOW },
      balance: { creditsPerSeat: 100, seats: 9, addOnAvailable: 5000 },
      people: [
        { email: 'ada@example.com', name: 'Ada', role: 'admin', apiKey: 'hash-of-ada', signupAt: '2025-03-01T08:00:00Z' },
        ...['PENDING', 'REJECTED', 'UNSPECIFIED'].map((status) => ({ email: `${status.toLowerCase()}@example.com`, status })),
        ...['disabled', 'autocomplete', 'command', 'chat', 'typing', 'declining', 'old'].map((who) => ({
          ...{ email: `${who}@example.com`, disabled: who === 'disabled' },
        })),
      ],
      groups: [
        { id: 'grp_one', name: 'One', members: ['ada@example.com', 'autocomplete@example.com'] },
        { id: 'grp_none', name: 'None' },
      ],
      keys: [{ secret: 'only-one', permissions: ['Analytics Read', 'Teams Read-only', 'Billing Read', 'Billing Write'], group: 'grp_one' }],
      use: {
        agent: [
          agent('ada', '2026-11-02T10:00:00Z', {
            cents: 12_000,
            messages: 4,
            linesSuggested: 30,
            linesAccepted: 20,
            tools: { FIND: 2, MEMORY: 1 },
          }),
          agent('ada', '2026-11-02T11:00:00Z', { cents: 500, messages: 1, mode: 'UNKNOWN' }),
          agent('ada', '2026-11-03T10:00:00Z', { ide: 'cli', model: 'UNKNOWN', conversation: 1 }),
          agent('ada', '2026-10-31T23:59:59.999Z', { cents: 77, conversation: 2 }),
          ...MODES.map((mode, index) =>
            agent('disabled', '2026-11-04T10:00:00Z', { mode, conversation: index, ide: 'jetbrains', cents: 1 }),
          ),
          agent('old', '2025-09-10T10:00:00Z', { cents: 900 }),
        ],
        autocomplete: [
          ...[autocomplete('ada', '2026-11-02T09:00:00Z', 5), autocomplete('ada', '2026-11-06T09:00:00Z', 0)],
          ...[autocomplete('autocomplete', '2026-11-05T23:59:59Z', 1), autocomplete('autocomplete', '2026-11-06T00:00:00Z', 1)],
          autocomplete('declining', '2026-11-05T10:00:00Z', 0),
        ],
        command: [command('ada', '2026-11-04T10:00:00Z', true), command('command', '2026-11-05T10:00:00Z', false)],
        chat: [{ ...at('chat', '2026-11-05T10:00:00Z'), model: 'M', ide: 'vscode', version: '3.1.0', intent: 'CHAT_INTENT_GENERIC' }],
        typing: [{ ...at('typing', '2026-11-05T10:00:00Z'), ...place, bytes: 100 }],
      },
    }),
    Date.parse(NOW),
  )

/** docs/service.md, Requests, as it stands there. */
export const NEEDED: Readonly<Record<Operation, string>> = {
  Analytics: 'Analytics Read',
  UserPageAnalytics: 'Teams Read-only',
  CascadeAnalytics: 'Teams Read-only',
  GetUsageConfig: 'Billing Read',
  UsageConfig: 'Billing Write',
  GetTeamCreditBalance: 'Billing Read',
}
