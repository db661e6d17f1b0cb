// Runs one seed from its first day to its last and reports what occurred, was checked and was violated. The same seed gives the same trace.
import { createHash } from 'node:crypto'
import { scopeKey } from '../../src/core/model/scope.ts'
import { statusDocument } from '../../src/daemon/http/documents/workspaces.ts'
import { EMAIL_LABELS } from '../../src/daemon/http/labels.ts'
import { createMetrics, type Metrics } from '../../src/daemon/http/metrics/metrics.ts'
import { FACT_NAMES } from '../../src/daemon/ledger/values/values.ts'
import { between, type Draw, stream } from '../../src/sandbox/company/company.ts'
import { invariantsFor } from './invariants/all.ts'
import { calm, happen } from './lives/events/happen.ts'
import { approve, stir } from './lives/events/tools.ts'
import { createLife, type Life } from './lives/life.ts'
import { drawModel } from './lives/policy-edits.ts'
import { WORKSPACE } from './lives/process.ts'
import { type Cut, drawScenario, MINUTE_MS, NO_CUT, type Scenario } from './lives/scenario.ts'
import type { Step } from './steps.ts'
import type { SimLedger } from './world/ledger/kind.ts'

interface RunOptions {
  readonly seed: number
  readonly days: number
  readonly cut?: Cut
  /** Takes each line of the trace. */
  readonly onLine?: (line: string) => void
  /** Continue after a violation. */
  readonly patient?: boolean
  /** Compute only the digest of the trace. */
  readonly digest?: boolean
  /** Default: a file of SQLite. */
  readonly ledger?: SimLedger
}

interface Violation {
  readonly invariant: string
  readonly atMs: number
  readonly message: string
}

export interface RunReport {
  readonly seed: number
  readonly days: number
  readonly digest: string
  readonly violations: readonly Violation[]
  /** How often each kind of fault and event occurred. */
  readonly met: Readonly<Record<string, number>>
  readonly checked: Readonly<Record<string, number>>
  readonly requests: number
  readonly writes: number
  /** The number of events of the scenario, for `--until`. */
  readonly events: number
}

/** The most violations that are reported of one seed. */
const ENOUGH = 20

interface Recorder {
  readonly violations: Violation[]
  readonly met: Record<string, number>
  readonly checked: Record<string, number>
  requests: number
  writes: number
}

export async function runSeed(options: RunOptions): Promise<RunReport> {
  const { seed, days, onLine } = options
  const scenario = drawScenario(seed, days, options.cut ?? NO_CUT)
  const recorder: Recorder = { violations: [], met: {}, checked: {}, requests: 0, writes: 0 }
  const hash = createHash('sha256')
  const isTraced = onLine !== undefined || options.digest !== false
  const note = (text: string): void => {
    if (!isTraced) return
    const line = `${(life.elapsed() / 1000).toFixed(3)} ${text}`
    hash.update(`${line}\n`)
    onLine?.(line)
  }
  const watchers: ((step: Step) => void)[] = []
  const emit = (step: Step): void => {
    count(recorder, step)
    const text = isTraced ? lineOf(step) : undefined
    if (text !== undefined) note(text)
    for (const watcher of watchers) watcher(step)
  }
  const life = createLife({ scenario, emit, note, ...(options.ledger && { ledger: options.ledger }) })
  for (const { name, watch } of invariantsFor(life.keys)) {
    recorder.checked[name] = 0
    const violated = (message: string): void => {
      if (recorder.violations.length >= ENOUGH) return
      recorder.violations.push({ invariant: name, atMs: life.elapsed(), message })
      note(`!! ${name}: ${message}`)
    }
    const checked = (): void => {
      recorder.checked[name] = (recorder.checked[name] ?? 0) + 1
    }
    watchers.push(watch(life, { checked, violated }))
  }
  try {
    await live(life, scenario, () => recorder.violations.length > 0 && !options.patient)
  } finally {
    await life.close()
  }
  for (const [kind, times] of life.weather.counts) recorder.met[kind] = times
  return { seed, days, digest: hash.digest('hex'), events: scenario.events.length, ...recorder }
}

async function live(life: Life, scenario: Scenario, isOver: () => boolean): Promise<void> {
  const { clock } = life
  const draw = stream(scenario.seed, 'beginning')
  for (const email of life.company.people.keys())
    for (const id of life.company.groups.keys()) if (draw() < 0.35) life.company.regroup(email, id)
  life.model = drawModel(life, draw)
  life.start()
  const events = scenario.events.values()
  let next = events.next()
  for (const round of scenario.rounds) {
    for (; !next.done && next.value.atMs < round.calmAtMs; next = events.next()) {
      await clock.runTo(next.value.atMs)
      if (isOver()) return
      happen(life, next.value)
    }
    await clock.runTo(round.calmAtMs)
    if (isOver()) return
    calm(life)
    if (round.approving) {
      await clock.runTo((round.calmAtMs + round.settledAtMs) / 2)
      for (const { id } of life.view()?.holds ?? []) approve(life, id)
    }
    await clock.runTo(round.settledAtMs)
    await writesEnd(life)
    life.emit({ kind: 'settled' })
    await show(life)
    await clock.runTo(round.quietAtMs)
    life.emit({ kind: 'quiet' })
    if (isOver()) return
    if (round.appliedAtMs !== undefined) await applyInTheQuiet(life, round.appliedAtMs, stream(scenario.seed, `apply/${round.fromMs}`))
    if (isOver()) return
  }
}

