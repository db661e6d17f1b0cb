import { execFile, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { MAIN, SOURCE } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'
import type { Ran } from './world.ts'

const capkeeper = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const options = { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' as const }
    const child = execFile(process.execPath, [MAIN, ...argv], options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    })
  })

let folder = ''
beforeEach(() => {
  folder = temporaryFolder()
})

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const policy = (cap: string): string =>
  `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec:\n  team:\n    cap: ${cap}\n`

describe('the process', () => {
  test('shows a stack only when asked for', async () => {
    const argv = ['ledger', 'check', '--ledger', join(folder, 'none.db')]
    expect(await capkeeper(argv)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: there is no ledger at .*\n$/) })
    expect((await capkeeper(argv, { CAPKEEPER_DEBUG: '1' })).stderr).toMatch(/\n {4}at /)
  })

  test.each([
    ['schema', 'policy'],
    // More than a pipe holds.
    ['sandbox', '--people', '200', '--days', '5', '--export', '-'],
  ])('ends quietly with its own code when the reader of its output goes away: %s', async (...argv) => {
    const child = spawn(process.execPath, [MAIN, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    const said: string[] = []
    child.stderr.on('data', (chunk) => said.push(String(chunk)))
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect({ code, said }).toEqual({ code: 0, said: [] })
  })

  test.skipIf(!existsSync('/dev/full'))('fails when its output has nowhere to go', async () => {
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [MAIN, 'schema', 'policy'], { stdio: ['ignore', full, 'pipe'] })
    closeSync(full)
    const said: string[] = []
    child.stderr?.on('data', (chunk) => said.push(String(chunk)))
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect({ code, said: said.join('') }).toEqual({ code: 1, said: 'error: the output could not be written (ENOSPC)\n' })
  })

  /** What a command line loads, as URLs. */
  const loadedBy = (argv: readonly string[]): Promise<readonly string[]> => {
    const script = file(
      'loaded.mjs',
      `import { registerHooks } from 'node:module'
       const seen = []
       registerHooks({ load(url, context, next) { seen.push(url); return next(url, context) } })
       process.on('exit', () => console.error(seen.join('\\n')))`,
    )
    return new Promise((resolve) => {
      execFile(process.execPath, ['--import', script, SOURCE, ...argv], (_error, _stdout, stderr) => resolve(stderr.trim().split('\n')))
    })
  }

  test('a command loads no other command, and one without network loads no network package', async () => {
    const validate = await loadedBy(['validate', file('acme.yaml', policy('500'))])
    const help = await loadedBy(['--help'])
    const packages = /node_modules\/(got|fastify|prom-client|pino|hpagent|pg)\/|^node:sqlite$/
    for (const loaded of [help, validate]) expect(loaded.filter((url) => packages.test(url))).toEqual([])
    const commandsIn = (loaded: readonly string[]) => new Set(loaded.flatMap((url) => /\/src\/cli\/(\w+)/.exec(url)?.[1] ?? []))
    expect([...commandsIn(validate)].toSorted()).toEqual(['process', 'program', 'shared', 'validate'])
    expect([...commandsIn(help)].toSorted()).toEqual(['process', 'program', 'shared'])
  })
})
