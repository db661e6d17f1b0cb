// The overview of all workspaces, the page of one, its health, and /status, which has all pages in one: what needs a person, what is off, what is held,
// and where the credits go.
import { type ServiceModel, serviceModel } from '../../../core/interpret/evidence.ts'
import { byUrgency } from '../../../core/model/condition.ts'
import type { PoolStatus, WorkspaceView } from '../../../core/model/events.ts'
import type { Instant } from '../../../core/model/units.ts'
import { addOnFigures, totalAddOn } from '../../../core/use/add-on.ts'
import { usedInCycle } from '../../../core/use/burn.ts'
import type { Requests } from '../../conditions/journal.ts'
import { asked, limitOf, PAGE, pageOf, type Query, type Seen } from './documents.ts'
import { fields, from, ifKnown, object, optional, record, within } from './field.ts'
import { HOLD_ENTRY, type HoldShown, holdsShown } from './holds.ts'
import * as t from './parts.ts'
import { mapYielding } from './show.ts'
import { attention, attentionOf, daemonAttention, SUMMARY, summaryOf, toneRank } from './summary.ts'
import type { DaemonFacts, Showing } from './types.ts'

const summary = object<ReturnType<typeof summaryOf>>('One workspace at a glance.')(SUMMARY)

/** All else of the summary is of the whole workspace. */
const part = object<ReturnType<typeof summaryOf>>('What the reader sees of one workspace: everything here is of these people only.')({
  name: from(t.plain(), ({ workspace }) => workspace),
  people: SUMMARY.people,
  bands: SUMMARY.bands,
  readAt: ifKnown(t.instant('When people and their use were read.'), ({ roster }) => roster?.readAt),
  used: ifKnown(
    t.figure('Credits that they used in this cycle; absent where the service shows none.'),
    ({ roster }) => roster && usedInCycle(roster),
  ),
})

/** Bounds of the lists; what exceeds them is counted in `…Omitted`. Choice. */
const MOST = { attention: 50, parts: 100, scopes: 100, holds: 50, pools: 100, rules: 100 } as const

export const WORKSPACES = record('All workspaces that the reader may see; what needs a person first.')({
  ...t.head('WorkspaceList'),
  version: t.plain('Of capkeeper.'),
  configValid: t.flag('The config file is valid; otherwise the last good one is in force.'),
  ledgerWritable: t.flag('The ledger can be written; otherwise no cap is written.'),
  ...t.bounded('attention', MOST.attention, attention, 'The most pressing first.'),
  ...t.bounded('parts', MOST.parts, part, 'Workspaces of which the reader sees only some people, by name.'),
  ...t.paged(summary, 'Those that need a person first, then by name.'),
})

export const WORKSPACES_QUERY = [PAGE, limitOf(100, 500)]

export function workspacesDocument(
  { views, parts }: { readonly views: readonly WorkspaceView[]; readonly parts: readonly WorkspaceView[] },
  daemon: DaemonFacts,
  showing: Showing,
  query: Query,
) {
  const question = asked(query, WORKSPACES_QUERY)
  const found = [...daemonAttention(daemon), ...views.flatMap(attentionOf)]
  const pressing = found.toSorted((a, b) => toneRank(a.tone) - toneRank(b.tone))
  const items = views.map(summaryOf)
  items.sort((a, b) => toneRank(a.tone) - toneRank(b.tone) || (a.workspace < b.workspace ? -1 : 1))
  return WORKSPACES.show({ ...daemon, attention: pressing, parts: parts.map(summaryOf), ...pageOf(items, question) }, showing)
}

interface WorkspaceKnown extends Pick<Seen, 'view'> {
  readonly summary: ReturnType<typeof summaryOf>
  readonly shown: readonly HoldShown[]
}

