// Carries out deploy/Dockerfile in a clean folder, without a container engine, and looks at the result as Kubernetes would: the size, a
// start as another user in a tree that cannot be written, the probes, the end. `npm run image:check`; needs the package registry and some minutes.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pairsOf, stagesOf, valuesOf } from './source/dockerfile.ts'

const ROOT = join(import.meta.dirname, '..')
const [BUILD = [], FINAL = []] = stagesOf(readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8'))
const USER = Number(valuesOf(FINAL, 'USER')[0]?.split(':')[0])
const IS_ROOT = process.getuid?.() === 0
const MAX_MB = 200
/** What the base image has beside Node: C and C++ libraries, certificates, time zones. Estimated generously; everything else is measured. */
const BASE_MB = 45
const WITHIN_MS = 30_000
/** Nobody else's daemon keeps a workspace of this name, so an answer that has it is from the one that was started here. */
const WORKSPACE = `image-check-${process.pid}`

const say = (line: string): void => void process.stdout.write(`${line}\n`)

function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`not so: ${what}`)
  say(`  ok: ${what}`)
}

/** Into a folder where the last word ends with a slash, else to that name. */
function copy(app: string, words: readonly string[]): void {
  const to = words.at(-1) ?? ''
  for (const source of words.slice(0, -1))
    cpSync(join(ROOT, source), join(app, to, to.endsWith('/') ? basename(source) : ''), { recursive: true })
}

/** The first stage: its COPY lines from the checkout, its npm commands in order. */
function build(app: string): void {
  mkdirSync(app)
  for (const { name, value } of BUILD) {
    if (name === 'COPY') copy(app, value.split(' '))
    if (name !== 'RUN' || !value.startsWith('npm ')) continue
    say(`  ${value}`)
    execFileSync('npm', value.split(' ').slice(1), {
      cwd: app,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, npm_config_loglevel: 'error' },
    })
  }
  for (const name of readdirSync(app))
    if (!['dist', 'node_modules', 'package.json', 'LICENSE'].includes(name)) rmSync(join(app, name), { recursive: true })
}

