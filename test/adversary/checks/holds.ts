// Guards, holds and approvals by own arithmetic (product.md section 5).
import { after, type Counts, countsOf, guardsDue, type Limits, type State } from '../model.ts'
import type { World } from '../world.ts'
import type { Change, Hold } from './shape.ts'

/** Whether the share guards held what they must, judged from where the plan began. */
export function checkGuards(world: World, start: State, changes: readonly Change[], holds: readonly Hold[], limits: Limits): void {
  const whole = countsOf(
    world.company,
    start,
    after(
      start,
      changes.map((c) => [c.scope, c.to] as const),
    ),
  )
  const due = guardsDue(whole, limits)
  const shown = new Set(holds.flatMap((hold) => hold.guards))
  for (const guard of due)
    if (!shown.has(guard)) world.breach(`${guard} holds when its share is passed (section 5)`, `${told(whole)}, and no hold names it`)
  const bound = guardsDue({ ...whole, blocked: [...whole.blocked, ...Array<string>(whole.unsure).fill('?')] }, limits)
  for (const guard of shown) {
    if (guard in limits && !bound.some((g) => g === guard) && holds.length === 1) {
      world.breach('Counted by net effect of the whole plan (section 5)', `${guard} holds, but ${told(whole)}`)
    }
  }
}

/** The protected guard, and what goes out of protected people without it. */
export function checkProtected(world: World, start: State, now: State, listed: readonly string[]): void {
  const { lowered, blocked, cleared } = countsOf(world.company, start, now)
  const harmed = [...lowered, ...blocked, ...cleared].filter((email) => listed.includes(email))
  if (harmed.length > 0)
    world.breach(
      'protected holds any lowering, blocking or clearing of a listed person (section 5)',
      `without any approval: ${harmed.join(', ')}`,
    )
}

/** What went out without an approval stays within every share, counted from where the plan began. */
export function checkUnapproved(world: World, start: State, now: State, limits: Limits): void {
  const counts = countsOf(world.company, start, now)
  for (const guard of guardsDue(counts, limits)) {
    world.breach(`${guard}: what goes out is judged again without what is held (section 5)`, `without any approval: ${told(counts)}`)
  }
}

const told = (c: Counts): string =>
  `of ${c.people} people ${c.lowered.length} lowered, ${c.blocked.length} blocked, ${c.cleared.length} cleared`
