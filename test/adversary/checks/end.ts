// The end state: declared scopes are as declared, all others are unchanged (docs/commands.md, docs/policies.md).
import type { Cap, State } from '../model.ts'
import type { Declared } from '../policy.ts'
import type { World } from '../world.ts'

/** The expected cap of each scope at the end, computed here: declared, cleared because it was ours, or unchanged. */
export function expectedEnd(start: State, now: Declared, pruned: Iterable<string> = []): State {
  const end = new Map(start)
  for (const scope of pruned) end.delete(scope)
  for (const [scope, cap] of now.wanted) cap === 'none' ? end.delete(scope) : end.set(scope, cap)
  return end
}

/** Compares the service with the expected caps; scopes in `loose` may have any. */
export function checkEnd(world: World, expected: State, loose: ReadonlySet<string>, when: string): void {
  const actual = world.service.state()
  const wrong = differences(actual, expected).filter(([scope]) => !loose.has(scope))
  for (const [scope, is, should] of wrong) {
    world.breach(
      '0 means that the service is as declared; what is not mentioned is not managed (docs/commands.md, docs/policies.md)',
      `${when}: ${scope} is ${is}, should be ${should}`,
    )
  }
}

/** Scopes with another cap than expected: the present and the expected one. */
export function differences(actual: State, expected: State): readonly (readonly [string, Cap, Cap])[] {
  const scopes = new Set([...actual.keys(), ...expected.keys()])
  return [...scopes]
    .map((scope) => [scope, actual.get(scope) ?? 'none', expected.get(scope) ?? 'none'] as const)
    .filter(([, is, should]) => is !== should)
}
