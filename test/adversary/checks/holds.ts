// Guards, holds and approvals, computed independently (docs/guards-and-approvals.md). A user's cap that no policy declares is not read, so people
// are counted with it and without it; a guard must hold when both counts exceed its share, and must not when neither does.
import { after, type Cap, type Counts, countsOf, guardsDue, type Limits, type State } from '../model.ts'
import type { World } from '../world.ts'
import type { Change, Hold } from './shape.ts'

/** The caps that capkeeper can know: those of the team, of groups and of declared people. */
function known(state: State, declared: ReadonlyMap<string, Cap>): State {
  return new Map([...state].filter(([scope]) => scope === 'team' || declared.has(scope)))
}

function counts(world: World, declared: ReadonlyMap<string, Cap>, before: State, now: State): readonly Counts[] {
  return [countsOf(world.company, before, now), countsOf(world.company, known(before, declared), known(now, declared))]
}

/** Whether the guards by share held what they must, counted from the beginning of the plan. */
export function checkGuards(
  world: World,
  declared: ReadonlyMap<string, Cap>,
  judged: { readonly start: State; readonly changes: readonly Change[]; readonly holds: readonly Hold[] },
  limits: Limits,
): void {
  const { start, changes, holds } = judged
  const end = after(
    start,
    changes.map((c) => [c.scope, c.to] as const),
  )
  const both = counts(world, declared, start, end)
  const shown = new Set(holds.flatMap((hold) => hold.guards))
  for (const guard of inAll(both, limits)) {
    if (!shown.has(guard))
      world.breach(
        `${guard} holds when its share is passed (docs/guards-and-approvals.md)`,
        `${both.map(told).join('; or ')}, and no hold names it`,
      )
  }
  const bound = both.flatMap((c) => guardsDue({ ...c, blocked: [...c.blocked, ...Array<string>(c.unsure).fill('?')] }, limits))
  for (const guard of shown) {
    if (guard in limits && !bound.some((g) => g === guard) && holds.length === 1) {
      world.breach(
        'Counted by net effect of the whole plan (docs/guards-and-approvals.md)',
        `${guard} holds, but ${both.map(told).join('; or ')}; ${holds.map((h) => h.message).join(' ')}`,
      )
    }
  }
}

/** The guard for protected people, and what is written to them without it. */
export function checkProtected(world: World, declared: ReadonlyMap<string, Cap>, start: State, listed: readonly string[]): void {
  const [real, seen] = counts(world, declared, start, world.service.state()).map((c) => [...c.lowered, ...c.blocked, ...c.cleared])
  const harmed = listed.filter((email) => real?.includes(email) && seen?.includes(email))
  if (harmed.length > 0)
    world.breach(
      'protected holds any lowering, blocking or clearing of a listed person (docs/guards-and-approvals.md)',
      `without any approval: ${harmed.join(', ')}`,
    )
}

/** Writes without an approval stay within every share, counted from the beginning of the plan. */
export function checkUnapproved(world: World, declared: ReadonlyMap<string, Cap>, start: State, limits: Limits): void {
  const both = counts(world, declared, start, world.service.state())
  for (const guard of inAll(both, limits)) {
    world.breach(
      `${guard}: what goes out is judged again without what is held (docs/guards-and-approvals.md)`,
      `without any approval: ${both.map(told).join('; or ')}`,
    )
  }
}

const inAll = (both: readonly Counts[], limits: Limits): readonly (keyof Limits)[] =>
  (['maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared'] as const).filter((guard) =>
    both.every((c) => guardsDue(c, limits).includes(guard)),
  )

const told = (c: Counts): string =>
  `of ${c.people} people ${c.lowered.length} lowered (${c.lowered.join(' ')}), ${c.blocked.length} blocked (${c.blocked.join(' ')}), ${c.cleared.length} cleared (${c.cleared.join(' ')}), ${c.unsure} unsure`
