// Puts the documents together for one reader: finds the workspace among those the reader may see, whether it runs here or on another replica, takes its
// present state, and makes the index of people only where a document needs it. All readers share that index while the state of the workspace is the same.
import { kindOf } from '../../../core/model/condition.ts'
import type { WorkspaceView } from '../../../core/model/events.ts'
import type { PolicyRevision } from '../../../core/model/policy.ts'
import { scopeKey } from '../../../core/model/scope.ts'
import { emptied } from '../../../core/resolve/roster.ts'
import { gradesOf } from '../../../core/use/history.ts'
import type { Clock, DayRange, Ledger } from '../../../ports.ts'
import { commonDays } from '../../collect/history.ts'
import { knownRuns } from '../../collect/usage-summary.ts'
import { chronicleOf } from '../../conditions/journal.ts'
import { viewOf } from '../../conditions/view.ts'
import type { WorkspaceSettings } from '../../config/settings.ts'
import { desiredState, recall, unseen } from '../../cycle/state.ts'
import { unlessLedger } from '../../ledger/error.ts'
import type { Comparisons } from '../../replay/comparisons.ts'
import type { Workspace } from '../../workspace.ts'
import type { Sight, Viewer } from '../auth.ts'
import { keeper } from '../kept.ts'
import { EMAIL_LABELS, type PeopleLabels } from '../labels.ts'
import { DocumentError, type Query, type Seen } from './documents.ts'
import { meDocument } from './me.ts'
import { namedOf, partOf, stepOf } from './part.ts'
import { type PeopleIndex, peopleIndex } from './people/roster.ts'
import { comparisonDocument } from './story/comparison.ts'
import { DOCUMENTS, type DocumentRow } from './table.ts'
import type { DaemonFacts, Records, Showing, WorkspaceFacts, WorkspaceSource } from './types.ts'
import { healthDocument, statusDocument, workspacesDocument } from './workspaces.ts'

export const sourceOf = (workspace: Workspace, version: () => number): WorkspaceSource => ({
  name: workspace.config.name,
  version,
  view: () => viewOf(workspace),
  facts: async () => factsOf(workspace),
  records: recordsOf(async () => workspace.ledger),
})

function factsOf(workspace: Workspace): WorkspaceFacts {
  const { config, state, shown, runs, chronicle } = workspace
  return {
    view: viewOf(workspace),
    settings: config,
    ...(state && { readings: state.readings, policy: state.policy, unknownGroups: state.unknownGroups }),
    desiredState: shown.desiredState,
    planned: shown.planned,
    runs,
    journal: chronicle?.journal(),
    requests: chronicle?.requests(),
    slicing: workspace.reading,
    // By the interval alone, without jitter and the duration of a sweep.
    nextSweepAt: shown.lastCycle && shown.lastCycle.startedAt + config.intervalMs,
  }
}

interface Elsewhere {
  readonly settings: WorkspaceSettings
  readonly view: WorkspaceView
  /** The policies as they are here. */
  readonly policy?: PolicyRevision
}

/**
 * A workspace that another replica holds: its view as that replica saved it, and its records from the database. What its policies ask is worked out
 * here, from the same policies and records.
 */
export const elsewhereSource = (one: Elsewhere, version: () => number, open: () => Promise<Ledger>, clock: Clock): WorkspaceSource => {
  const { settings, view } = one
  return {
    name: settings.name,
    version,
    view: () => view,
    facts: async () => ({ view, settings, ...(await askedElsewhere(one, open, clock)) }),
    records: recordsOf(open),
  }
}

type Asked = Pick<WorkspaceFacts, 'policy' | 'readings' | 'unknownGroups' | 'desiredState' | 'runs' | 'journal'>

/** By the scopes of the view, which are the same list until the holder saves another view. */
const askedBefore = new WeakMap<WorkspaceView['scopes'], { readonly policy?: PolicyRevision; readonly asked: Promise<Asked> }>()

async function askedElsewhere(one: Elsewhere, open: () => Promise<Ledger>, clock: Clock): Promise<Asked> {
  const { scopes } = one.view
  const before = askedBefore.get(scopes)
  if (before && before.policy === one.policy) return before.asked
  const kept = open().then(async (ledger) => ({ ledger, runs: await knownRuns({ ledger, clock }), journal: chronicleOf(ledger).journal() }))
  const asked = kept
    .then(({ ledger, ...past }): Asked => ({ ...past, ...policyElsewhere(one, ledger, clock) }))
    .catch((error: unknown) => {
      askedBefore.delete(scopes)
      return unlessLedger(error) ?? {}
    })
  askedBefore.set(scopes, { policy: one.policy, asked })
  return asked
}

/** By the holder's policies: those of this replica where they are the same and whole, else as the holder has recorded them. Nothing without them. */
function policyElsewhere({ settings, view, policy: own }: Elsewhere, ledger: Ledger, clock: Clock): Asked {
  const kept = ledger.fact('policy')
  const known = [own && emptied(own, kept?.set).length === 0 ? own : undefined, kept && unseen(kept, settings)]
  const asked = known.find((one) => one?.digest === view.policy?.digest)
  if (!asked) return {}
  const state = recall(asked, ledger)
  for (const { scope, observed, readAt } of view.scopes)
    if (readAt !== undefined) state.readings.set(scopeKey(scope), { scope, observed, readAt })
  const { policy, readings, unknownGroups } = state
  const client = { clockSkewMs: () => view.clockSkewMs }
  return { policy, readings, unknownGroups, desiredState: desiredState(state, { config: settings, ledger, client, clock }) }
}