const OF_WORKSPACE = fields<WorkspaceKnown>()({
  ...within(SUMMARY, ({ summary }: WorkspaceKnown) => summary),
  ...t.problems('Problems of the policy files.'),
  ...t.bounded(
    'attention',
    MOST.scopes,
    t.scopeStatus,
    'Scopes that are not in sync, those that need a person first.',
    ({ view }: WorkspaceKnown) => t.notInSync(view.scopes),
  ),
  held: from(t.list(object<HoldShown>('Changes that a guard holds.')(HOLD_ENTRY), 'Holds in force.'), ({ shown }) =>
    shown.slice(0, MOST.holds),
  ),
  approvals: from(t.list(t.approval, 'Approvals and their states.'), ({ view }) => view.approvals),
  warningTexts: from(t.warnings, ({ view }) => view),
})

export const WORKSPACE = object<WorkspaceKnown>('One workspace.')({ ...t.about('Workspace'), ...OF_WORKSPACE })

export const workspaceDocument = async (seen: Seen) =>
  WORKSPACE.show({ view: seen.view, summary: summaryOf(seen.view), shown: await holdsShown(seen) }, seen)

/** How a workspace gets along with its service. */
const SERVICE = fields<WorkspaceView>()({
  ratePerSecond: optional(t.share('Requests per second, as learned.')),
  history: optional(t.history),
  clockSkewSeconds: ifKnown(t.clockSkew, ({ clockSkewMs }) => clockSkewMs),
  seen: from(t.findings, ({ seen = {} }) => seen),
})

const addOn = object<ReturnType<typeof addOnOf>>('Add-on use of people in this cycle, by which bands and guards go.')({
  source: t.addOnSource,
  credits: optional(t.figure('The sum; absent when nothing is known.')),
  readAt: ifKnown(t.instant('When it was measured.'), ({ measured }) => measured?.readAt),
  latestDay: ifKnown(t.day('The last day with measured use.'), ({ measured }) => measured?.latestDayAt),
  notMeasured: optional(t.words(['absent', 'denied'], 'The service does not tell it, or not to this key.')),
})

function addOnOf(view: WorkspaceView, { people }: NonNullable<WorkspaceView['roster']>, now: Instant) {
  const figures = addOnFigures({ now, cycle: t.cycleOf(view), measured: view.measured, balance: view.balance })
  const { source } = figures
  const why = source === 'measured' ? { measured: view.measured } : { notMeasured: view.notMeasured }
  return { source, credits: totalAddOn(figures, people), ...why }
}

const pool = object<PoolStatus>('A budget over caps in this cycle, in credits.')({
  name: t.text(),
  credits: t.figure('Credits of all members together.'),
  people: ifKnown(t.count('Its members.'), ({ figures }) => figures?.members),
  readAt: ifKnown(t.instant('When the use was read.'), ({ figures }) => figures?.readAt),
  used: ifKnown(t.amount('Credits used; absent until use was read.'), ({ figures }) => figures?.used),
  dealt: ifKnown(t.dealt, ({ figures }) => figures?.dealt),
  exhaustion: t.poolExhaustion,
  dealtAt: optional(t.instant('When it was dealt last.')),
  frozen: optional(t.text('Why the last deal stays.')),
})

const rule = record('A rule.')({ name: t.text(), people: t.count('People for whom it is the first match.') })

const ofStatus = object<WorkspaceKnown>('One workspace.')({
  workspace: from(t.plain('Its name.'), ({ view }) => view.workspace),
  ...OF_WORKSPACE,
  ...within(SERVICE, ({ view }: WorkspaceKnown) => view),
  addOn: ifKnown(addOn, ({ view }, { now }) => view.roster && addOnOf(view, view.roster, now)),
  ...t.bounded('pools', MOST.pools, pool, 'By name.', ({ view }: WorkspaceKnown) => view.pools ?? []),
  ...t.bounded('rules', MOST.rules, rule, 'In the order in which they apply.', ({ view }: WorkspaceKnown) => view.rules ?? []),
})

