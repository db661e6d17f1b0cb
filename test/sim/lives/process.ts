// One capkeeper process of the simulation: the real daemon, client, ledger file, lock, log, metrics and status on simulated time, and the
// ways it can end. Only the interfaces of ports.ts are replaced.
import { createWriteClient } from '../../../src/api/client.ts'
import { createKeyRing } from '../../../src/api/keys.ts'
import { createPaces, type Paces } from '../../../src/api/transport/queue.ts'
import { exitOfAll } from '../../../src/cli/apply/run.ts'
import { EXIT, type ExitCode } from '../../../src/cli/shared/context.ts'
import type { CycleEvent, ScopeStatus } from '../../../src/core/model/events.ts'
import { keptRevision } from '../../../src/core/model/policy.ts'
import type { Message } from '../../../src/core/notify/due.ts'
import type { Delivery } from '../../../src/core/notify/told.ts'
import { createLogger, eventLog } from '../../../src/daemon/conditions/log.ts'
import type { Config, WorkspaceConfig } from '../../../src/daemon/config/settings.ts'
import { learnedKeeper } from '../../../src/daemon/cycle/read.ts'
import { reconcile } from '../../../src/daemon/cycle/run.ts'
import { recall } from '../../../src/daemon/cycle/state.ts'
import type { PeopleLabels } from '../../../src/daemon/http/labels.ts'
import { workspaceLedger } from '../../../src/daemon/ledger/workspace.ts'
import { type Daemon, startDaemon } from '../../../src/daemon/schedule/daemon.ts'
import { sha256 } from '../../../src/daemon/schedule/system.ts'
import { createWorkspace } from '../../../src/daemon/workspace.ts'
import type { Clock, Ledger } from '../../../src/ports.ts'
import { stream } from '../../../src/sandbox/company/company.ts'
import { configOf } from '../../support/configured.ts'
import type { Step } from '../steps.ts'
import type { SimClock } from '../world/clock.ts'
import { fragileRows } from '../world/crash.ts'
import type { Weather } from '../world/faults.ts'
import type { OpenLedger, SimLedger } from '../world/ledger/kind.ts'
import type { Sender, Service } from '../world/service.ts'
import { answerOf, type ChannelState } from './channels.ts'
import type { FileVersion } from './people-file.ts'
import type { Scenario } from './scenario.ts'

type DaemonParts = Parameters<typeof startDaemon>[0]
type OpenedWorkspace = Awaited<ReturnType<DaemonParts['open']>>
export type PolicyLoad = Awaited<ReturnType<DaemonParts['loadPolicies']>>

export interface ProcessParts {
  readonly scenario: Scenario
  readonly clock: SimClock
  readonly service: Service
  readonly weather: Weather
  readonly ledger: SimLedger
  /** The present content of the key file. */
  keyNow(): string
  /** The present content of the people file. */
  fileNow(): FileVersion | undefined
  readonly labels: PeopleLabels
  /** How a channel treats messages now. */
  channelNow(name: string): ChannelState
  /** The process's wall clock. */
  wallNow(): number
  config(): WorkspaceConfig
  loadPolicies(): PolicyLoad
  emit(step: Step): void
  note(text: string): void
}

/** A crash that waits for its moment. */
type Doom =
  | { readonly kind: 'ledger'; left: number; readonly when: 'before' | 'after' }
  | { readonly kind: 'request'; left: number; readonly arrives: boolean }
  | { readonly kind: 'message'; left: number }

export interface SimProcess extends Sender {
  readonly number: number
  daemon: Daemon | undefined
  ledger: Ledger | undefined
  doom: Doom | undefined
  /** It was told to stop; it may still finish a write. */
  stopping: boolean
  /** Ends the process at once, as a power failure. */
  kill(): void
  /** SIGTERM. */
  stop(): Promise<void>
}

/** The result of `apply`, and the plan at its end. */
export interface ApplyEnd {
  readonly exit: ExitCode
  readonly message?: string
  readonly problems: number
  readonly holds: number
  readonly scopes: readonly ScopeStatus[]
}

