// Puts the documents together for one reader: finds the workspace among those the reader may see, whether it runs here or on another replica, takes its
// present state, and makes the index of people only where a document needs it. All readers share that index while the state of the workspace is the same.
import { kindOf } from '../../../core/model/condition.ts'
import type { WorkspaceView } from '../../../core/model/events.ts'
import type { Instant } from '../../../core/model/units.ts'
import { gradesOf } from '../../../core/use/history.ts'
import type { Clock, DayRange, Ledger } from '../../../ports.ts'
import { commonDays } from '../../collect/history.ts'
import { viewOf } from '../../conditions/view.ts'
import { LedgerError, orNothing } from '../../ledger/error.ts'
import type { Comparisons } from '../../replay/comparisons.ts'
import type { Workspace, WorkspaceSettings } from '../../workspace.ts'
import type { Viewer } from '../auth.ts'
import { EMAIL_LABELS, type PeopleLabels } from '../status/labels.ts'
import { statusDocument } from '../status/status.ts'
import { DocumentError, type Documents, type Query } from './documents.ts'
import { holdDocument, holdsDocument } from './holds.ts'
import { changedSince, leadDocument, meDocument } from './me.ts'
import { MOST_WRITES, type Part, partOf, stepOf } from './part.ts'
import { groupsDocument } from './people/groups.ts'
import { peopleDocument } from './people/people.ts'
import { groupDocument, personDocument } from './people/person.ts'
import { type PeopleIndex, peopleIndex } from './people/roster.ts'
import { policiesDocument } from './policies.ts'
import { burnSeries, creditsSeries, driftSeries, nearSeries } from './series.ts'
import { changesDocument, comparisonDocument, planDocument } from './story/changes.ts'
import type { DaemonFacts, Records, Showing, WorkspaceFacts, WorkspaceSource } from './types.ts'
import { healthDocument, poolSeries, workspaceDocument, workspacesDocument } from './workspaces.ts'

export const sourceOf = (workspace: Workspace, version: () => number): WorkspaceSource => ({
  name: workspace.config.name,
  version,
  facts: async () => factsOf(workspace),
  records: recordsOf(workspace),
})

function factsOf(workspace: Workspace): WorkspaceFacts {
  const { config, state, shown, runs, chronicle } = workspace
  const journal = chronicle?.journal()
  const requests = chronicle?.requests()
  const nextSweepAt = nextSweep(workspace)
  return {
    view: viewOf(workspace),
    settings: config,
    ...(state && { readings: state.readings, policy: state.policy, unknownGroups: state.unknownGroups }),
    desiredState: shown.desiredState,
    planned: shown.planned,
    runs,
    journal,
    requests,
    slicing: workspace.reading,
    nextSweepAt,
  }
}

/** By the interval alone, without jitter and the duration of a sweep. */
const nextSweep = ({ shown, config }: Workspace): Instant | undefined => shown.lastCycle && shown.lastCycle.startedAt + config.intervalMs

/** A workspace that another replica holds: its view as that replica saved it, and its records from the database. */
export const elsewhereSource = (
  { settings, view }: { readonly settings: WorkspaceSettings; readonly view: WorkspaceView },
  version: () => number,
  open: () => Promise<Ledger>,
): WorkspaceSource => {
  const ask = async <T>(nothing: T, question: (records: Records) => Promise<T>): Promise<T> =>
    orElse(
      nothing,
      open().then((ledger) => question(recordsOf({ ledger }))),
    )
  return {
    name: settings.name,
    version,
    facts: async () => ({ view, settings }),
    records: {
      history: (filter) => ask([], ({ history }) => history(filter)),
      runs: (scope, days) => ask([], ({ runs }) => runs(scope, days)),
      useOfPerson: (email, days) => ask([], ({ useOfPerson }) => useOfPerson(email, days)),
      addOnOfPerson: (email, days) => ask([], ({ addOnOfPerson }) => addOnOfPerson(email, days)),
      useReadings: () => ask([], ({ useReadings }) => useReadings()),
      gradesOfPerson: (email, days) => ask([], ({ gradesOfPerson }) => gradesOfPerson(email, days)),
      fact: (name) => ask(undefined, ({ fact }) => fact(name)),
    },
  }
}

