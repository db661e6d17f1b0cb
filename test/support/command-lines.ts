// Holds command lines of documents against the real program: parsed in full by it, with actions that do nothing.
import { Writable } from 'node:stream'
import { createSecrets, NO_SIGNALS } from '../../src/cli/context.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { fakeClock } from './clock.ts'

/** Words as a shell makes them of a plain line: quotes keep together, nothing is expanded. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, ''))

type Program = ReturnType<typeof buildProgram>

function doNothing(command: Program): void {
  for (const child of command.commands) doNothing(child)
  if (command.commands.length === 0) command.action(() => undefined)
}

/** Why the program would not take `capkeeper …`; undefined when it would. Parts in `&&` are held one by one. */
export function offenceOf(line: string): string | undefined {
  for (const part of line.split('&&')) {
    const [name, ...argv] = wordsOf(part)
    if (name !== 'capkeeper') return `it is a line of ${name}`
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
    const program = buildProgram({ ...world, finish: () => undefined })
    doNothing(program)
    try {
      program.parse(argv, { from: 'user' })
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  return undefined
}
