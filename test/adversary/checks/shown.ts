// Compares writes with the plan that was shown: the same changes, in its order (docs/commands.md).
import type { Cap } from '../model.ts'
import { type Seen, writesOf, writtenText } from '../service.ts'
import type { World } from '../world.ts'
import { type Change, keyOf } from './shape.ts'

/** Whether a shown change is ready to be written. */
export const goesOut = (change: Change): boolean => change.hold === '' && change.waitsFor === ''

/** The plan shows exactly the differences between observed and desired caps, computed independently. */
export function checkDifference(
  world: World,
  changes: readonly Change[],
  expected: readonly (readonly [string, Cap, Cap])[],
  loose: ReadonlySet<string>,
): void {
  const shown = new Map(changes.map((change) => [change.scope, change]))
  for (const [scope, from, to] of expected) {
    if (loose.has(scope)) continue
    const change = shown.get(scope)
    if (change === undefined) world.breach('plan shows the changes of all passes', `${scope} ${from} → ${to} is missing`)
    else if (change.to !== to || change.from !== from) {
      world.breach('a change tells from and to', `${scope} shows ${change.from} → ${change.to}, should be ${from} → ${to}`)
    }
    shown.delete(scope)
  }
  for (const change of shown.values()) {
    if (!loose.has(change.scope))
      world.breach(
        'A scope is written only when its observed cap differs from what is declared (ARCHITECTURE.md, invariant 3)',
        `plan wants ${change.scope} ${change.from} → ${change.to}`,
      )
  }
}

/** Only shown changes were written, and all ready ones were; in the order of the plan when requests are sent one by one. */
export function checkShown(world: World, changes: readonly Change[], seen: readonly Seen[], inOrder: boolean): void {
  const shown = changes.filter(goesOut).map(keyOf)
  const waiting = new Set(changes.filter((c) => c.hold === '' && c.waitsFor !== '').map(keyOf))
  const written = writesOf(seen).map(writtenText)
  for (const key of written)
    if (!shown.includes(key) && !waiting.has(key))
      world.breach('apply writes no (scope, to) that was not shown (ARCHITECTURE.md, invariant 12)', key)
  for (const key of shown) if (!written.includes(key)) world.breach('a change that is shown and ready is written', `${key} was not`)
  const order = changes
    .filter((c) => c.hold === '')
    .map(keyOf)
    .filter((key) => written.includes(key))
  const real = written.filter((key) => order.includes(key))
  if (inOrder && real.length === order.length && real.join() !== order.join()) {
    world.breach('changes[] is in the order of writing', `shown ${order.join(', ')}; written ${real.join(', ')}`)
  }
}
