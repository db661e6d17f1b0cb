// What every set of manifests must be, however it is made: without a name that leads nowhere, and with a config and policies that capkeeper takes. That
// Kubernetes takes them, and a restricted namespace lets them in, is shown by renderings.test.ts.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { run } from '../cli/world.ts'
import { type Manifest, manifestsOf, named, ofKind, schemaOffences, workload } from '../support/kubernetes.ts'
import { restrictedOffences } from '../support/pod-security.ts'
import { referenceOffences } from '../support/references.ts'
import { readDeploy, ruleFile } from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { RENDERINGS } from './renderings.ts'

const pod = (manifests: readonly Manifest[]) => {
  const found = workload(manifests).spec?.template.spec
  if (!found) throw new Error('the StatefulSet has no pod')
  return found
}

const configOf = (manifests: readonly Manifest[]): string =>
  ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-config'))?.data?.['config.yaml'] ?? ''

const policiesOf = (manifests: readonly Manifest[]): Readonly<Record<string, string>> =>
  ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-policies'))?.data ?? {}

/** What `capkeeper validate` says of the config and the policies as they would be mounted. */
async function validated(manifests: readonly Manifest[]) {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'policies'))
  writeFileSync(join(folder, 'config.yaml'), configOf(manifests))
  for (const [name, text] of Object.entries(policiesOf(manifests))) writeFileSync(join(folder, 'policies', name), text)
  return run(['validate', '--output', 'json', '--config', join(folder, 'config.yaml'), join(folder, 'policies')])
}

describe.each(RENDERINGS.map((rendering) => [rendering.title, rendering] as const))('%s', (_title, { isThere, needs, ...rendering }) => {
  const manifests = once(rendering.manifests)

  test.skipIf(!isThere)(`names nothing that is not there, and makes no secret (needs ${needs})`, () => {
    expect(referenceOffences(manifests(), rendering.outside)).toEqual([])
    expect(ofKind(manifests(), 'Secret')).toEqual([])
    expect(new Set(manifests().map(named)).size).toBe(manifests().length)
    expect(manifests().filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'capkeeper')).toEqual([])
  })

  test.skipIf(!isThere)(`gives capkeeper a config and policies that it takes, at places that are mounted (needs ${needs})`, async () => {
    const { code, stdout, stderr } = await validated(manifests())
    const isOnlyInPod = ({ code }: { readonly code: string }): boolean => code === 'CA_INVALID' || code === 'EMPTY_FILE'
    const problems: readonly { readonly code: string }[] = JSON.parse(stdout).problems
    expect({ code, problems: problems.filter((one) => !isOnlyInPod(one)), stderr }).toEqual({ code: 0, problems: [], stderr: '' })
    const config = parse(configOf(manifests()))
    expect(config).toMatchObject({ listen: '0.0.0.0:9464', people: 'hash' })
    expect(config.ledger).toBe(isShared(manifests()) ? undefined : '/data/capkeeper.db')
    const [container] = pod(manifests()).containers
    const mounts = (container?.volumeMounts ?? []).map(({ mountPath }) => mountPath)
    const files = [
      ...(config.ledger === undefined ? [] : [config.ledger]),
      ...Object.values(container?.env ?? []).flatMap(({ name, value }) => (name === 'CAPKEEPER_CONFIG' ? [value] : [])),
      ...config.workspaces.flatMap((one: WorkspaceText) => [
        ...one.policies,
        ...Object.values(one.keys).map(({ file }) => file),
        ...(one.caFile === undefined ? [] : [one.caFile]),
      ]),
    ]
    expect(files.filter((file) => !mounts.some((mount) => file === mount || file.startsWith(`${mount}/`)))).toEqual([])
  })

  test.skipIf(!isThere)(`carries the rules and the dashboards as they are (needs ${needs})`, () => {
    for (const { spec } of ofKind(manifests(), 'PrometheusRule')) {
      const text = JSON.stringify(spec).replaceAll('https://git.example.com/platform/capkeeper/RUNBOOK.md', 'deploy/RUNBOOK.md')
      expect(JSON.parse(text)).toEqual(ruleFile())
    }
    const dashboards = ofKind(manifests(), 'ConfigMap').filter(({ metadata }) => metadata.labels?.['grafana_dashboard'])
    for (const [file, text] of dashboards.flatMap(({ data = {} }) => Object.entries(data))) {
      expect(JSON.parse(text)).toEqual(JSON.parse(readDeploy(`grafana/${file}`)))
    }
    const hasMonitoring = !rendering.title.includes('no-monitoring')
    expect([ofKind(manifests(), 'PrometheusRule').length, ofKind(manifests(), 'PodMonitor').length, dashboards.length]).toEqual(
      hasMonitoring ? [1, 1, 3] : [0, 0, 0],
    )
  })
})

