// References between manifests: ports, selectors, volumes, ConfigMaps, accounts. A wrong name passes every schema and fails in the cluster.
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec'
import { type Manifest, named, ofKind, workload } from './kubernetes.ts'

/** Objects that must exist already, by kind and name: `Secret capkeeper-keys`. */
export type Outside = readonly string[]

type Labels = Readonly<Record<string, string>>

/** Names without an object, and objects that are never named. */
export function referenceOffences(manifests: readonly Manifest[], outside: Outside): readonly string[] {
  const set = workload(manifests)
  const { template } = set.spec ?? {}
  // Only a StatefulSet names its service, and has claims of its own.
  const [services, volumeClaimTemplates = []] =
    set.kind === 'StatefulSet' ? ([[`Service ${set.spec?.serviceName}`], set.spec?.volumeClaimTemplates] as const) : [[]]
  const pod = template?.spec
  if (!pod) return ['the workload has no pod']
  const there = new Set([...manifests.map(named), ...outside])
  const wanted = [...services, `ServiceAccount ${pod.serviceAccountName}`, ...sourcesOf(pod)]
  const volumes = [...(pod.volumes ?? []).map(({ name }) => name), ...volumeClaimTemplates.map(({ metadata }) => metadata?.name)]
  const mounts = [...(pod.initContainers ?? []), ...pod.containers].flatMap(({ volumeMounts = [] }) => volumeMounts)
  return [
    ...wanted.filter((name) => !there.has(name)).map((name) => `${name} is not there`),
    ...outside.filter((name) => !wanted.includes(name)).map((name) => `${name} is needed by no object`),
    ...spareConfigMaps(manifests, wanted),
    ...mounts.filter(({ name }) => !volumes.includes(name)).map(({ name }) => `the volume ${name} is not there`),
    ...volumes.filter((name) => !mounts.some((mount) => mount.name === name)).map((name) => `the volume ${name} is mounted nowhere`),
    ...mounts
      .filter(({ subPath }) => subPath !== undefined)
      .map(({ name }) => `${name} is mounted by subPath, and would not follow changes`),
    ...selectorOffences(manifests, template?.metadata?.labels ?? {}),
    ...portOffences(manifests, pod),
  ]
}

const sourcesOf = (pod: IPodSpec): readonly string[] => [
  ...pod.containers
    .flatMap(({ env = [] }) => env)
    .flatMap(({ valueFrom }) => (valueFrom?.secretKeyRef ? [`Secret ${valueFrom.secretKeyRef.name}`] : [])),
  ...(pod.volumes ?? []).flatMap(({ configMap, secret }) => [
    ...(configMap ? [`ConfigMap ${configMap.name}`] : []),
    ...(secret ? [`Secret ${secret.secretName}`] : []),
  ]),
]

/** Dashboards are found by their label. */
const spareConfigMaps = (manifests: readonly Manifest[], wanted: readonly string[]): readonly string[] =>
  ofKind(manifests, 'ConfigMap')
    .filter((manifest) => !manifest.metadata.labels?.['grafana_dashboard'] && !wanted.includes(named(manifest)))
    .map((manifest) => `${named(manifest)} is used by no object`)

interface Selecting {
  readonly selector?: { readonly matchLabels?: Labels } | Labels
  readonly podSelector?: { readonly matchLabels?: Labels }
}

function selectorOffences(manifests: readonly Manifest[], labels: Labels): readonly string[] {
  return manifests.flatMap((manifest) => {
    const { selector, podSelector }: Selecting = { ...Object(manifest.spec) }
    const asked: Labels =
      podSelector?.matchLabels ?? (selector && 'matchLabels' in selector ? Object(selector.matchLabels) : selector) ?? {}
    return Object.entries(asked).flatMap(([key, value]) =>
      labels[key] === value ? [] : [`${named(manifest)} selects ${key}=${value}, which the pod has not`],
    )
  })
}

interface Ported {
  readonly ports?: readonly { readonly targetPort?: unknown }[]
  readonly podMetricsEndpoints?: readonly { readonly port?: unknown }[]
}

function portOffences(manifests: readonly Manifest[], pod: IPodSpec): readonly string[] {
  const known: readonly unknown[] = pod.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name))
  const asked: readonly (readonly [where: string, port: unknown])[] = [
    ...pod.containers.flatMap(({ name, livenessProbe, readinessProbe, startupProbe }) =>
      [livenessProbe, readinessProbe, startupProbe].flatMap((probe) =>
        probe ? [[`a probe of ${name}`, probe.httpGet?.port] as const] : [],
      ),
    ),
    ...manifests.flatMap((manifest) => {
      const { ports = [], podMetricsEndpoints = [] }: Ported = { ...Object(manifest.spec) }
      const all = [...ports.map(({ targetPort }) => targetPort), ...podMetricsEndpoints.map(({ port }) => port)]
      return all.map((port) => [named(manifest), port] as const)
    }),
    ...ofKind(manifests, 'NetworkPolicy').flatMap((manifest) => {
      const { ingress = [] }: NonNullable<INetworkPolicy['spec']> = { policyTypes: [], podSelector: {}, ...Object(manifest.spec) }
      return ingress.flatMap(({ ports = [] }) => ports.map(({ port }) => [named(manifest), port] as const))
    }),
  ]
  return asked.filter(([, port]) => !known.includes(port)).map(([where, port]) => `${where} names the port ${port}, which no container has`)
}
