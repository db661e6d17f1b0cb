// Holds command lines of documents against the real program: parsed in full by it, with actions that do nothing.
import { Writable } from 'node:stream'
import { buildProgram, commandsFor } from '../../src/cli/program.ts'
import { createSecrets, NO_SIGNALS } from '../../src/cli/shared/context.ts'
import { fakeClock } from './clock.ts'

/** Words as a shell makes them of a plain line: quotes keep together, nothing is expanded. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, ''))

type Program = ReturnType<typeof buildProgram>

const COMMANDS = await commandsFor([])

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
  const program = buildProgram({ ...world, finish: () => undefined }, COMMANDS)
  doNothing(program)
  return program
}

const namesBelow = (command: Program, path = ''): readonly string[] =>
  command.commands.flatMap((child) => {
    const name = `${path} ${child.name()}`.trim()
    return [name, ...namesBelow(child, name)]
  })

/** Every command, nested ones with their parent: `ledger`, `ledger backup`. */
export const commandNames = (): readonly string[] => namesBelow(programThatDoesNothing())

/** The long flags that a command takes by itself, such as `--out`; those of the program, hidden ones and `--help` are not among them. */
export function flagsOf(name: string): readonly string[] {
  const command = name
    .split(' ')
    .reduce<Program | undefined>((parent, word) => parent?.commands.find((child) => child.name() === word), programThatDoesNothing())
  return command?.options.flatMap(({ long, hidden }) => (hidden ? [] : (long ?? []))) ?? []
}

/**
 * The calls of capkeeper in a line for a shell, without what the shell keeps to itself: prompts, variables before the name, pipes,
 * redirections, comments, and what runs it elsewhere (`kubectl exec … -- capkeeper …`). Quoted `|`, `;` and `>` are not understood.
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

/** The calls of capkeeper in the `sh` and `console` blocks of a Markdown text; lines that end with a backslash go on. */
export const callsInBlocks = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^ *```(?:sh|console)\n([\s\S]*?)^ *```/gm)].flatMap(([, body = '']) =>
    body
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .flatMap(callsIn),
  )

/** Why the program would not take `capkeeper …`; undefined when it would. Parts in `&&` are held one by one. */
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
