// The caps of the service: one value for each scope; a person's own cap comes before group caps, and these before the team's. Follows the
// switches for cap semantics and reads (docs/service.md, How caps work). Must never judge who may read or write.
import { groupScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../core/model/scope.ts'
import type { Store } from './store.ts'
import type { Switches } from './switches.ts'

export type CapBook = ReturnType<typeof openCaps>

/**
 * Opens the caps of a store. A person's cap in force is their own, else the lowest of their groups' (choice: a related product takes
 * the lowest), else the team's.
 */
export function openCaps(store: Store, switches: Pick<Switches, 'capSemantics' | 'capReads' | 'zeroCap'>) {
  let inForce: ReadonlyMap<number, number> | undefined
  const before = new Map<ScopeKey, number | undefined>()
  const inForceOf = (person: number): number | undefined => {
    inForce ??= resolveAll(store)
    return inForce.get(person)
  }
  const inForceAt = (scope: Scope): number | undefined => {
    if (scope.kind !== 'user') return store.cap(scope) ?? store.cap(TEAM)
    const person = store.person(scope.email)
    return person && inForceOf(person.id)
  }
  const visible = (cap: number | undefined): number | undefined => (cap === 0 && switches.zeroCap === 'omitted' ? undefined : cap)
  const read = (scope: Scope): number | undefined => visible(switches.capReads === 'inherited' ? inForceAt(scope) : store.cap(scope))
  const put = (scope: Scope, cap: number | undefined): void => {
    before.set(scopeKey(scope), read(scope))
    store.setCap(scope, cap)
  }
  return {
    /** What a read of this scope answers; undefined: no cap. */
    read,
    /** What a read of this scope answered before the last write to it; without a write the same as `read`. */
    readStale(scope: Scope): number | undefined {
      const key = scopeKey(scope)
      return before.has(key) ? before.get(key) : read(scope)
    },
    /** Sets or clears the cap of a scope; with `fan-out` also the caps of its members. */
    write(scope: Scope, cap: number | undefined): void {
      const copies = switches.capSemantics === 'fan-out' ? membersOf(store, scope) : []
      store.transaction(() => {
        for (const one of [scope, ...copies]) put(one, cap)
      })
      inForce = undefined
    },
    /** The cap in force for a person by id. */
    inForce: inForceOf,
    /** Call it after people or groups were changed in the store. */
    reload(): void {
      inForce = undefined
    },
  }
}

function membersOf(store: Store, scope: Scope): readonly Scope[] {
  if (scope.kind === 'user') return []
  const members = scope.kind === 'group' ? store.members(scope.id) : undefined
  return store.people().flatMap((person) => (!members || members.has(person.id) ? [userScope(person.email)] : []))
}

function resolveAll(store: Store): ReadonlyMap<number, number> {
  const caps = new Map(store.caps().map(({ scope, cap }) => [scopeKey(scope), cap]))
  const capAt = (scope: Scope): number | undefined => caps.get(scopeKey(scope))
  const resolved = new Map<number, number>()
  for (const group of store.groups()) {
    const cap = capAt(groupScope(group.id))
    if (cap === undefined) continue
    for (const person of store.members(group.id)) resolved.set(person, Math.min(cap, resolved.get(person) ?? cap))
  }
  const team = capAt(TEAM)
  for (const person of store.people()) {
    const cap = capAt(userScope(person.email)) ?? resolved.get(person.id) ?? team
    if (cap !== undefined) resolved.set(person.id, cap)
  }
  return resolved
}
