// Puts the documents together for one reader: finds the workspace among those the reader may see, takes its present state, and makes the index of
// people only where a document needs it. All readers share that index while the state of the workspace is the same.

import { kindOf } from '../../../core/model/condition.ts'
import type { WorkspaceView } from '../../../core/model/events.ts'
import type { Clock } from '../../../ports.ts'
import type { Comparisons } from '../../replay/comparisons.ts'
import type { Viewer } from '../auth.ts'
import type { PeopleLabels } from '../status/labels.ts'
import { statusDocument } from '../status/status.ts'
import { DocumentError, type Documents, type Query } from './documents.ts'
import type { DaemonFacts, Showing, WorkspaceFacts, WorkspaceSource } from './facts.ts'
import { healthDocument } from './health.ts'
import { holdDocument, holdsDocument } from './holds.ts'
import { groupsDocument } from './people/groups.ts'
import { peopleDocument } from './people/people.ts'
import { groupDocument, personDocument } from './people/person.ts'
import { type PeopleIndex, peopleIndex } from './people/roster.ts'
import { policiesDocument } from './policies.ts'
import { poolSeries } from './pools.ts'
import { burnSeries, creditsSeries, driftSeries, nearSeries } from './series.ts'
import { changesDocument } from './story/changes.ts'
import { comparisonDocument } from './story/comparison.ts'
import { planDocument } from './story/plan.ts'
import { workspaceDocument, workspacesDocument } from './workspaces.ts'

export interface DocumentOptions {
  readonly sources: () => readonly WorkspaceSource[]
  readonly daemon: () => DaemonFacts
  readonly people: PeopleLabels
  readonly clock: Clock
  /** Called before anything is shown, to read what other processes change, such as pauses. Never rejects. */
  readonly refresh?: () => Promise<void>
  readonly sourceUrl?: () => string | undefined
  /** Absent: past cycles are not compared here. */
  readonly comparisons?: Pick<Comparisons, 'of'>
}

/** What a reader may see. */
export type Reader = Pick<Viewer, 'maySee' | 'seesAll'>

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
  readonly facts: WorkspaceFacts
  readonly showing: Showing
}

/** Makes a method of `Documents` from a function over the workspace that was asked for. */
type AboutOne = <Rest extends readonly unknown[], Document>(
  make: (found: Found, ...rest: Rest) => Document | Promise<Document>,
) => (workspace: string, ...rest: Rest) => Promise<Document>

function documentsFor(options: DocumentOptions, indexOf: IndexOf, { maySee, seesAll }: Reader): Documents {
  const { people, clock, refresh = async () => undefined } = options
  const sources = (): readonly WorkspaceSource[] => options.sources().filter(({ name }) => maySee(name))
  const daemon = (): DaemonFacts => (seesAll ? options.daemon() : withoutDetail(options.daemon()))
  const showing = (): Showing => {
    const sourceUrl = options.sourceUrl?.()
    return { people, clock, now: clock.now(), ...(sourceUrl !== undefined && { sourceUrl }) }
  }
  const about: AboutOne =
    (make) =>
    async (name, ...rest) => {
      const source = sources().find((candidate) => candidate.name === name)
      // The same answer whether it exists: a reader is not told of workspaces of others.
      if (!source) throw new DocumentError(404, 'there is no such workspace, or it is not yours to see')
      await refresh()
      return make({ source, facts: await source.facts(), showing: showing() }, ...rest)
    }
  const views = async (): Promise<readonly WorkspaceView[]> => {
    await refresh()
    return (await Promise.all(sources().map((source) => source.facts()))).map(({ view }) => view)
  }
  return {
    status: async () => {
      const { version, ...health } = daemon()
      return statusDocument({ views: await views(), health, people, version, now: clock.now() })
    },
    workspaces: async (query = {}) => workspacesDocument(await views(), daemon(), showing(), query),
    health: about(({ facts, showing: how }) => healthDocument(facts, daemon(), how)),
    comparison: about(({ source, facts, showing: how }) => {
      const digest = facts.view.policy?.digest ?? facts.policy?.digest
      return comparisonDocument(facts, digest === undefined ? undefined : options.comparisons?.of(source.name, digest), how)
    }),
    ...aboutOne(about, indexOf),
  }
}

