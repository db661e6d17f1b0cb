// The embedded service: data, seeded company, time, caps, growth of use, faults and another client behind one object. The CLI, the tests and
// `capkeeper run --sandbox` create it here.

import type { Operation } from '../core/model/observed.ts'
import { BugError } from '../core/model/problem.ts'
import { groupScope, normaliseEmail, type Scope, type ScopeKey, scopeKey, userScope } from '../core/model/scope.ts'
import { DAY_MS, type Instant } from '../core/model/units.ts'
import type { Clock } from '../ports.ts'
import { type CapBook, openCaps } from './caps.ts'
import { between, type CompanyOptions, type Draw, MODELS, seedCompany, stream } from './company/company.ts'
import { createGrowth } from './company/work.ts'
import { type Fixture, loadFixture } from './fixture/fixture.ts'
import type { Encoded } from './refusal.ts'
import { type Exchange, exchange, type SandboxCall, serve } from './service.ts'
import { openStore, PERMISSIONS, type Store, type StoredKey } from './store.ts'
import { createChance, createRateLimiter, DEFAULT_SETTINGS, DEFAULT_SWITCHES, type Switches } from './switches.ts'
import { sandboxTime } from './time.ts'
import type { AgentUse } from './use.ts'

/** The keys that the sandbox prints and accepts; they guard nothing but invented data. docs/sandbox.md. */
export const SANDBOX_KEYS: readonly StoredKey[] = [
  { secret: 'sandbox-admin', permissions: PERMISSIONS },
  { secret: 'sandbox-analytics', permissions: ['Analytics Read'] },
  { secret: 'sandbox-teams-read', permissions: ['Teams Read-only'] },
  { secret: 'sandbox-billing-read', permissions: ['Billing Read'] },
  { secret: 'sandbox-billing-write', permissions: ['Billing Write'] },
]

export interface SandboxOptions {
  readonly clock: Clock
  /** Defaults: 200 people, 8 groups, 90 days, seed 1. */
  readonly company?: Partial<CompanyOptions>
  readonly switches?: Partial<Switches>
  /** How many times as fast as `clock` the sandbox's time runs; default 1. */
  readonly speed?: number
  /** The time of a new company starts this long before the present, and never runs ahead of it; without it, it starts now and may. */
  readonly behindMs?: number
  /** A file, or `:memory:` (default). The company in a file is continued with its seed. */
  readonly data?: string
  /** Replaces the seeded company; only for empty data. The sandbox's time starts at its `asOf`. */
  readonly fixture?: Fixture
  /** `false`: use does not grow after the start; default true. */
  readonly working?: boolean
  readonly onCall?: (call: SandboxCall) => void
}

export type Sandbox = ReturnType<typeof createSandbox>

/** Opens the sandbox; throws an `InputError` when its data file cannot be used, or already holds a company beside a fixture. */
export function createSandbox(options: SandboxOptions) {
  const { clock } = options
  const company = { ...DEFAULT_SETTINGS, ...options.company }
  const switches = { ...DEFAULT_SWITCHES, ...options.switches }
  // Closed when filling it fails, because no caller gets it then.
  using opened = new DisposableStack()
  const store = opened.adopt(openStore(options.data ?? ':memory:'), (one) => one.close())
  const startAt = openCompany(store, options, company)
  // Without a seed in the fixture, use does not grow.
  const kept = store.meta('seed')
  const seed = kept ?? company.seed
  const caps = openCaps(store, switches)
  const past = createGrowth({ store, seed, capOf: caps.inForce, working: kept !== undefined })
  past.growTo(startAt)
  const growth = options.working === false ? createGrowth({ store, seed, capOf: caps.inForce, working: false }) : past
  const time = sandboxTime(clock, options.speed ?? 1, startAt, options.behindMs)
  const now = (): Instant => {
    const at = time()
    growth.growTo(at)
    return at
  }
  const waitMs = createRateLimiter(switches.rateLimit, () => clock.monotonic())
  const parts = { store, caps, switches, clock, chance: createChance(seed, switches), waitMs, now, onCall: options.onCall }
  const foreignEdit = createForeignEdit(store, caps, seed)
  const stopping = new AbortController()
  const held = opened.move()
  return {
    /** People, groups, caps, keys and rows; call `reload` after changing them. */
    store,
    switches,
    clock,
    /** The sandbox's own time; reading it lets use grow. */
    now,
    /** One request judged only by key, fields and data, without faults, rates or delays. */
    handle: (operation: Operation, body: unknown): Encoded => serve({ ...parts, waitMs: () => 0 }, operation, body, new Set()),
    /** One request from its text to its answer, under all switches. */
    exchange: (operation: Operation, text: string): Exchange => exchange(parts, operation, text),
    /** Records agent use of a person now, as a fact; `cents` (100 = 1 credit). */
    recordUse: (email: string, cents: number): void => growth.record(useNow(store, email, now(), cents)),
    /** Writes a cap without a request, as another client; `undefined` clears. */
    writeCap: caps.write,
    reload(): void {
      caps.reload()
      growth.reload()
    },
    /** Another client makes one edit now. */
    foreignEdit,
    /** Starts another client, which edits caps at intervals until `stop` or `close`. */
    foreignWriter(writer: ForeignWriterOptions): { readonly stop: () => void } {
      const stop = new AbortController()
      void keepEditing(foreignEdit, clock, writer, AbortSignal.any([stop.signal, stopping.signal]))
      return { stop: () => stop.abort() }
    },
    close(): void {
      stopping.abort()
      held.dispose()
    },
  }
}