const isShared = (manifests: readonly Manifest[]): boolean => ofKind(manifests, 'Deployment').length > 0

interface WorkspaceText {
  readonly policies: readonly string[]
  readonly keys: Readonly<Record<string, { readonly file: string }>>
  readonly caFile?: string
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

describe('the checks themselves', () => {
  const set = (change: (text: string) => string) => manifestsOf(change(readDeploy('kubernetes/base/statefulset.yaml')))[0]
  const asIs = set((text) => text)

  test('have nothing against the manifest as it is', () => {
    expect(asIs && schemaOffences(asIs)).toEqual([])
    expect(asIs && restrictedOffences(pod([asIs]))).toEqual([])
  })

  test.each([
    ['a misspelled field', ['periodSeconds', 'periodSecond'], 'does not know .spec.template.spec.containers.0.startupProbe.periodSecond'],
    ['a field in the wrong place', ['spec:\n  replicas: 1', 'replicas: 1\nspec:'], 'does not know .replicas'],
    ['a value of another type', ['replicas: 1 ', 'replicas: one '], 'must be integer'],
    ['a field that is missing', ['  selector:\n', '  selektor:\n'], 'must have required property selector'],
    ['a kind of an old version', ['apps/v1', 'apps/v1beta1'], 'there is no schema for apps/v1beta1 StatefulSet'],
  ] as const)('see %s', (_row, [from, to], said) => {
    const manifest = set((text) => text.replace(from, to))
    expect(manifest && schemaOffences(manifest).join()).toContain(said)
  })

  test.each([
    ['runAsNonRoot: true', 'runAsNonRoot: false', 'capkeeper may run as root'],
    ['runAsUser: 65532', 'runAsUser: 0', 'the pod runs as root'],
    ['type: RuntimeDefault', 'type: Unconfined', 'capkeeper has no seccomp profile'],
    ['allowPrivilegeEscalation: false', 'privileged: true', 'capkeeper is privileged'],
    ['drop: [ALL]', 'add: [NET_ADMIN]', 'capkeeper adds capabilities'],
    ['enableServiceLinks: false', 'hostNetwork: true', 'the pod has hostNetwork'],
    ['emptyDir:\n            sizeLimit: 64Mi', 'hostPath:\n            path: /tmp', 'the volume tmp is a hostPath'],
    ['containerPort: 9464', 'hostPort: 9464', 'capkeeper takes a port of the node'],
  ])('keep a pod with %s made %s out of a restricted namespace', (from, to, said) => {
    const manifest = set((text) => text.replace(from, to))
    expect(manifest && restrictedOffences(pod([manifest]))).toContain(said)
  })

  test.each([
    ['serviceName: capkeeper', 'serviceName: other', 'Service other is not there'],
    ['name: capkeeper-config', 'name: config', 'ConfigMap config is not there'],
    ['port: http', 'port: web', 'a probe of capkeeper names the port web, which no container has'],
    ['mountPath: /data', 'mountPath: /data\n              subPath: x', 'data is mounted by subPath, and would not follow changes'],
    ['- name: tmp\n              mountPath', '- name: temp\n              mountPath', 'the volume tmp is mounted nowhere'],
  ])('see that %s was made %s', (from, to, said) => {
    const manifest = set((text) => text.replace(from, to))
    const outside = [
      'Service capkeeper',
      'ServiceAccount capkeeper',
      'ConfigMap capkeeper-config',
      'ConfigMap capkeeper-policies',
      'Secret capkeeper-keys',
    ]
    expect(asIs && referenceOffences([asIs], outside)).toEqual([])
    expect(manifest && referenceOffences([manifest], outside)).toContain(said)
  })

  test('see a selector that misses the pod', () => {
    const service = manifestsOf(readDeploy('kubernetes/base/service.yaml').replace('component: daemon', 'component: demon'))
    expect(asIs && referenceOffences([asIs, ...service], []).join()).toContain(
      'Service capkeeper selects app.kubernetes.io/component=demon',
    )
  })
})
