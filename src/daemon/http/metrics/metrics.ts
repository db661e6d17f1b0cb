// The Prometheus page: counters and histograms are folds over events; gauges are set from the views at each scrape, so that no series outlives its subject.
// The only file that imports prom-client. It must not name a person unless metrics.perUser is set.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { labelsText, labelText } from '../../../core/escape/text.ts'
import { CHANGE_RESULTS, EFFECTS } from '../../../core/model/change.ts'
import { type CycleEvent, RECONCILE_RESULTS, REQUEST_OUTCOMES, type WorkspaceView } from '../../../core/model/events.ts'
import { OPERATIONS } from '../../../core/model/observed.ts'
import { SCOPE_KINDS } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import { burnedOf } from '../../../core/use/burn.ts'
import type { Clock } from '../../../ports.ts'
import type { Health } from '../documents/types.ts'
import { EMAIL_LABELS, type PeopleLabels } from '../labels.ts'
import { COUNTERS, type Definition, GAUGES, HISTOGRAMS, isShown, PHASES, type Put, putWorkspaceGauges } from './gauges.ts'

/** `top`: the people with the highest use; `all`: all people, up to the limit. */
interface PerUserSettings {
  readonly perUser: 'off' | 'top' | 'all'
  /** An e-mail as it shows in the label `user`: itself, or its hash. */
  readonly userLabel: (email: string) => string
}

/** Users with series, over all workspaces (docs/metrics.md). */
const MAX_USERS = 1000

/** Users of `top`, per workspace. Choice. */
const TOP_USERS = 50

const SERIES_PER_USER = 2

/** Now, as the view's readings are dated. */
const timeOf = ({ aheadMs = 0 }: WorkspaceView, now: Instant): Instant => now - aheadMs

/** Puts the gauges per user of all workspaces; returns how many series the limit left out. */
function putUserGauges(put: Put, views: readonly WorkspaceView[], settings: PerUserSettings, now: Instant): number {
  if (settings.perUser === 'off') return 0
  let left = MAX_USERS
  let dropped = 0
  for (const view of views) {
    if (!view.roster || !isShown(view.roster, timeOf(view, now))) continue
    const used = new Map(view.roster.people.map((person) => [person.email, person.used]))
    const ranked = view.people.toSorted((a, b) => (used.get(b.email) ?? 0) - (used.get(a.email) ?? 0) || (a.email < b.email ? -1 : 1))
    const wanted = settings.perUser === 'top' ? ranked.slice(0, TOP_USERS) : ranked
    for (const { email, cap } of wanted.slice(0, left)) {
      const labels = { workspace: view.workspace, user: settings.userLabel(email) }
      put('capkeeper_user_cap_credits', labels, cap === 'none' ? undefined : cap)
      put('capkeeper_user_credits_used', labels, used.get(email))
    }
    dropped += Math.max(0, wanted.length - left) * SERIES_PER_USER
    left = Math.max(0, left - wanted.length)
  }
  return dropped
}

export type Metrics = ReturnType<typeof createMetrics>

export interface MetricsOptions {
  readonly version: string
  /** The commit this program was built from, or ''. */
  readonly revision: string
  readonly clock: Pick<Clock, 'now'>
  /** How people in names of rules, pools and groups are shown. */
  readonly people?: PeopleLabels
  /** Off when absent. */
  readonly users?: PerUserSettings
}

/** Names of prom-client's own that `promtool check metrics` refuses: gauges that end in _total. */
const REFUSED_DEFAULTS = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total']

export function createMetrics(options: MetricsOptions) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of REFUSED_DEFAULTS) registry.removeSingleMetric(name)
  const parts = createParts(registry)
  const { people = EMAIL_LABELS } = options
  /** Label values by name. */
  const workspaces = new Map<string, string>()
  let mostDropped = 0

  function setGauges(views: readonly WorkspaceView[], health: Health): void {
    for (const gauge of Object.values(parts.gauges)) gauge.reset()
    const put: Put = (name, labels, value) => {
      if (value !== undefined) parts.gauges[name].set(labelsText(labels), value)
    }
    const now = options.clock.now()
    put('capkeeper_build_info', { version: options.version, revision: options.revision }, 1)
    put('capkeeper_config_valid', {}, Number(health.configValid))
    put('capkeeper_ledger_writable', {}, Number(health.ledgerWritable))
    for (const { workspace, lease } of views) put('capkeeper_workspace_held', { workspace }, Number(lease?.isHere ?? true))
    // A workspace that another replica holds is counted only there.
    const own = views.filter(({ lease }) => lease?.isHere ?? true)
    for (const view of own) putWorkspaceGauges((name, labels, value) => put(name, people.all(labels), value), view, timeOf(view, now))
    const dropped = options.users ? putUserGauges(put, own, options.users, now) : 0
    parts.counters.capkeeper_metrics_dropped_series_total.inc(Math.max(0, dropped - mostDropped))
    mostDropped = Math.max(mostDropped, dropped)
  }

  return {
    contentType: registry.contentType,
    /** Events of a workspace that is not registered are ignored. */
    onEvent(event: CycleEvent): void {
      const workspace = workspaces.get(event.workspace)
      if (workspace !== undefined) count(parts, event, workspace)
    },
    /** The whole page in Prometheus' text format, version 0.0.4. */
    // All gauges are set before the first await, so that overlapping scrapes never see half of them.
    async render(views: readonly WorkspaceView[], health: Health): Promise<string> {
      setGauges(views, health)
      setBurned(parts, views, workspaces, people)
      setTransfers(parts, views)
      return registry.metrics()
    },
    /** Starts the counters of a workspace at 0; does nothing when it is registered already. */
    registerWorkspace(workspace: string): void {
      if (workspaces.has(workspace)) return
      workspaces.set(workspace, labelText(workspace))
      const { counted, measured } = seriesOf(parts, workspace)
      for (const [counter, all] of counted) for (const labels of all) counter.inc(labels, 0)
      for (const [histogram, all] of measured) for (const labels of all) histogram.zero(labels)
    },
    /** Removes the series of a workspace. */
    removeWorkspace(workspace: string): void {
      workspaces.delete(workspace)
      const { counted, measured } = seriesOf(parts, workspace)
      for (const [metric, all] of [...counted, ...measured]) for (const labels of all) metric.remove(labels)
    },
  }
}

