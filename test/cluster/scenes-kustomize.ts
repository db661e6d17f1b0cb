// The base and each overlay by kubectl, in a namespace that they make themselves, from the kustomization that the guide shows.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blockOf, isReady, page, podId, written } from './looks.ts'
import { ROLLOUT } from './scenes-helm.ts'
import { SERVICE } from './setting.ts'
import { must, ROOT, type Scenes, type World } from './world.ts'

const APPLY = 'kubectl apply -k .'
const SECRET = 'kubectl -n capkeeper create secret generic capkeeper-keys --from-file=service-key=./service-key'

/** The folder that a reader has after the guide: a kustomization that names an overlay of this checkout, a config with the address, policies. */
function writeOwn(world: World, name: 'base' | 'overlays/enforce' | 'overlays/git-sync'): void {
  const mine = join(world.folder, 'mine')
  mkdirSync(join(mine, 'policies'), { recursive: true })
  const shown = blockOf(readFileSync(join(ROOT, 'deploy/README.md'), 'utf8'), 'kind: Kustomization\n').replace(
    'deploy/kubernetes/base',
    `deploy/kubernetes/${name}`,
  )
  const own = name === 'overlays/git-sync' ? shown.replace(/^ *- \{name: capkeeper-policies.*\n/m, '') : shown
  writeFileSync(join(mine, 'kustomization.yaml'), own)
  const config = readFileSync(join(ROOT, `deploy/kubernetes/${name}/config.yaml`), 'utf8')
  writeFileSync(
    join(mine, 'config.yaml'),
    config.replace('baseUrl: https://service.example/api/v1', `baseUrl: ${SERVICE}\n    allowPlainHttp: true\n    interval: 5s`),
  )
  cpSync(join(ROOT, 'deploy/kubernetes/base/policies'), join(mine, 'policies'), { recursive: true })
  writeFileSync(
    join(mine, 'policies/acme.yaml'),
    'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec: {workspace: acme, team: {cap: 100200}}\n',
  )
  cpSync(join(world.folder, 'service-key'), join(mine, 'service-key'))
}

const modeOf = (world: World): string => JSON.parse(page(world, '/status')).workspaces[0].mode

export const KUSTOMIZE: Scenes = {
  'the base makes its namespace under restricted, comes up in audit, and writes nothing': async (world) => {
    world.run('kubectl', 'delete', 'namespace', 'capkeeper', '--timeout=120s')
    writeOwn(world, 'base')
    const said = world.guide(APPLY, 'mine')
    must(!/warning/i.test(said), `the API server warns of nothing, but: ${said}`)
    world.guide(SECRET, 'mine')
    world.guide(ROLLOUT)
    await world.until('a cycle', () => (page(world, '/metrics').includes('capkeeper_last_success_timestamp_seconds{') ? true : undefined))
    must(modeOf(world) === 'audit' && written(world) === 0, 'it is in audit, and no cap was written')
    must(world.guide('capkeeper plan').includes('100200'), 'the plan shows the cap')
  },
  'the overlay enforce turns writing on, without a restart': async (world) => {
    const id = podId(world)
    writeOwn(world, 'overlays/enforce')
    world.guide(APPLY, 'mine')
    await world.until('a cap that is written', () => (written(world) > 0 ? true : undefined))
    must(podId(world) === id, 'the pod is the same')
  },
  'the overlay git-sync takes policies from its worktree, does not write on the way, and begins without errors': async (world) => {
    writeOwn(world, 'overlays/git-sync')
    world.write('token', 'of-nobody\n')
    world.guide('kubectl -n capkeeper create secret generic capkeeper-git --from-file=token=./token')
    const id = podId(world)
    world.guide(APPLY, 'mine')
    await world.until('the new pod', () => (podId(world) !== id && isReady(world) ? true : undefined))
    must(modeOf(world) === 'audit' && written(world) === 0, 'it went back to audit, and no cap was written')
    const log = world.run('kubectl', '-n', 'capkeeper', 'logs', 'capkeeper-0', '-c', 'capkeeper')
    must(!log.includes('"level":"error"'), `its log begins without an error, but: ${log}`)
    must(world.guide('capkeeper plan').includes('100000'), 'the plan shows the cap of the repository')
  },
}