async function gradesOfPerson(ledger: Ledger, email: string, days: DayRange) {
  const [person = { email, known: [] }] = await ledger.histories(email)
  return gradesOf(days, person, await commonDays(ledger, days.untilAt))
}

function recordsOf({ ledger }: Pick<Workspace, 'ledger'>): Records {
  return {
    history: (filter) => orElse([], ledger.history(filter)),
    runs: (scope, days) => orElse([], ledger.runs(scope, days)),
    useOfPerson: (email, days) => orElse([], ledger.useOfPerson(email, days)),
    addOnOfPerson: (email, days) => orElse([], ledger.addOnOfPerson(email, days)),
    useReadings: () => orElse([], ledger.useReadings()),
    gradesOfPerson: (email, days) => orElse([], gradesOfPerson(ledger, email, days)),
    fact: async (name) => orNothing(() => ledger.fact(name)),
  }
}

async function orElse<T>(nothing: T, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof LedgerError) return nothing
    throw error
  }
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

export interface Library {
  for(reader: Reader): Documents
  /** Names the present state of one workspace, or of all: another name when an answer may be another one. */
  state(workspace?: string): string
  /** Names of all workspaces, also of those that a reader may not see. */
  names(): readonly string[]
}

/** Answers hold ages that count to now: after this time the state gets another name. Choice. */
const STATE_LIFE_MS = 15_000

export function createLibrary(options: DocumentOptions): Library {
  const indexOf = peopleIndexes(options)
  return {
    for: (reader) => documentsFor(options, indexOf, reader),
    state(workspace) {
      const sources = options.sources().filter(({ name }) => workspace === undefined || name === workspace)
      const { configValid, ledgerWritable } = options.daemon()
      const versions = sources.map(({ name, version }) => `${name} ${version()}`)
      const period = Math.floor(options.clock.now() / STATE_LIFE_MS)
      return JSON.stringify([options.people.shown, configValid, ledgerWritable, period, ...versions])
    },
    names: () => options.sources().map(({ name }) => name),
  }
}

interface Found {
  readonly source: WorkspaceSource
  readonly records: Records
  readonly facts: WorkspaceFacts
  readonly showing: Showing
  /** Where the reader sees only some people: what that is cut from. */
  readonly cut?: { readonly part: Part; readonly whole: Found }
}

/** Makes a method of `Documents` from a function over the workspace that was asked for. */
type AboutOne = <Rest extends readonly unknown[], Document>(
  make: (found: Found, ...rest: Rest) => Document | Promise<Document>,
) => (workspace: string, ...rest: Rest) => Promise<Document>

