// One simulated life: company, service, policies, the processes that start and end, and the actions of events. It does not decide when
// things happen; `run.ts` does.
import type { WorkspaceView } from '../../../src/core/model/events.ts'
import type { ScopeKey } from '../../../src/core/model/scope.ts'
import type { WorkspaceConfig } from '../../../src/daemon/config/settings.ts'
import { EMAIL_LABELS, hashLabels } from '../../../src/daemon/http/labels.ts'
import { LedgerError } from '../../../src/daemon/ledger/error.ts'
import { sha256 } from '../../../src/daemon/schedule/system.ts'
import { judgePolicies } from '../../../src/policy/load/judge.ts'
import type { Ledger } from '../../../src/ports.ts'
import { stream } from '../../../src/sandbox/company/company.ts'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts'
import { PERMISSIONS } from '../../../src/sandbox/store.ts'
import { workspaceConfig } from '../../support/configured.ts'
import type { Step } from '../steps.ts'
import { type SimClock, simClock } from '../world/clock.ts'
import { createCompany } from '../world/company.ts'
import type { Disk } from '../world/disk.ts'
import { createWeather } from '../world/faults.ts'
import type { SimLedger } from '../world/ledger/kind.ts'
import { sqliteLedger } from '../world/ledger/sqlite.ts'
import { createService } from '../world/service.ts'
import { createUseBook } from '../world/use-book.ts'
import { type ChannelState, LED, ledBy } from './channels.ts'
import { calmTeam, damaged, envelopesOf, tidyTeam } from './envelope.ts'
import { createPeopleFile, DIRECTORY } from './people-file.ts'
import { copyModel, emptyModel, type PolicyModel, policyFiles, teamFile, withoutTeam } from './policy-model.ts'
import { tidyPools } from './pool-edits.ts'
import { applyOnce, BASE_URL, type PolicyLoad, type ProcessParts, type SimProcess, startProcess, WORKSPACE } from './process.ts'
import { POLICIES, type Scenario } from './scenario.ts'

export type Life = ReturnType<typeof createLife>

type Changeable = Pick<WorkspaceConfig, 'intervalMs' | 'guards' | 'rate'>

interface LifeOptions {
  readonly scenario: Scenario
  emit(step: Step): void
  note(text: string): void
  /** Default: a file of SQLite. */
  readonly ledger?: SimLedger
}

