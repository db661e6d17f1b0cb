// The people and their groups: the simulation's own record, kept beside the sandbox's store and always changed together with it. It also
// computes the caps in force.
import type { Change } from '../../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import type { StoredPerson } from '../../../src/sandbox/store.ts'
import { groupName, isOfFile, type ModelCap, type ModelRule, type Truth } from '../lives/policy-model.ts'

interface Member {
  readonly email: string
  readonly id: number
  status: StoredPerson['status']
  role: 'admin' | 'member'
  readonly signupAt: number
  readonly usedAt: number[]
}

export type Company = ReturnType<typeof createCompany>

export const emailOf = (number: number): string => `p${String(number).padStart(3, '0')}@example.com`

/** Fills an empty sandbox with people p000… and groups g0…; the caller has seeded it with one person as a template. */
export function createCompany(sandbox: Sandbox, size: { readonly people: number; readonly groups: number }) {
  const { store } = sandbox
  const [template] = store.people()
  if (!template) throw new Error('the sandbox is empty')
  const people = new Map<string, Member>()
  const groups = new Map<string, Set<string>>()
  let nextId = 0
  let version = 0
  let capsVersion = 0
  // Computed on demand and cached until it changes: invariants need it with every write and plan.
  let approved: readonly string[] | undefined
  let groupsOf: ReadonlyMap<string, readonly string[]> | undefined
  let inForce: ReadonlyMap<string, ModelCap> | undefined
  let caps: ReadonlyMap<ScopeKey, number> | undefined
  const touch = (): void => {
    version += 1
    capsVersion += 1
  }
  const reload = (): void => {
    touch()
    approved = undefined
    groupsOf = undefined
    inForce = undefined
    sandbox.reload()
  }
  const save = ({ id, email, status, role, signupAt }: Member): void =>
    store.savePerson({ ...template, id, email, name: email, apiKey: `key-of-${email}`, status, role, signupAt, disabled: false })
  let isFounding = true
  const saveMembers = (group: string): void =>
    store.setMembers(
      group,
      [...(groups.get(group) ?? [])].flatMap((email) => people.get(email)?.id ?? []),
    )
  const found = (): string => {
    const id = `g${groups.size}`
    groups.set(id, new Set())
    store.saveGroup({ id, name: groupName(id) })
    return id
  }
  const company = {
    people: people as ReadonlyMap<string, Member>,
    groups: groups as ReadonlyMap<string, ReadonlySet<string>>,
    /** Groups that the service does not know at present. */
    gone: new Set<string>(),
    /** Groups that the service does not list at present, or neither lists nor sets. */
    dark: new Map<string, 'unlisted' | 'unset'>(),
    /** Groups whose caps the service does not set at present, with the status of the refusal. */
    locked: new Map<string, 400 | 503>(),
    /** What the people file says of a person; `open`: a change may not count yet. */
    unitOf: NO_FILE,
    left: new Set<string>(),
    /** Scopes whose readings are all stale at present. */
    behind: new Set<ScopeKey>(),
    get approved(): readonly string[] {
      approved ??= [...people.values()].filter(({ status }) => status === 'APPROVED').map(({ email }) => email)
      return approved
    },
    groupsOf(email: string): readonly string[] {
      groupsOf ??= groupsByPerson(groups)
      return groupsOf.get(email) ?? NO_GROUPS
    },
    join(email: string, status: StoredPerson['status'] = 'APPROVED'): void {
      const signupAt = isFounding ? template.signupAt : sandbox.now()
      const member: Member = { email, id: nextId, status, role: nextId % 3 === 0 ? 'admin' : 'member', signupAt, usedAt: [] }
      nextId += 1
      people.set(email, member)
      company.left.delete(email)
      save(member)
      reload()
    },
    leave(email: string): void {
      for (const [id, members] of groups) if (members.delete(email)) saveMembers(id)
      people.delete(email)
      company.left.add(email)
      store.removePerson(email)
      reload()
    },
    change(email: string, more: Partial<Pick<Member, 'status' | 'role'>>): void {
      const member = people.get(email)
      if (!member) return
      save(Object.assign(member, more))
      reload()
    },
    regroup(email: string, group: string): void {
      const members = groups.get(group)
      if (!members || !people.has(email)) return
      if (!members.delete(email)) members.add(email)
      saveMembers(group)
      reload()
    },
    /** Adds a group without members and returns its id. */
    found(): string {
      const id = found()
      reload()
      return id
    },
    /** A person uses credits now. */
    used: (email: string): void => void people.get(email)?.usedAt.push(sandbox.now()),
    /** Whether a rule matches a person, by the true state. */
    holds: (rule: ModelRule, email: string): Truth => holds(rule, people.get(email), { company, now: sandbox.now() }),
    /** The stored caps by scope. */
    caps(): ReadonlyMap<ScopeKey, number> {
      caps ??= new Map(store.caps().map((one) => [scopeKey(one.scope), one.cap]))
      return caps
    },
    inForce(): ReadonlyMap<string, ModelCap> {
      inForce ??= inForceWith(company, company.caps())
      return inForce
    },
    capsChanged(): void {
      touch()
      caps = undefined
      inForce = undefined
    },
    /** Increases when a person uses credits. */
    usedSome(): void {
      version += 1
    },
    /** Removes permissions of a key. */
    keysChanged: touch,
    /** Changes with every change. */
    get version(): number {
      return version
    },
    /** Changes with every change except use. */
    get capsVersion(): number {
      return capsVersion
    },
  }
  for (const group of store.groups()) store.setMembers(group.id, [])
  for (const person of store.people()) store.removePerson(person.email)
  for (let number = 0; number < size.people; number += 1) company.join(emailOf(number))
  for (let number = 0; number < size.groups; number += 1) found()
  isFounding = false
  return company
}

