// Checks command lines of documents with the real program, which parses them completely, with actions that do nothing.
import { Writable } from 'node:stream'
import { buildProgram, commandsFor } from '../../src/cli/program.ts'
import { createSecrets } from '../../src/cli/shared/context.ts'
import { DIRECT_FILES } from '../../src/files.ts'
import { fakeClock } from './clock.ts'
import { NO_SIGNALS } from './inside.ts'

/** Splits a plain line into words as a shell does: quotes keep words together, nothing is expanded. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, ''))

type Program = ReturnType<typeof buildProgram>

const COMMANDS = await commandsFor(['completion'])

function doNothing(command: Program): void {
  for (const child of command.commands) doNothing(child)
  if (command.commands.length === 0) command.action(() => undefined)
}

function programThatDoesNothing(): Program {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const world = {
    stdin: process.stdin,
    stdout: nowhere,
    stderr: nowhere,
    env: {},
    clock: fakeClock(),
    secrets: createSecrets(),
    signals: NO_SIGNALS,
  }
  const program = buildProgram({ ...world, files: DIRECT_FILES, finish: () => undefined }, COMMANDS)
  doNothing(program)
  return program
}

const namesBelow = (command: Program, path = ''): readonly string[] =>
  command.commands.flatMap((child) => {
    const name = `${path} ${child.name()}`.trim()
    return [name, ...namesBelow(child, name)]
  })

/** Every command, nested ones with their parent: `ledger`, `ledger backup`. */
const NAMES = namesBelow(programThatDoesNothing())
export const commandNames = (): readonly string[] => NAMES

const optionsOf = (name: string): Program['options'] =>
  name
    .split(' ')
    .reduce<Program | undefined>((parent, word) => parent?.commands.find((child) => child.name() === word), programThatDoesNothing())
    ?.options ?? []

/** The long flags of a command, such as `--out`; without those of the program, hidden ones and `--help`. */
export const flagsOf = (name: string): readonly string[] => optionsOf(name).flatMap(({ long, hidden }) => (hidden ? [] : (long ?? [])))

/** The flags whose help tells the default in words: each with its values, which are its choices or stand before the default, and with that. */
export const presetsOf = (name: string): readonly (readonly [flag: string, values: readonly string[], preset: string])[] =>
  optionsOf(name).flatMap(({ long, argChoices, description, defaultValueDescription: preset }) => {
    const [, values = ''] = /(?:; |\()([^;(]*?)\)?$/.exec(description.replace(/ \(default: .*| ?; default: .*/, '')) ?? []
    return long && preset !== undefined ? [[long, argChoices ?? values.split(' | '), preset] as const] : []
  })

/**
 * The calls of capkeeper in a line for a shell, without the shell's own parts: prompts, variables before the name, pipes, redirections,
 * comments, and commands that run it elsewhere (`kubectl exec … -- capkeeper …`). Quoted `|`, `;` and `>` are not understood.
 */
export const callsIn = (line: string): readonly string[] =>
  line
    .replace(/(^|\s)#.*$/, '')
    .split(/&&|\|\|?|;|[<$]\(/)
    .flatMap((part) => {
      const call = /(?:^\s*(?:\$ )?(?:\w+=\S* )*|\s-- )(capkeeper(?:\s.*)?)$/.exec(part)?.[1]
      return call === undefined
        ? []
        : [
            call
              .replace(/\)\s*$/, '')
              .replaceAll(/\s*\d?>{1,2}\s*\S+|\s*&\s*$/g, '')
              .trim(),
          ]
    })

/** The calls of capkeeper in the `sh` and `console` blocks of a Markdown text; a backslash at the end continues a line. */
export const callsInBlocks = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^ *```(?:sh|console)\n([\s\S]*?)^ *```/gm)].flatMap(([, body = '']) =>
    body
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .flatMap(callsIn),
  )

/** Why the program refuses `capkeeper …`; undefined when it does not. Parts of `&&` are checked one by one. */
export function offenceOf(line: string): string | undefined {
  for (const part of line.split('&&')) {
    const [name, ...argv] = wordsOf(part)
    if (name !== 'capkeeper') return `it is a line of ${name}`
    try {
      programThatDoesNothing().parse(argv, { from: 'user' })
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  return undefined
}
