// The base, its overlays and the component, as somebody meets them who deploys with kustomize or kubectl.
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Manifest, manifestsOf, named, ofKind, rendered, schemaOffences, statefulSet } from '../support/kubernetes.ts'
import { DEPLOY, readDeploy } from '../support/rules.ts'
import { hasKubectl, hasKustomize, kustomized, kustomizedBy } from './renderings.ts'

const isThere = hasKustomize || hasKubectl
const NEEDS = '(needs kustomize 5, also in kubectl)'

const mounted = (manifests: readonly Manifest[]): unknown =>
  parse(ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name === 'capkeeper-config')?.data?.['config.yaml'] ?? '')

const sidecar = (manifests: readonly Manifest[]) =>
  statefulSet(manifests).spec?.template.spec?.containers.find(({ name }) => name === 'git-sync')

describe('the base', () => {
  test.skipIf(!isThere)(`is everything that was asked for ${NEEDS}`, () => {
    expect(
      kustomized('base')
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(
      [
        ...Array(5).fill('ConfigMap'),
        ...[
          'Namespace',
          'NetworkPolicy',
          'PodDisruptionBudget',
          'PodMonitor',
          'PrometheusRule',
          'Service',
          'ServiceAccount',
          'StatefulSet',
        ],
      ].toSorted(),
    )
  })

  test.skipIf(!isThere)(`lets Prometheus in and only DNS and HTTPS out ${NEEDS}`, () => {
    const [policy] = ofKind(kustomized('base'), 'NetworkPolicy')
    const { ingress, egress } = { ingress: [], egress: [], ...Object(policy?.spec) }
    const portsOf = (rules: readonly { readonly ports: readonly { readonly port: unknown; readonly protocol: string }[] }[]) =>
      rules.flatMap(({ ports }) => ports.map(({ port, protocol }) => `${port}/${protocol}`))
    expect([portsOf(ingress), portsOf(egress)]).toEqual([['http/TCP'], ['53/UDP', '53/TCP', '443/TCP']])
    expect(policy?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] })
  })

  test.skipIf(!isThere)(`keeps the names of ConfigMaps when their content changes, as capkeeper follows the files ${NEEDS}`, () => {
    const names = ofKind(kustomized('base'), 'ConfigMap').map(({ metadata }) => metadata.name)
    expect(names.toSorted()).toEqual(
      ['config', 'dashboard-drift', 'dashboard-overview', 'dashboard-workspace', 'policies'].map((name) => `capkeeper-${name}`),
    )
  })

  test('runs the version of the package', () => {
    const { images } = parse(readDeploy('kubernetes/base/kustomization.yaml'))
    expect(images).toEqual([expect.objectContaining({ name: 'capkeeper', newTag: JSON.parse(readDeploy('../package.json')).version })])
  })

  test('declares no cap that nobody asked for', () => {
    expect(parse(readDeploy('kubernetes/base/policies/acme.yaml')).spec).toEqual({ workspace: 'acme' })
  })

  test('comes with an example of its secret that has the key that the config names, and no key', () => {
    const [secret] = manifestsOf(readDeploy('kubernetes/secret.example.yaml'))
    expect(secret && schemaOffences(secret)).toEqual([])
    expect(secret).toMatchObject({ metadata: { name: 'capkeeper-keys' }, stringData: { 'service-key': 'put the service key here' } })
  })
})

describe('an overlay', () => {
  test.each([
    ['audit', { mode: 'audit' }],
    ['git-sync', { policies: ['/git/current/policies'] }],
  ])('%s has the config of the base but for one thing', (name, changed) => {
    const base = parse(readDeploy('kubernetes/base/config.yaml'))
    const [workspace] = base.workspaces
    expect(parse(readDeploy(`kubernetes/overlays/${name}/config.yaml`))).toEqual({ ...base, workspaces: [{ ...workspace, ...changed }] })
  })

  test.skipIf(!isThere)(`audit never writes ${NEEDS}`, () => {
    expect(mounted(kustomized('overlays/audit'))).toMatchObject({ workspaces: [{ mode: 'audit' }] })
    expect(kustomized('overlays/audit').map(named)).toEqual(kustomized('base').map(named))
  })

  test.skipIf(!isThere)(`git-sync fetches into a folder that both containers see at one path, and capkeeper only reads ${NEEDS}`, () => {
    const manifests = kustomized('overlays/git-sync')
    const [capkeeper] = statefulSet(manifests).spec?.template.spec?.containers ?? []
    expect(capkeeper?.volumeMounts).toContainEqual({ name: 'git', mountPath: '/git', readOnly: true })
    expect(sidecar(manifests)?.volumeMounts).toContainEqual({ name: 'git', mountPath: '/git' })
    expect(sidecar(manifests)?.args).toEqual(expect.arrayContaining(['--root=/git', '--link=current', '--max-failures=-1']))
    expect(mounted(manifests)).toMatchObject({ workspaces: [{ policies: ['/git/current/policies'] }] })
    expect(ofKind(manifests, 'ConfigMap').map(({ metadata }) => metadata.name)).not.toContain('capkeeper-policies')
  })

  test.skipIf(!isThere)(`of somebody else takes the monitoring out with a component, and the address and image in ${NEEDS}`, () => {
    const manifests = kustomizedBy(OWN)
    expect(manifests.flatMap(schemaOffences)).toEqual([])
    expect(manifests.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.'))).toEqual([])
    expect(ofKind(manifests, 'ConfigMap').map(({ metadata }) => metadata.name)).toEqual(['capkeeper-config', 'capkeeper-policies'])
    expect(statefulSet(manifests).spec?.template.spec?.containers[0]?.image).toBe('images.company.example/capkeeper:1.2.3')
  })
})

const OWN = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [deploy/overlays/audit]
components: [deploy/components/without-monitoring]
images: [{name: images.example.com/capkeeper, newName: images.company.example/capkeeper, newTag: 1.2.3}]
`

test.skipIf(!hasKustomize || !hasKubectl).each(['base', 'overlays/audit', 'overlays/git-sync'])(
  'kubectl and kustomize make the same of %s (needs kustomize 5 and a kubectl with it)',
  (folder) => {
    const path = `${DEPLOY}/kubernetes/${folder}`
    expect(rendered('kubectl', 'kustomize', path)).toEqual(rendered('kustomize', 'build', path))
  },
)
