// A small world for the daemon's tests: a workspace on a real sandbox with the real client and the real ledger, and a clock on which time
// passes only while nothing else can happen. No answer is scripted: results are what the parts do together.
import { onTestFinished } from 'vitest'
import { createWriteClient } from '../../src/api/client.ts'
import { createKeyRing } from '../../src/api/keys.ts'
import { createPaces } from '../../src/api/transport/queue.ts'
import { CONDITIONS, type Condition, type ConditionType, kindOf } from '../../src/core/model/condition.ts'
import type { CycleEvent } from '../../src/core/model/events.ts'
import type { Operation } from '../../src/core/model/observed.ts'
import type { PolicyRevision, PolicySet } from '../../src/core/model/policy.ts'
import type { Scope } from '../../src/core/model/scope.ts'
import { chronicleOf } from '../../src/daemon/conditions/journal.ts'
import { viewOf } from '../../src/daemon/conditions/view.ts'
import type { WorkspaceSettings } from '../../src/daemon/config/settings.ts'
import type { CycleOptions } from '../../src/daemon/cycle/options.ts'
import { learnedKeeper } from '../../src/daemon/cycle/read.ts'
import { type CycleReport, reconcile } from '../../src/daemon/cycle/run.ts'
import { recall } from '../../src/daemon/cycle/state.ts'
import { readPeopleFile } from '../../src/daemon/directory/read.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { sha256 } from '../../src/daemon/schedule/system.ts'
import { createWorkspace, type Workspace } from '../../src/daemon/workspace.ts'
import { digestOf } from '../../src/policy/load/digest.ts'
import type { Ledger, Transport } from '../../src/ports.ts'
import type { CompanyOptions } from '../../src/sandbox/company/company.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import type { SandboxCall } from '../../src/sandbox/service.ts'
import type { StoredPerson } from '../../src/sandbox/store.ts'
import type { Switches } from '../../src/sandbox/switches.ts'
import { type WorldClock, worldClock } from './clock.ts'
import { email, numbered, type PolicySketch, policy, SETTINGS, scope, short } from './declare.ts'
import { sandboxTransport } from './sandbox.ts'

/** A policy set with its identity, as after loading; with what teams say beside it. */
export function revisionOf(
  declared: PolicySketch,
  workspace = 'acme',
  revision = '',
  delegated?: PolicyRevision['delegated'],
): PolicyRevision {
  const set: PolicySet = { ...policy(declared), workspace }
  return { set, digest: digestOf({ set, delegated }), revision, delegated }
}

export interface WorldOptions {
  /** Names, or a number of people called p001, p002 … */
  readonly people?: readonly string[] | number
  /** Members by group id; the group's name is the id in capitals. */
  readonly groups?: Readonly<Record<string, readonly string[]>>
  /** The caps that the service stores at the start. */
  readonly caps?: Readonly<Record<string, number>>
  readonly switches?: Partial<Switches>
  /** A seeded company with its past instead of these people. */
  readonly company?: CompanyOptions
  /** Add-on credits of the cycle; default: so many that no raise is held. */
  readonly addOn?: number
  readonly config?: Partial<WorkspaceSettings>
  /** Requests per second; default: so many that pacing has no effect. */
  readonly rate?: number
  /** Default: in memory. */
  readonly ledger?: string
  /** Wraps the ledger of the cycle, such as with a disk that fails. */
  readonly wrapLedger?: (ledger: Ledger) => Ledger
  readonly wrapTransport?: (transport: Transport) => Transport
  /** What the client sees and learns is kept, as by a daemon. */
  readonly learns?: true
  readonly clock?: WorldClock
  readonly name?: string
  /** Parts of the workspace that a daemon has beside these, such as a notifier. */
  readonly parts?: Partial<Parameters<typeof createWorkspace>[0]>
}

export type World = Awaited<ReturnType<typeof createWorld>>

const NO_RANDOM = { next: () => 0.5 }

const named = (people: WorldOptions['people'] = ['ada', 'bob', 'cleo']): readonly string[] =>
  typeof people === 'number' ? numbered(people) : people