function recordsOf(open: () => Promise<Ledger>): Records {
  const ask = async <T>(nothing: T, question: (ledger: Ledger) => Promise<T>): Promise<T> => {
    const failed = (error: unknown) => unlessLedger(error) ?? nothing
    return open().then(question).catch(failed)
  }
  return {
    history: (filter) => ask([], (ledger) => ledger.history(filter)),
    runs: (scope, days) => ask([], (ledger) => ledger.runs(scope, days)),
    useOfPerson: (email, days) => ask([], (ledger) => ledger.useOfPerson(email, days)),
    addOnOfPerson: (email, days) => ask([], (ledger) => ledger.addOnOfPerson(email, days)),
    gradesOfPerson: (email, days) => ask([], (ledger) => gradesOfPerson(ledger, email, days)),
    fact: (name) => ask(undefined, async (ledger) => ledger.fact(name)),
  }
}

async function gradesOfPerson(ledger: Ledger, email: string, days: DayRange) {
  const [person = { email, known: [] }] = await ledger.histories(email)
  return gradesOf(days, person, await commonDays(ledger, days.untilAt))
}

interface DocumentOptions {
  readonly sources: () => readonly WorkspaceSource[]
  readonly daemon: () => DaemonFacts
  readonly people: PeopleLabels
  /** Labels as hashes, whatever `people` is. */
  readonly hashed: PeopleLabels
  readonly clock: Clock
  /** Called before anything is shown, to read what other processes change, such as pauses. Never rejects. */
  readonly refresh?: () => Promise<void>
  readonly sourceUrl?: () => string | undefined
  readonly requestUrl?: () => string | undefined
  /** Absent: past cycles are not compared here. */
  readonly comparisons?: Pick<Comparisons, 'of'>
}

/** What a reader may see, and who it is. */
export type Reader = Omit<Viewer, 'name'>

export type Library = ReturnType<typeof createLibrary>

/** Answers hold ages that count to now: after this time the state gets another name. Choice. */
const STATE_LIFE_MS = 15_000

export function createLibrary(options: DocumentOptions) {
  const indexOf = peopleIndexes(options)
  return {
    for: (reader: Reader): Documents => documentsFor(options, indexOf, reader),
    /** Names the present state of one workspace, or of all: another name when an answer may be another one. */
    state(workspace?: string): string {
      const sources = options.sources().filter(({ name }) => workspace === undefined || name === workspace)
      const { configValid, ledgerWritable } = options.daemon()
      const versions = sources.map(({ name, version }) => `${name} ${version()}`)
      const period = Math.floor(options.clock.now() / STATE_LIFE_MS)
      return JSON.stringify([options.people.shown, configValid, ledgerWritable, period, ...versions])
    },
    /** Names of all workspaces, also of those that a reader may not see. */
    names: (): readonly string[] => options.sources().map(({ name }) => name),
  }
}

/** Writes of a week that are looked through: more than any service takes, so that those of others push none out. Choice. */
const MOST_WRITES = 100_000

const namesAll = (sight: Sight) => sight.kind === 'whole' && sight.named === 'everybody'

/** What one reader finds: the workspaces, and how they are shown. */
function readerOf(options: DocumentOptions, indexOf: IndexOf, { sightOf, seesAll }: Reader) {
  const { people, clock, hashed, refresh = async () => undefined } = options
  const showing = (named = false): Showing => {
    const [now, sourceUrl, requestUrl] = [clock.now(), options.sourceUrl?.(), options.requestUrl?.()]
    return { people: named ? EMAIL_LABELS : people, now: seesAll ? now : stepOf(now), sourceUrl, requestUrl }
  }
  const seen = async (name: string): Promise<Seen> => {
    const sight = sightOf(name)
    const source = options.sources().find((candidate) => candidate.name === name)
    // The same answer whether it exists: a reader is not told of workspaces of others.
    if (!source || sight.kind === 'nothing') throw new DocumentError(404, 'there is no such workspace, or it is not yours to see')
    await refresh()
    const { records } = source
    const facts = await source.facts()
    const whole: Seen = {
      ...facts,
      ...showing(namesAll(sight)),
      ...{ clock, records, workspace: facts.view.workspace, revision: facts.view.policy?.revision },
      creditsPerSeat: facts.view.balance?.creditsPerSeat ?? facts.settings?.creditsPerSeat,
      grants: facts.desiredState?.resolution.grants ?? [],
      writes: (sinceAt) => records.history({ sinceAt, limit: MOST_WRITES }),
      index: () => indexOf(source, whole),
    }
    if (sight.kind === 'part') return partOf(whole, sight, hashed)
    return sight.named === 'everybody' ? whole : namedOf(whole, sight.named)
  }
  /** Documents that are made for readers of a part as well. */
  const about =
    <Rest extends readonly unknown[], Document>(make: (seen: Seen, ...rest: Rest) => Document | Promise<Document>) =>
    async (name: string, ...rest: Rest): Promise<Document> =>
      make(await seen(name), ...rest)
  const aboutWhole: typeof about = (make) =>
    about((one, ...rest) => {
      if (one.isPart) throw new DocumentError(404, 'there is no such page for you')
      return make(one, ...rest)
    })
  const wholes = () => options.sources().filter(({ name }) => sightOf(name).kind === 'whole')
  const views = async (): Promise<readonly WorkspaceView[]> => {
    await refresh()
    return wholes().map((source) => source.view())
  }
  /** For documents of all workspaces: by address where each of them shows everybody so. */
  const showingAll = () => showing(wholes().length > 0 && wholes().every(({ name }) => namesAll(sightOf(name))))
  const daemon = (): DaemonFacts => (seesAll ? options.daemon() : withoutDetail(options.daemon()))
  const parts = (): readonly string[] => options.sources().flatMap(({ name }) => (sightOf(name).kind === 'part' ? [name] : []))
  return { showing, showingAll, seen, about, aboutWhole, views, daemon, parts, refresh }
}

