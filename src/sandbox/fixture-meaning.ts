// What a fixture's entries say about each other: names that must exist, things that may be there once, rows that may not lie ahead of the
// state's own instant. Works on files that keep to the schema; where things stand in the text is for others to find.
import { normaliseEmail, parseScope } from '../core/model/scope.ts'
import type { Instant } from '../core/model/units.ts'
import type { FixtureDocument } from './fixture-schema-source.ts'
import { pointerPart } from './json-places.ts'
import { SANDBOX_KEYS } from './sandbox.ts'
import { parseTimestamp } from './time.ts'
import { USE_SOURCES } from './use.ts'

/** Something wrong at a JSON pointer; `on: 'key'` means the name of the member there. */
export interface FixtureFault {
  readonly pointer: string
  readonly on?: 'key'
  readonly code: 'FIXTURE_SCHEMA' | 'FIXTURE_MEANING'
  readonly message: string
  readonly hint?: string
}

/** Says what is wrong at a pointer. */
type Say = (pointer: string, message: string, on?: 'key') => void

/** All of it, in the order of the parts of a fixture. */
export function meaningFaults(document: FixtureDocument, asOf: Instant): readonly FixtureFault[] {
  const faults: FixtureFault[] = []
  const say: Say = (pointer, message, on) => void faults.push({ pointer, code: 'FIXTURE_MEANING', message, ...(on ? { on } : {}) })
  const emails = new Set(document.people.map((person) => normaliseEmail(person.email)))
  const groups = new Set((document.groups ?? []).map((group) => group.id))
  const person = (email: string, pointer: string): void => {
    if (!emails.has(normaliseEmail(email))) say(pointer, `${shown(email)} is not among the people of this file`)
  }
  const group = (id: string, pointer: string, on?: 'key'): void => {
    if (!groups.has(id)) say(pointer, `${shown(id)} is not among the groups of this file`, on)
  }
  judgePeople(document, say)
  judgeGroups(document, say, person)
  judgeCaps(document, say, person, group)
  judgeKeys(document, say, group)
  for (const source of USE_SOURCES) {
    for (const [index, row] of (document.use?.[source] ?? []).entries()) {
      person(row.person, `/use/${source}/${index}/person`)
      if ((parseTimestamp(row.at) ?? 0) <= asOf) continue
      say(`/use/${source}/${index}/at`, `${row.at} lies after the instant of this state, ${new Date(asOf).toISOString()}`)
    }
  }
  return faults
}

/** Says where a value stands for the second time. */
function once(what: string, say: Say): (value: string | number | undefined, pointer: string) => void {
  const seen = new Set<string | number>()
  return (value, pointer) => {
    if (value === undefined) return
    if (seen.has(value)) say(pointer, `${what} ${shown(value)} is there twice`)
    seen.add(value)
  }
}

function judgePeople({ people }: FixtureDocument, say: Say): void {
  const [email, id, apiKey] = [once('e-mail', say), once('id', say), once('apiKey', say)]
  for (const [index, person] of people.entries()) {
    email(normaliseEmail(person.email), `/people/${index}/email`)
    id(person.id ?? index, `/people/${index}${person.id === undefined ? '' : '/id'}`)
    apiKey(person.apiKey, `/people/${index}/apiKey`)
  }
}

type Known = (name: string, pointer: string, on?: 'key') => void

function judgeGroups({ groups = [] }: FixtureDocument, say: Say, person: Known): void {
  const [id, name] = [once('group id', say), once('group name', say)]
  for (const [index, group] of groups.entries()) {
    id(group.id, `/groups/${index}/id`)
    name(group.name, `/groups/${index}/name`)
    for (const [place, member] of (group.members ?? []).entries()) person(member, `/groups/${index}/members/${place}`)
  }
}

function judgeCaps({ caps = {} }: FixtureDocument, say: Say, person: Known, group: Known): void {
  const user = once('a cap for', say)
  for (const key of Object.keys(caps)) {
    const pointer = `/caps${pointerPart(key)}`
    const scope = parseScope(key)
    if (scope?.kind === 'group') group(scope.id, pointer, 'key')
    if (scope?.kind !== 'user') continue
    person(scope.email, pointer)
    user(scope.email, pointer)
  }
}

function judgeKeys({ keys = [] }: FixtureDocument, say: Say, group: Known): void {
  const secret = once('secret', say)
  for (const [index, key] of keys.entries()) {
    secret(key.secret, `/keys/${index}/secret`)
    if (SANDBOX_KEYS.some((always) => always.secret === key.secret)) say(`/keys/${index}/secret`, `${key.secret} is always there`)
    if (key.group !== undefined) group(key.group, `/keys/${index}/group`)
  }
}

/** A value of the file as it stands in a message: in one line, long ones cut. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
