// Replicas on PostgreSQL: what chart and kustomize make of them in the place of one pod with a volume.
import { describe, expect, test } from 'vitest'
import { type Manifest, schemaOffences, workload } from '../support/kubernetes.ts'
import { hasHelm, hasKubectl, hasKustomize, helmed, kustomizedBy, refusal, valuesFile } from './renderings.ts'

const COMPONENT = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [deploy/base]
components: [deploy/components/postgres]
`

const RENDERED: readonly (readonly [string, boolean, () => readonly Manifest[]])[] = [
  ['the chart (needs helm)', hasHelm, () => helmed('--values', valuesFile('postgres'))],
  ['kustomize (needs kustomize 5, also in kubectl)', hasKustomize || hasKubectl, () => kustomizedBy(COMPONENT)],
]

const kinds = (manifests: readonly Manifest[]): readonly string[] => manifests.map(({ kind }) => kind)
const text = (manifests: readonly Manifest[]): string => JSON.stringify(manifests)

describe.each(RENDERED)('a ledger in PostgreSQL with %s', (_, isThere, render) => {
  test.skipIf(!isThere)('is shared by a Deployment that has no volume and rolls one pod at a time', () => {
    const manifests = render()
    expect(manifests.flatMap(schemaOffences)).toEqual([])
    expect(kinds(manifests)).not.toContain('StatefulSet')
    expect(kinds(manifests)).toContain('PodDisruptionBudget')
    const deployment = manifests.find(({ kind }) => kind === 'Deployment')
    expect(deployment).toMatchObject({
      metadata: { name: 'capkeeper', namespace: 'capkeeper' },
      spec: {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: {
          spec: { topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname' }, { topologyKey: 'topology.kubernetes.io/zone' }] },
        },
      },
    })
    expect(text(manifests)).not.toContain('volumeClaim')
    expect(text(manifests)).not.toContain('"mountPath":"/data"')
    expect(text(deployment ? [deployment] : [])).toContain('images.example.com/capkeeper:')
  })

  test.skipIf(!isThere)('gets its address from a secret, and a way to the database', () => {
    const manifests = render()
    const { env = [] } = workload(manifests).spec?.template.spec?.containers[0] ?? {}
    const address = { name: 'CAPKEEPER_LEDGER', valueFrom: { secretKeyRef: { name: 'capkeeper-db-app', key: 'uri' } } }
    expect(env).toContainEqual(address)
    const policy = manifests.find(({ kind }) => kind === 'NetworkPolicy')
    expect(JSON.stringify(policy)).toContain('"port":5432')
  })
})

describe('Helm refuses a ledger in PostgreSQL', () => {
  test.skipIf(!hasHelm).each([
    ['without the secret that has its address', ['--set', 'ledger.kind=postgres'], /needs ledger\.postgres\.existingSecret/],
    [
      'with copies of a volume that is not there',
      ['--values', valuesFile('postgres'), '--set', 'backup.enabled=true,backup.existingClaim=x'],
      /the database's own backups/,
    ],
    ['of another kind', ['--set', 'ledger.kind=mysql'], /ledger/],
  ])('%s (needs helm)', (_, flags, words) => {
    const { status, said } = refusal(...flags)
    expect(status).toBe(1)
    expect(said).toMatch(words)
  })
})
