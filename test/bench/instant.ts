// A workspace whose service answers at once, in this process: what a cycle costs the daemon itself, from JSON to plan and ledger, without
// sockets. Time is virtual, so that months of cycles take minutes.
import { createWriteClient } from '../../src/api/client.ts'
import { createKeyRing } from '../../src/api/keys.ts'
import { createPaces } from '../../src/api/transport/queue.ts'
import type { Operation } from '../../src/core/model/observed.ts'
import { reconcile } from '../../src/daemon/cycle/run.ts'
import { recall } from '../../src/daemon/cycle/state.ts'
import { readPeopleFile } from '../../src/daemon/directory/read.ts'
import type { LedgerStore } from '../../src/daemon/ledger/store.ts'
import { sha256 } from '../../src/daemon/schedule/system.ts'
import { createWorkspace } from '../../src/daemon/workspace.ts'
import type { Clock, Transport } from '../../src/ports.ts'
import { SETTINGS } from '../support/declare.ts'
import { emailOf, groupOf, policyIn, textsOf } from './big.ts'

export interface Company {
  readonly people: number
  readonly groups: number
  /** Declared in all: the team, each group, and people. */
  readonly scopes: number
}

/** The rest of the people are in no group. */
const GROUPED = 0.8
const START = Date.UTC(2026, 10, 1)

/** Time passes only when somebody sleeps or `pass` says so; nothing stays of a sleep that is over. */
export function virtualClock(): Clock & { pass(ms: number): void } {
  let elapsed = 0
  return {
    now: () => START + Math.floor(elapsed),
    monotonic: () => elapsed,
    pass: (ms) => {
      elapsed += ms
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        setImmediate(() => {
          elapsed += Math.max(0, ms)
          resolve()
        })
      }),
  }
}

/** Answers each operation at once; `caps` is what is set. */
function instantService(company: Company, caps: Map<string, number>): Transport {
  const { people, groups } = company
  const row = (index: number) => ({
    name: `Person ${index}`,
    email: emailOf(index),
    promptCreditsUsed: (index % 900) * 100,
    teamStatus: 'USER_TEAM_STATUS_APPROVED',
    activeDays: 12,
    lastUpdateTime: '2026-11-20T10:00:00Z',
  })
  const cycle = { billingCycleStart: '2026-11-01T00:00:00Z', billingCycleEnd: '2027-12-01T00:00:00Z' }
  const everybody = Array.from({ length: people }, (_, index) => index)
  const byGroup = Map.groupBy(
    everybody.filter((index) => index < people * GROUPED),
    (index) => `Group ${groupOf(index % groups)}`,
  )
  const members = (name: unknown): readonly number[] => (name === undefined ? everybody : (byGroup.get(String(name)) ?? []))
  const scopeOf = (body: Readonly<Record<string, unknown>>): string => String(body['user_email'] ?? body['group_id'] ?? 'team')
  const answers: Readonly<Record<Operation, (body: Readonly<Record<string, unknown>>) => unknown>> = {
    GetUsageConfig: (body) => ({ addOnCreditCap: caps.get(scopeOf(body)) }),
    UsageConfig(body) {
      const cap = body['set_add_on_credit_cap']
      if (typeof cap === 'number') caps.set(scopeOf(body), cap)
      else caps.delete(scopeOf(body))
      return {}
    },
    UserPageAnalytics: (body) => ({ userTableStats: members(body['group_name']).map(row), ...cycle }),
    GetTeamCreditBalance: () => ({
      promptCreditsPerSeat: 500,
      numSeats: people,
      addOnCreditsAvailable: 1_000_000_000,
      addOnCreditsUsed: 1_000,
      ...cycle,
    }),
    Analytics: () => ({ queryResults: [] }),
    CascadeAnalytics: () => ({ queryResults: [] }),
  }
  return {
    async send(operation, body) {
      return { status: 200, headers: {}, body: JSON.stringify(answers[operation](body)) }
    },
  }
}

/** One living workspace; `cycle` runs one, `disturb` lets somebody else change a person's cap. */
export async function instantWorkspace(name: string, company: Company, store: LedgerStore, clock: Clock) {
  const caps = new Map<string, number>()
  const ledger = await store.workspace(name, 'http://127.0.0.1:1')
  const client = createWriteClient({
    transport: instantService(company, caps),
    keys: createKeyRing({ default: { env: 'KEY' } }, { env: { KEY: 'bench' } }),
    clock,
    random: { next: () => 0.5 },
    rate: { start: 1_000_000, max: 1_000_000, concurrency: 8 },
    paces: createPaces(),
  })
  const config = { ...SETTINGS, name }
  const told = new Map<string, number>()
  const emit = ({ kind }: { readonly kind: string }): void => void told.set(kind, (told.get(kind) ?? 0) + 1)
  const workspace = createWorkspace({ config, client, ledger, clock, random: { next: () => 0.5 }, digest: sha256, readPeopleFile, emit })
  const ids = Array.from({ length: company.groups }, (_, index) => groupOf(index))
  const users = Array.from({ length: company.scopes - company.groups - 1 }, (_, index) => index)
  const state = recall(policyIn({ texts: textsOf(name, ids, users) }, name), ledger)
  workspace.state = state
  return {
    caps,
    told,
    cycle: (alone: boolean) => reconcile(workspace, state, { alone }),
    disturb: (index: number) => void caps.set(emailOf(index), 77),
  }
}
