// One line on stderr, made printable and free of service keys, because parts of it come from the service, policies or the ledger.
import { plain } from '../../core/escape/terminal.ts'
import type { Cli } from './context.ts'
import { takeOffScreen } from './progress.ts'

export const tellLine = (cli: Pick<Cli, 'stderr' | 'secrets'>, line: string): void => {
  takeOffScreen(cli.stderr)
  cli.stderr.write(`${plain(cli.secrets.redact(line))}\n`)
}
