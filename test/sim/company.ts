// Who is on the team and in which groups: the simulation's own book, kept beside the sandbox's store and always changed together with it.
// Also who has which cap in force, worked out here.
import type { ScopeKey } from '../../src/core/model/scope.ts'
import { scopeKey } from '../../src/core/model/scope.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import type { TeamStatus } from '../../src/sandbox/store.ts'
import type { ModelCap } from './policy-model.ts'

export interface Member {
  readonly email: string
  readonly id: number
  status: TeamStatus
}

export interface Company {
  readonly people: ReadonlyMap<string, Member>
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>
  /** Groups that the service does not know for now. */
  readonly gone: Set<string>
  /** Groups that the service does not list for now, or does not list and refuses to set. */
  readonly dark: Map<string, 'unlisted' | 'unset'>
  readonly approved: readonly string[]
  groupsOf(email: string): readonly string[]
  join(email: string, status?: TeamStatus): void
  leave(email: string): void
  setStatus(email: string, status: TeamStatus): void
  regroup(email: string, group: string): void
  /** What is set, by scope. */
  caps(): ReadonlyMap<ScopeKey, number>
  inForce(): ReadonlyMap<string, ModelCap>
  capsChanged(): void
  /** Somebody used something. */
  usedSome(): void
  /** Another one after every change. */
  readonly version: number
}

export const emailOf = (number: number): string => `p${String(number).padStart(3, '0')}@example.com`
export const groupName = (id: string): string => `Group ${id}`

/** Fills an empty sandbox with people p000… and groups g0…; the caller has seeded it with one person as a template. */
export function createCompany(sandbox: Sandbox, size: { readonly people: number; readonly groups: number }): Company {
  const { store } = sandbox
  const [template] = store.people()
  if (!template) throw new Error('the sandbox is empty')
  const people = new Map<string, Member>()
  const groups = new Map<string, Set<string>>()
  let nextId = 0
  let version = 0
  const reload = (): void => {
    version += 1
    sandbox.reload()
  }
  let caps: ReadonlyMap<ScopeKey, number> | undefined
  const save = ({ id, email, status }: Member): void =>
    store.savePerson({ ...template, id, email, name: email, apiKey: `key-of-${email}`, status, disabled: false })
  const saveMembers = (group: string): void =>
    store.setMembers(
      group,
      [...(groups.get(group) ?? [])].flatMap((email) => people.get(email)?.id ?? []),
    )
  const company: Company = {
    people,
    groups,
    gone: new Set(),
    dark: new Map(),
    get approved() {
      return [...people.values()].filter(({ status }) => status === 'APPROVED').map(({ email }) => email)
    },
    groupsOf: (email) => [...groups].flatMap(([id, members]) => (members.has(email) ? [id] : [])),
    join(email, status = 'APPROVED') {
      const member = { email, id: nextId, status }
      nextId += 1
      people.set(email, member)
      save(member)
      reload()
    },
    leave(email) {
      for (const [id, members] of groups) if (members.delete(email)) saveMembers(id)
      people.delete(email)
      store.removePerson(email)
      reload()
    },
    setStatus(email, status) {
      const member = people.get(email)
      if (!member) return
      member.status = status
      save(member)
      reload()
    },
    regroup(email, group) {
      const members = groups.get(group)
      if (!members || !people.has(email)) return
      if (!members.delete(email)) members.add(email)
      saveMembers(group)
      reload()
    },
    caps() {
      caps ??= new Map(store.caps().map((one) => [scopeKey(one.scope), one.cap]))
      return caps
    },
    inForce: () => inForceWith(company, company.caps()),
    capsChanged() {
      version += 1
      caps = undefined
    },
    usedSome() {
      version += 1
    },
    get version() {
      return version
    },
  }
  for (const group of store.groups()) store.setMembers(group.id, [])
  for (const person of store.people()) store.removePerson(person.email)
  for (let number = 0; number < size.people; number += 1) company.join(emailOf(number))
  for (let number = 0; number < size.groups; number += 1) {
    groups.set(`g${number}`, new Set())
    store.saveGroup({ id: `g${number}`, name: groupName(`g${number}`) })
  }
  return company
}

/** The cap in force of everybody approved if these were set: user over the lowest of the groups over the team. */
export function inForceWith(company: Company, caps: ReadonlyMap<ScopeKey, number>): ReadonlyMap<string, ModelCap> {
  const at = (key: string): number | undefined => caps.get(key as ScopeKey)
  return new Map(
    company.approved.map((email) => {
      const groups = company.groupsOf(email).flatMap((id) => at(`group:${id}`) ?? [])
      return [email, at(email) ?? (groups.length > 0 ? Math.min(...groups) : (at('team') ?? 'none'))]
    }),
  )
}
