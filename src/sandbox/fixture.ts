// A fixture in the store: puts what a checked file says in place of the seeded company. All of it or nothing; must never be given a file
// that was not checked.
import { createHash } from 'node:crypto'
import { InputError } from '../core/model/problem.ts'
import { normaliseEmail, parseScope } from '../core/model/scope.ts'
import type { Instant } from '../core/model/units.ts'
import type { FixtureDocument, FixturePerson, FixtureRow } from './fixture-schema-source.ts'
import type { Store, StoredPerson } from './store.ts'
import { cycleAt, parseTimestamp } from './time.ts'
import { USE_COLUMNS, USE_SOURCES, type UseRow, type UseSource } from './use.ts'

/** What a fixture file says, checked; `asOf` is the instant of its state. */
export interface Fixture {
  readonly file: string
  readonly asOf: Instant
  readonly document: FixtureDocument
}

const DEFAULT_CREDITS_PER_SEAT = 500
const DEFAULT_SIGNUP = Date.UTC(2024, 0, 1)

/** Fills an empty store; throws an `InputError` when it holds a company already. */
export function loadFixture(store: Store, { file, asOf, document }: Fixture): void {
  if (store.meta('grownUntil') !== undefined) {
    const message = `${file}: a fixture starts a new company, and the data file holds one already; name another file with --data`
    throw new InputError([{ severity: 'error', code: 'FIXTURE_DATA_TAKEN', message }])
  }
  store.transaction(() => {
    const people = document.people.map(personOf)
    for (const person of people) store.savePerson(person)
    const ids = new Map(people.map((person) => [person.email, person.id]))
    const idOf = (email: string): number => ids.get(normaliseEmail(email)) ?? -1
    for (const { id, name, members = [] } of document.groups ?? []) {
      store.saveGroup({ id, name })
      store.setMembers(id, members.map(idOf))
    }
    for (const [key, cap] of Object.entries(document.caps ?? {})) {
      const scope = parseScope(key)
      if (scope) store.setCap(scope, cap)
    }
    for (const { group, ...key } of document.keys ?? []) store.saveKey({ ...key, ...(group === undefined ? {} : { groupId: group }) })
    for (const source of USE_SOURCES) {
      const empty = emptyRow(source)
      for (const row of document.use?.[source] ?? []) store.addUse(rowOf(row, empty, idOf(row.person)))
    }
    saveFigures(store, document, people)
    if (document.seed !== undefined) store.setMeta('seed', document.seed)
    if (document.balance?.addOnAvailable !== undefined) store.setMeta('cycleStart', cycleAt(asOf).startAt)
    store.setMeta('grownUntil', asOf)
  })
}

function personOf(person: FixturePerson, index: number): StoredPerson {
  const email = normaliseEmail(person.email)
  return {
    id: person.id ?? index,
    email,
    name: person.name ?? email,
    role: person.role ?? 'member',
    status: person.status ?? 'APPROVED',
    disabled: person.disabled ?? false,
    apiKey: person.apiKey ?? createHash('sha256').update(email).digest('hex'),
    signupAt: person.signupAt === undefined ? DEFAULT_SIGNUP : instantOf(person.signupAt),
  }
}

function saveFigures(store: Store, { balance = {} }: FixtureDocument, people: readonly StoredPerson[]): void {
  store.setMeta('creditsPerSeat', balance.creditsPerSeat ?? DEFAULT_CREDITS_PER_SEAT)
  store.setMeta('seats', balance.seats ?? people.filter((person) => person.status === 'APPROVED').length)
  if (balance.addOnAvailable !== undefined) store.setMeta('addOnAvailable', balance.addOnAvailable)
}

/** A row of nothing: what columns that were left out hold. */
function emptyRow(source: UseSource): Readonly<Record<string, unknown>> {
  const nothing = { whole: 0, tick: false, counts: {}, text: '', instant: 0 }
  return { source, ...Object.fromEntries(Object.entries(USE_COLUMNS[source]).map(([name, kind]) => [name, nothing[kind]])) }
}

const rowOf = (row: FixtureRow, empty: Readonly<Record<string, unknown>>, person: number): UseRow =>
  ({ ...empty, ...row, person, at: instantOf(row.at) }) as UseRow

/** The format was checked already. */
const instantOf = (text: string): Instant => parseTimestamp(text) ?? 0
