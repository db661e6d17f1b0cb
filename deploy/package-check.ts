// Packs the package, installs it in a clean folder as a user would, and runs what it brings: `npm run package:check`. It needs the package
// registry, or what npm has of it in its cache.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'capkeeper-package-'))
const home = join(folder, 'home')

/** How many modules the program is built into at most. */
const MOST_FILES = 200

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** npm scripts hand their settings down; a user's shell has none of them. */
const env: NodeJS.ProcessEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`not so: ${what}`)
  say(`  ok: ${what}`)
}

const run = (program: string, ...argv: readonly string[]): string =>
  execFileSync(program, argv, { cwd: home, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

/** The embedded service as a process of its own, and a plan against it. */
async function sandbox(): Promise<void> {
  const argv = ['capkeeper', 'sandbox', '--port', '0']
  const child = spawn('npx', argv, { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const ended = once(child, 'exit')
  try {
    const url = await addressIn(child.stdout)
    const planned = ['plan', '--policies', 'node_modules/capkeeper/policies', '--base-url', url, '--ledger', ':memory:']
    const withKey = { cwd: home, env: { ...env, CAPKEEPER_SERVICE_KEY: 'sandbox-admin' }, encoding: 'utf8' } as const
    const plan = execFileSync('npx', ['capkeeper', ...planned], withKey)
    must(/^Plan: \d+ to set/m.test(plan), 'npx capkeeper sandbox serves, and npx capkeeper plan plans the examples on it')
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
    await ended
  }
}

async function addressIn(stdout: NodeJS.ReadableStream): Promise<string> {
  let shown = ''
  for await (const chunk of stdout) {
    shown += String(chunk)
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(shown)?.[0]
    if (url !== undefined) return url
  }
  throw new Error('the sandbox ended without an address')
}

/** Few files with their maps, and nothing else: no types, as nobody imports a program, and nothing left over from another build. */
function mustHold(files: readonly { readonly path: string }[]): void {
  const built = files.flatMap(({ path }) => (path.startsWith('dist/') ? [path.slice('dist/'.length)] : []))
  const [maps, programs] = [built.filter((path) => path.endsWith('.js.map')), built.filter((path) => path.endsWith('.js'))]
  must(maps.length + programs.length === built.length, 'dist/ holds modules and their maps, and nothing else')
  must(programs.length <= MOST_FILES, `they are at most ${MOST_FILES}`)
}

async function check(): Promise<void> {
  mkdirSync(home)
  const [packed] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT, env, encoding: 'utf8' }))
  const version: string = packed.version
  say(`${packed.filename}: ${packed.files.length} files, ${(packed.size / 1e6).toFixed(2)} MB`)
  mustHold(packed.files)
  writeFileSync(join(home, 'package.json'), '{"private":true}\n')
  run('npm', 'install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', join(folder, packed.filename))
  const said = run('npx', 'capkeeper', '--version').trim()
  must(said === version, `npx capkeeper --version says ${version} (it said '${said}')`)
  const valid = run('npx', 'capkeeper', 'validate', 'node_modules/capkeeper/policies')
  must(/valid/.test(valid), 'npx capkeeper validate finds the example policies valid')
  must(run('npx', 'capkeeper', 'schema', 'policy').startsWith('{'), 'npx capkeeper schema policy prints the schema')
  await sandbox()
}

try {
  await check()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