export const STATUS = record('The state of every workspace.')({
  ...t.head('Status'),
  version: t.plain('Of capkeeper.'),
  configValid: t.flag('The config file is valid.'),
  ledgerWritable: t.flag('The ledger can be written.'),
  conditions: t.list(t.condition, 'Of the process as a whole.'),
  workspaces: t.list(t.made(ofStatus), 'In the order of the config.'),
})

/** The state of every workspace as one document. */
export async function statusDocument(views: readonly WorkspaceView[], daemon: DaemonFacts, showing: Showing, parts: Pick<Seen, 'clock'>) {
  const workspaces = await mapYielding(views, parts, (view) =>
    ofStatus.show({ view, summary: summaryOf(view), shown: view.holds }, { ...showing, revision: view.policy?.revision }),
  )
  return STATUS.show({ ...daemon, conditions: byUrgency(daemon.conditions ?? []), workspaces }, showing)
}

const requestsShown = object<Requests>('Requests to the service by this process.')({
  sent: t.count('Since the daemon started.'),
  failed: t.count('Those without a good answer.'),
  last: optional(
    object<NonNullable<Requests['last']>>('The last that failed.')({ at: t.instant('When.'), operation: t.plain(), outcome: t.plain() }),
  ),
})

const serviceModelShown = object<ServiceModel>('The service model.')({
  layers: t.words(['layered', 'copied']),
  layersProven: t.flag('A cap survived a write of an ancestor.'),
  reads: t.words(['explicit', 'inherited', 'open']),
  zero: t.plain('What the service does with a cap of 0; `open` while not known.'),
  copying: optional(t.text('The evidence that caps are copied, if there is any.')),
})

const replica = object<NonNullable<DaemonFacts['replicas']>[number] & Pick<HealthSource, 'view' | 'daemon'>>('A running capkeeper.')({
  name: t.text(),
  version: ifKnown(t.plain(), ({ isHere, daemon }) => (isHere ? daemon.version : undefined)),
  keeps: from(t.flag('It holds this workspace.'), ({ view, name }) => view.lease?.holder === name),
})

type HealthSource = Seen & { readonly daemon: DaemonFacts }

const { pause: _, ...LASTING } = t.STATE

export const HEALTH = object<HealthSource>('How the daemon runs one workspace.')({
  ...t.about('Health'),
  version: from(t.plain('Of capkeeper.'), ({ daemon }) => daemon.version),
  configValid: from(t.flag('The config file is valid.'), ({ daemon }) => daemon.configValid),
  ledgerWritable: from(t.flag('The ledger can be written.'), ({ daemon }) => daemon.ledgerWritable),
  ...within(LASTING, ({ view }: Seen) => view),
  ...within(SERVICE, ({ view }: Seen) => view),
  model: from(serviceModelShown, (one) => serviceModel(one.settings ?? { capSemantics: 'layered' }, one.view.seen ?? {})),
  seen: from(t.findings, ({ view: { seen = {} } }) => seen),
  requests: from(requestsShown, ({ requests = { sent: 0, failed: 0 } }) => requests),
  unread: from(t.count('Managed scopes whose cap could not be read.'), ({ view }) => t.countStates(view.scopes).unknown),
  oldestReadingAt: ifKnown(t.instant('The oldest reading of a managed scope.'), ({ view }) => oldestReadingAt(view)),
  replicas: from(t.list(replica, 'Empty where there is only one replica.'), ({ view, daemon }) =>
    (daemon.replicas ?? []).map((one) => ({ ...one, view, daemon })),
  ),
})

function oldestReadingAt({ scopes }: WorkspaceView): number | undefined {
  const managed = scopes.flatMap(({ state, readAt }) => (state === 'skipped' || readAt === undefined ? [] : [readAt]))
  return managed.reduce<number | undefined>((least, at) => (least === undefined || at < least ? at : least), undefined)
}

export const healthDocument = (seen: Seen, daemon: DaemonFacts) => HEALTH.show({ ...seen, daemon }, seen)
