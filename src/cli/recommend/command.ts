// `recommend`: caps for groups and the team from recorded use. It reads policies and the ledger; no network, no key, nothing is written.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { addUsedFlags, examples, type NetworkFlags, outputOption, readInteger } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface RecommendFlags extends NetworkFlags {
  readonly group?: readonly string[]
  /** Share of people, 0 to 1. */
  readonly blocked?: number
  readonly budget?: number
  readonly cycles?: number
  readonly output: 'policy' | 'json'
}

export function registerRecommend(program: Command, cli: Cli): void {
  const command = program
    .command('recommend')
    .summary('caps for groups and the team from recorded use')
    .description(
      'Works out caps for each group and the team from the recorded days of use: so that at most a share of people is blocked in a ' +
        'cycle, or so that no cycle exceeds a budget of add-on credits. Prints a policy that replaces the present one, with the reasons as ' +
        'comments; `capkeeper simulate` gives the same figures for it. No network, no key; nothing is written.',
    )
    .argument('[path...]', 'policy files or folders of today; default: those of --policies or the config')
    .option(
      '--group <id>',
      'only this group, by its id; may be given several times; default: all groups and the team',
      (id: string, before: readonly string[] | undefined) => [...(before ?? []), id],
    )
    .addOption(
      new Option('--blocked <share>', 'people who may be blocked, of those who have the cap, over all cycles; default 2%').argParser(
        readShare,
      ),
    )
    .addOption(
      new Option('--budget <credits>', 'add-on credits that no cycle may go beyond')
        .argParser(readInteger(1, 999_999_999_999))
        .conflicts('blocked'),
    )
    .addOption(new Option('--cycles <n>', 'how many of the last whole billing cycles; default 3').argParser(readInteger(1, 36)))
    .addOption(outputOption(['policy', 'json']))
  addUsedFlags(command, ['config', 'policies', 'ledger', 'workspace'])
    .addHelpText(
      'after',
      examples(
        'capkeeper recommend policies/ > proposed.yaml && capkeeper simulate proposed.yaml',
        'capkeeper recommend --blocked 5% --group grp_platform',
        'capkeeper recommend --budget 40000 --cycles 6',
      ),
    )
    .action(async (paths: readonly string[], flags: RecommendFlags) => (await import('./run.ts')).recommendCommand(paths, flags, cli))
}

/** `2%`, `0.5 %`. */
function readShare(text: string): number {
  const [, percent] = /^\s*(\d{1,3}(?:\.\d{1,3})?)\s*%\s*$/.exec(text) ?? []
  if (percent === undefined || Number(percent) > 100) throw new InvalidArgumentError('Write a percentage such as 2%.')
  return Number(percent) / 100
}
