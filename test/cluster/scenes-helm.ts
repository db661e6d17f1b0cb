// A release by Helm: first install, enforcing, edits, rotation, and what is refused with nothing changed.

import { realClock } from '../support/real-clock.ts'
import { isReady, mark, mustRefuse, ofPod, page, podId, UPGRADE, written } from './looks.ts'
import { policyOf, VALUES } from './setting.ts'
import { must, type Scenes, type World } from './world.ts'

const clock = realClock()

export const INSTALL = 'helm install capkeeper deploy/helm/capkeeper --namespace capkeeper --values my-values.yaml'
export const ROLLOUT = 'kubectl -n capkeeper rollout status statefulset/capkeeper'
export const ORPHAN = 'kubectl -n capkeeper delete statefulset capkeeper --cascade=orphan'
const ROTATE =
  'kubectl -n capkeeper create secret generic capkeeper-keys --from-file=service-key=./new-key --dry-run=client -o yaml | kubectl replace -f -'

/** What my-values.yaml holds from here on. */
export const values = (world: World, more: object = {}): void => world.write('my-values.yaml', { ...VALUES, ...more })
export const ENFORCE = { mode: 'enforce', policies: { files: { 'acme.yaml': policyOf(100_100) } } }

export const HELM: Scenes = {
  'a first install with a policy that capkeeper refuses leaves nothing behind, and says why': async (world) => {
    values(world, { policies: { files: { 'acme.yaml': policyOf('12x') } } })
    const { status, said } = world.try('bash', '-c', INSTALL)
    must(status !== 0 && said.includes('pre-install'), `the install is refused by its hook, but: ${said}`)
    must(world.guide('kubectl -n capkeeper logs job/capkeeper-validate').includes('acme.yaml:4'), 'the log of the job names file and line')
    must(
      world.run('kubectl', '-n', 'capkeeper', 'get', 'statefulsets,services', '-o', 'name').trim() === '',
      'no StatefulSet and no Service is there',
    )
    world.guide('helm uninstall capkeeper --namespace capkeeper')
  },
  'an install comes up in audit, plans, and writes nothing': async (world) => {
    values(world)
    const notes = world.guide(INSTALL)
    must(notes.includes('In mode audit it plans and measures, and writes nothing'), 'the notes say what audit is')
    must(notes.includes('the cluster knows no PodMonitor'), 'the notes say that nothing scrapes it')
    world.guide(ROLLOUT)
    must(world.guide('capkeeper plan').includes('100000'), 'the plan shows the cap of the policy')
    world.guide('capkeeper doctor')
    const tested = world.guide('helm test capkeeper --namespace capkeeper --logs')
    must(/\/readyz: 200/.test(tested) && tested.includes('/status: acme, audit'), `helm test asks /readyz and /status, but: ${tested}`)
    must(written(world) === 0, 'no cap was written')
  },
  'enforcing is turned on without a restart, and caps are written': async (world) => {
    const id = podId(world)
    values(world, { mode: 'enforce' })
    world.guide(UPGRADE)
    await world.until('a cap that is written', () => (written(world) > 0 ? true : undefined))
    must(podId(world) === id, 'the pod is the same')
  },
  'a policy edit arrives through the ConfigMap, without a restart': async (world) => {
    const [id, before] = [podId(world), written(world)]
    values(world, ENFORCE)
    world.guide(UPGRADE)
    await world.until('the new cap', () => (written(world) > before ? true : undefined))
    must(world.guide('capkeeper history --since 1h').includes('100100'), 'the history has the new cap')
    must(podId(world) === id, 'the pod is the same')
  },
  'a key is rotated without a restart, a warning, or a copy of it in an annotation': async (world) => {
    const id = podId(world)
    const isRefused = (): boolean => /capkeeper_api_requests_total\{.*outcome="auth".*\} [1-9]/.test(page(world, '/metrics'))
    world.write('new-key', 'no-key-of-this-service\n')
    const said = world.guide(ROTATE)
    must(!/warning/i.test(said), `kubectl warns of nothing, but: ${said}`)
    await world.until('the refusal of a wrong key', () => (isRefused() ? true : undefined))
    world.write('new-key', 'sandbox-admin\n')
    world.guide(ROTATE)
    await world.until('a doctor that is content', () =>
      world.try('kubectl', '-n', 'capkeeper', 'exec', 'capkeeper-0', '--', 'capkeeper', 'doctor').status === 0 ? true : undefined,
    )
    const secret = world.run('kubectl', '-n', 'capkeeper', 'get', 'secret', 'capkeeper-keys', '-o', 'jsonpath={.metadata}')
    must(!secret.includes('last-applied') && podId(world) === id, 'no annotation holds the key, and the pod is the same')
  },
  'bad values are refused with nothing changed: a misspelled guard, a broken policy, another volume, another name': async (world) => {
    const workspaces = JSON.stringify([{ ...VALUES.workspaces[0], guards: { maxLowerd: 5 } }])
    mustRefuse(world, 'maxLowerd', '--set-json', `workspaces=${workspaces}`)
    mustRefuse(world, 'pre-upgrade', '--set', 'policies.files.acme\\.yaml=nonsense')
    mustRefuse(world, 'persistence.size is 2Gi, and the volume was made with 1Gi', '--set', 'persistence.size=2Gi,mode=audit')
    mustRefuse(world, 'persistence.storageClass', '--set', 'persistence.storageClass=other')
    mustRefuse(world, 'would run as caps with an empty ledger', '--set', 'fullnameOverride=caps')
    mustRefuse(world, 'take nameOverride back', '--set', 'nameOverride=caps,fullnameOverride=capkeeper')
    world.run('bash', '-c', `${UPGRADE} --set persistence.size=1024Mi --dry-run=server`)
  },
  'a bad image is stopped by the validation, and without it healed by a rollback alone': async (world) => {
    const before = mark(world)
    const id = podId(world)
    mustRefuse(world, 'pre-upgrade', '--set', 'image.tag=none,validation.activeDeadlineSeconds=15')
    must(podId(world) === id && mark(world) === before, 'the pod runs on')
    world.run('bash', '-c', `${UPGRADE} --set image.tag=none,validation.enabled=false`)
    await world.until('a pod that cannot be started', () =>
      /ImagePullBackOff|ErrImagePull/.test(ofPod(world, '.status.containerStatuses[0].state.waiting.reason')) ? true : undefined,
    )
    const good = world
      .guide('helm history capkeeper --namespace capkeeper')
      .split('\n')
      .filter((line) => line.includes('superseded'))
      .at(-1)
    must(good?.startsWith('3') === true, `the last good revision is 3, as in the guide, but: ${good}`)
    world.guide('helm rollback capkeeper 3 --namespace capkeeper')
    const from = clock.monotonic()
    await world.until('a pod that is ready again', () =>
      isReady(world) && !ofPod(world, '.spec.containers[0].image').endsWith(':none') ? true : undefined,
    )
    world.say(`ready again ${((clock.monotonic() - from) / 1000).toFixed(0)} s after the rollback`)
  },
  'a release of an older chart is told what to do, and upgraded with its pod left running': async (world) => {
    values(world, ENFORCE)
    const set = JSON.parse(world.run('kubectl', '-n', 'capkeeper', 'get', 'statefulset', 'capkeeper', '-o', 'json'))
    world.run('kubectl', '-n', 'capkeeper', 'delete', 'statefulset', 'capkeeper', '--cascade=orphan')
    const { name, namespace, labels, annotations } = set.metadata
    const old = {
      apiVersion: set.apiVersion,
      kind: set.kind,
      metadata: { name, namespace, labels, annotations },
      spec: { ...set.spec, podManagementPolicy: 'OrderedReady' },
    }
    world.write('old.json', JSON.stringify(old))
    world.run('kubectl', 'create', '-f', 'old.json')
    mustRefuse(world, ORPHAN)
    const id = podId(world)
    world.guide(ORPHAN)
    world.guide(UPGRADE)
    world.guide(ROLLOUT)
    must(podId(world) === id, 'the pod is the same')
  },
  'a volume is grown as the guide says': async (world) => {
    world.guide(`kubectl -n capkeeper patch pvc data-capkeeper-0 --patch '{"spec": {"resources": {"requests": {"storage": "2Gi"}}}}'`)
    values(world, { ...ENFORCE, persistence: { size: '2Gi' } })
    world.guide(ORPHAN)
    world.guide(UPGRADE)
    world.guide(ROLLOUT)
    const wanted = world.run(
      'kubectl',
      '-n',
      'capkeeper',
      'get',
      'pvc',
      'data-capkeeper-0',
      '-o',
      'jsonpath={.spec.resources.requests.storage}',
    )
    must(wanted === '2Gi', `the claim asks for 2Gi, but: ${wanted}`)
  },
}