export const WORKSPACE = 'acme'
export const BASE_URL = 'http://service'

/** A process with its ledger and its log, before it starts. */
interface Begun {
  readonly self: SimProcess
  readonly clock: Clock
  readonly store: OpenLedger
  tell(event: CycleEvent): void
}

/** Throws a `LedgerError` when another process holds the lock. */
async function beginProcess(number: number, parts: ProcessParts, onEnd: () => void): Promise<Begun> {
  const late: { self?: SimProcess } = {}
  const clock: Clock = {
    now: () => Math.floor(parts.wallNow()),
    monotonic: () => parts.clock.elapsed() + number * 1e6,
    sleep: (ms, signal) => (late.self?.alive === false ? new Promise(() => undefined) : parts.clock.sleep(ms, signal, late.self)),
  }
  const store = await parts.ledger.open(clock)
  const self: SimProcess = {
    number,
    alive: true,
    daemon: undefined,
    ledger: undefined,
    doom: undefined,
    stopping: false,
    diesSending: () => diesSending(self),
    kill() {
      if (!self.alive) return
      self.alive = false
      store.close()
      parts.emit({ kind: 'died', process: number })
      // Nothing that it still does has an effect; its signals free what they hold.
      void self.daemon?.stop().catch(() => undefined)
      onEnd()
    },
    async stop() {
      self.stopping = true
      await self.daemon?.stop()
      self.kill()
    },
  }
  late.self = self
  parts.emit({ kind: 'started', process: number })
  const log = eventLog(
    await createLogger({
      level: 'debug',
      format: 'json',
      clock,
      destination: { write: (text) => parts.emit({ kind: 'output', where: 'log', text }) },
      // The last error handler is left out on purpose, so that an unhandled error is seen.
      redact: (text) => text,
    }),
  )
  const tell = (event: CycleEvent): void => {
    if (!self.alive) return
    log(event)
    parts.emit({ kind: 'told', process: number, event })
  }
  return { self, clock, store, tell }
}

/** Starts the daemon; throws a `LedgerError` when another process holds the lock. */
export async function startProcess(number: number, parts: ProcessParts, onEnd: () => void): Promise<SimProcess> {
  const { self, clock, store, tell } = await beginProcess(number, parts, onEnd)
  const config = (): Config => configOf(parts.config())
  const paces = createPaces()
  const daemon = await startDaemon({
    clock,
    config: config(),
    open: (settings) => openWorkspace(self, parts, { settings, store, clock, tell, paces }),
    loadPolicies: () => parts.loadPolicies(),
    reloadConfig: config,
    registered: () => undefined,
    ledgerWritable: () => self.alive && !parts.weather.isOn('disk-full'),
  })
  self.daemon = daemon
  if (!self.alive) void daemon.stop().catch(() => undefined)
  return self
}

/** `capkeeper apply --yes` without a daemon. Throws a `LedgerError` when one runs. */
export async function applyOnce(number: number, parts: ProcessParts): Promise<ApplyEnd> {
  const { self, clock, store, tell } = await beginProcess(number, parts, () => undefined)
  try {
    const policy = parts.loadPolicies().sets.get(WORKSPACE)
    if (!policy) return { exit: EXIT.input, problems: 1, holds: 0, scopes: [] }
    const opened = await openWorkspace(self, parts, { settings: parts.config(), store, clock, tell, paces: createPaces() })
    const workspace = createWorkspace(opened.parts)
    const state = recall(policy, workspace.ledger)
    workspace.state = state
    workspace.ledger.saveFact('policy', keptRevision(state.policy))
    const report = await reconcile(workspace, state, { alone: true, confirm: async () => ({}) })
    await workspace.ledger.commit()
    const { plan, scopes } = report.after
    return {
      exit: exitOfAll([{ report }]),
      ...(report.message !== undefined && { message: report.message }),
      ...{ problems: plan.problems.length, holds: plan.holds.length, scopes },
    }
  } finally {
    self.kill()
  }
}