/** Fills an empty store, or continues its company; returns when the sandbox's time starts, which never runs backwards. */
function openCompany(store: Store, { clock, fixture, behindMs = 0 }: SandboxOptions, company: CompanyOptions): Instant {
  const grownUntil = store.meta('grownUntil')
  if (fixture) loadFixture(store, fixture)
  for (const key of SANDBOX_KEYS) store.saveKey(key)
  if (fixture) return fixture.asOf
  const wallNow = clock.now()
  if (grownUntil !== undefined) return Math.max(wallNow, grownUntil)
  seedCompany(store, company)
  store.setMeta('grownUntil', wallNow - company.days * DAY_MS)
  return wallNow - behindMs
}

function useNow(store: Store, email: string, at: Instant, cents: number): AgentUse {
  const person = store.person(normaliseEmail(email))
  if (!person) throw new BugError(`the sandbox has no person with the e-mail ${email}`)
  const mode = 'CONVERSATIONAL_PLANNER_MODE_DEFAULT'
  const effects = { messages: 1, linesSuggested: 0, linesAccepted: 0, tools: {} }
  return { source: 'agent', person: person.id, at, conversation: 1000, ide: 'editor', model: MODELS[0], mode, cents, ...effects }
}

// Another client ("somebody else"): an administrator who edits caps by hand, so that a demonstration shows drift and its revert. The seed
// decides which of the user and group caps is edited, or which approved person gets one when there are none.

interface ForeignWriterOptions {
  readonly everySeconds: number
  /** Takes a line such as `somebody else set ada.lovelace@example.com to 9000`. */
  readonly say: (line: string) => void
  readonly leaveAlone?: LeftAlone
}

/** Scopes whose cap is never edited. */
type LeftAlone = ReadonlySet<ScopeKey>

/**
 * In the quick start the group of the person on call, whom the example policies protect. Reverting such an edit could lower that person's cap, so
 * it would wait for approval as long as the demonstration runs.
 */
export const LEFT_ALONE: LeftAlone = new Set([scopeKey(groupScope('grp_support'))])

/** Makes one edit and returns its description; undefined when there is nothing to edit. */
type ForeignEdit = (leaveAlone?: LeftAlone) => string | undefined

function createForeignEdit(store: Store, caps: CapBook, seed: number): ForeignEdit {
  const draw = stream(seed, 'somebody else')
  return (leaveAlone) => {
    const scope = chooseScope(store, draw, leaveAlone)
    if (!scope) return undefined
    const before = store.cap(scope)
    const clears = before !== undefined && draw() < 0.2
    const cap = clears ? undefined : chooseCap(before, draw)
    caps.write(scope, cap)
    return cap === undefined ? `somebody else cleared ${scopeKey(scope)}` : `somebody else set ${scopeKey(scope)} to ${cap}`
  }
}

function chooseScope(store: Store, draw: Draw, leaveAlone?: LeftAlone): Scope | undefined {
  const capped = store.caps().flatMap(({ scope }) => (scope.kind === 'team' || leaveAlone?.has(scopeKey(scope)) ? [] : [scope]))
  const people = (): readonly Scope[] => store.people().flatMap((one) => (one.status === 'APPROVED' ? [userScope(one.email)] : []))
  const scopes = capped.length > 0 ? capped : people()
  return scopes[between(draw, 0, scopes.length - 1)]
}

/** Never the present cap. */
function chooseCap(before: number | undefined, draw: Draw): number {
  const cap = between(draw, 1, 18) * 500
  return cap === before ? cap + 500 : cap
}

/** Makes edits at intervals until `signal` aborts; waits on the real clock, not the sped-up one. */
async function keepEditing(
  edit: ForeignEdit,
  clock: Clock,
  { everySeconds, say, leaveAlone }: ForeignWriterOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(everySeconds * 1000, signal).catch(() => undefined)
    const line = signal.aborted ? undefined : edit(leaveAlone)
    if (line !== undefined) say(line)
  }
}
