// A known case: a trial that failed once, or that the contract states literally.
import { changesOf, holdsOf } from '../checks/shape.ts'
import type { Open } from '../kinds/kind.ts'
import { outcome } from '../kinds/kind.ts'
import { type Seen, writesOf, writtenText } from '../service.ts'
import type { Run, World } from '../world.ts'

export interface Known {
  /** A sentence about the behaviour of the program. */
  readonly name: string
  readonly run: (open: Open) => Promise<void>
}

/** Reports a breach unless the condition holds. */
export function must(world: World, rule: string, holds: boolean, found: () => string): void {
  if (!holds) world.breach(rule, found())
}

/** The command ended with this code. */
export function mustExit(
  world: World,
  run: { readonly line: string; readonly code: number; readonly out: string; readonly talk: string },
  code: number,
): void {
  must(world, `exit ${code} (section 3)`, run.code === code, () => `${run.line}: exit ${run.code}: ${outcome(run)}`)
}

/** Exactly these writes were sent, in any order. */
export function mustWrite(world: World, rule: string, seen: readonly Seen[], expected: readonly string[]): void {
  const written = writesOf(seen).map(writtenText).sort()
  must(
    world,
    rule,
    written.join() === [...expected].sort().join(),
    () => `written: ${written.join(', ') || 'nothing'}; expected: ${expected.join(', ') || 'nothing'}`,
  )
}

/** `apply --yes` and its JSON. */
export const apply = async (world: World, ...words: readonly string[]): Promise<Run> =>
  world.run('apply', '--yes', '--output', 'json', ...words)
/** `plan` and its JSON. */
export const plan = async (world: World, ...words: readonly string[]): Promise<Run> => world.run('plan', '--output', 'json', ...words)
/** The changes and holds of a plan on one line, cut short. */
export const told = (run: Run): string =>
  [...holdsOf(run.json), ...changesOf(run.json)]
    .map((item) => JSON.stringify(item))
    .join(' ')
    .slice(0, 1200)

/** The id of the hold with this change. */
export const holdOf = (run: Run, scope: string): string => changesOf(run.json).find((c) => c.scope === scope)?.hold ?? ''
