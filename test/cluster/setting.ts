// The stage: volumes and their class, the kinds of the Prometheus operator, the service (capkeeper's own sandbox) in a namespace of its own, and the
// namespace under Pod Security "restricted" that the guide makes.
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { IMAGES } from './images.ts'
import { must, type World } from './world.ts'

/** Where the pods find the service. */
export const SERVICE = 'http://sandbox.service.svc.cluster.local:8787'
const VOLUMES = 16

/** The values that every release of the scenes begins with. */
export const VALUES = {
  image: { repository: 'images.example.com/capkeeper', tag: '0.1.0' },
  workspaces: [{ name: 'acme', baseUrl: SERVICE, allowPlainHttp: true, interval: '5s' }],
  policies: { files: { 'acme.yaml': policyOf(100_000) } },
}

export function policyOf(cap: number | string): string {
  return `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec: {team: {cap: ${cap}}}\n`
}

const volume = (folder: string, index: number): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `volume-${index}` },
  spec: {
    capacity: { storage: '5Gi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'local',
    persistentVolumeReclaimPolicy: 'Retain',
    local: { path: join(folder, `volumes/${index}`) },
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node1'] }] }] },
    },
  },
})

const STORAGE = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
}

const kindOfOperator = (kind: string, plural: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.monitoring.coreos.com` },
  spec: {
    group: 'monitoring.coreos.com',
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

/** Makes the cluster know the operator's kinds; until then it is one without. */
export function addOperatorKinds(world: World): void {
  const kinds = [
    kindOfOperator('PodMonitor', 'podmonitors'),
    kindOfOperator('PrometheusRule', 'prometheusrules'),
    kindOfOperator('ServiceMonitor', 'servicemonitors'),
  ]
  apply(world, 'kinds.yaml', kinds)
  world.run('kubectl', 'wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s')
}

export function apply(world: World, name: string, objects: readonly object[]): void {
  world.write(name, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  world.run('kubectl', 'apply', '-f', name)
}

const SANDBOX = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'sandbox', namespace: 'service', labels: { app: 'sandbox' } },
  spec: {
    containers: [
      { name: 'sandbox', image: IMAGES.capkeeper, args: ['sandbox', '--host', '0.0.0.0', '--port', '8787', '--data', ':memory:'] },
    ],
  },
}
const SANDBOX_SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'sandbox', namespace: 'service' },
  spec: { clusterIP: 'None', selector: { app: 'sandbox' }, ports: [{ port: 8787 }] },
}

/** Before the first scene. */
export async function prepare(world: World, folder: string): Promise<void> {
  for (let index = 0; index < VOLUMES; index += 1) {
    mkdirSync(join(folder, `volumes/${index}`), { recursive: true })
    chmodSync(join(folder, `volumes/${index}`), 0o700)
  }
  chmodSync(folder, 0o755)
  apply(world, 'storage.yaml', [STORAGE, ...Array.from({ length: VOLUMES }, (_, index) => volume(folder, index))])
  world.run('kubectl', 'create', 'namespace', 'service')
  await world.until('the account of the namespace', () =>
    world.try('kubectl', '-n', 'service', 'get', 'serviceaccount', 'default').status === 0 ? true : undefined,
  )
  apply(world, 'sandbox.yaml', [SANDBOX, SANDBOX_SERVICE])
  world.run('kubectl', '-n', 'service', 'wait', '--for=condition=Ready', 'pod/sandbox', '--timeout=240s')
  world.write('service-key', 'sandbox-admin\n')
  world.guide('kubectl create namespace capkeeper')
  world.guide('kubectl label namespace capkeeper pod-security.kubernetes.io/enforce=restricted')
  world.guide('kubectl -n capkeeper create secret generic capkeeper-keys --from-file=service-key=./service-key')
  await world.until('the account of the namespace', () =>
    world.try('kubectl', '-n', 'capkeeper', 'get', 'serviceaccount', 'default').status === 0 ? true : undefined,
  )
  const root = world.try('kubectl', '-n', 'capkeeper', 'run', 'root', '--image', IMAGES.capkeeper)
  must(root.status !== 0 && root.said.includes('violates PodSecurity "restricted'), 'a pod that may be root is kept out')
}