/** A cycle may be writing at that instant, such as raises of a pool that waited for use to show: caps are as desired once it has ended. */
async function writesEnd({ clock, ledger, elapsed }: Life): Promise<void> {
  const untilMs = elapsed() + 5 * MINUTE_MS
  while (ledger()?.openIntents().length && elapsed() < untilMs) await clock.runTo(elapsed() + 10_000)
}

/** The daemon stops, policy or caps change, and one `apply` must do. */
async function applyInTheQuiet(life: Life, untilMs: number, draw: Draw): Promise<void> {
  const { clock } = life
  void life.process?.stop()
  await clock.runTo(life.elapsed() + 5 * MINUTE_MS)
  life.process?.kill()
  for (let times = between(draw, 1, 3); times > 0; times -= 1) stir(life, draw)
  life.note('* apply')
  life.emit({ kind: 'world', what: 'apply' })
  void life.apply()
  await clock.runTo(untilMs)
  if (untilMs < (life.scenario.rounds.at(-1)?.quietAtMs ?? 0)) life.start()
}

let metrics: Metrics | undefined

/** All outputs of the process, in which the key is searched. */
async function show(life: Life): Promise<void> {
  const daemon = life.process?.daemon
  if (!daemon) return
  const views = daemon.views()
  const health = daemon.health()
  const showing = { people: EMAIL_LABELS, now: Math.floor(life.now()) }
  const clock = { now: life.now, monotonic: life.elapsed, sleep: life.clock.sleep }
  const status = await statusDocument(views, { ...health, version: '0.0.0' }, showing, { clock })
  life.emit({ kind: 'output', where: '/status', text: JSON.stringify(status) })
  if (life.scenario.notify)
    await life.withNotes(async (ledger) => {
      const facts = FACT_NAMES.map((name) => (name === 'policy' ? '' : ledger.fact(name)))
      const text = JSON.stringify([facts, ledger.owned(), ledger.quarantined(), ledger.approvals(), await ledger.history({})])
      life.emit({ kind: 'output', where: 'ledger', text })
    })
  metrics ??= createMetrics({ version: '0.0.0', revision: '', clock: { now: () => life.scenario.startAt } })
  metrics.registerWorkspace(WORKSPACE)
  life.emit({ kind: 'output', where: '/metrics', text: await metrics.render(views, health) })
}

function count(recorder: Recorder, step: Step): void {
  if (step.kind === 'world') recorder.met[step.what] = (recorder.met[step.what] ?? 0) + 1
  if (step.kind !== 'request') return
  recorder.requests += 1
  if (step.operation === 'UsageConfig') recorder.writes += 1
}

/** One line of the trace; undefined for steps that other lines already show. */
function lineOf(step: Step): string | undefined {
  switch (step.kind) {
    case 'request':
      return `p${step.process} > ${step.operation} ${step.scope ?? ''} ${step.to ?? ''}`
    case 'answered':
      return `p${step.process} < ${step.operation} ${step.scope ?? ''} ${step.observed ?? ''}`
    case 'landed':
      return `p${step.process} = ${step.scope} ${step.from} -> ${step.to}${step.late ? ' (late)' : ''}`
    case 'recorded':
      return `p${step.process} # ${step.method} ${briefly(step.values)}`
    case 'told':
      return toldLine(step)
    case 'message':
      return `p${step.process} ~> ${step.message.key} ${step.message.level} ${briefly(step.message.values['items'] ?? step.message.subject)}`
    case 'delivered':
      return `p${step.process} <~ ${step.message.key} ${step.outcome}`
    case 'listed':
      return `p${step.process} < people file ${step.version?.digest ?? 'unreadable'}`
    case 'started':
    case 'died':
      return `p${step.process} ${step.kind}`
    case 'output':
    case 'foreign':
    case 'forgotten':
    case 'world':
      return undefined
    case 'applied':
      return `* applied: ${step.end.exit} ${step.end.message ?? ''}`
    default:
      return `* ${step.kind}`
  }
}

function toldLine({ process, event }: Extract<Step, { kind: 'told' }>): string | undefined {
  if (event.kind === 'request-finished') return undefined
  if (event.kind === 'planned') {
    const changes = event.plan.changes.map(
      ({ scope, from, to, disposition }) => `${scopeKey(scope)} ${from}->${to} ${JSON.stringify(disposition)}`,
    )
    return changes.length > 0 ? `p${process} : planned ${changes.join(', ')}` : undefined
  }
  const { workspace: _w, at: _a, kind, ...rest } = event
  if (kind === 'usage-read') return undefined
  return `p${process} : ${kind} ${briefly(rest)}`
}

/** Long values would hide the others. Hashes of people differ from run to run: each new ledger draws its own salt. */
const briefly = (value: unknown): string => {
  const text = (JSON.stringify(value) ?? '').replace(/"[0-9a-f]{64}"/g, '"…"')
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
