// A command line run inside the test, on a clock that stands still.
import { fakeClock } from '../support/clock.ts'
import { type Begun, begin } from '../support/inside.ts'

export type Ran = Awaited<Begun['ended']>

/** Runs `capkeeper …argv` and returns what it said. */
export const run = (
  argv: readonly string[],
  { env = {}, clock = fakeClock() }: { readonly env?: Readonly<Record<string, string>>; readonly clock?: Parameters<typeof begin>[3] } = {},
): Promise<Ran> => begin(argv, env, undefined, clock).ended