/** Conditions of the whole daemon may name any workspace, and quote a config that is one for all. */
const withoutDetail = ({ conditions = [], ...daemon }: DaemonFacts): DaemonFacts => ({
  ...daemon,
  conditions: conditions.map((one) => ({ ...one, message: kindOf(one.type).begun })),
})

const aboutOne = (about: AboutOne, indexOf: IndexOf): Omit<Documents, 'status' | 'workspaces' | 'health' | 'comparison'> => ({
  workspace: about(async (found) => workspaceDocument(found.facts, found.showing, await holdsSince(found))),
  groups: about(async (found, query: Query = {}) => groupsDocument(found.facts, await indexOf(found), found.showing, query)),
  group: about(async (found, id: string) => groupDocument(found.facts, await indexOf(found), found.source.records, found.showing, id)),
  people: about(async (found, query: Query = {}) => peopleDocument(found.facts, await indexOf(found), found.showing, query)),
  person: about(async (found, person: string) =>
    personDocument(found.facts, await indexOf(found), found.source.records, found.showing, person),
  ),
  policies: about(async (found, query: Query = {}) => policiesDocument(found.facts, await indexOf(found), found.showing, query)),
  changes: about(async (found, query: Query = {}) => {
    // Only a scope in the question may be a person.
    const index = query['scope'] ? await indexOf(found) : undefined
    return changesDocument(found.facts, index, found.source.records, found.showing, query)
  }),
  plan: about(({ facts, source, showing }, id: string, query: Query = {}) => planDocument(facts, id, source.records, showing, query)),
  holds: about(async (found, query: Query = {}) => holdsDocument(found.facts, await holdsSince(found), found.showing, query)),
  hold: about(async (found, id: string, query: Query = {}) => holdDocument(found.facts, id, await holdsSince(found), found.showing, query)),
  creditsSeries: about(({ facts, showing }) => creditsSeries(facts, showing)),
  burnSeries: about(({ facts, source, showing }, query: Query = {}) => burnSeries(facts, source.records, showing, query)),
  driftSeries: about(({ facts, showing }, query: Query = {}) => driftSeries(facts, showing, query)),
  nearSeries: about(async (found) => nearSeries(found.facts, await indexOf(found), found.showing)),
  poolSeries: about(({ facts, showing }) => poolSeries(facts, showing)),
})

/** When each hold was first shown, by id. */
async function holdsSince({ source, facts }: Found): Promise<ReadonlyMap<string, number>> {
  if (facts.view.holds.length === 0) return new Map()
  const shown = await source.records.fact('holdsShown')
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

function peopleIndexes({ people, clock }: DocumentOptions): IndexOf {
  const kept = new Map<string, KeptIndex>()
  return ({ source, facts, showing }) => {
    const id = `${source.version()} ${people.shown}`
    const known = kept.get(source.name)
    if (known?.id.endsWith(people.shown) && isFresh(known, id)) return known.index
    // Deleted first, so that the newest comes last.
    kept.delete(source.name)
    const one: KeptIndex = { id, index: peopleIndex(facts, showing) }
    kept.set(source.name, one)
    one.index.then(
      () => {
        one.madeMs = clock.monotonic()
      },
      // The next request makes it anew.
      () => kept.delete(source.name),
    )
    for (const name of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(name)
    return one.index
  }
  /** One that is being made serves as well: two at a time would take twice the memory. */
  function isFresh({ id, madeMs }: KeptIndex, wanted: string): boolean {
    return id === wanted || madeMs === undefined || clock.monotonic() - madeMs < INDEX_LIFE_MS
  }
}
