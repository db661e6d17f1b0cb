// Clears that the write to an ancestor may reveal: a scope that is to have no cap shows the ancestor's cap, and may have the
// same cap explicitly set. Only the ancestor's new cap shows which, so the clear is judged and shown with that write, and is never written before it.
import { ancestorsOf, type People } from '../interpret/effective.ts'
import type { Slots } from '../interpret/slots.ts'
import { byScope, compareScopes, type ScopeKey } from '../model/scope.ts'
import { type Diff, type Difference, sourceOf } from './diff.ts'

/** The clears that these differences may reveal, in the order of scopes. None has an effect on people of its own: both readings end alike. */
export function revealedClears(
  differences: readonly Difference[],
  { desired }: Pick<Diff, 'desired'>,
  slots: Slots,
  people: People,
): readonly Difference[] {
  const changes = byScope(differences)
  if (slots.model.layers === 'copied' || differences.every(({ scope }) => scope.kind === 'user')) return []
  const ancestorOf = (key: ScopeKey): Difference | undefined =>
    ancestorsOf(key, people)
      .flatMap((one) => changes.get(one) ?? [])
      .find((one) => slots.shown(one.key) === slots.shown(key))
  const found = [...desired].flatMap(([key, { scope, cap, entry, origin }]): readonly Difference[] => {
    // Few are to have no cap: the rest of tens of thousands cost no further check.
    const shown = cap === 'none' ? slots.shown(key) : undefined
    if (typeof shown !== 'number' || changes.has(key) || !slots.mayBeInherited(key)) return []
    const ancestor = ancestorOf(key)
    if (!ancestor) return []
    const change = {
      scope,
      key,
      from: shown,
      to: cap,
      cause: 'policy',
      ...sourceOf(origin),
      entry,
      healing: false,
      grantEnd: false,
    } as const
    return [{ ...change, revealedBy: ancestor.scope }]
  })
  return found.toSorted((a, b) => compareScopes(a.scope, b.scope))
}
