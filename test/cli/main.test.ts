import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { capkeeper, MAIN, SOURCE } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

let folder = ''
beforeEach(() => {
  folder = temporaryFolder()
})

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const policy = (cap: string): string =>
  `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec:\n  team:\n    cap: ${cap}\n`

describe('the process', () => {
  test('shows a stack only when asked for', async () => {
    const argv = ['ledger', 'check', '--ledger', join(folder, 'none.db')]
    expect(await capkeeper(argv)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: there is no ledger at .*\n$/) })
    expect((await capkeeper(argv, { env: { CAPKEEPER_DEBUG: '1' } })).stderr).toMatch(/\n {4}at /)
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
    const ran = await capkeeper([], { command: ['sh', '-c', `exec "${process.execPath}" "${MAIN}" schema policy >/dev/full`] })
    expect(ran).toEqual({ code: 1, stdout: '', stderr: 'error: the output could not be written (ENOSPC)\n' })
  })

  test('of a checkout makes what is made of its sources once after each of their changes', async () => {
    file('src/cli/process.ts', 'export const main = () => 0')
    const made = file('src/console/browser.generated.ts', '')
    file('deploy/sources.ts', `import { appendFileSync } from 'node:fs'; appendFileSync('${made}', 'made ')`)
    const main = file('src/main.ts', readFileSync(SOURCE, 'utf8'))
    const started = async () => [(await capkeeper([], { command: [process.execPath, main] })).code, readFileSync(made, 'utf8')]
    expect([await started(), await started()]).toEqual([
      [0, 'made '],
      [0, 'made '],
    ])
    file('src/cli/process.ts', 'export const main = () => 1')
    expect(await started()).toEqual([1, 'made made '])
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