/** The world as the options say; the caller closes it. */
export async function createWorld(options: WorldOptions = {}) {
  const clock = options.clock ?? worldClock()
  const calls: SandboxCall[] = []
  const events: CycleEvent[] = []
  const sandbox = createSandbox({
    clock,
    company: options.company ?? { people: 1, groups: 1, days: 0, seed: 1 },
    // Every answer takes a moment, so that events have an order.
    switches: { latency: 1, ...options.switches },
    working: options.company !== undefined,
    onCall(call) {
      calls.push(call)
      world.onCall?.(call)
    },
  })
  if (!options.company) populate(sandbox, options)
  const wire = sandboxTransport(sandbox)
  const file = await openLedger({ file: options.ledger ?? ':memory:', mode: 'write', clock })
  const real = await file.workspace(options.name ?? 'acme', 'http://sandbox')
  const ledger = options.wrapLedger?.(real) ?? real
  const keys = createKeyRing({ default: { env: 'KEY' } }, { env: { KEY: 'sandbox-admin' } })
  const transport = options.wrapTransport?.(wire) ?? wire
  const rate = { start: options.rate ?? 100_000, max: options.rate ?? 100_000, concurrency: 8 }
  const learning = learnedKeeper(ledger, clock)
  const settings: WorkspaceSettings = { ...SETTINGS, name: options.name ?? 'acme', ...options.config }
  const open = (config: WorkspaceSettings): Workspace => {
    const chronicle = chronicleOf(ledger)
    const emit = (event: CycleEvent): void => {
      chronicle.onEvent(event)
      events.push(event)
      if (options.learns && event.kind === 'cycle-finished') void learning.keep()
    }
    // A process has its own client.
    const client = createWriteClient({
      ...{ transport, keys, clock, random: NO_RANDOM, rate, paces: createPaces(), ...learning.reports },
      knownAt: () => ledger.fact('usage')?.roster.readAt,
      onRequest: (one) =>
        world.workspace.chronicle?.onEvent({ kind: 'request-finished', workspace: settings.name, at: clock.now(), ...one }),
    })
    const parts = { config, client, ledger, clock, random: NO_RANDOM, digest: sha256, readPeopleFile, chronicle, emit }
    return createWorkspace({ ...parts, ...options.parts })
  }
  const world = {
    ...looking(sandbox, calls, events),
    clock,
    sandbox,
    ledger,
    workspace: open(settings),
    state: recall(revisionOf({}), ledger),
    /** What the workspace shows now. */
    view: () => viewOf(world.workspace),
    /** Called after every request and its effects. */
    onCall: undefined as ((call: SandboxCall) => void) | undefined,
    /** Runs one cycle with this policy, or with the last one. */
    cycle(declared?: PolicySketch, more: Partial<CycleOptions> = {}): Promise<CycleReport> {
      if (declared) world.state.policy = revisionOf(declared)
      world.workspace.state = world.state
      return clock.until(reconcile(world.workspace, world.state, { alone: true, ...more }))
    },
    /** A new process: only the records of the ledger are known. */
    restart(config?: Partial<WorkspaceSettings>): void {
      world.workspace = open({ ...settings, ...config })
      world.state = recall(world.state.policy, ledger)
    },
    async close(): Promise<void> {
      await file.close()
      sandbox.close()
    },
  }
  return world
}

function populate(sandbox: Sandbox, options: WorldOptions): void {
  const { store } = sandbox
  const [template] = store.people()
  if (!template) throw new Error('the sandbox is empty')
  const names = named(options.people)
  store.transaction(() => {
    const common = { ...template, status: 'APPROVED', disabled: false } as const
    names.forEach((name, id) => void store.savePerson({ ...common, id, email: email(name), name, apiKey: `key-of-${name}` }))
    for (const group of store.groups()) store.setMembers(group.id, [])
    for (const [id, members] of Object.entries(options.groups ?? {})) {
      store.saveGroup({ id, name: id.toUpperCase() })
      store.setMembers(id, ids(sandbox, members))
    }
    for (const [name, cap] of Object.entries(options.caps ?? {})) store.setCap(scope(name), cap)
    store.setMeta('addOnAvailable', options.addOn ?? 1_000_000_000)
  })
  sandbox.reload()
}

const ids = ({ store }: Sandbox, names: readonly string[]): readonly number[] =>
  names.map((name) => {
    const person = store.person(email(name))
    if (!person) throw new Error(`no person is called ${name}`)
    return person.id
  })

