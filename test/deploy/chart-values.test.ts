// What further values of the chart do to its objects: monitoring, git-sync, placement, security contexts, the volume, and objects of one's own.
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { generatedFiles } from '../../deploy/generate.ts'
import { type Manifest, named, ofKind, schemaOffences, statefulSet } from '../support/kubernetes.ts'
import { restrictedOffences } from '../support/pod-security.ts'
import { readDeploy } from '../support/rules.ts'
import { hasHelm, helmed, helmedWithoutOperator, hooksOf } from './renderings.ts'

const podOf = (manifests: readonly Manifest[]) => {
  const found = statefulSet(manifests).spec?.template.spec
  if (!found) throw new Error('the StatefulSet has no pod')
  return found
}
const json = (...values: readonly string[]): readonly string[] => values.flatMap((value) => ['--set-json', value])
const monitoring = (manifests: readonly Manifest[]): readonly string[] =>
  manifests.flatMap(({ apiVersion, kind }) => (apiVersion.startsWith('monitoring.') ? [kind] : [])).toSorted()

describe('monitoring', () => {
  test.skipIf(!hasHelm)('is there where the cluster knows it, or where it is asked for (needs helm)', () => {
    expect(monitoring(helmed())).toEqual(['PodMonitor', 'PrometheusRule'])
    expect(monitoring(helmedWithoutOperator())).toEqual([])
    expect(monitoring(helmedWithoutOperator('--set', 'podMonitor.enabled=true,prometheusRule.enabled=true'))).toHaveLength(2)
    expect(monitoring(helmed('--set', 'podMonitor.enabled=false,prometheusRule.enabled=false'))).toEqual([])
  })

  test.skipIf(!hasHelm)('goes by a ServiceMonitor in place of the PodMonitor, under the same job (needs helm)', () => {
    const manifests = helmed('--set', 'serviceMonitor.enabled=true')
    expect(monitoring(manifests)).toEqual(['PrometheusRule', 'ServiceMonitor'])
    expect(manifests.flatMap(schemaOffences)).toEqual([])
    const [service] = ofKind(manifests, 'Service')
    const [monitor] = ofKind(manifests, 'ServiceMonitor')
    expect(service?.metadata.labels).toMatchObject(Object(monitor?.spec).selector.matchLabels)
    expect(Object(service?.spec).ports.map(({ name }: { readonly name: string }) => name)).toEqual(['http'])
    const jobOf = (kind: string, endpoints: string) =>
      Object(ofKind(helmed('--set', `${kind}.enabled=true`), title(kind))[0]?.spec)[endpoints][0].relabelings
    expect(jobOf('serviceMonitor', 'endpoints')).toEqual(jobOf('podMonitor', 'podMetricsEndpoints'))
  })

  test.skipIf(!hasHelm).each([
    ['5s', '5s', 'podMonitor', 'podMetricsEndpoints'],
    ['2m', '10s', 'serviceMonitor', 'endpoints'],
  ])('with an interval of %s takes no longer than %s for a scrape by a %s (needs helm)', (interval, scrapeTimeout, kind, endpoints) => {
    const [monitor] = ofKind(helmed('--set', `${kind}.enabled=true,${kind}.interval=${interval}`), title(kind))
    expect(monitor?.spec).toMatchObject({ [endpoints]: [{ interval, scrapeTimeout }] })
  })
})

