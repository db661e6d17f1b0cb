// The seeded company: its people, their groups, and their habits. The same seed gives the same company. Decides nothing about time, caps or
// the interface.
import { createHash } from 'node:crypto'
import { WIRE } from '../../api/wire.generated.ts'
import { DAY_MS } from '../../core/model/units.ts'
import type { Store, StoredGroup, StoredPerson } from '../store.ts'
import { COMPANY } from './company.generated.ts'

// Seeded random numbers. Every stream has a name, so that the same seed gives the same numbers for the same purpose, whatever other streams
// are drawn. Must never be used for secrets.

/** Draws uniformly from [0, 1); each call gives the next number of the stream. */
export type Draw = () => number

/** A stream that depends on `seed` and `name` only (mulberry32 over an FNV-1a hash of both). Choice. */
export function stream(seed: number, name: string): Draw {
  let state = fnv1a(`${seed}/${name}`)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A whole number from `low` to `high`, both included. */
export const between = (draw: Draw, low: number, high: number): number => low + Math.floor(draw() * (high - low + 1))

/** One element of a list that is not empty. */
export function pick<T>(draw: Draw, list: readonly [T, ...T[]]): T {
  return list[Math.floor(draw() * list.length)] ?? list[0]
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

export interface CompanyOptions {
  readonly people: number
  readonly groups: number
  /** Days of use before the start. */
  readonly days: number
  readonly seed: number
}

const NAMED = Object.entries(COMPANY.named)
const [FIRST_NAMES, LAST_NAMES] = [COMPANY.firstNames.split(' '), COMPANY.lastNames.split(' ')]

/** Fills an empty store with people, groups and the figures of the balance. */
export function seedCompany(store: Store, options: CompanyOptions): void {
  const groups = makeGroups(options.groups)
  const people = makePeople(options)
  store.transaction(() => {
    for (const person of people) store.savePerson(person)
    const members = makeMembers(options, groups)
    for (const group of groups) {
      store.saveGroup(group)
      store.setMembers(group.id, members.get(group.id) ?? [])
    }
    const approved = people.filter((person) => person.status === 'APPROVED').length
    store.setMeta('creditsPerSeat', 500)
    // A few seats are always free: numSeats need not equal the length of the roster (docs/service.md).
    store.setMeta('seats', approved + Math.ceil(approved / 20))
    store.setMeta('seed', options.seed)
  })
}

function makeGroups(count: number): readonly StoredGroup[] {
  return Array.from({ length: count }, (_, index) => {
    const name = COMPANY.groups[index]
    return name ? { id: `grp_${name.toLowerCase()}`, name } : { id: `grp_${index + 1}`, name: `Group ${index + 1}` }
  })
}

function makePeople(options: CompanyOptions): readonly StoredPerson[] {
  const { people, seed } = options
  const accounts = drawAccounts(options)
  const taken = new Set<string>()
  return Array.from({ length: people }, (_, id) => {
    const draw = stream(seed, `person/${id}`)
    const local = NAMED[id]?.[0] ?? inventName(draw, taken)
    taken.add(local)
    const email = `${local}@example.com`
    return {
      id,
      email,
      name: local.split('.').map(capitalise).join(' '),
      role: id === 0 || draw() < 0.04 ? 'admin' : 'member',
      ...(accounts.get(id) ?? ENABLED),
      apiKey: createHash('sha256').update(`${seed}/${email}`).digest('hex'),
      signupAt: Date.UTC(2023, 5, 1) + between(draw, 0, 600) * DAY_MS + between(draw, 7, 18) * 3_600_000,
    }
  })
}

const capitalise = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** A name that is not taken; with a number after eight names that were. */
function inventName(draw: Draw, taken: ReadonlySet<string>): string {
  let name = ''
  for (let attempt = 0; attempt < 8; attempt += 1) {
    name = `${FIRST_NAMES[between(draw, 0, FIRST_NAMES.length - 1)]}.${LAST_NAMES[between(draw, 0, LAST_NAMES.length - 1)]}`
    if (!taken.has(name)) return name
  }
  return `${name}${taken.size}`
}

type Account = Pick<StoredPerson, 'status' | 'disabled'>

const ENABLED: Account = { status: 'APPROVED', disabled: false }

/** The people who are not both approved and enabled, drawn from the unnamed people: about 3 % pending, 1 % rejected, 2 % disabled. */
function drawAccounts({ people, seed }: CompanyOptions): ReadonlyMap<number, Account> {
  const draw = stream(seed, 'standing')
  const ids = Array.from({ length: Math.max(0, people - NAMED.length) }, (_, index) => ({ id: index + NAMED.length, roll: draw() }))
  const drawn = ids.sort((a, b) => a.roll - b.roll).map(({ id }) => id)
  const accounts = new Map<number, Account>()
  const assign = (share: number, account: Account): void => {
    for (const id of drawn.splice(0, Math.round(people * share))) accounts.set(id, account)
  }
  assign(0.03, { status: 'PENDING', disabled: false })
  assign(0.01, { status: 'REJECTED', disabled: false })
  assign(0.02, { status: 'APPROVED', disabled: true })
  return accounts
}

function makeMembers({ people, seed }: CompanyOptions, groups: readonly StoredGroup[]): ReadonlyMap<string, readonly number[]> {
  const members = new Map<string, number[]>(groups.map((group) => [group.id, []]))
  const join = (id: number, group: StoredGroup | undefined): void => void (group && members.get(group.id)?.push(id))
  for (let id = 0; id < people; id += 1) {
    const draw = stream(seed, `groups/${id}`)
    const named = NAMED[id]?.[1].map((name) => groups.find((group) => group.name === name)).filter((group) => group !== undefined)
    const first = named?.[0] ?? groups[between(draw, 0, groups.length - 1)]
    join(id, first)
    // Some people are in two groups, so that groups overlap.
    const second = named ? named[1] : draw() < 0.05 ? groups[between(draw, 0, groups.length - 1)] : undefined
    if (second !== first) join(id, second)
  }
  return members
}

export const { models: MODELS } = COMPANY
export const IDES = WIRE.components.schemas.CascadeAnalyticsRequest.properties.ide_types.items.enum

const WORKING_DAYS = 21

/** The number of releases of each IDE: one a fortnight since day 19,000 of the epoch (January 2022). */
const RELEASE_DAYS = 14
const FIRST_RELEASE_DAY = 19_000
const MAJOR_VERSIONS: Readonly<Record<string, number>> = COMPANY.majorVersions

/** A person's habits of work, drawn from the seed and their place in the roster. */
export type Habits = ReturnType<typeof habitsOf>

/** The first named person is always a heavy user, so that every demonstration has one. */
export function habitsOf(seed: number, person: number) {
  const draw = stream(seed, `habits/${person}`)
  const roll = person === 0 ? 0.9 : draw()
  const kind = COMPANY.kinds.find((one) => roll < one.upTo) ?? COMPANY.kinds[0]
  const month = kind.low + (kind.high - kind.low) * draw() ** 2
  const code = stream(seed, `code/${person}`)
  const work = {
    /** Local time minus UTC. */
    offsetHours: pick(draw, [-8, -5, -5, 0, 1, 1, 2, 5]),
    /** The probability of working with the assistant on a working day. */
    activity: kind.activity,
    centsPerDay: (month * 100) / (WORKING_DAYS * kind.activity),
    sessionsPerDay: kind.sessions,
    /** In which they use the agent. */
    ide: pick<string>(draw, ['editor', 'editor', 'editor', 'jetbrains', 'cli']),
    model: pick<string>(draw, [MODELS[0], MODELS[0], MODELS[1], MODELS[2], MODELS[3]]),
  }
  return {
    ...work,
    /** In which they write code: the editor or a plugin. */
    codeIde: work.ide === 'cli' ? 'vscode' : work.ide,
    /** The main one first. */
    languages: [pick(code, COMPANY.mainLanguages), pick(code, COMPANY.otherLanguages)] as const,
    /** How many releases their IDE is behind. */
    releasesBehind: between(code, 0, 2),
  }
}

/** The version of a person's IDE on a day of the epoch. */
export function versionOf({ codeIde, releasesBehind }: Habits, day: number): string {
  const release = Math.floor((day - FIRST_RELEASE_DAY) / RELEASE_DAYS) - releasesBehind
  return `${MAJOR_VERSIONS[codeIde] ?? 0}.${Math.max(0, release)}.0`
}