/** Every method rejects with a `DocumentError` when a parameter is invalid, or what was asked for does not exist. */
export type Documents = ReturnType<typeof documentsFor>

/** Those that are made of one workspace, by its name and what else its maker takes. */
type OfOne = { readonly [Name in keyof typeof DOCUMENTS]: MethodOf<(typeof DOCUMENTS)[Name]> }
type MethodOf<Row> = Row extends { readonly make: (seen: Seen, ...rest: infer Rest) => infer Made }
  ? (workspace: string, ...rest: Rest) => Promise<Awaited<Made>>
  : never

/** The documents behind the pages and /api/v1, for one reader, who sees only the workspaces that the reader may see. */
function documentsFor(options: DocumentOptions, indexOf: IndexOf, reader: Reader) {
  const { showing, showingAll, seen, about, aboutWhole, views, daemon, parts, refresh } = readerOf(options, indexOf, reader)
  const ofOne = Object.entries<DocumentRow>(DOCUMENTS).flatMap(([name, { make, isForParts = false }]) =>
    make ? [[name, (isForParts ? about : aboutWhole)(make)]] : [],
  )
  return {
    ...(Object.fromEntries(ofOne) as OfOne),
    /** What is left for the person who asks. */
    async me() {
      const { email, seesSelf, sightOf, asks } = reader
      if (asks.length < 2) throw new DocumentError(404, 'nobody is known by address here: the config has no auth.emailHeader')
      if (email === undefined) throw new DocumentError(404, 'the proxy named no address of yours')
      await refresh()
      const own = options.sources().filter(({ name }) => seesSelf(name) || sightOf(name).kind === 'whole')
      return meDocument(await Promise.all(own.map((source) => source.facts())), email, options.hashed, showing())
    },
    status: async () => statusDocument(await views(), daemon(), showingAll(), options),
    async workspaces(query: Query = {}) {
      const ofParts = await Promise.all(
        parts()
          .toSorted()
          .map(async (name) => (await seen(name)).view),
      )
      return workspacesDocument({ views: await views(), parts: ofParts }, daemon(), showingAll(), query)
    },
    /** Workspaces of which the reader sees only some people: the pages of whole workspaces do not exist for them. */
    parts,
    health: aboutWhole((one) => healthDocument(one, daemon())),
    /** Starts making the comparison where there is none; never waits for it. */
    comparison: aboutWhole((one) => {
      const { view, policy } = one
      const digest = view.policy?.digest ?? policy?.digest
      // The past read meanwhile tells more cycles.
      const from = `${digest}${(view.history?.left ?? 0) > 0 ? ', in part' : ''}`
      return comparisonDocument(one, digest === undefined ? undefined : options.comparisons?.of(view.workspace, from))
    }),
  }
}

/** Conditions of the whole daemon may name any workspace, and quote a config that is one for all. */
const withoutDetail = ({ conditions = [], ...daemon }: DaemonFacts): DaemonFacts => ({
  ...daemon,
  conditions: conditions.map((one) => ({ ...one, message: kindOf(one.type).begun })),
})

type IndexOf = (source: WorkspaceSource, whole: Seen) => Promise<PeopleIndex>

/** Workspaces whose index of people is kept: those asked about last. Choice. */
const MOST_KEPT = 4

/** An index serves for this time at least, whatever changes meanwhile, because making one takes time and memory. Choice. */
const INDEX_LIFE_MS = 2_000

function peopleIndexes({ clock }: DocumentOptions): IndexOf {
  const kept = keeper<PeopleIndex>(clock, { most: MOST_KEPT })
  return (source, whole) => {
    const { shown } = whole.people
    const make = async () => ({ value: await peopleIndex(whole), lifeMs: INDEX_LIFE_MS })
    return kept(`${source.name} ${shown}`, `${source.version()} ${shown}`, make)
  }
}