const title = (word: string): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`

describe('git-sync', () => {
  const GIT = ['--set', 'gitSync.enabled=true,gitSync.repository=ssh://git@git.example.com/caps.git'] as const
  const sidecar = (...flags: readonly string[]) => podOf(helmed(...GIT, ...flags)).initContainers?.[0]

  test.skipIf(!hasHelm)('gets a proxy and a private CA (needs helm)', () => {
    const proxy = { name: 'HTTPS_PROXY', value: 'http://proxy.example.com:3128' }
    const mount = { name: 'ca', mountPath: '/etc/company-ca', readOnly: true }
    const found = sidecar(
      ...json(
        `gitSync.extraEnv=${JSON.stringify([proxy, { name: 'GIT_SSL_CAINFO', value: '/etc/company-ca/ca.pem' }])}`,
        `gitSync.extraVolumeMounts=${JSON.stringify([mount])}`,
        'extraVolumes=[{"name":"ca","configMap":{"name":"company-ca"}}]',
      ),
    )
    expect(found?.env).toContainEqual(proxy)
    expect(found?.volumeMounts).toContainEqual(mount)
  })

  test.skipIf(!hasHelm)('gets a key and known hosts for SSH, and a way out to them (needs helm)', () => {
    const flags = [...GIT, '--set', 'gitSync.sshSecret=deploy-key']
    const manifests = helmed(...flags)
    expect(sidecar('--set', 'gitSync.sshSecret=deploy-key')?.args).toEqual(
      expect.arrayContaining(['--ssh-key-file=/etc/git-ssh/ssh', '--ssh-known-hosts-file=/etc/git-ssh/known_hosts']),
    )
    expect(podOf(manifests).volumes).toContainEqual({ name: 'git-ssh', secret: { secretName: 'deploy-key', defaultMode: 288 } })
    const portsOf = (all: readonly Manifest[]) =>
      Object(ofKind(all, 'NetworkPolicy')[0]?.spec).egress.flatMap((one: { readonly ports: readonly { readonly port: number }[] }) =>
        one.ports.map(({ port }) => port),
      )
    expect(portsOf(manifests)).toEqual([53, 53, 443, 22])
    expect(portsOf(helmed(...GIT))).toEqual([53, 53, 443])
  })

  test.skipIf(!hasHelm)('is pinned to one version, here and in the overlay, and reads a changed token again (needs helm)', () => {
    const image = /registry\.k8s\.io\/git-sync\/git-sync:v4\.\d+\.\d+/.exec(readDeploy('kubernetes/overlays/git-sync/git-sync.yaml'))?.[0]
    expect(sidecar()?.image).toBe(image)
    expect(readDeploy('helm/capkeeper/Chart.yaml')).toContain(`image: ${image}`)
    expect(sidecar('--set', 'gitSync.existingSecret=token')?.args).toContain('--password-file-reload')
  })

  test.skipIf(!hasHelm)('has a root below the volume, that it makes itself (needs helm)', () => {
    expect(sidecar()?.args).toContain('--root=/git/root')
    expect(sidecar()?.volumeMounts).toContainEqual({ name: 'git', mountPath: '/git' })
  })
})

describe('the pod', () => {
  test.skipIf(!hasHelm)('is placed and named as it is told (needs helm)', () => {
    const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }
    const hosts = [{ ip: '192.0.2.7', hostnames: ['service.example'] }]
    const manifests = helmed(
      ...json(
        `topologySpreadConstraints=${JSON.stringify([spread])}`,
        `hostAliases=${JSON.stringify(hosts)}`,
        'dnsConfig={"options":[{"name":"ndots","value":"1"}]}',
        'commonLabels={"team":"platform"}',
        'probes.liveness.periodSeconds=20',
      ),
    )
    expect(manifests.flatMap(schemaOffences)).toEqual([])
    expect(podOf(manifests)).toMatchObject({
      topologySpreadConstraints: [spread],
      hostAliases: hosts,
      dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
      containers: [{ livenessProbe: { httpGet: { path: '/livez' }, periodSeconds: 20, failureThreshold: 6 } }],
    })
    expect(manifests.filter(({ metadata }) => metadata.labels?.['team'] !== 'platform').map(named)).toEqual([])
    expect(statefulSet(manifests).spec?.template.metadata?.labels).toMatchObject({ team: 'platform' })
    // What cannot be changed later must not follow a label.
    expect(JSON.stringify([statefulSet(manifests).spec?.selector, statefulSet(manifests).spec?.volumeClaimTemplates])).not.toContain(
      'platform',
    )
  })

  test.skipIf(!hasHelm)('leaves the user to a cluster that hands out its own, and still may do nothing (needs helm)', () => {
    const openshift = json(
      'podSecurityContext={"runAsUser":null,"runAsGroup":null,"fsGroup":null}',
      'gitSync.securityContext={"runAsUser":null}',
    )
    const flags = [...openshift, '--set', 'gitSync.enabled=true,gitSync.repository=https://git.example.com/caps.git']
    const pods = [podOf(helmed(...flags)), ...hooksOf(...flags).flatMap(({ kind, spec }) => (kind === 'Pod' ? [Object(spec)] : []))]
    expect(JSON.stringify(pods)).not.toMatch(/runAsUser|runAsGroup|"fsGroup":/)
    expect(pods.flatMap(restrictedOffences)).toEqual([])
  })

  test.skipIf(!hasHelm)('is replaced also when it never became ready (needs helm)', () => {
    expect(statefulSet(helmed()).spec).toMatchObject({ podManagementPolicy: 'Parallel', replicas: 1 })
  })

  test.skipIf(!hasHelm)('writes nothing after a first install (needs helm)', () => {
    expect(JSON.stringify(ofKind(helmed(), 'ConfigMap'))).toContain('mode: audit')
    expect(JSON.stringify(ofKind(helmed('--set', 'mode=enforce'), 'ConfigMap'))).toContain('mode: enforce')
  })

  test.skipIf(!hasHelm)('finds the rest of the config too (needs helm)', () => {
    const [config] = ofKind(helmed(...json('config={"pricePerCredit":0.04}')), 'ConfigMap').filter(
      ({ metadata }) => metadata.name === 'capkeeper-config',
    )
    expect(config?.data?.['config.yaml']).toContain('pricePerCredit: 0.04')
  })
})

describe('the volume', () => {
  test.skipIf(!hasHelm)('may be a claim of somebody else (needs helm)', () => {
    const manifests = helmed('--set', 'persistence.existingClaim=ledger')
    expect(manifests.flatMap(schemaOffences)).toEqual([])
    expect(statefulSet(manifests).spec?.volumeClaimTemplates).toBeUndefined()
    expect(podOf(manifests).volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'ledger' } })
  })

  test.skipIf(!hasHelm)('outlives the release unless told otherwise (needs helm)', () => {
    const retention = (...flags: readonly string[]) => statefulSet(helmed(...flags)).spec?.persistentVolumeClaimRetentionPolicy
    expect(retention()).toEqual({ whenDeleted: 'Retain', whenScaled: 'Retain' })
    expect(retention('--set', 'persistence.retention.whenDeleted=Delete')).toEqual({ whenDeleted: 'Delete', whenScaled: 'Retain' })
  })
})

test.skipIf(!hasHelm)('objects of one’s own come along, with templates filled in (needs helm)', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: '{{ .Release.Name }}-ca', namespace: 'capkeeper' },
    data: { a: 'b' },
  }
  expect(helmed(...json(`extraObjects=${JSON.stringify([object])}`)).map(named)).toContain('ConfigMap capkeeper-ca')
})

describe('the README of the chart', () => {
  const readme = generatedFiles().get('helm/capkeeper/README.md') ?? ''

  test('is up to date, as is the schema', () => {
    expect(readDeploy('helm/capkeeper/README.md')).toBe(readme)
    expect(readDeploy('helm/capkeeper/values.schema.json')).toBe(generatedFiles().get('helm/capkeeper/values.schema.json'))
  })

  test.each([
    ['a value with its default', '| `gitSync.ref` | `"main"` | Branch, tag or commit. |'],
    ['the words that a value may be', 'One of `enforce`, `audit`, `paused`.'],
    ['a section', '| **backup** |  | A copy of the ledger by schedule'],
  ])('has %s', (_row, line) => {
    expect(readme).toContain(line)
  })
})

// `helm upgrade --reuse-values` renders a newer chart with the values of an older one, without its new keys.
describe('values of an older release', () => {
  const values: Readonly<Record<string, unknown>> = parse(readDeploy('helm/capkeeper/values.yaml'))
  const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const mappings = (of: Readonly<Record<string, unknown>>, path = ''): readonly string[] =>
    Object.entries(of).flatMap(([key, value]) => (isMapping(value) ? [`${path}${key}`, ...mappings(value, `${path}${key}.`)] : []))
  // Every release has had these, and nothing may be guessed in their place.
  const needed = ['image', 'persistence'] as const
  const lacking = mappings(values).filter((path) => path !== 'image' && path !== 'persistence')

  test.skipIf(!hasHelm).each([
    ['whole sections', lacking.filter((path) => !path.includes('.'))],
    ['parts of sections', lacking.filter((path) => path.includes('.') && !lacking.some((one) => one.startsWith(`${path}.`)))],
  ])('may lack %s (needs helm)', (_what, paths) => {
    expect(paths.length).toBeGreaterThan(5)
    const manifests = helmed(...paths.flatMap((path) => ['--set', `${path}=null`]))
    expect(manifests.map(named)).toContain('StatefulSet capkeeper')
    expect(manifests.flatMap(schemaOffences)).toEqual([])
  })

  test.skipIf(!hasHelm).each(needed)('say what to do where %s is lacking (needs helm)', (path) => {
    expect(() => helmed('--set', `${path}=null`)).toThrow(/is lacking: upgrade with --reset-then-reuse-values, or set it/)
  })
})
