// The examples for those who deploy by something else than their own hands: what they name is there, their values are values of the chart, and the
// health check of Argo CD is run by a real Lua where there is one.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AlertmanagerConfig } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1alpha1/AlertmanagerConfig'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { callsIn } from '../support/command-lines.ts'
import { manifestsOf, schemaOffences, statefulSet } from '../support/kubernetes.ts'
import { hasProgram, readDeploy, runProgram } from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { hasHelm, helmed } from './renderings.ts'

const { version } = JSON.parse(readDeploy('../package.json'))
const of = (path: string, kind: string) => {
  const found = manifestsOf(readDeploy(path)).find((one) => one.kind === kind)
  if (!found) throw new Error(`${path} has no ${kind}`)
  return Object(found.spec)
}

function renderedWith(values: unknown) {
  const file = join(temporaryFolder(), 'values.yaml')
  writeFileSync(file, stringify(values))
  return helmed('--values', file)
}

test('External Secrets makes the secret that the pod mounts, with the entry that the config names', () => {
  const { target, data } = of('examples/external-secrets/capkeeper-keys.yaml', 'ExternalSecret')
  expect(target).toMatchObject({ name: 'capkeeper-keys', deletionPolicy: 'Retain' })
  expect(data.map(({ secretKey }: { readonly secretKey: string }) => secretKey)).toEqual(['service-key'])
  expect(readDeploy('kubernetes/base/config.yaml')).toContain('/var/run/secrets/capkeeper/service-key')
})

describe('chargeback by a CronJob', () => {
  const manifests = manifestsOf(readDeploy('examples/chargeback/cronjob.yaml'))
  const pod = of('examples/chargeback/cronjob.yaml', 'CronJob').jobTemplate.spec.template.spec
  const [container] = pod.containers
  const daemon = statefulSet(manifestsOf(readDeploy('kubernetes/base/statefulset.yaml'))).spec?.template.spec

  test('is what Kubernetes takes', () => {
    expect(manifests.flatMap(schemaOffences)).toEqual([])
  })

  test('runs as the daemon does, beside it, with its config, keys, policies and ledger', () => {
    for (const key of ['securityContext', 'serviceAccountName'] as const) expect(pod[key]).toEqual(daemon?.[key])
    expect(container.securityContext).toEqual(daemon?.containers[0]?.securityContext)
    const mounts = container.volumeMounts.map(({ name, mountPath }: { readonly name: string; readonly mountPath: string }) => [
      name,
      mountPath,
    ])
    expect(mounts).toEqual(
      expect.arrayContaining((daemon?.containers[0]?.volumeMounts ?? []).map(({ name, mountPath }) => [name, mountPath])),
    )
    expect(pod.volumes).toEqual(expect.arrayContaining([...(daemon?.volumes ?? [])]))
    expect(container.image).toBe(`images.example.com/capkeeper:${version}`)
  })

  test('asks for a table that the program makes, and keeps it', () => {
    const [script] = container.args
    const [, words = ''] = /'(report [^']+)'/.exec(script) ?? []
    expect(callsIn(`capkeeper ${words}`)).toHaveLength(1)
    const at = temporaryFolder()
    writeFileSync(join(at, 'main.mjs'), 'console.log(process.argv.slice(2).join(" "))')
    const env = { ...process.env, FOLDER: at, MAIN: join(at, 'main.mjs') }
    const { status } = spawnSync(process.execPath, [...container.command.slice(1), script], { env })
    const [file = ''] = readdirSync(at).filter((name) => /^\d{4}-\d\d-\d\d\.csv$/.test(name))
    expect({ status, text: readFileSync(join(at, file), 'utf8') }).toEqual({ status: 0, text: `${words}\n` })
  })
})