function documentsFor(options: DocumentOptions, wholeIndex: IndexOf, reader: Reader): Documents {
  const { people, clock, hashed, refresh = async () => undefined } = options
  const { sightOf, seesAll } = reader
  const sources = (): readonly WorkspaceSource[] => options.sources().filter(({ name }) => sightOf(name).kind === 'whole')
  const daemon = (): DaemonFacts => (seesAll ? options.daemon() : withoutDetail(options.daemon()))
  const now = (): number => (seesAll ? clock.now() : stepOf(clock.now()))
  const showing = (named = false): Showing => {
    const [sourceUrl, requestUrl] = [options.sourceUrl?.(), options.requestUrl?.()]
    return {
      people: named ? EMAIL_LABELS : people,
      clock,
      now: now(),
      sourceUrl,
      requestUrl,
    }
  }
  const found = async (name: string): Promise<Found> => {
    const sight = sightOf(name)
    const source = options.sources().find((candidate) => candidate.name === name)
    // The same answer whether it exists: a reader is not told of workspaces of others.
    if (!source || sight.kind === 'nothing') throw new DocumentError(404, 'there is no such workspace, or it is not yours to see')
    await refresh()
    const whole = { source, records: source.records, facts: await source.facts(), showing: showing(sight.kind === 'whole' && sight.named) }
    if (sight.kind === 'whole') return whole
    const part = partOf(whole, sight, hashed)
    return { source, records: part.records, facts: part.facts, showing: part.showing, cut: { part, whole } }
  }
  const indexOf: IndexOf = async (one) => (one.cut ? one.cut.part.indexOf(await wholeIndex(one.cut.whole)) : wholeIndex(one))
  /** Documents that are made for readers of a part as well. */
  const about: AboutOne =
    (make) =>
    async (name, ...rest) =>
      make(await found(name), ...rest)
  const aboutWhole: AboutOne =
    (make) =>
    async (name, ...rest) => {
      const one = await found(name)
      if (one.cut) throw new DocumentError(404, 'there is no such page for you')
      return make(one, ...rest)
    }
  const views = async (): Promise<readonly WorkspaceView[]> => {
    await refresh()
    return (await Promise.all(sources().map((source) => source.facts()))).map(({ view }) => view)
  }
  const partNames = (): readonly string[] => options.sources().flatMap(({ name }) => (sightOf(name).kind === 'part' ? [name] : []))
  return {
    me: async () => {
      const { email, seesSelf, asks } = reader
      if (asks.length < 2) throw new DocumentError(404, 'nobody is known by address here: the config has no auth.emailHeader')
      if (email === undefined) throw new DocumentError(404, 'the proxy named no address of yours')
      await refresh()
      const own = options.sources().filter(({ name }) => seesSelf(name) || sightOf(name).kind === 'whole')
      return meDocument(await Promise.all(own.map((source) => source.facts())), email, hashed, showing())
    },
    status: async () => {
      const { version, ...health } = daemon()
      return statusDocument({ views: await views(), health, people, version, now: now() })
    },
    workspaces: async (query = {}) => {
      const seen = await Promise.all(
        partNames()
          .toSorted()
          .map(async (name) => (await found(name)).facts.view),
      )
      return workspacesDocument({ views: await views(), parts: seen }, daemon(), showing(), query)
    },
    health: aboutWhole(({ facts, showing: how }) => healthDocument(facts, daemon(), how)),
    comparison: aboutWhole(({ source, facts, showing: how }) => {
      const digest = facts.view.policy?.digest ?? facts.policy?.digest
      // The past read meanwhile tells more cycles.
      const from = `${digest}${(facts.view.history?.left ?? 0) > 0 ? ', in part' : ''}`
      return comparisonDocument(facts, digest === undefined ? undefined : options.comparisons?.of(source.name, from), how)
    }),
    parts: partNames,
    ...aboutOne(aboutWhole, indexOf),
    ...aboutPeople(about, indexOf),
  }
}

/** Conditions of the whole daemon may name any workspace, and quote a config that is one for all. */
const withoutDetail = ({ conditions = [], ...daemon }: DaemonFacts): DaemonFacts => ({
  ...daemon,
  conditions: conditions.map((one) => ({ ...one, message: kindOf(one.type).begun })),
})

type OfPeople = Pick<Documents, 'lead' | 'groups' | 'group' | 'people' | 'person'>

const aboutPeople = (about: AboutOne, indexOf: IndexOf): OfPeople => ({
  lead: about(async ({ facts, records, showing, cut }) => {
    const sinceAt = changedSince(showing.now)
    const writes = cut ? await cut.part.writes(sinceAt) : await records.history({ sinceAt, limit: MOST_WRITES })
    return leadDocument(facts, showing, { grants: cut?.part.grants ?? facts.desiredState?.resolution.grants ?? [], writes })
  }),
  groups: about(async (found, query: Query = {}) => groupsDocument(found.facts, await indexOf(found), found.showing, query)),
  group: about(async (found, id: string) => groupDocument(found.facts, await indexOf(found), found.records, found.showing, id)),
  people: about(async (found, query: Query = {}) => peopleDocument(found.facts, await indexOf(found), found.showing, query)),
  person: about(async (found, person: string) => personDocument(found.facts, await indexOf(found), found.records, found.showing, person)),
})

