// The present state of a sandbox as a fixture file: the same state gives the same bytes, and loading it gives the same state. Rows of
// people who left count nowhere, and are left out. Must never change the store.
import { scopeKey } from '../core/model/scope.ts'
import type { Instant } from '../core/model/units.ts'
import { FIXTURE_API_VERSION, FIXTURE_KIND } from './fixture-schema.ts'
import { addedKeys } from './keys.ts'
import type { Store, StoredPerson } from './store.ts'
import { tableOf, USE_SOURCES, type UseSource } from './use.ts'

/** The file in pieces, a line each but for the rows; one row of people, groups and use to a line. Call within a transaction. */
export function* exportFixture(store: Store): Generator<string> {
  const people = store.people()
  const emails = new Map(people.map((person) => [person.id, person.email]))
  const seed = store.meta('seed')
  yield `{\n  "apiVersion": "${FIXTURE_API_VERSION}",\n  "kind": "${FIXTURE_KIND}",\n  "asOf": ${JSON.stringify(stamp(asOf(store)))},\n`
  if (seed !== undefined) yield `  "seed": ${seed},\n`
  yield `  "balance": ${JSON.stringify(balanceOf(store))},\n`
  yield* lines('  ', 'people', people.map(personLine))
  const groups = store.groups().map((group) => ({ ...group, members: membersOf(store, group.id, people) }))
  yield* lines(',\n  ', 'groups', groups)
  const known = new Set<string>(['team', ...people.map((person) => person.email), ...groups.map((group) => `group:${group.id}`)])
  const set = store.caps().map(({ scope, cap }) => ({ key: scopeKey(scope), cap }))
  const caps = set.flatMap(({ key, cap }) => (known.has(key) ? [`\n    ${JSON.stringify(key)}: ${cap}`] : []))
  yield `,\n  "caps": {${caps.join(',')}${caps.length > 0 ? '\n  ' : ''}}`
  yield* lines(
    ',\n  ',
    'keys',
    addedKeys(store).map(({ secret, permissions, groupId: group }) => ({ secret, permissions, group })),
  )
  yield ',\n  "use": {'
  for (const [index, source] of USE_SOURCES.entries()) {
    yield* lines(index === 0 ? '\n    ' : ',\n    ', source, rowLines(store, source, emails), '      ')
  }
  yield '\n  }\n}\n'
}

/** The instant of the state: how far use has grown, or the last fact that was recorded since. */
function asOf(store: Store): Instant {
  const latest = USE_SOURCES.map((source) => {
    const [row] = store.select(`SELECT MAX(at) FROM ${tableOf(source)} WHERE person IN (SELECT id FROM people)`, [])
    return Number(row?.[0] ?? 0)
  })
  return Math.max(store.meta('grownUntil') ?? 0, ...latest)
}

const stamp = (at: Instant): string => new Date(at).toISOString()

const balanceOf = (store: Store) => ({
  creditsPerSeat: store.meta('creditsPerSeat') ?? 0,
  seats: store.meta('seats') ?? 0,
  addOnAvailable: store.meta('addOnAvailable') ?? 0,
})

const personLine = ({ id, email, signupAt, ...rest }: StoredPerson) => ({ id, email, ...rest, signupAt: stamp(signupAt) })

function membersOf(store: Store, groupId: string, people: readonly StoredPerson[]): readonly string[] {
  const members = store.members(groupId)
  return people.flatMap((person) => (members.has(person.id) ? [person.email] : []))
}

function* rowLines(store: Store, source: UseSource, emails: ReadonlyMap<number, string>): Generator<unknown> {
  for (const { source: _, person, at, ...rest } of store.use(source)) {
    const email = emails.get(person)
    if (email !== undefined) yield { person: email, at: stamp(at), ...rest }
  }
}

/** A named list, one value to a line. */
function* lines(before: string, name: string, values: Iterable<unknown>, indent = '    '): Generator<string> {
  yield `${before}"${name}": [`
  let first = true
  for (const value of values) {
    yield `${first ? '\n' : ',\n'}${indent}${JSON.stringify(value)}`
    first = false
  }
  yield first ? ']' : `\n${indent.slice(2)}]`
}