type Parts = ReturnType<typeof createParts>

function createParts(registry: Registry) {
  const registers = [registry]
  return {
    gauges: mapTable(GAUGES, (name, { help, labels }: Definition) => new Gauge({ name, help, labelNames: labels, registers })),
    counters: mapTable(COUNTERS, (name, { help, labels }: Definition) => new Counter({ name, help, labelNames: labels, registers })),
    histograms: mapTable(
      HISTOGRAMS,
      (name, { help, labels, buckets }) => new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers }),
    ),
  }
}

// Object.fromEntries loses the type of the names; the cast restores it.
const mapTable = <Name extends string, Row extends Definition, Part>(
  table: Readonly<Record<Name, Row>>,
  make: (name: string, row: Row) => Part,
): Readonly<Record<Name, Part>> =>
  Object.fromEntries(Object.entries<Row>(table).map(([name, row]) => [name, make(name, row)])) as Record<Name, Part>

function count({ counters, histograms }: Parts, event: CycleEvent, workspace: string): void {
  switch (event.kind) {
    case 'change-finished': {
      const { scope, effect } = event.change
      counters.capkeeper_changes_total.inc({ workspace, kind: scope.kind, effect, result: event.result })
      break
    }
    case 'condition': {
      const { type, scope, fields, remembered } = event.condition
      if (type !== 'ForeignChange' || event.change === 'ended' || remembered || !scope) break
      const labels = { workspace, kind: scope.kind }
      counters.capkeeper_external_changes_total.inc(labels)
      const unseen = fields?.['unseenSeconds']
      if (typeof unseen === 'number') histograms.capkeeper_drift_detection_seconds.observe(labels, unseen)
      break
    }
    case 'request-finished': {
      const { operation, outcome } = event
      counters.capkeeper_api_requests_total.inc({ workspace, operation, outcome })
      histograms.capkeeper_api_request_duration_seconds.observe({ workspace, operation }, event.durationMs / 1000)
      break
    }
    case 'cycle-finished': {
      counters.capkeeper_reconcile_total.inc({ workspace, result: event.result })
      const durations = { observe: event.observeMs, apply: event.applyMs, total: event.totalMs }
      for (const phase of PHASES) {
        histograms.capkeeper_reconcile_duration_seconds.observe({ workspace, phase }, durations[phase] / 1000)
      }
      break
    }
    default: // The gauges show the rest.
  }
}

/** The leases count transfers, also of workspaces that another replica holds now. */
function setTransfers({ counters }: Parts, views: readonly WorkspaceView[]): void {
  counters.capkeeper_lease_transfers_total.reset()
  for (const { workspace, lease } of views)
    counters.capkeeper_lease_transfers_total.inc({ workspace: labelText(workspace) }, lease?.transfers ?? 0)
}

/** The ledger keeps the sums, so they survive restarts; until they are known there is no series. A group has one while the view has the group. */
function setBurned(
  { counters }: Parts,
  views: readonly WorkspaceView[],
  workspaces: ReadonlyMap<string, string>,
  people: PeopleLabels,
): void {
  counters.capkeeper_credits_burned_total.reset()
  counters.capkeeper_group_credits_burned_total.reset()
  for (const { workspace: name, groups, use } of views) {
    if (!workspaces.has(name) || !use) continue
    const workspace = labelText(name)
    counters.capkeeper_credits_burned_total.inc({ workspace }, use.burned.team)
    for (const { id } of groups) {
      counters.capkeeper_group_credits_burned_total.inc({ workspace, group: labelText(people.text(id)) }, burnedOf(use.burned.groups, id))
    }
  }
}

/** Every series that events feed: each counter and histogram with the labels of all its series. */
function seriesOf({ counters, histograms }: Parts, name: string) {
  const workspace = labelText(name)
  const kinds = SCOPE_KINDS.map((kind) => ({ workspace, kind }))
  const operations = OPERATIONS.map((operation) => ({ workspace, operation }))
  const changes = kinds.flatMap((of) => EFFECTS.flatMap((effect) => CHANGE_RESULTS.map((result) => ({ ...of, effect, result }))))
  const requests = operations.flatMap((of) => REQUEST_OUTCOMES.map((outcome) => ({ ...of, outcome })))
  return {
    counted: [
      [counters.capkeeper_changes_total, changes],
      [counters.capkeeper_api_requests_total, requests],
      [counters.capkeeper_external_changes_total, kinds],
      [counters.capkeeper_reconcile_total, RECONCILE_RESULTS.map((result) => ({ workspace, result }))],
    ],
    measured: [
      [histograms.capkeeper_drift_detection_seconds, kinds],
      [histograms.capkeeper_reconcile_duration_seconds, PHASES.map((phase) => ({ workspace, phase }))],
      [histograms.capkeeper_api_request_duration_seconds, operations],
    ],
  } as const
}