type OfWorkspace = Omit<Documents, keyof OfPeople | 'me' | 'parts' | 'status' | 'workspaces' | 'health' | 'comparison'>

const aboutOne = (about: AboutOne, indexOf: IndexOf): OfWorkspace => ({
  workspace: about(async (found) => workspaceDocument(found.facts, found.showing, await holdsSince(found))),
  policies: about(async (found, query: Query = {}) => policiesDocument(found.facts, await indexOf(found), found.showing, query)),
  changes: about(async (found, query: Query = {}) => {
    // Only a scope in the question may be a person.
    const index = query['scope'] ? await indexOf(found) : undefined
    return changesDocument(found.facts, index, found.records, found.showing, query)
  }),
  plan: about(({ facts, records, showing }, id: string, query: Query = {}) => planDocument(facts, id, records, showing, query)),
  holds: about(async (found, query: Query = {}) => holdsDocument(found.facts, await holdsSince(found), found.showing, query)),
  hold: about(async (found, id: string, query: Query = {}) => holdDocument(found.facts, id, await holdsSince(found), found.showing, query)),
  creditsSeries: about(({ facts, showing }) => creditsSeries(facts, showing)),
  burnSeries: about(({ facts, records, showing }, query: Query = {}) => burnSeries(facts, records, showing, query)),
  driftSeries: about(({ facts, showing }, query: Query = {}) => driftSeries(facts, showing, query)),
  nearSeries: about(async (found) => nearSeries(found.facts, await indexOf(found), found.showing)),
  poolSeries: about(({ facts, showing }) => poolSeries(facts, showing)),
})

/** When each hold was first shown, by id. */
async function holdsSince({ records, facts }: Found): Promise<ReadonlyMap<string, number>> {
  if (facts.view.holds.length === 0) return new Map()
  const shown = await records.fact('holdsShown')
  return new Map(Object.entries(shown ?? {}).map(([id, { at }]) => [id, at]))
}

type IndexOf = (found: Found) => Promise<PeopleIndex>

/** Workspaces whose index of people is kept: those asked about last. Choice. */
const MOST_KEPT = 4

/** An index serves for this time at least, whatever changes meanwhile, because making one takes time and memory. Choice. */
const INDEX_LIFE_MS = 2_000

interface KeptIndex {
  readonly id: string
  readonly index: Promise<PeopleIndex>
  /** On the monotonic clock; absent while it is made. */
  madeMs?: number
}

function peopleIndexes({ clock }: DocumentOptions): IndexOf {
  const kept = new Map<string, KeptIndex>()
  return ({ source, facts, showing }) => {
    const id = `${source.version()} ${showing.people.shown}`
    const name = `${source.name} ${showing.people.shown}`
    const known = kept.get(name)
    if (known?.id.endsWith(showing.people.shown) && isFresh(known, id)) return known.index
    // Deleted first, so that the newest comes last.
    kept.delete(name)
    const one: KeptIndex = { id, index: peopleIndex(facts, showing) }
    kept.set(name, one)
    one.index.then(
      () => {
        one.madeMs = clock.monotonic()
      },
      // The next request makes it anew.
      () => kept.delete(name),
    )
    for (const oldest of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(oldest)
    return one.index
  }
  /** One that is being made serves as well: two at a time would take twice the memory. */
  function isFresh({ id, madeMs }: KeptIndex, wanted: string): boolean {
    return id === wanted || madeMs === undefined || clock.monotonic() - madeMs < INDEX_LIFE_MS
  }
}
