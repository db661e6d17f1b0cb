// `run`: the daemon. With --sandbox it runs beside an embedded service, with --once it runs a single cycle.
import { action, COMMANDS, type FlagsOf } from '../shared/command.ts'

export type RunFlags = FlagsOf<typeof COMMANDS.run>

export const register = action(COMMANDS.run, async (flags, cli) => (await import('./run.ts')).runCommand(flags, cli))