export function createLife({ scenario, emit, note, ledger = sqliteLedger(WORKSPACE) }: LifeOptions) {
  const clock = simClock(ledger.isBusy)
  const trueNow = (): number => scenario.startAt + clock.elapsed()
  const keys = Array.from({ length: MOST_KEYS }, (_, number) => keyOf(scenario.seed, number))
  const sandbox = openSandbox(scenario, { now: trueNow, clock, key: keys[0] ?? '' })
  let [issued, numbers, isApplying, isOver] = [0, 0, false, false]
  let mode: WorkspaceConfig['mode'] = 'enforce'
  let changed: Partial<Changeable> = {}
  const settings: { readonly fromMs: number; readonly config: WorkspaceConfig }[] = []
  const company = createCompany(sandbox, scenario)
  const weather = createWeather(scenario, clock.elapsed)
  const serviceNow = (): number => trueNow() + life.serviceOffsetMs
  const service = createService({ scenario, clock, sandbox, company, weather, serviceNow, emit, note })
  const book = createUseBook(trueNow)
  const wholes: PolicyModel[] = [emptyModel()]
  const named = new Map<string, PolicyModel>()
  /** A violation ends a life at once: its ledger file is removed although a process may still use it. */
  const whileAlive = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act()
    } catch (error) {
      if (!isOver) throw error
    }
  }
  const life = {
    scenario,
    clock,
    sandbox,
    company,
    service,
    weather,
    /** Every key that this life may issue; the config file has the one with the present number. */
    keys,
    keyFile: { number: 0 },
    /** Issues the next key. */
    issueKey(): void {
      issued = Math.min(issued + 1, keys.length - 1)
      sandbox.store.saveKey({ secret: keys[issued] ?? '', permissions: PERMISSIONS })
    },
    keysIssued: (): number => issued,
    refuseOldKeys(): void {
      for (const secret of keys.slice(0, issued)) sandbox.store.saveKey({ secret, permissions: [] })
      company.keysChanged()
    },
    /** Overrides of the scenario's configuration. */
    configure(next: Partial<Changeable>): void {
      if (Object.keys(next).length === 0 && Object.keys(changed).length === 0) return
      changed = next
      settings.push({ fromMs: clock.elapsed(), config: configOf(life, changed) })
      life.process?.daemon?.configChanged()
    },
    settingsSince(sinceMs: number): readonly Changeable[] {
      const past = settings.filter(
        ({ fromMs }, index) => (settings[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY) >= sinceMs || fromMs >= sinceMs,
      )
      const isFirst = (settings[0]?.fromMs ?? Number.POSITIVE_INFINITY) >= sinceMs
      return [...(isFirst ? [scenario] : []), ...past.map(({ config }) => config)]
    },
    /** The content of the policy files; `edit` publishes it. */
    model: emptyModel(),
    /** The file that is broken now. */
    broken: undefined as string | undefined,
    team: calmTeam(),
    peopleFile: scenario.directory ? createPeopleFile(scenario, company.people, clock.elapsed) : undefined,
    /** Channels that are not good, and which of `LED` have a lead. */
    channels: new Map<string, ChannelState>(),
    led: new Set<string>(LED.slice(0, 1)),
    labels: stream(scenario.seed, 'labels')() < 0.5 ? EMAIL_LABELS : hashLabels(sha256, 'salt'),
    mode: (): WorkspaceConfig['mode'] => mode,
    /** The key in the config file. */
    setMode(next: WorkspaceConfig['mode']): void {
      if (mode === next) return
      mode = next
      life.process?.daemon?.configChanged()
    },
    wallOffsetMs: 0,
    serviceOffsetMs: 0,
    process: undefined as SimProcess | undefined,
    /** Processes that try to start until the lock is free. */
    waiting: 0,
    emit,
    note,
    elapsed: clock.elapsed,
    now: trueNow,
    skewMs: (): number => life.serviceOffsetMs - life.wallOffsetMs,
    policy: () => wholes.at(-1) ?? emptyModel(),
    policies: () => wholes,
    policyNamed: (digest: string) => named.get(digest),
    stored: (scope: ScopeKey) => company.caps().get(scope) ?? 'none',
    shows: service.shows,
    inForce: company.inForce,
    used: book.used,
    /** A person uses so many cents; in lives with pools only up to their cap. */
    use(email: string, cents: number): void {
      const gets = scenario.pools ? book.take(email, cents, company.inForce().get(email)) : cents
      if (gets <= 0) return
      sandbox.recordUse(email, gets)
      company.used(email)
    },
    view: (): WorkspaceView | undefined => life.process?.daemon?.views()[0],
    ledger: (): Disk | undefined => (life.process || (isApplying && !isOver) ? ledger.disk() : undefined),
    notify: () => scenario.notify && ledBy(scenario.notify, life.led),
    /** Publishes changed policy files. */
    published: (): void => void life.process?.daemon?.policiesChanged(),
    start: (): void => void whileAlive(launch),
    /** `capkeeper apply --yes`; the daemon must not run. */
    async apply(): Promise<void> {
      isApplying = true
      await whileAlive(async () => emit({ kind: 'applied', end: await applyOnce(nextNumber(), partsNow()) }))
      isApplying = false
    },
    startLater: (ms: number): void => clock.later(ms, () => void whileAlive(launch)),
    /** Runs a short command beside the daemon. */
    async withNotes(act: (ledger: Ledger) => Promise<void>): Promise<void> {
      await whileAlive(() => ledger.withNotes({ now: trueNow, monotonic: clock.elapsed, sleep: clock.sleep }, act))
    },
    async close(): Promise<void> {
      isOver = true
      life.process?.kill()
      sandbox.close()
      await ledger.close()
    },
  }
  if (life.peopleFile) company.unitOf = life.peopleFile.unitOf
  const partsNow = (): ProcessParts => ({
    ...{ scenario, clock, service, weather, ledger, emit, note },
    keyNow: () => keys[life.keyFile.number] ?? '',
    fileNow: () => life.peopleFile?.version(),
    labels: life.labels,
    channelNow: (name) => life.channels.get(name) ?? 'good',
    wallNow: () => trueNow() + life.wallOffsetMs,
    config: () => configOf(life, changed),
    loadPolicies: () => loadModel(life, wholes, named),
  })
  const nextNumber = (): number => {
    numbers += 1
    return numbers
  }
  const launch = async (): Promise<void> => {
    const number = nextNumber()
    try {
      const started = await startProcess(number, partsNow(), () => {
        if (life.process?.number === number) life.process = undefined
      })
      if (started.alive) life.process = started
    } catch (error) {
      if (!(error instanceof LedgerError) || error.code !== 'LEDGER_LOCKED') throw error
      note(`process ${number} finds the ledger locked`)
    }
  }
  return life
}