const NO_GROUPS: readonly string[] = []
const NO_FILE = (_email: string): string | undefined => undefined

/** In the order in which the groups were added. */
function groupsByPerson(groups: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, readonly string[]> {
  const groupsOf = new Map<string, string[]>()
  for (const [id, members] of groups)
    for (const email of members) {
      const known = groupsOf.get(email)
      if (known) known.push(id)
      else groupsOf.set(email, [id])
    }
  return groupsOf
}

/** So close to the day of the change, a reading may still give either answer. */
const NEAR_DAYS = 1 / 3
const DAY_MS = 86_400_000

function holds(rule: ModelRule, member: Member | undefined, { company, now }: { readonly company: Company; readonly now: number }): Truth {
  if (!member) return 'open'
  const { starts = '', role, group, inactiveDays, joinedWithinDays, activeDays, unit, listed } = rule
  const plain =
    member.email.startsWith(starts) &&
    (role === undefined || member.role === role) &&
    (group === undefined || company.groupsOf(member.email).includes(group))
  if (!plain) return false
  if (isOfFile(rule)) {
    const own = company.unitOf(member.email)
    if (own === 'open' || (own === undefined && listed !== false)) return 'open'
    return own === unit
  }
  if (activeDays) return 'open'
  const joined = joinedWithinDays === undefined || below((now - member.signupAt) / DAY_MS, joinedWithinDays)
  if (inactiveDays === undefined || joined === false) return joined
  const isActive = isActiveBy(now, member, company, inactiveDays)
  if (isActive === 'open' || isActive !== isActiveBy(now - SHOWN_MS, member, company, inactiveDays)) return 'open'
  return isActive ? false : joined
}

/** Use shows up to 3 hours late, and counts once two readings agree. */
const SHOWN_MS = 6 * 3_600_000

/** By what was used until then. */
function isActiveBy(at: number, member: Member, { people }: Company, days: number): Truth {
  const lastUse = ({ usedAt }: Member): number => usedAt.findLast((one) => one <= at) ?? 0
  const newest = Math.max(0, ...people.values().map(lastUse))
  return newest === 0 ? 'open' : below((newest - (lastUse(member) || member.signupAt)) / DAY_MS, days)
}

const below = (days: number, limit: number): Truth => (Math.abs(days - limit) < NEAR_DAYS ? 'open' : days < limit)

/** The cap in force of all approved people with these stored caps: user before the lowest of the groups before the team. */
export function inForceWith(company: Company, caps: ReadonlyMap<ScopeKey, number>): ReadonlyMap<string, ModelCap> {
  const at = (key: string): number | undefined => caps.get(key as ScopeKey)
  return new Map(
    company.approved.map((email) => {
      const groups = company.groupsOf(email).flatMap((id) => at(`group:${id}`) ?? [])
      return [email, at(email) ?? (groups.length > 0 ? Math.min(...groups) : (at('team') ?? 'none'))]
    }),
  )
}

/** The stored caps once these changes have landed. */
export function withChanges(caps: ReadonlyMap<ScopeKey, number>, changes: readonly Change[]): ReadonlyMap<ScopeKey, number> {
  const after = new Map(caps)
  for (const { scope, to } of changes) {
    if (to === 'none') after.delete(scopeKey(scope))
    else after.set(scopeKey(scope), to)
  }
  return after
}
