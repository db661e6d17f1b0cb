// Puts the documents together for one reader: finds the workspace among those the reader may see, takes its present state, and looks at people only
// where a document needs them. What was found out about people is shared by all who ask while the workspace stays as it is.

import { kindOf } from '../../../core/model/condition.ts'
import type { WorkspaceView } from '../../../core/model/events.ts'
import type { Clock } from '../../../ports.ts'
import type { Comparisons } from '../../replay/comparisons.ts'
import type { Viewer } from '../auth.ts'
import type { PeopleLabels } from '../status/labels.ts'
import { statusDocument } from '../status/status.ts'
import { DocumentError, type Documents } from './documents.ts'
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
  /** Called before anything is shown: looks at what other processes change, such as pauses. Never rejects. */
  readonly look?: () => Promise<void>
  readonly sourceUrl?: () => string | undefined
  /** Absent: past cycles are not compared here. */
  readonly comparisons?: Pick<Comparisons, 'of'>
}

/** What a reader may see. */
export type Reader = Pick<Viewer, 'maySee' | 'seesAll'>

/** Documents for readers; what they share is kept here. */
export interface Library {
  for(reader: Reader): Documents
  /** Names the present state of one workspace, or of all: another name when an answer may be another one. */
  state(workspace?: string): string
  /** Of all workspaces, whoever asks. */
  names(): readonly string[]
}

/** What an answer says of now grows old: after so long the state counts as another one. Choice. */
const GOOD_MS = 15_000

export function createLibrary(options: DocumentOptions): Library {
  const shelf = peopleShelf(options)
  return {
    for: (reader) => documentsFor(options, shelf, reader),
    state(workspace) {
      const sources = options.sources().filter(({ name }) => workspace === undefined || name === workspace)
      const { configValid, ledgerWritable } = options.daemon()
      const versions = sources.map(({ name, version }) => `${name} ${version()}`)
      const period = Math.floor(options.clock.now() / GOOD_MS)
      return JSON.stringify([options.people.shown, configValid, ledgerWritable, period, ...versions])
    },
    names: () => options.sources().map(({ name }) => name),
  }
}

function documentsFor(options: DocumentOptions, shelf: Shelf, { maySee, seesAll }: Reader): Documents {
  const { people, clock, look = async () => undefined } = options
  const sources = (): readonly WorkspaceSource[] => options.sources().filter(({ name }) => maySee(name))
  const daemon = (): DaemonFacts => (seesAll ? options.daemon() : withoutDetail(options.daemon()))
  const showing = (): Showing => {
    const sourceUrl = options.sourceUrl?.()
    return { people, clock, now: clock.now(), ...(sourceUrl !== undefined && { sourceUrl }) }
  }
  const one = async (name: string): Promise<Found> => {
    const source = sources().find((candidate) => candidate.name === name)
    // Whoever may not see a workspace is not told that it is there.
    if (!source) throw new DocumentError(404, 'there is no such workspace, or it is not yours to see')
    await look()
    return { source, facts: await source.facts(), showing: showing() }
  }
  const views = async (): Promise<readonly WorkspaceView[]> => {
    await look()
    return (await Promise.all(sources().map((source) => source.facts()))).map(({ view }) => view)
  }
  return {
    status: async () => {
      const { version, ...health } = daemon()
      return statusDocument({ views: await views(), health, people, version, now: clock.now() })
    },
    workspaces: async (query = {}) => workspacesDocument(await views(), daemon(), showing(), query),
    workspace: async (name) => {
      const found = await one(name)
      return workspaceDocument(found.facts, found.showing, await holdsSince(found))
    },
    health: async (name) => {
      const { facts, showing: how } = await one(name)
      return healthDocument(facts, daemon(), how)
    },
    comparison: async (name) => {
      const { facts, showing: how } = await one(name)
      const digest = facts.view.policy?.digest ?? facts.policy?.digest
      return comparisonDocument(facts, digest === undefined ? undefined : options.comparisons?.of(name, digest), how)
    },
    ...peopleDocuments(one, shelf),
    ...storyDocuments(one, shelf),
  }
}

/** What is wrong with the whole daemon may name any workspace, and lines of a config that is one for all. */
const withoutDetail = ({ conditions = [], ...daemon }: DaemonFacts): DaemonFacts => ({
  ...daemon,
  conditions: conditions.map((one) => ({ ...one, message: kindOf(one.type).begun })),
})

type One = (name: string) => Promise<Found>

