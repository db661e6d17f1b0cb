// `completion bash|zsh|fish`: shell completion, generated from the program itself, so that its commands and flags always exist.
import type { Command } from 'commander'
import { action, COMMANDS, type Register } from './shared/command.ts'
import { EXIT } from './shared/context.ts'

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

const choiceArms = (words: readonly Words[]): readonly string[] =>
  words.flatMap((one) =>
    one.flags.flatMap(({ long, values }) => (values.length > 0 ? [`    '${one.path}:--${long}') found='${values.join(' ')}' ;;`] : [])),
  )

/** A pattern for bash and zsh of the flags that take any value, for which the shell offers files. */
function freeFlags(words: readonly Words[]): string {
  const flags = words.flatMap((one) => one.flags.filter((flag) => flag.takesValue && flag.values.length === 0))
  return [...new Set(flags.map(({ long }) => `*:--${long}`))].join('|')
}

/** For bash and zsh: finds the path of the command typed so far, then the words that may follow; `isFree`: what follows is any value. */
const findWords = (words: readonly Words[], isFree: string, isNone: string): readonly string[] => [
  '  local chain= word',
  `  for word in "\${typed[@]}"; do`,
  `    case "\${chain:+$chain }$word" in`,
  ...words.filter((one) => one.path !== '').map((one) => `      '${one.path}') chain='${one.path}' ;;`),
  '    esac',
  '  done',
  '  case "$chain:$previous" in',
  ...choiceArms(words),
  `    ${freeFlags(words)}) ${isFree}; return ;;`,
  '  esac',
  `  if ${isNone}; then case "$chain" in`,
  ...words.map((one) => `    '${one.path}') found='${candidates(one)}' ;;`),
  '  esac; fi',
]

const bash = (words: readonly Words[]): string =>
  [
    '# capkeeper completion for bash',
    '_capkeeper() {',
    `  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"`,
    `  local typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}") found=`,
    ...findWords(words, 'COMPREPLY=()', '[ -z "$found" ]'),
    '  COMPREPLY=($(compgen -W "$found" -- "$current"))',
    '}',
    'complete -o default -F _capkeeper capkeeper',
    '',
  ].join('\n')

const zsh = (words: readonly Words[]): string =>
  [
    '#compdef capkeeper',
    '_capkeeper() {',
    `  local previous="\${words[CURRENT-1]}" found=`,
    `  local -a typed=("\${(@)words[2,CURRENT-1]}")`,
    ...findWords(words, '_files', '[[ -z $found ]]'),
    `  compadd -- \${=found} || _files`,
    '}',
    // In a folder of fpath the file is run as the first call of the function. When it is sourced, it registers the function.
    `if [[ \${funcstack[1]} == _capkeeper ]]; then _capkeeper "$@"; else compdef _capkeeper capkeeper; fi`,
    '',
  ].join('\n')

const quotedForFish = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`

/** For fish: whether the command typed so far has this path. fish's own conditions find a word anywhere, so `edit approve` would be `approve` too. */
const isAt = (words: readonly Words[]): readonly string[] => [
  'function __capkeeper_is_at',
  '  set -l chain',
  '  for word in (commandline -opc)[2..]',
  '    set -l longer (string trim -- "$chain $word")',
  `    contains -- "$longer" ${words.flatMap(({ path }) => (path === '' ? [] : [quotedForFish(path)])).join(' ')}; and set chain "$longer"`,
  '  end',
  '  test "$chain" = "$argv"',
  'end',
]

function fish(words: readonly Words[]): string {
  const lines = words.flatMap((one) => {
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
  return ['# capkeeper completion for fish', ...isAt(words), ...lines, ''].join('\n')
}

const SCRIPTS = { bash, zsh, fish }
