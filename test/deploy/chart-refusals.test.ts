// What the chart refuses before anything is applied, by its schema or by a check in its templates: what capkeeper or Kubernetes would refuse later,
// when half of a release is already changed.
import { describe, expect, test } from 'vitest'
import { readDeploy, runProgram } from '../support/rules.ts'
import { CHART, hasHelm, helmed, refusal } from './renderings.ts'

const acme = (more: object): string => JSON.stringify([{ name: 'acme', baseUrl: 'https://service.example/api/v1', ...more }])

describe('Helm refuses', () => {
  test.skipIf(!hasHelm).each([
    ['a guard that is misspelled', ['--set-json', `workspaces=${acme({ guards: { maxLowerd: 5 } })}`], 'maxLowerd'],
    ['a key of a key', ['--set-json', `workspaces=${acme({ keys: { default: { path: '/x' } } })}`], 'path'],
    ['a pace that is no number', ['--set-json', `workspaces=${acme({ rate: { max: 'fast' } })}`], 'rate/max'],
    ['an interval beyond its bounds', ['--set-json', `workspaces=${acme({ interval: '30d' })}`], 'interval'],
    ['an unknown key of the config', ['--set-json', 'config={"pricePerCedit":1}'], 'pricePerCedit'],
    ['what the chart itself puts into the config', ['--set-json', 'config={"ledger":"/tmp/x"}'], 'ledger'],
    ['a size that is none', ['--set', 'persistence.size=big'], 'persistence/size'],
    ['a second NODE_OPTIONS', ['--set-json', 'extraEnv=[{"name":"NODE_OPTIONS","value":"--x"}]'], 'extraEnv/0/name'],
    ['a second CAPKEEPER_CONFIG', ['--set-json', 'extraEnv=[{"name":"CAPKEEPER_CONFIG","value":"/x"}]'], 'extraEnv/0/name'],
    ['another ledger by the environment', ['--set-json', 'extraEnv=[{"name":"CAPKEEPER_LEDGER","value":"/x"}]'], 'extraEnv/0/name'],
    [
      'a variable twice',
      ['--set-json', 'extraEnv=[{"name":"HTTPS_PROXY","value":"a"},{"name":"HTTPS_PROXY","value":"b"}]'],
      'extraEnv names HTTPS_PROXY a second time',
    ],
    ['a name that no Service may have', ['--set', 'fullnameOverride=Caps'], 'fullnameOverride'],
    ['a name that begins with a digit', ['--set-string', 'fullnameOverride=1caps'], 'fullnameOverride'],
    ['a label that is none', ['--set-string', 'nameOverride=-caps'], 'nameOverride'],
    ['a secret that cannot be', ['--set', 'keys.existingSecret=My_Secret'], 'keys/existingSecret'],
    ['an interval that Prometheus cannot have', ['--set', 'podMonitor.interval=0s'], 'podMonitor/interval'],
    ['both monitors', ['--set', 'podMonitor.enabled=true,serviceMonitor.enabled=true'], 'every series would be there twice'],
    ['a backup that goes nowhere', ['--set', 'backup.enabled=true'], 'backup.enabled needs a place for the copies'],
    [
      'a backup of a volume that only one pod may have',
      ['--set', 'backup.enabled=true,backup.existingClaim=copies,persistence.accessMode=ReadWriteOncePod'],
      'no second pod may read the ledger',
    ],
  ])('%s (needs helm)', (_row, flags, named) => {
    const { status, said } = refusal(...flags)
    expect(said).toContain(named)
    expect(status).toBe(1)
  })

  test.skipIf(!hasHelm)('a release whose objects could not be named after it (needs helm)', () => {
    expect(refusal('--set', 'fullnameOverride=caps').status).toBe(0)
    expect(runProgram('helm', ['template', '7', CHART, '--kube-version', '1.35.0']).said).toContain('a Service cannot be')
  })
})

describe('Helm takes', () => {
  test.skipIf(!hasHelm).each([
    ['guards in every form of the config', acme({ guards: { maxLowered: '25%', maxRaise: 'off', breaker: { inARow: 5 }, contested: 4 } })],
    ['keys of one permission each', acme({ keys: { billingRead: { file: '/x' }, billingWrite: { env: 'WRITE_KEY' } } })],
    ['a workspace that pauses', acme({ mode: 'paused', prune: false, undeclaredUsers: 'report', capSemantics: 'copied' })],
  ])('%s (needs helm)', (_row, workspaces) => {
    expect(refusal('--set-json', `workspaces=${workspaces}`)).toMatchObject({ status: 0 })
  })

  test.skipIf(!hasHelm)('names that look like numbers, as texts (needs helm)', () => {
    const flags = ['nameOverride=1e3', 'priorityClassName=123', 'persistence.storageClass=007', 'keys.existingSecret=42', 'keys.entry=1']
    const manifests = helmed(
      ...flags.flatMap((flag) => ['--set-string', flag]),
      '--set-string',
      'fullnameOverride=no',
      '--namespace',
      '123',
    )
    const notTexts = manifests.flatMap(({ metadata }) => [
      ...Object.values(metadata.labels ?? {}),
      ...Object.values(metadata.annotations ?? {}),
      metadata.name,
      metadata.namespace,
    ])
    expect(notTexts.filter((value) => typeof value !== 'string')).toEqual([])
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['123']))
    expect(manifests.find(({ kind }) => kind === 'StatefulSet')).toMatchObject({
      spec: {
        selector: { matchLabels: { 'app.kubernetes.io/name': '1e3' } },
        template: {
          spec: {
            priorityClassName: '123',
            volumes: expect.arrayContaining([{ name: 'keys', secret: { secretName: '42', defaultMode: 288 } }]),
          },
        },
        volumeClaimTemplates: [{ spec: { storageClassName: '007' } }],
      },
    })
  })
})

test('the checks of a running release are part of every rendering, and refuse what Kubernetes cannot change', () => {
  expect(readDeploy('helm/capkeeper/templates/statefulset.yaml')).toMatch(/^\{\{- include "capkeeper.checks" \. \}\}/)
  const checks = readDeploy('helm/capkeeper/templates/_checks.tpl')
  for (const field of ['podManagementPolicy', 'persistence.size', 'persistence.storageClass', 'persistence.accessMode', 'nameOverride'])
    expect(checks).toContain(field)
})