function looking(sandbox: Sandbox, calls: SandboxCall[], events: CycleEvent[]) {
  const { store } = sandbox
  const of = (operation: Operation): readonly SandboxCall[] => calls.filter((call) => call.operation === operation)
  return {
    /** Every request so far. */
    calls,
    events,
    /** Sets a cap as another client. */
    foreign: (name: string, cap: number | undefined) => sandbox.writeCap(scope(name), cap),
    /** All stored caps, by short name. */
    caps: (): Record<string, number> => Object.fromEntries(store.caps().map((one) => [short(one.scope), one.cap])),
    /** The cap in force of each person, by name. */
    inForce: () => capsInForce(sandbox),
    /** Writes sent since `forget`, such as `team 500` and `ada none`. */
    writes: (): readonly string[] =>
      of('UsageConfig').map(({ body }) => `${short(scopeOf(body))} ${body['set_add_on_credit_cap'] ?? 'none'}`),
    reads: (): readonly string[] => of('GetUsageConfig').map(({ body }) => short(scopeOf(body))),
    count: (operation: Operation) => of(operation).length,
    /** Forgets requests and events. */
    forget() {
      calls.length = 0
      events.length = 0
    },
    /** Events of a kind since `forget`. */
    told: <K extends CycleEvent['kind']>(kind: K) =>
      events.filter((event): event is Extract<CycleEvent, { kind: K }> => event.kind === kind),
    ...toldConditions(events),
    setStatus(name: string, status: StoredPerson['status']) {
      const person = store.person(email(name))
      if (person) store.savePerson({ ...person, status })
      sandbox.reload()
    },
    setMembers(group: string, names: readonly string[]) {
      store.setMembers(group, ids(sandbox, names))
      sandbox.reload()
    },
    removePerson(name: string) {
      store.removePerson(email(name))
      sandbox.reload()
    },
    addPerson(name: string) {
      const people = store.people()
      const [template] = people
      if (template) store.savePerson({ ...template, id: Math.max(...people.map((one) => one.id)) + 1, email: email(name), name })
      sandbox.reload()
    },
  }
}

function scopeOf(body: SandboxCall['body']): Scope {
  return scope(body['team_level'] === true ? 'team' : 'group_id' in body ? `group:${body['group_id']}` : String(body['user_email']))
}

/** User before group (the lowest) before team, computed independently of the code under test. */
function capsInForce({ store }: Sandbox): Record<string, number | 'none'> {
  const groups = store.groups().map(({ id }) => ({ cap: store.cap(scope(`group:${id}`)), members: store.members(id) }))
  const team = store.cap(scope('team'))
  return Object.fromEntries(
    store.people().map((person) => {
      const ofGroups = groups.flatMap(({ cap, members }) => (cap !== undefined && members.has(person.id) ? [cap] : []))
      const own = store.cap(scope(person.email)) ?? (ofGroups.length > 0 ? Math.min(...ofGroups) : team)
      return [person.email.replace('@example.com', ''), own ?? 'none']
    }),
  )
}

/** A world that is closed with the test. */
export async function testWorld(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld(options)
  onTestFinished(() => world.close())
  return world
}

const ALL = Object.keys(CONDITIONS) as ConditionType[]
const WARNINGS = ALL.filter((type) => !kindOf(type).hasOwnPlace && !kindOf(type).explains?.includes('CycleFailed'))

/** All conditions since the events were forgotten. */
function toldConditions(events: readonly CycleEvent[]) {
  const of = (types: readonly ConditionType[], hasEnded: boolean): readonly Condition[] =>
    events.flatMap((event): readonly Condition[] => {
      const isOne = event.kind === 'condition' && types.includes(event.condition.type) && (event.change === 'ended') === hasEnded
      return isOne ? [event.condition] : []
    })
  return {
    /** Conditions of these types that began or changed. */
    begun: (...types: readonly ConditionType[]) => of(types, false),
    /** Conditions of these types that ended. */
    ended: (...types: readonly ConditionType[]) => of(types, true),
    /** The reasons of conditions that began and are in no plan and no outcome. */
    warned: () => of(WARNINGS, false).map(({ reason }) => reason),
  }
}