function files(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

const megabytes = (paths: readonly string[]): number => paths.reduce((sum, path) => sum + statSync(path).size, 0) / 1e6

function measure(app: string, node: string): void {
  const [packages, program] = [megabytes(files(join(app, 'node_modules'))), megabytes(files(join(app, 'dist')))]
  const total = packages + program + megabytes([node]) + BASE_MB
  say(
    `  packages ${packages.toFixed(1)} MB, program ${program.toFixed(1)} MB, Node ${megabytes([node]).toFixed(1)} MB, base about ${BASE_MB} MB`,
  )
  must(total < MAX_MB, `${total.toFixed(0)} MB in all, under ${MAX_MB} MB`)
  must(!files(app).some((path) => path.endsWith('.node')), 'no package is built for one platform')
  must(!existsSync(join(app, 'node_modules/node')), 'no development package came along')
}

/** Nothing in it may be written, by nobody. */
function seal(tree: string): void {
  execFileSync('chmod', ['-R', 'a-w,a+rX', tree])
}

interface Place {
  readonly node: string
  readonly main: string
  readonly data: string
}

/** Starts the program as the image does: its user, its environment and nothing of this one's, no folder to write but the data folder. */
function run({ node, main, data }: Place, argv: readonly string[]): Started {
  const child = spawn(node, [main, ...argv], {
    cwd: data,
    env: { ...pairsOf(FINAL, 'ENV'), PATH: '/nowhere', HOME: '/nonexistent', TMPDIR: '/nonexistent' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(IS_ROOT && { uid: USER, gid: USER }),
  })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => said.push(text))
  return { child, said: () => said.join('') }
}

/** A program that was started here, with all that it has said. */
export interface Started {
  readonly child: ChildProcess
  readonly said: () => string
}

/** Waits for `find` to find something, as long as the program lives. What is found of a program that has ended is not believed. */
export async function within<T>({ child, said }: Started, what: string, find: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const end = performance.now() + WITHIN_MS
  for (;;) {
    const found = await find()
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended before ${what}: ${said()}`)
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`${what} was not there within ${WITHIN_MS} ms: ${said()}`)
    await sleep(100)
  }
}

/** The address that a program says it has: the system chose its port, so no other program answers there. */
export const addressOf = (started: Started): Promise<string> =>
  within(started, 'its address', () => /(?:page\W+|^)(http:\/\/127\.0\.0\.1:\d+)/m.exec(started.said())?.[1])

const answer = (started: Started, url: string): Promise<string> =>
  within(started, url, async () => {
    const got = await fetch(url).catch(() => undefined)
    return got?.status === 200 ? got.text() : undefined
  })

function writeInputs(folder: string, service: string): string {
  mkdirSync(join(folder, 'policies'))
  writeFileSync(join(folder, 'key'), 'sandbox-admin\n')
  writeFileSync(
    join(folder, 'policies/acme.yaml'),
    'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec: {team: {cap: 100000}}\n',
  )
  const config = join(folder, 'config.yaml')
  const workspace = `{name: ${WORKSPACE}, baseUrl: "${service}", keys: {default: {file: key}}, policies: [policies]}`
  writeFileSync(config, `apiVersion: capkeeper/v1\nkind: Config\nworkspaces: [${workspace}]\n`)
  return config
}

async function live(place: Place, inputs: string, started: Started[]): Promise<void> {
  const sandbox = run(place, ['sandbox', '--port', '0', '--data', ':memory:'])
  started.push(sandbox)
  const config = writeInputs(inputs, await addressOf(sandbox))
  seal(inputs)
  const daemon = run(place, ['run', '--config', config, '--ledger', join(place.data, 'capkeeper.db'), '--listen', '127.0.0.1:0'])
  started.push(daemon)
  const page = await addressOf(daemon)
  must((await answer(daemon, `${page}/livez`)).length > 0, '/livez answers')
  must((await answer(daemon, `${page}/readyz`)).length > 0, '/readyz answers')
  must((await answer(daemon, `${page}/status`)).includes(WORKSPACE), '/status is that of the daemon that was started here')
  const metrics = await answer(daemon, `${page}/metrics`)
  const resident = Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1]) / 1e6
  say(`  ${resident.toFixed(0)} MB resident with ${pairsOf(FINAL, 'ENV')['NODE_OPTIONS']}`)
  await within(daemon, 'a cap that is written', () => (daemon.said().includes('"cap written"') ? true : undefined))
  say('  ok: a cap is written')
  must(existsSync(join(place.data, 'capkeeper.db')), 'the ledger lies in the data folder')
  daemon.child.kill(valuesOf(FINAL, 'STOPSIGNAL')[0] === 'SIGTERM' ? 'SIGTERM' : 'SIGINT')
  const [code] = await once(daemon.child, 'exit')
  must(code === 0, `SIGTERM ends it with 0 (${code})`)
}

async function check(folder: string, started: Started[]): Promise<void> {
  const [app, data, inputs] = [join(folder, 'app'), join(folder, 'data'), join(folder, 'etc')]
  const place: Place = { node: join(folder, 'node'), main: join(app, 'dist/main.js'), data }
  chmodSync(folder, 0o755)
  say('build')
  build(app)
  copyFileSync(process.execPath, place.node)
  say('size')
  measure(app, place.node)
  for (const path of [data, inputs]) mkdirSync(path)
  for (const path of [app, place.node]) seal(path)
  if (IS_ROOT) chownSync(data, USER, USER)
  say(
    IS_ROOT
      ? `start as user ${USER}, everything but the data folder read-only`
      : 'start as this user (run it as root to see another), files read-only',
  )
  await live(place, inputs, started)
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-image-'))
  const started: Started[] = []
  try {
    await check(folder, started)
    say('the image would work')
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    if (error instanceof Error && 'stdout' in error) say(String(error.stdout))
    process.exitCode = 1
  } finally {
    for (const { child } of started) child.kill('SIGKILL')
    execFileSync('chmod', ['-R', 'u+w', folder])
    rmSync(folder, { recursive: true })
  }
}
