// Makes commands of what commands.yaml declares. The types of arguments and flags follow from it, so that each flag is declared once.
import { Argument, type Command, Option } from 'commander'
import { shellWord } from '../../core/escape/text.ts'
import { READERS, readInteger } from './args.ts'
import { CLI } from './commands.generated.ts'
import type { Cli } from './context.ts'
import { shownLedger } from './ledger/address.ts'

export const { commands: COMMANDS } = CLI

/** What is taken, and how its text is read. */
interface Taken {
  readonly about: string
  readonly choices?: readonly string[]
  /** A whole number between the two. */
  readonly whole?: readonly [number, number]
  /** Names a reader. */
  readonly reads?: string
  readonly many?: true
  readonly default?: string | number
}

interface TakenByFlag extends Taken {
  /** As the help shows it. */
  readonly value: string
  /** A default that is read like a text that is given. */
  readonly preset?: string
  readonly required?: true
  readonly conflicts?: string
}

interface TakenInPlace extends Taken {
  /** `<needed>`, `[optional]` or `[any...]`. */
  readonly name: string
}

type DeclaredFlags = Readonly<Record<string, string | TakenByFlag>>

/** A command, or a group of commands. */
export interface Declared {
  readonly summary: string
  readonly about: string | readonly string[]
  readonly arguments?: readonly TakenInPlace[]
  readonly flags?: DeclaredFlags
  readonly offline?: true
  readonly examples: readonly string[]
  readonly commands?: Readonly<Record<string, Declared>>
}

// A method, so that what was read before may have the type that the reader gives it.
type Reader = { read(text: string, before?: unknown): unknown }['read']
type Readers = Readonly<Record<string, Reader>>
type NoReaders = Readonly<Record<never, Reader>>

/** The type of one value; `Own`: the readers of the command itself. */
type One<Taken, Own> = Taken extends { readonly reads: infer Name }
  ? (Own & typeof READERS)[Name & keyof (Own & typeof READERS)] extends (...given: never) => infer Value
    ? Value
    : unknown
  : Taken extends { readonly whole: unknown }
    ? number
    : Taken extends { readonly choices: readonly (infer Choice)[] }
      ? Choice
      : string
type Value<Taken, Own> = Taken extends string ? true : Taken extends { readonly many: true } ? readonly One<Taken, Own>[] : One<Taken, Own>

type Camel<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Name & string
type Certain = { readonly default: unknown } | { readonly preset: unknown } | { readonly required: true }

/** The values of flags, by their names. */
type Given<Flags, Own> = {
  readonly [Name in keyof Flags as Flags[Name] extends Certain ? Camel<Name> : never]: Value<Flags[Name], Own>
} & { readonly [Name in keyof Flags as Flags[Name] extends Certain ? never : Camel<Name>]?: Value<Flags[Name], Own> }

/** The flags of every network command (docs/commands.md). A flag that is not given is absent: the config file or a default decides. */
export interface NetworkFlags extends Given<typeof CLI.shared.network & Pick<typeof CLI.shared, 'ledger-token-file'>, NoReaders> {}

/** The flags of a command. */
export type FlagsOf<Command, Own = NoReaders> = (Command extends { readonly flags: infer Flags } ? Given<Flags, Own> : unknown) &
  (Command extends { readonly offline: true } ? NetworkFlags : unknown)

type Argued<Taken, Own> = Taken extends { readonly name: `${string}...]` }
  ? readonly string[]
  : One<Taken, Own> | (Taken extends { readonly name: `<${string}` } | { readonly default: unknown } ? never : undefined)
type ArgumentsOf<Command, Own> = Command extends { readonly arguments: infer All extends readonly unknown[] }
  ? { -readonly [At in keyof All]: Argued<All[At], Own> }
  : []

/** Adds to a command what it is and takes. Its action leaves an exit code with `cli.finish`, or throws. */
export type Register = (command: Command, cli: Cli) => void

/** A command that does something, with its arguments, its flags and the world. `own` has the readers that only it needs. */
export const action =
  <D extends Declared, Own extends Readers = NoReaders>(
    declared: D,
    run: (...given: [...ArgumentsOf<D, Own>, FlagsOf<D, Own>, Cli]) => void | Promise<void>,
    own?: Own,
  ): Register =>
  (command, cli) => {
    declare(command, declared, { ...READERS, ...own })
    // What is given has the types that were declared.
    command.action((...given) => run(...([...given.slice(0, -1), cli] as Parameters<typeof run>)))
  }

/** A command that only has commands. */
export const group =
  <Parts extends Readonly<Record<string, Declared>>>(
    declared: Declared & { readonly commands: Parts },
    parts: Readonly<Record<keyof Parts, Register>>,
  ): Register =>
  (command, cli) => {
    declare(command, declared, READERS)
    command.usage('<command> [flags]')
    for (const [name, { summary }] of Object.entries(declared.commands)) parts[name]?.(command.command(name).summary(summary), cli)
  }

function declare(command: Command, { about, arguments: all = [], flags = {}, offline, examples }: Declared, readers: Readers): void {
  command.description([about].flat().join(' '))
  for (const one of all) command.addArgument(argumentOf(one, readers))
  for (const [name, taken] of Object.entries(flags)) command.addOption(optionOf(name, taken, readers))
  const others = Object.entries(offline ? CLI.shared.network : {}).filter(([name]) => !Object.hasOwn(flags, name))
  for (const [name, taken] of others) command.addOption(optionOf(name, taken, readers).hideHelp())
  command.addHelpText('after', `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${examples.map((line) => `  $ ${line}`).join('\n')}`)
}

function argumentOf({ name, about, choices, default: usual, ...taken }: TakenInPlace, readers: Readers): Argument {
  const argument = new Argument(name, about)
  const read = readerOf(taken, readers)
  if (choices) argument.choices(choices)
  if (read) argument.argParser(read)
  return usual === undefined ? argument : argument.default(usual)
}

function optionOf(name: string, flag: string | TakenByFlag, readers: Readers): Option {
  if (typeof flag === 'string') return new Option(`--${name}`, flag)
  const { value, about, choices, default: usual, preset, required = false, conflicts = [], ...taken } = flag
  const option = new Option(`--${name} <${value}>`, about).makeOptionMandatory(required).conflicts(conflicts)
  const read = readerOf(taken, readers)
  if (choices) option.choices(choices)
  if (read) option.argParser(read)
  if (preset !== undefined) option.default(read?.(preset), preset)
  return usual === undefined ? option : option.default(usual)
}

/** Undefined where the text is the value. */
function readerOf({ whole, reads, many }: Pick<Taken, 'whole' | 'reads' | 'many'>, readers: Readers): Reader | undefined {
  const read = whole ? readInteger(...whole) : reads === undefined ? undefined : readers[reads]
  return many ? (text, before: readonly unknown[] = []) => [...before, read ? read(text) : text] : read
}

/** The flags that a suggested command must repeat to use the same ledger, such as `['--ledger', 'x.db']`. */
export const ledgerArgs = (flags: NetworkFlags): readonly string[] => [
  ...(flags.config === undefined ? [] : ['--config', shellWord(flags.config)]),
  ...(flags.ledger === undefined ? [] : ['--ledger', shellWord(shownLedger(flags.ledger))]),
]

/** The flags that a suggested command must repeat to use the same ledger, policies and workspace. */
export const sameArgs = (flags: NetworkFlags): readonly string[] => [
  ...ledgerArgs(flags),
  ...(flags.policies ?? []).flatMap((path) => ['--policies', shellWord(path)]),
  ...(flags.workspace === undefined ? [] : ['--workspace', shellWord(flags.workspace)]),
]