/** The most keys of a life. */
const MOST_KEYS = 12

/** A key that occurs in no other text by chance. */
function keyOf(seed: number, number: number): string {
  const draw = stream(seed, number === 0 ? 'key' : `key/${number}`)
  const part = (): string => Math.floor(draw() * 2 ** 48).toString(36)
  return `sk-"${part()}/${part()}+${part()}`
}

function openSandbox(
  scenario: Scenario,
  { now, clock, key }: { readonly now: () => number; readonly clock: SimClock; readonly key: string },
): Sandbox {
  const sandbox = createSandbox({
    clock: { now, monotonic: clock.elapsed, sleep: clock.sleep },
    company: { people: 1, groups: 0, days: 0, seed: scenario.seed },
    switches: scenario.switches,
    working: false,
  })
  sandbox.store.saveKey({ secret: key, permissions: PERMISSIONS })
  return sandbox
}

function configOf(life: Life, changed: Partial<Changeable>): WorkspaceConfig {
  const { scenario, mode } = life
  const { capSemantics, usageIntervalMs, prune, onDrift, undeclaredUsers } = scenario
  const { intervalMs, guards, rate } = { ...scenario, ...changed }
  const drawn = { capSemantics, usageIntervalMs, prune, onDrift, undeclaredUsers, intervalMs, guards, rate }
  const settings = life.notify()
  const more = { ...(settings && { notify: { settings, webhooks: [] } }), ...(scenario.directory && { directory: DIRECTORY }) }
  return workspaceConfig(WORKSPACE, { baseUrl: BASE_URL, keys: { default: { file: 'key' } }, mode: mode(), ...drawn, ...more })
}

/** Reads the present files as the program does. */
function loadModel(life: Life, wholes: PolicyModel[], named: Map<string, PolicyModel>): PolicyLoad {
  tidyPools(life.model)
  tidyTeam(life)
  const envelopes = envelopesOf(life, WORKSPACE)
  const theirs = teamFiles(life, envelopes.length > 0)
  const { sets, problems } = judgePolicies(
    [POLICIES],
    { files: [...platformFiles(life), ...theirs], problems: [], stamp: '' },
    {
      cwd: '/',
      now: life.now(),
      workspaces: [{ name: WORKSPACE, policies: [POLICIES], envelopes, ...(life.peopleFile && { directory: DIRECTORY }) }],
    },
  )
  const judged = sets.get(WORKSPACE)
  if (!judged) {
    life.note(`policies have errors: ${problems[0]?.message}`)
    return { sets: new Map(), problems }
  }
  const { from: _, ...policy } = judged
  const whole = theirs.length > 0 ? copyModel(life.model) : withoutTeam(life.model)
  wholes.push(whole)
  named.set(policy.digest, whole)
  return { sets: new Map([[WORKSPACE, { ...policy, revision: '' }]]), problems }
}

const fileAt = (folder: string, path: string, text: string) => ({
  shown: path,
  real: `${folder}/${path}`,
  roots: [folder],
  bytes: Buffer.from(text),
})

function platformFiles({ model, broken }: Life) {
  const files = policyFiles(model)
  if (broken !== undefined) files.set(broken, `${files.get(broken) ?? ''}  team: [`)
  return [...files].map(([path, text]) => fileAt(POLICIES, path, text))
}

function teamFiles({ model, scenario: { envelope }, team: { name, wrong } }: Life, isHome: boolean) {
  const text = teamFile(model)
  const isRead = isHome || envelope?.startsWith(POLICIES)
  if (envelope === undefined || text === undefined || !isRead) return []
  const file = fileAt(envelope, `${name}.yaml`, damaged(text, wrong))
  return [{ ...file, roots: envelope.startsWith(POLICIES) ? [POLICIES] : file.roots, ...(isHome && { home: 'team' }) }]
}
