// Care of a release: stopping, backup and restore, drain, a second release beside it, uninstall and adoption.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../support/real-clock.ts'
import { blockOf, isReady, page, podId, UPGRADE, written } from './looks.ts'
import { ENFORCE, INSTALL, ROLLOUT, values } from './scenes-helm.ts'
import { addOperatorKinds, apply, VALUES } from './setting.ts'
import { must, ROOT, type Scenes, type World } from './world.ts'

const clock = realClock()

const GROWN = { ...ENFORCE, persistence: { size: '2Gi' } }
const UNINSTALL = 'helm uninstall capkeeper --namespace capkeeper'
const gone = 'kubectl -n capkeeper wait --for=delete pod/capkeeper-0 --timeout=60s'
const seconds = (from: number): number => (clock.monotonic() - from) / 1000
const guide = (): string => readFileSync(join(ROOT, 'deploy/README.md'), 'utf8')
const claim = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'capkeeper' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})

/** The copy of the ledger, read out of the pod and put back as the guide says. */
function restore(world: World): void {
  world.guide('capkeeper ledger backup /data/copy.db')
  world.guide(
    `kubectl -n capkeeper exec capkeeper-0 -- /nodejs/bin/node -e 'fs.createReadStream("/data/copy.db").pipe(process.stdout)' > capkeeper-2026-11-20.db`,
  )
  world.guide(`kubectl -n capkeeper exec capkeeper-0 -- /nodejs/bin/node -e 'fs.rmSync("/data/copy.db")'`)
  world.write('restore.yaml', blockOf(guide(), 'name: capkeeper-restore'))
  world.guide('kubectl -n capkeeper scale statefulset/capkeeper --replicas 0')
  world.guide(gone)
  world.guide('kubectl apply -f restore.yaml')
  world.guide('kubectl -n capkeeper wait --for=condition=Ready pod/capkeeper-restore')
  world.guide(
    `kubectl -n capkeeper exec capkeeper-restore -- /nodejs/bin/node -e 'for (const end of ["", "-wal", "-shm"]) fs.rmSync("/data/capkeeper.db" + end, { force: true })'`,
  )
  world.guide(
    `kubectl -n capkeeper exec -i capkeeper-restore -- /nodejs/bin/node -e 'process.stdin.pipe(fs.createWriteStream("/data/capkeeper.db", { mode: 0o600 }))' < capkeeper-2026-11-20.db`,
  )
  world.guide('kubectl -n capkeeper exec capkeeper-restore -- capkeeper ledger check --ledger /data/capkeeper.db')
  const from = clock.monotonic()
  world.guide('kubectl -n capkeeper delete pod capkeeper-restore')
  must(seconds(from) < 10, `the pod for restoring goes within 10 s (${seconds(from).toFixed(0)} s)`)
  world.guide('kubectl -n capkeeper scale statefulset/capkeeper --replicas 1')
  world.guide(ROLLOUT)
}

export const CARE: Scenes = {
  'it is stopped and started again, by a pause and by the number of replicas': async (world) => {
    world.guide('capkeeper pause --for 4h --reason "incident"')
    must(world.guide('capkeeper status').includes('incident'), 'the status says why it is paused')
    world.guide('capkeeper resume')
    world.guide('kubectl -n capkeeper scale statefulset/capkeeper --replicas 0')
    world.guide(gone)
    world.guide('kubectl -n capkeeper scale statefulset/capkeeper --replicas 1')
    world.guide(ROLLOUT)
  },
  'the ledger is backed up by schedule beside the running daemon, and a copy of it put back': async (world) => {
    apply(world, 'copies.yaml', [claim('capkeeper-copies')])
    values(world, { ...GROWN, backup: { enabled: true, existingClaim: 'capkeeper-copies' } })
    world.guide(UPGRADE)
    world.guide('kubectl -n capkeeper create job backup-now --from=cronjob/capkeeper-backup')
    world.guide('kubectl -n capkeeper wait --for=condition=Complete job/backup-now --timeout=120s')
    must(world.guide('kubectl -n capkeeper logs job/backup-now').includes('kept /backup/capkeeper-'), 'the job says what it kept')
    restore(world)
    must(world.guide('capkeeper history --since 1h').includes('100100'), 'the restored ledger has the history')
  },
  'a drained node gives its pod up at once, and the ledger is there when it comes back': async (world) => {
    const id = podId(world)
    world.run(
      'kubectl',
      'drain',
      'node1',
      '--ignore-daemonsets',
      '--delete-emptydir-data',
      '--pod-selector=app.kubernetes.io/component=daemon',
      '--timeout=60s',
    )
    world.run('kubectl', 'uncordon', 'node1')
    await world.until('another pod that is ready', () => (podId(world) !== id && isReady(world) ? true : undefined))
    must(world.guide('capkeeper history --since 1h').includes('100100'), 'the history is there')
    world.guide('kubectl -n capkeeper delete pod capkeeper-0 --force --grace-period=0')
    await world.until('the pod again', () => (isReady(world) ? true : undefined))
  },
  'with the Prometheus operator it is monitored, and a second release leaves rules and dashboards to the first': async (world) => {
    addOperatorKinds(world)
    world.guide(UPGRADE)
    const names = (kinds: string): readonly string[] =>
      world.run('kubectl', '-n', 'capkeeper', 'get', kinds, '-o', 'name').trim().split('\n').toSorted()
    must(names('podmonitors,prometheusrules').length === 2, 'there is a monitor and the rules')
    world.write('second.yaml', VALUES)
    const notes = world.run(
      'helm',
      'install',
      'second',
      'deploy/helm/capkeeper',
      '--namespace',
      'capkeeper',
      '--values',
      'second.yaml',
      '--wait',
    )
    must(
      notes.includes('The alert rules were left out') && notes.includes('The dashboards were left out'),
      `the notes say so, but: ${notes}`,
    )
    must(names('prometheusrules').join() === 'prometheusrule.monitoring.coreos.com/capkeeper', 'the rules are there once')
    must(names('podmonitors').length === 2, 'each is scraped')
    const dashboards = world.run('kubectl', '-n', 'capkeeper', 'get', 'configmaps', '-l', 'grafana_dashboard=1', '-o', 'name')
    must(dashboards.trim().split('\n').length === 3, 'the dashboards are there once')
    world.run('helm', 'uninstall', 'second', '--namespace', 'capkeeper', '--wait')
    world.run('kubectl', '-n', 'capkeeper', 'delete', 'pvc', 'data-second-capkeeper-0')
  },
  'an uninstalled release leaves its ledger, and the next takes it up; with an empty one nothing is cleared or written anew': async (
    world,
  ) => {
    values(world, GROWN)
    world.guide(UNINSTALL)
    world.guide(gone)
    world.guide(INSTALL)
    world.guide(ROLLOUT)
    must(world.guide('capkeeper history --since 1h').includes('100100'), 'the history is there')
    world.guide(UNINSTALL)
    world.guide(gone)
    world.run('kubectl', '-n', 'capkeeper', 'delete', 'pvc', 'data-capkeeper-0')
    world.guide(INSTALL)
    world.guide(ROLLOUT)
    await world.until('a cycle', () => (page(world, '/metrics').includes('capkeeper_last_success_timestamp_seconds{') ? true : undefined))
    must(world.guide('capkeeper plan').includes('No changes'), 'what equals the policy is taken up')
    must(written(world) === 0, 'no cap was written')
    world.guide(UNINSTALL)
    world.guide(gone)
  },
}
