// The overview of all workspaces, the page of one and its health: what needs a person, what is off, what is held, and where the credits go.
import { type ServiceModel, serviceModel } from '../../../core/interpret/evidence.ts'
import { GUARD_CODES } from '../../../core/model/change.ts'
import type { WorkspaceView } from '../../../core/model/events.ts'
import { guardText } from '../../../core/plan/reviewed.ts'
import { usedInCycle } from '../../../core/use/burn.ts'
import { medianMs, type RequestsOf } from '../../conditions/journal.ts'
import { asked, limitOf, PAGE, pageOf, type Query, type Seen } from './documents.ts'
import { from, ifKnown, object, optional, record, within } from './field.ts'
import { HOLD_ENTRY, type HoldShown, holdsShown } from './holds.ts'
import * as t from './parts.ts'
import { attention, attentionOf, daemonAttention, SUMMARY, summaryOf, toneRank } from './summary.ts'
import type { DaemonFacts, Showing } from './types.ts'

const summary = object<ReturnType<typeof summaryOf>>('One workspace at a glance.')(SUMMARY)

/** All else of the summary is of the whole workspace. */
const part = object<ReturnType<typeof summaryOf>>('What the reader sees of one workspace: everything here is of these people only.')({
  name: from(t.plain(), ({ workspace }) => workspace),
  people: SUMMARY.people,
  bands: SUMMARY.bands,
  cycle: SUMMARY.cycle,
  readAt: ifKnown(t.instant('When people and their use were read.'), ({ roster }) => roster?.readAt),
  used: ifKnown(
    t.figure('Credits that they used in this cycle; absent where the service shows none.'),
    ({ roster }) => roster && usedInCycle(roster),
  ),
})

/** Bounds of the lists; what exceeds them is counted in `…Omitted`. Choice. */
const MOST = { attention: 50, parts: 100, scopes: 100, holds: 50 } as const

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
  const pressing = found.filter(({ tone }) => tone !== 'good').toSorted((a, b) => toneRank(a.tone) - toneRank(b.tone))
  const items = views.map(summaryOf)
  items.sort((a, b) => toneRank(a.tone) - toneRank(b.tone) || (a.workspace < b.workspace ? -1 : 1))
  return WORKSPACES.show({ ...daemon, attention: pressing, parts: parts.map(summaryOf), ...pageOf(items, question) }, showing)
}

const scope = t.scopeWith(t.place)

interface WorkspaceKnown extends Seen {
  readonly summary: ReturnType<typeof summaryOf>
  readonly shown: readonly HoldShown[]
}

export const WORKSPACE = object<WorkspaceKnown>('One workspace.')({
  ...t.about('Workspace'),
  ...within(SUMMARY, ({ summary }: WorkspaceKnown) => summary),
  ...t.problems('Problems of the policy files.'),
  scopesByKind: from(t.scopesByKind, ({ view }) => view.scopes),
  team: ifKnown(scope, ({ view }) => view.scopes.find((one) => one.scope.kind === 'team')),
  ...t.bounded('attention', MOST.scopes, scope, 'Scopes that are not in sync, those that need a person first.', ({ view }: Seen) =>
    t.notInSync(view.scopes),
  ),
  held: from(t.list(object<HoldShown>('Changes that a guard holds.')(HOLD_ENTRY), 'Holds in force.'), ({ shown }) =>
    shown.slice(0, MOST.holds),
  ),
  approvals: from(t.list(t.approval, 'Approvals and their states.'), ({ view }) => view.approvals),
  warningTexts: from(t.warnings, ({ view }) => view),
})

export const workspaceDocument = async (seen: Seen) =>
  WORKSPACE.show({ ...seen, summary: summaryOf(seen.view), shown: await holdsShown(seen) }, seen)

const operation = object<RequestsOf>('Requests of one kind since the daemon started.')({
  operation: t.plain(),
  requests: t.count('All of them.'),
  failed: t.count('Those without a good answer.'),
  lastFailure: optional(
    object<NonNullable<RequestsOf['lastFailure']>>('The last failure.')({ at: t.instant('When.'), outcome: t.plain() }),
  ),
  medianMs: ifKnown(t.figure('Half of the last 100 were faster.'), (one) => {
    const median = medianMs(one)
    return median === undefined ? undefined : Math.round(median * 10) / 10
  }),
})

const serviceModelShown = object<ServiceModel>('The service model.')({
  layers: t.words(['layered', 'copied']),
  layersProven: t.flag('A cap survived a write of an ancestor.'),
  reads: t.words(['explicit', 'inherited', 'open']),
  zero: t.plain('What the service does with a cap of 0; `open` while not known.'),
  copying: optional(t.text('The evidence that caps are copied, if there is any.')),
})

const settings = object<Seen['settings']>('As configured.')({
  interval: from(t.figure('Seconds between readings of caps.'), (one) => (one?.intervalMs ?? 0) / 1000),
  usageInterval: from(t.figure('Seconds between readings of people and use.'), (one) => (one?.usageIntervalMs ?? 0) / 1000),
  capSemantics: from(t.plain(), (one) => one?.capSemantics ?? ''),
  capReads: from(t.plain(), (one) => one?.capReads ?? 'auto'),
  onDrift: from(t.plain(), (one) => one?.onDrift ?? ''),
  prune: from(t.flag(), (one) => one?.prune ?? false),
  approvals: from(t.plain(), (one) => one?.approvals ?? 'separate'),
  guards: from(t.texts('Each guard and its limit, in words.'), (one) =>
    one ? Object.fromEntries(GUARD_CODES.map((name) => [name, guardText(name, one.guards[name])])) : {},
  ),
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
  ratePerSecond: ifKnown(t.share('Requests per second, as learned.'), ({ view }) => view.ratePerSecond),
  history: ifKnown(t.history, ({ view }) => view.history),
  clockSkewSeconds: ifKnown(t.clockSkew, ({ view }) => view.clockSkewMs),
  model: from(serviceModelShown, (one) => serviceModel(one.settings ?? { capSemantics: 'layered' }, one.view.seen ?? {})),
  seen: from(t.findings, ({ view }) => view.seen ?? {}),
  operations: from(t.list(operation, 'Requests to the service.'), ({ requests = [] }) => requests),
  unread: from(
    t.count('Scopes whose last reading failed.'),
    ({ readings }) => [...(readings?.values() ?? [])].filter(({ failure }) => failure !== undefined).length,
  ),
  oldestReadingAt: ifKnown(t.instant('The oldest reading of a managed scope.'), ({ view }) => oldestReadingAt(view)),
  settings: from(settings, (one) => one.settings),
  warnings: from(t.warnings, ({ view }) => view),
  replicas: from(t.list(replica, 'Empty where there is only one replica.'), ({ view, daemon }) =>
    (daemon.replicas ?? []).map((one) => ({ ...one, view, daemon })),
  ),
})

function oldestReadingAt({ scopes }: WorkspaceView): number | undefined {
  const managed = scopes.flatMap(({ state, readAt }) => (state === 'skipped' || readAt === undefined ? [] : [readAt]))
  return managed.reduce<number | undefined>((least, at) => (least === undefined || at < least ? at : least), undefined)
}

export const healthDocument = (seen: Seen, daemon: DaemonFacts) => HEALTH.show({ ...seen, daemon }, seen)