describe('Argo CD', () => {
  const { source, syncPolicy } = of('examples/argocd/application.yaml', 'Application')

  test.skipIf(!hasHelm)('installs the chart of this version in audit, with values that it takes (needs helm)', () => {
    expect(source).toMatchObject({ chart: 'capkeeper', targetRevision: version })
    const manifests = renderedWith(source.helm.valuesObject)
    expect(JSON.stringify(manifests)).toContain('mode: audit')
  })

  test('never takes the ledger away by itself', () => {
    expect(syncPolicy.automated).toEqual({ selfHeal: true, prune: false })
  })

  const hasLua = hasProgram('lua5.4', '-v')
  test.skipIf(!hasLua).each([
    ['healthy when the pod is ready', {}, { readyReplicas: 1 }, 'Healthy'],
    ['progressing while it is not', {}, { readyReplicas: 0 }, 'Progressing'],
    ['progressing while the change was not seen', {}, { readyReplicas: 1, observedGeneration: 1 }, 'Progressing'],
    ['progressing with an old pod', {}, { readyReplicas: 1, currentRevision: 'a', updateRevision: 'b', updatedReplicas: 0 }, 'Progressing'],
    ['suspended when it was scaled to 0', { replicas: 0 }, {}, 'Suspended'],
    ['progressing before there is any status', {}, undefined, 'Progressing'],
  ])('calls it %s (needs lua5.4)', (_row, spec, status, wanted) => {
    const check: string = parse(readDeploy('examples/argocd/health.yaml')).data['resource.customizations.health.apps_StatefulSet']
    const object = {
      metadata: { generation: 2 },
      spec: { replicas: 1, ...spec },
      ...(status && { status: { observedGeneration: 2, ...status } }),
    }
    const file = join(temporaryFolder(), 'health.lua')
    writeFileSync(file, `obj = ${luaOf(object)}\nlocal function check()\n${check}\nend\nprint(check().status)\n`)
    expect(runProgram('lua5.4', [file])).toEqual({ status: 0, said: `${wanted}\n` })
  })
})

/** A plain object as a table of Lua. */
const luaOf = (value: unknown): string =>
  value !== null && typeof value === 'object'
    ? `{${Object.entries(value)
        .map(([key, inner]) => `${key} = ${luaOf(inner)}`)
        .join(', ')}}`
    : JSON.stringify(value)

describe('Flux', () => {
  const release = of('examples/flux/helmrelease.yaml', 'HelmRelease')

  test.skipIf(!hasHelm)(
    'installs the chart in audit, with values that it takes, tests it, and rolls a failed upgrade back (needs helm)',
    () => {
      expect(JSON.stringify(renderedWith(release.values))).toContain('mode: audit')
      expect(release).toMatchObject({ test: { enable: true }, upgrade: { remediation: { strategy: 'rollback' } } })
      expect(of('examples/flux/helmrelease.yaml', 'OCIRepository').ref).toEqual({ tag: version })
    },
  )

  test('waits for the pod, and leaves the StatefulSet when it prunes', () => {
    const { wait, patches } = of('examples/flux/kustomization.yaml', 'Kustomization')
    expect(wait).toBe(true)
    expect(parse(patches[0].patch).metadata.annotations).toEqual({ 'kustomize.toolkit.fluxcd.io/prune': 'disabled' })
  })
})

describe('the AlertmanagerConfig', () => {
  const spec = of('alertmanager/alertmanagerconfig.yaml', 'AlertmanagerConfig')
  const sample = parse(readDeploy('alertmanager/alertmanager.yaml'))

  test('is what the operator takes', () => {
    expect(() => new AlertmanagerConfig({ metadata: { name: 'capkeeper' }, spec }).validate()).not.toThrow()
  })

  test('routes, waits and inhibits, always by a label, as the sample for Alertmanager does', () => {
    const [theirs] = sample.route.routes
    expect(spec.route).toMatchObject({ groupBy: theirs.group_by, groupWait: theirs.group_wait, repeatInterval: theirs.repeat_interval })
    expect(spec.route.routes.map(({ receiver }: { readonly receiver: string }) => receiver)).toEqual([theirs.routes[0].receiver])
    expect(spec.inhibitRules.map(({ equal = 'no label' }: { readonly equal?: unknown }) => equal)).toEqual(
      sample.inhibit_rules.map(({ equal }: { readonly equal?: unknown }) => equal),
    )
    expect(spec.receivers.map(({ name }: { readonly name: string }) => name)).toEqual(['capkeeper-pages', 'capkeeper-tickets'])
  })

  test('holds no secret', () => {
    expect(JSON.stringify(spec.receivers)).not.toMatch(/hooks\.slack|"authPassword":"/)
  })
})
