// `npm run cluster:check`: brings up a real Kubernetes of one node on this machine, installs the chart and the overlays in it under Pod Security
// "restricted", and plays what happens to them. It needs root on Linux and the parts that parts.ts names; without them it says so and plays nothing.
// Everything runs in namespaces of its own and ends with it. CAPKEEPER_CLUSTER_SCENES=WORD plays the scenes whose name has the word.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../support/real-clock.ts'
import { startCluster } from './control-plane.ts'
import { makeImages } from './images.ts'
import { buildParts, missingParts, versions } from './parts.ts'
import { SCENES } from './scenes.ts'
import { prepare } from './setting.ts'
import { createWorld, ROOT, type World } from './world.ts'

const clock = realClock()

const INSIDE = '--inside'
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const WANTED = SCENES.filter(([name]) => name.includes(process.env['CAPKEEPER_CLUSTER_SCENES'] ?? ''))

/** Starts this program again where network, mounts and processes are its own; they are gone when it ends. */
async function enter(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-cluster-'))
  const flags = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  const child = spawn('unshare', [...flags, process.execPath, '--no-warnings', import.meta.filename, INSIDE, folder], { stdio: 'inherit' })
  const code = await new Promise<number>((resolve) => child.once('exit', (ended) => resolve(ended ?? 1)))
  // Only now is nothing mounted in it any more.
  rmSync(folder, { recursive: true, force: true })
  return code
}

async function play(folder: string): Promise<number> {
  const from = clock.monotonic()
  const elapsed = (): string => `${((clock.monotonic() - from) / 1000).toFixed(0).padStart(4)} s`
  const images = makeImages(join(folder, 'images'))
  const cluster = await startCluster(folder, (line) => say(`${elapsed()}  ${line}`))
  const failed: string[] = []
  const world = createWorld(join(folder, 'home'), cluster.kubeconfig, (line) => say(`          ${line}`))
  try {
    for (const file of images) cluster.load(file)
    mkdirSync(world.folder)
    symlinkSync(join(ROOT, 'deploy'), join(world.folder, 'deploy'))
    symlinkSync(ROOT, join(world.folder, 'capkeeper'))
    await prepare(world, folder)
    for (const [name, playScene] of WANTED) {
      try {
        await playScene(world)
        say(`${elapsed()}  ok: ${name}`)
      } catch (error) {
        failed.push(name)
        say(`${elapsed()}  FAILED: ${name}\n${error instanceof Error ? error.message : String(error)}\n${events(world)}`)
      }
    }
  } catch (error) {
    failed.push('the setting')
    say(`${error instanceof Error ? error.message : String(error)}\n${events(world)}`)
  }
  if (failed.length > 0) say(cluster.logs())
  await cluster.stop()
  say(`${WANTED.filter(([name]) => !failed.includes(name)).length} passed, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
}

/** What the cluster itself said last, for when something went wrong. */
const events = (world: World): string =>
  world.try('bash', '-c', 'kubectl get pods -A; kubectl get events -A --sort-by=.lastTimestamp | tail -n 15').said

async function outside(): Promise<number> {
  const missing = missingParts()
  if (missing.length > 0) {
    for (const [name] of WANTED) say(`skipped: ${name}`)
    say(`no cluster can be made here; missing: ${missing.join('; ')}`)
    return 0
  }
  buildParts(say)
  for (const version of versions()) say(version)
  return enter()
}

const at = process.argv.indexOf(INSIDE)
if (at > 0) {
  const code = await play(process.argv[at + 1] ?? '').catch((error: unknown) => {
    say(error instanceof Error ? error.message : String(error))
    return 1
  })
  // What was started may hold the loop open; it ends with this process.
  process.exit(code)
} else {
  process.exitCode = await outside()
}
