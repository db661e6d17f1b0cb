// The base, its overlays and the component, as somebody meets them who deploys with kustomize or kubectl.
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { manifestsOf, rendered, schemaOffences } from '../support/kubernetes.ts'
import { DEPLOY, readDeploy } from '../support/rules.ts'
import { hasKubectl, hasKustomize } from './renderings.ts'

describe('the base', () => {
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

test.skipIf(!hasKustomize || !hasKubectl).each(['base', 'overlays/enforce', 'overlays/git-sync'])(
  'kubectl and kustomize make the same of %s (needs kustomize 5 and a kubectl with it)',
  (folder) => {
    const path = `${DEPLOY}/kubernetes/${folder}`
    expect(rendered('kubectl', 'kustomize', path)).toEqual(rendered('kustomize', 'build', path))
  },
)
