// Every state on the way (docs/operations.md): no person below the lesser of before and after, none uncapped on the way to a cap, no
// needless write, and each write read back. For services with caps per scope.
import { approved } from '../company.ts'
import { effective, type State } from '../model.ts'
import { landedOf, type Seen, writesOf } from '../service.ts'
import type { World } from '../world.ts'

const below = 'Between any two writes no person is below the lesser of the caps before and after (docs/operations.md)'
const uncapped = 'No person is uncapped on the way to a cap (docs/operations.md)'

/** Checks each state between `before` and `end` that the writes produced. */
export function checkWay(world: World, seen: readonly Seen[], before: State, end: State): void {
  const told = new Set<string>()
  for (const write of landedOf(seen)) {
    for (const { email } of approved(world.company)) {
      const was = effective(before, world.company, email)
      const will = effective(end, world.company, email)
      const is = effective(write.after, world.company, email)
      const rule = is < Math.min(was, will) ? below : is === Number.POSITIVE_INFINITY && Math.max(was, will) < is ? uncapped : undefined
      if (rule === undefined || told.has(rule + email)) continue
      told.add(rule + email)
      world.breach(rule, `${email} had ${was}, will have ${will}, and had ${is} after ${write.scope} → ${write.cap}`)
    }
  }
}

/** No write without an effect, and no clear of a scope that is not set. */
export function checkNeed(world: World, seen: readonly Seen[]): void {
  for (const write of writesOf(seen)) {
    const was = write.before.get(write.scope) ?? 'none'
    if (was !== write.cap) continue
    const rule = 'A scope is written only when its observed cap differs, and is never cleared when unset (ARCHITECTURE.md, invariant 3)'
    world.breach(rule, `${write.scope} was ${was} and was written ${write.cap}`)
  }
}

/** No scope is written twice in one command, on a service where every write lands and no other client writes. */
export function checkOnce(world: World, seen: readonly Seen[]): void {
  const count = new Map<string, number>()
  for (const write of writesOf(seen)) count.set(write.scope, (count.get(write.scope) ?? 0) + 1)
  for (const [scope, times] of count) {
    if (times > 1)
      world.breach(
        'A scope is written only when its observed cap differs from what is declared (ARCHITECTURE.md, invariant 3)',
        `${scope} was written ${times} times`,
      )
  }
}

/** Each write is followed by a read of its scope. */
export function checkReadBack(world: World, seen: readonly Seen[]): void {
  seen.forEach((write, index) => {
    if (!write.landed) return
    const readBack = seen.slice(index + 1).some((s) => s.operation === 'GetUsageConfig' && s.scope === write.scope)
    if (!readBack)
      world.breach('A scope is read back after its write (ARCHITECTURE.md, invariant 3)', `${write.scope} → ${write.cap} was not`)
  })
}
