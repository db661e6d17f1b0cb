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
const PORTS = { service: 18_787, page: 19_464 }

const say = (line: string): void => void process.stdout.write(`${line}\n`)

function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`not so: ${what}`)
  say(`  ok: ${what}`)
}

/** The first stage: its COPY lines from the checkout, its npm commands in order. */
function build(app: string): void {
  mkdirSync(app)
  for (const { name, value } of BUILD) {
    if (name === 'COPY')
      for (const source of value.split(' ').slice(0, -1)) cpSync(join(ROOT, source), join(app, basename(source)), { recursive: true })
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
function run({ node, main, data }: Place, argv: readonly string[]): ChildProcess {
  const child = spawn(node, [main, ...argv], {
    cwd: data,
    env: { ...pairsOf(FINAL, 'ENV'), PATH: '/nowhere', HOME: '/nonexistent', TMPDIR: '/nonexistent' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(IS_ROOT && { uid: USER, gid: USER }),
  })
  return child
}

async function answers(path: string): Promise<string> {
  const end = performance.now() + WITHIN_MS
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${PORTS.page}${path}`).catch(() => undefined)
    if (answer?.status === 200) return answer.text()
    if (performance.now() > end) throw new Error(`${path} gave ${answer?.status ?? 'no answer'} for ${WITHIN_MS} ms`)
    await sleep(100)
  }
}

function writeInputs(folder: string): string {
  mkdirSync(join(folder, 'policies'))
  writeFileSync(join(folder, 'key'), 'sandbox-admin\n')
  writeFileSync(
    join(folder, 'policies/acme.yaml'),
    'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec: {team: {cap: 100000}}\n',
  )
  const config = join(folder, 'config.yaml')
  const workspace = `{name: acme, baseUrl: "http://127.0.0.1:${PORTS.service}", keys: {default: {file: key}}, policies: [policies]}`
  writeFileSync(config, `apiVersion: capkeeper/v1\nkind: Config\nworkspaces: [${workspace}]\n`)
  return config
}

async function live(place: Place, config: string, started: ChildProcess[]): Promise<void> {
  started.push(run(place, ['sandbox', '--port', `${PORTS.service}`, '--data', ':memory:']))
  const daemon = run(place, [
    'run',
    '--config',
    config,
    '--ledger',
    join(place.data, 'capkeeper.db'),
    '--listen',
    `127.0.0.1:${PORTS.page}`,
  ])
  started.push(daemon)
  const said: string[] = []
  daemon.stderr?.setEncoding('utf8').on('data', (text: string) => said.push(text))
  must((await answers('/livez')).length > 0, '/livez answers')
  must((await answers('/readyz')).length > 0, '/readyz answers')
  const metrics = await answers('/metrics')
  const resident = Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1]) / 1e6
  say(`  ${resident.toFixed(0)} MB resident with ${pairsOf(FINAL, 'ENV')['NODE_OPTIONS']}`)
  const end = performance.now() + WITHIN_MS
  while (!said.join('').includes('"cap written"') && performance.now() < end) await sleep(100)
  if (!said.join('').includes('"cap written"')) say(said.join(''))
  must(said.join('').includes('"cap written"'), 'a cap is written')
  must(existsSync(join(place.data, 'capkeeper.db')), 'the ledger lies in the data folder')
  daemon.kill(valuesOf(FINAL, 'STOPSIGNAL')[0] === 'SIGTERM' ? 'SIGTERM' : 'SIGINT')
  const [code] = await once(daemon, 'exit')
  must(code === 0, `SIGTERM ends it with 0 (${code})`)
}

async function check(folder: string, started: ChildProcess[]): Promise<void> {
  const [app, data, inputs] = [join(folder, 'app'), join(folder, 'data'), join(folder, 'etc')]
  const place: Place = { node: join(folder, 'node'), main: join(app, 'dist/main.js'), data }
  chmodSync(folder, 0o755)
  say('build')
  build(app)
  copyFileSync(process.execPath, place.node)
  say('size')
  measure(app, place.node)
  for (const path of [data, inputs]) mkdirSync(path)
  const config = writeInputs(inputs)
  for (const path of [app, place.node, inputs]) seal(path)
  if (IS_ROOT) chownSync(data, USER, USER)
  say(
    IS_ROOT
      ? `start as user ${USER}, everything but the data folder read-only`
      : 'start as this user (run it as root to see another), files read-only',
  )
  await live(place, config, started)
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-image-'))
  const started: ChildProcess[] = []
  try {
    await check(folder, started)
    say('the image would work')
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    if (error instanceof Error && 'stdout' in error) say(String(error.stdout))
    process.exitCode = 1
  } finally {
    for (const child of started) child.kill('SIGKILL')
    execFileSync('chmod', ['-R', 'u+w', folder])
    rmSync(folder, { recursive: true })
  }
}