function diesSending(self: SimProcess): 'no' | 'arrives' | 'lost' {
  const { doom } = self
  if (doom?.kind !== 'request') return 'no'
  doom.left -= 1
  if (doom.left > 0) return 'no'
  self.kill()
  return doom.arrives ? 'arrives' : 'lost'
}

function diesWriting(self: SimProcess, when: 'before' | 'after'): boolean {
  const { doom } = self
  if (doom?.kind !== 'ledger' || doom.when !== when) return false
  doom.left -= 1
  if (doom.left > 0) return false
  self.kill()
  return true
}

/** Sends messages; the process may die with one under way. */
const sender =
  (self: SimProcess, parts: ProcessParts) =>
  async (message: Message, signal: AbortSignal): Promise<Delivery> => {
    if (!self.alive) return new Promise(() => undefined)
    parts.emit({ kind: 'message', process: self.number, message })
    if (self.doom?.kind === 'message') {
      self.doom.left -= 1
      if (self.doom.left <= 0) self.kill()
    }
    const state = parts.channelNow(message.to.kind === 'email' ? 'mail' : message.to.name)
    const answer = await answerOf(state, (ms) => parts.clock.sleep(ms, undefined, self), signal)
    if (!self.alive) return new Promise(() => undefined)
    parts.emit({ kind: 'delivered', process: self.number, message, outcome: answer.kind })
    return answer
  }

interface Opening {
  readonly settings: WorkspaceConfig
  readonly store: OpenLedger
  readonly clock: Clock
  readonly tell: (event: CycleEvent) => void
  readonly paces: Paces
}

/** Opens a workspace as `cli/run/host.ts` does, with the simulation's ports. */
async function openWorkspace(
  self: SimProcess,
  parts: ProcessParts,
  { settings, store, clock, tell, paces }: Opening,
): Promise<OpenedWorkspace> {
  const rows = fragileRows(await store.rows(settings.name, BASE_URL), {
    isAlive: () => self.alive,
    isFull: () => parts.weather.isOn('disk-full'),
    diesNow: (when) => diesWriting(self, when),
    onRecorded: (method, values) => parts.emit({ kind: 'recorded', process: self.number, method, values }),
  })
  const ledger = await workspaceLedger({ rows, clock, isKeeper: true })
  self.ledger = ledger
  const random = { next: stream(parts.scenario.seed, `process/${self.number}`) }
  const learning = learnedKeeper(ledger, clock)
  const client = createWriteClient({
    transport: parts.service.transportOf(self),
    keys: createKeyRing(
      { default: { file: 'key' } },
      { env: {}, files: { look: () => ({ identity: parts.keyNow(), text: parts.keyNow }) } },
    ),
    clock,
    random,
    rate: settings.rate,
    paces,
    ...learning.reports,
    knownAt: () => ledger.fact('usage')?.roster.readAt,
    onRequest: (event) => tell({ kind: 'request-finished', workspace: settings.name, at: clock.now(), ...event }),
  })
  return {
    parts: {
      config: settings,
      ledger,
      client,
      ratePerSecond: () => client.ratePerSecond('default'),
      clock,
      random,
      digest: sha256,
      async readPeopleFile(_settings, emails) {
        if (!self.alive) return new Promise(() => undefined)
        const version = parts.fileNow()
        parts.emit({ kind: 'listed', process: self.number, version, emails })
        if (!version) return { invalid: 'is broken', line: 3 }
        const listed = emails.filter((email) => version.units.has(email))
        return { ...version, people: new Map(listed.map((email) => [email, { unit: version.units.get(email) ?? '' }])), others: [] }
      },
      ...(settings.notify && {
        notifier: { ...parts.labels, settings: settings.notify.settings, send: sender(self, parts), kept: async () => [] },
      }),
      emit(event) {
        tell(event)
        if (event.kind === 'cycle-finished') void learning.keep()
      },
    },
    close: () => undefined,
  }
}
