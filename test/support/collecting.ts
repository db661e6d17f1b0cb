// Collecting the past of people from the embedded service: the parts of a collector, and what the service's own rows say.
import { join } from 'node:path'
import { createReadClient } from '../../src/api/client.ts'
import { createKeyRing } from '../../src/api/keys.ts'
import { createPaces } from '../../src/api/transport/queue.ts'
import { midnight } from '../../src/core/model/units.ts'
import { collectHistory, commonDays, wantedDays } from '../../src/daemon/collect/history.ts'
import { type CollectParts, newCollector } from '../../src/daemon/collect/kept.ts'
import type { HistoryRun } from '../../src/daemon/collect/proof.ts'
import { collectRunsBack } from '../../src/daemon/collect/runs.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import type { Clock, Ledger, ReadClient } from '../../src/ports.ts'
import { hastyClock } from './clock.ts'
import { SETTINGS } from './declare.ts'
import { type SandboxFixtureOptions, startSandbox } from './sandbox.ts'
import { temporaryFolder } from './temporary.ts'

export const URL_A = 'https://a.example/api/v1'
/** Past days that are wanted by default. */
const DAYS = 70
/** Closed by whoever uses them. */
export const opened: { close(): Promise<void> }[] = []

/** Test files of one worker share the list. */
export const closeAll = () => Promise.all(opened.splice(0).map((one) => one.close()))

/** A service with past use, and what its rows say of each person and day. */
export async function service(
  options: SandboxFixtureOptions = {},
  { clock = hastyClock() as Clock, ratePerSecond = 1_000, wantedFor = DAYS } = {},
) {
  const fixture = await startSandbox({ clock, people: 6, groups: 1, days: 100, ...options })
  opened.push(fixture)
  const keys = createKeyRing({ default: { env: 'KEY' } }, { env: { KEY: 'sandbox-admin' } })
  const rate = { start: ratePerSecond, max: ratePerSecond, concurrency: 3 }
  const client = createReadClient({ transport: fixture.transport, keys, clock, random: { next: () => 0 }, rate, paces: createPaces() })
  const roster = await client.readRoster()
  const wanted = wantedDays(clock.now(), wantedFor)
  const truth = new Map<string, number>()
  for (const person of fixture.sandbox.store.people())
    for (const { at, cents } of fixture.sandbox.store.agentRuns(
      { ...wanted, untilAt: wanted.untilAt - 1, people: [person.id] },
      1_000_000,
    )) {
      const place = `${person.email} ${midnight(at)}`
      if (cents > 0) truth.set(place, (truth.get(place) ?? 0) + cents)
    }
  return { fixture, clock, client, roster, wanted, truth }
}

export type Service = Awaited<ReturnType<typeof service>>

export async function newLedger(clock: Clock, file = join(temporaryFolder(), 'capkeeper.db')): Promise<Ledger> {
  const store = await openLedger({ file, mode: 'write', clock })
  opened.push(store)
  return store.workspace('acme', URL_A)
}

export const partsOf = ({ client, clock }: Service, ledger: Ledger, more: Partial<ReadClient> = {}, by = 'a'): CollectParts => ({
  config: SETTINGS,
  client: { ...client, ...more },
  ledger,
  clock,
  collector: newCollector(by),
})

/** The team's days first, as every collector does. */
export async function run(one: Service, parts: CollectParts, more: Partial<HistoryRun> = {}) {
  const state = {
    policy: { set: { groups: [] } },
    usage: { roster: one.roster, groups: [] },
    measured: undefined,
    unknownGroups: [],
  } as unknown as Parameters<typeof collectRunsBack>[1]
  await collectRunsBack(parts, state, one.wanted.fromAt)
  return collectHistory(parts, { roster: one.roster, wanted: one.wanted, concurrency: 3, ...more })
}

/** `E-MAIL DAY` to cents, as the ledger has them. */
export async function kept(ledger: Ledger, { roster, wanted }: Service): Promise<ReadonlyMap<string, number>> {
  const all = new Map<string, number>()
  for (const { email } of roster.people)
    for (const { dayAt, used } of await ledger.useOfPerson(email, wanted)) all.set(`${email} ${dayAt}`, Math.round(used * 100))
  return all
}

/** The days of which one source tells everybody's use. */
export const toldOfAll = (ledger: Ledger, now: number) => commonDays(ledger, now)

export const sorted = (days: ReadonlyMap<string, number>) => [...days].sort(([a], [b]) => (a < b ? -1 : 1))

/** Requests about single people. */
export const asked = ({ fixture }: Service): readonly string[] =>
  fixture.calls.log.flatMap(({ operation, body }) => (operation === 'CascadeAnalytics' && body['emails'] ? [JSON.stringify(body)] : []))
