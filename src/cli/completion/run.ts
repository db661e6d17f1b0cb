// `completion bash|zsh|fish`: shell completion, generated from the program itself, so that its commands and flags always exist. Each script is a
// template beside this file; what bash and zsh have in common is `words.sh`.
import type { Command } from 'commander'
import { action, COMMANDS, type Register } from '../shared/command.ts'
import { EXIT } from '../shared/context.ts'
import { filled } from '../shared/text.ts'
import { BASH, FISH, WORDS, ZSH } from './templates.generated.ts'

export const register: Register = (command, cli) =>
  action(COMMANDS.completion, (shell) => {
    cli.stdout.write(SCRIPTS[shell](wordsOf(command.parent ?? command)))
    cli.finish(EXIT.done)
  })(command, cli)

/** One command by its path (`ledger backup`, '' for the program), with the words that may follow it. */
type Words = ReturnType<typeof ownWords>

function wordsOf(command: Command, path = ''): readonly Words[] {
  return [ownWords(command, path), ...command.commands.flatMap((child) => wordsOf(child, `${path} ${child.name()}`.trim()))]
}

function ownWords(command: Command, path: string) {
  return {
    path,
    commands: command.commands.map((child) => ({ name: child.name(), summary: child.summary() })),
    flags: command.options.flatMap(({ long, hidden, description, required, optional, argChoices = [] }) =>
      long && !hidden ? [{ long: long.slice(2), description, takesValue: required || optional, values: argChoices }] : [],
    ),
    values: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
  }
}

const candidates = (one: Words): string =>
  [...one.commands.map((child) => child.name), ...one.values, ...one.flags.map((flag) => `--${flag.long}`), '--help'].join(' ')

const choices = ({ path, flags }: Words): readonly string[] =>
  flags.flatMap(({ long, values }) => (values.length > 0 ? [`    '${path}:--${long}') found='${values.join(' ')}' ;;`] : []))

/** A pattern for bash and zsh of the flags that take any value, for which the shell offers files. */
function freeFlags(words: readonly Words[]): string {
  const flags = words.flatMap((one) => one.flags.filter((flag) => flag.takesValue && flag.values.length === 0))
  return [...new Set(flags.map(({ long }) => `*:--${long}`))].join('|')
}

/** For bash and zsh: finds the path of the command typed so far, then the words that may follow; `ifFree`: where that is any value. */
const findWords = (words: readonly Words[], ifFree: string, isNone: string): string =>
  filled(WORDS, {
    paths: words.flatMap(({ path }) => (path === '' ? [] : [`      '${path}') chain='${path}' ;;`])).join('\n'),
    choices: words.flatMap(choices).join('\n'),
    freeFlags: freeFlags(words),
    ifFree,
    isNone,
    candidates: words.map((one) => `    '${one.path}') found='${candidates(one)}' ;;`).join('\n'),
  }).trimEnd()

const quotedForFish = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`

function fish(words: readonly Words[]): string {
  const completions = words.flatMap((one) => {
    const start = `complete -c capkeeper -n ${quotedForFish(`__capkeeper_is_at ${one.path}`.trim())}`
    return [
      ...one.commands.map((child) => `${start} -f -a ${child.name} -d ${quotedForFish(child.summary)}`),
      ...(one.values.length > 0 ? [`${start} -f -a ${quotedForFish(one.values.join(' '))}`] : []),
      ...one.flags.map((flag) => {
        const values = flag.values.length > 0 ? ` -f -a ${quotedForFish(flag.values.join(' '))}` : ''
        return `${start} -l ${flag.long}${flag.takesValue ? ' -r' : ''}${values} -d ${quotedForFish(flag.description)}`
      }),
    ]
  })
  const paths = words.flatMap(({ path }) => (path === '' ? [] : quotedForFish(path)))
  return filled(FISH, { paths: paths.join(' '), completions: completions.join('\n') })
}

const SCRIPTS = {
  bash: (words: readonly Words[]) => filled(BASH, { words: findWords(words, 'COMPREPLY=()', '[ -z "$found" ]') }),
  // In a folder of fpath the file is run as the first call of the function. When it is sourced, it registers the function.
  zsh: (words: readonly Words[]) => filled(ZSH, { words: findWords(words, '_files', '[[ -z $found ]]') }),
  fish,
}
