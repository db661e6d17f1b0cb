// One line of talk on stderr, from whatever others wrote: printable, on one line, and without any service key. Commands that pass on a
// warning or a failure go through here.
import { plain } from '../../core/escape/terminal.ts'
import type { Cli } from './context.ts'
import { takeOffScreen } from './progress.ts'

export const tellLine = (cli: Pick<Cli, 'stderr' | 'secrets'>, line: string): void => {
  takeOffScreen(cli.stderr)
  cli.stderr.write(`${plain(cli.secrets.redact(line))}\n`)
}
