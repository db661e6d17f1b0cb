// `npm test`: the type check and the linter run beside the tests, which wait for processes in their first minutes. Each tells all that it finds,
// whatever the others found; never 0 while one of them failed. Arguments go to vitest.
import { spawn } from 'node:child_process'

interface Done {
  readonly code: number
  readonly said: string
}

/** Runs a program to its end; `inherit` shows at once what it says, `pipe` keeps it. */
const done = (stdio: 'inherit' | 'pipe', program: string, argv: readonly string[]): Promise<Done> =>
  new Promise((resolve) => {
    const child = spawn(program, argv, { stdio: ['ignore', stdio, stdio] })
    const said: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => said.push(text))
    child.once('error', (error) => resolve({ code: 1, said: String(error) }))
    child.once('close', (code) => resolve({ code: code ?? 1, said: said.join('') }))
  })

const script = (name: string): Promise<Done> => done('pipe', 'npm', ['run', '--silent', name])
const [tests, types, lint] = await Promise.all([
  done('inherit', 'vitest', ['run', ...process.argv.slice(2)]),
  script('typecheck'),
  script('lint'),
])
for (const [name, { code, said }] of [
  ['typecheck', types],
  ['lint', lint],
] as const)
  console.log(code === 0 ? `${name}: passed` : `${name}: failed (${code})\n${said.trimEnd()}`)
process.exitCode = [tests, types, lint].find(({ code }) => code !== 0)?.code ?? 0
