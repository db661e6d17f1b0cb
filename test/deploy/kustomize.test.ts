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
  statefulSet(manifests).spec?.template.spec?.initContainers?.find(({ name }) => name === 'git-sync')

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
    ['enforce', { mode: 'enforce' }],
    ['git-sync', { policies: ['/git/root/current/policies'] }],
  ])('%s has the config of the base but for one thing', (name, changed) => {
    const base = parse(readDeploy('kubernetes/base/config.yaml'))
    const [workspace] = base.workspaces
    expect(parse(readDeploy(`kubernetes/overlays/${name}/config.yaml`))).toEqual({ ...base, workspaces: [{ ...workspace, ...changed }] })
  })

  test.skipIf(!isThere).each([
    ['base', 'audit'],
    ['overlays/git-sync', 'audit'],
    ['overlays/enforce', 'enforce'],
  ])(`writes only where it says so: %s is in mode %s ${NEEDS}`, (folder, mode) => {
    expect(mounted(kustomized(folder))).toMatchObject({ workspaces: [{ mode }] })
  })

  test.skipIf(!isThere)(`enforce has the objects of the base ${NEEDS}`, () => {
    expect(kustomized('overlays/enforce').map(named)).toEqual(kustomized('base').map(named))
  })

  test.skipIf(!isThere)(`git-sync fetches into a folder that both containers see at one path, and capkeeper only reads ${NEEDS}`, () => {
    const manifests = kustomized('overlays/git-sync')
    const [capkeeper] = statefulSet(manifests).spec?.template.spec?.containers ?? []
    expect(capkeeper?.volumeMounts).toContainEqual({ name: 'git', mountPath: '/git', readOnly: true })
    expect(sidecar(manifests)?.volumeMounts).toContainEqual({ name: 'git', mountPath: '/git' })
    // The root is below the volume: git-sync makes it, and git trusts a folder only of its own user.
    expect(sidecar(manifests)?.args).toEqual(expect.arrayContaining(['--root=/git/root', '--link=current', '--max-failures=-1']))
    expect(mounted(manifests)).toMatchObject({ workspaces: [{ policies: ['/git/root/current/policies'] }] })
    expect(ofKind(manifests, 'ConfigMap').map(({ metadata }) => metadata.name)).not.toContain('capkeeper-policies')
  })

  test.skipIf(!isThere)(`git-sync starts as a sidecar, and capkeeper waits for its first sync with an image of its own ${NEEDS}`, () => {
    const { initContainers = [], containers = [] } = statefulSet(kustomized('overlays/git-sync')).spec?.template.spec ?? {}
    expect(initContainers).toMatchObject([{ name: 'git-sync', restartPolicy: 'Always' }, { name: 'first-sync' }])
    expect(initContainers[1]?.image).toBe(containers[0]?.image)
  })

  test.skipIf(!isThere)(`of somebody else takes the monitoring out with a component, and the address and image in ${NEEDS}`, () => {
    const manifests = kustomizedBy(OWN)
    expect(manifests.flatMap(schemaOffences)).toEqual([])
    expect(manifests.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.'))).toEqual([])
    expect(ofKind(manifests, 'ConfigMap').map(({ metadata }) => metadata.name)).toEqual(['capkeeper-config', 'capkeeper-policies'])
    expect(statefulSet(manifests).spec?.template.spec?.containers[0]?.image).toBe('images.company.example/capkeeper:1.2.3')
  })

  test.skipIf(!isThere)(`of somebody else puts the image into every container of ours ${NEEDS}`, () => {
    const { initContainers = [], containers = [] } =
      statefulSet(kustomizedBy(OWN.replace('overlays/enforce', 'overlays/git-sync'))).spec?.template.spec ?? {}
    const images = [...initContainers, ...containers].filter(({ name }) => name !== 'git-sync').map(({ image }) => image)
    expect(images).toEqual(['images.company.example/capkeeper:1.2.3', 'images.company.example/capkeeper:1.2.3'])
  })
})

const OWN = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [deploy/overlays/enforce]
components: [deploy/components/without-monitoring]
images: [{name: images.example.com/capkeeper, newName: images.company.example/capkeeper, newTag: 1.2.3}]
`

test.skipIf(!hasKustomize || !hasKubectl).each(['base', 'overlays/enforce', 'overlays/git-sync'])(
  'kubectl and kustomize make the same of %s (needs kustomize 5 and a kubectl with it)',
  (folder) => {
    const path = `${DEPLOY}/kubernetes/${folder}`
    expect(rendered('kubectl', 'kustomize', path)).toEqual(rendered('kustomize', 'build', path))
  },
)