function peopleDocuments(one: One, shelf: Shelf): Pick<Documents, 'groups' | 'group' | 'people' | 'person' | 'policies' | 'nearSeries'> {
  return {
    groups: async (name, query = {}) => {
      const found = await one(name)
      return groupsDocument(found.facts, await shelf(found), found.showing, query)
    },
    group: async (name, id) => {
      const found = await one(name)
      return groupDocument(found.facts, await shelf(found), found.source.records, found.showing, id)
    },
    people: async (name, query = {}) => {
      const found = await one(name)
      return peopleDocument(found.facts, await shelf(found), found.showing, query)
    },
    person: async (name, person) => {
      const found = await one(name)
      return personDocument(found.facts, await shelf(found), found.source.records, found.showing, person)
    },
    policies: async (name, query = {}) => {
      const found = await one(name)
      return policiesDocument(found.facts, await shelf(found), found.showing, query)
    },
    nearSeries: async (name) => {
      const found = await one(name)
      return nearSeries(found.facts, await shelf(found), found.showing)
    },
  }
}

function storyDocuments(
  one: One,
  shelf: Shelf,
): Pick<Documents, 'changes' | 'plan' | 'holds' | 'hold' | 'creditsSeries' | 'burnSeries' | 'driftSeries' | 'poolSeries'> {
  return {
    changes: async (name, query = {}) => {
      const found = await one(name)
      // Only a person in the question has to be looked up.
      const index = query['scope'] ? await shelf(found) : undefined
      return changesDocument(found.facts, index, found.source.records, found.showing, query)
    },
    plan: async (name, id, query = {}) => {
      const { facts, source, showing } = await one(name)
      return planDocument(facts, id, source.records, showing, query)
    },
    holds: async (name, query = {}) => {
      const found = await one(name)
      return holdsDocument(found.facts, await holdsSince(found), found.showing, query)
    },
    hold: async (name, id, query = {}) => {
      const found = await one(name)
      return holdDocument(found.facts, id, await holdsSince(found), found.showing, query)
    },
    creditsSeries: async (name) => {
      const { facts, showing } = await one(name)
      return creditsSeries(facts, showing)
    },
    burnSeries: async (name, query = {}) => {
      const { facts, source, showing } = await one(name)
      return burnSeries(facts, source.records, showing, query)
    },
    poolSeries: async (name) => {
      const { facts, showing } = await one(name)
      return poolSeries(facts, showing)
    },
    driftSeries: async (name, query = {}) => {
      const { facts, showing } = await one(name)
      return driftSeries(facts, showing, query)
    },
  }
}

interface Found {
  readonly source: WorkspaceSource
  readonly facts: WorkspaceFacts
  readonly showing: Showing
}

async function holdsSince({ source, facts }: Found): Promise<ReadonlyMap<string, number>> {
  if (facts.view.holds.length === 0) return new Map()
  const shown = await source.records.fact('holdsShown')
  return new Map(Object.entries(shown ?? {}).map(([id, { at }]) => [id, at]))
}

/** Looks at the people of a workspace, or has looked at them already. */
type Shelf = (found: Found) => Promise<PeopleIndex>

/** The people of so many workspaces stay looked at: of those that somebody asks about now. Choice. */
const MOST_KEPT = 4

/** People that were looked at serve for so long at least, whatever changes meanwhile: a look takes time and memory. Choice. */
const FRESH_MS = 2_000

interface KeptPeople {
  readonly id: string
  readonly index: Promise<PeopleIndex>
  /** On the monotonic clock; absent while it is made. */
  madeMs?: number
}

function peopleShelf({ people, clock }: DocumentOptions): Shelf {
  const kept = new Map<string, KeptPeople>()
  return ({ source, facts, showing }) => {
    const id = `${source.version()} ${people.shown}`
    const known = kept.get(source.name)
    if (known?.id.endsWith(people.shown) && isGood(known, id)) return known.index
    // The one asked for last stands last.
    kept.delete(source.name)
    const one: KeptPeople = { id, index: peopleIndex(facts, showing) }
    kept.set(source.name, one)
    one.index.then(
      () => {
        one.madeMs = clock.monotonic()
      },
      // What could not be made is made anew for whoever asks next.
      () => kept.delete(source.name),
    )
    for (const name of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(name)
    return one.index
  }
  /** One that is being made serves as well: two at a time would take twice the memory. */
  function isGood({ id, madeMs }: KeptPeople, wanted: string): boolean {
    return id === wanted || madeMs === undefined || clock.monotonic() - madeMs < FRESH_MS
  }
}
