// What the chart refuses before anything is applied, by its schema or by a check in its templates: what capkeeper or Kubernetes would refuse later,
// when half of a release is already changed.
import { describe, expect, test } from 'vitest'
import { readDeploy, runProgram } from '../support/rules.ts'
import { CHART, hasHelm, refusal, valuesFile } from './renderings.ts'

const acme = (more: object): object => ({ name: 'acme', baseUrl: 'https://service.example/api/v1', ...more })
const workspaces = (...all: readonly object[]): readonly string[] => ['--set-json', `workspaces=${JSON.stringify(all.map(acme))}`]

describe('Helm refuses', () => {
  test.skipIf(!hasHelm)('by the schema, each by its name: what capkeeper or Kubernetes would refuse later (needs helm)', () => {
    const env = ['NODE_OPTIONS', 'CAPKEEPER_CONFIG', 'CAPKEEPER_LEDGER'].map((name) => ({ name, value: '/x' }))
    const { status, said } = refusal(
      ...workspaces(
        ...[{ guards: { maxLowerd: 5 } }, { keys: { default: { path: '/x' } } }, { rate: { max: 'fast' } }, { interval: '30d' }],
        ...[{ mod: 'audit' }, { baseUrl: undefined }],
      ),
      ...['--set-json', 'config={"pricePerCedit":1,"ledger":"/tmp/x"}', '--set-json', `extraEnv=${JSON.stringify(env)}`],
      ...[
        '--set',
        'persistence.size=big,keys.existingSecret=My_Secret,podMonitor.interval=0s,replicas=2,gitSync.repo=x,gitSync.enabled=true',
      ],
      ...['--set', 'mode=dry-run,terminationGracePeriodSeconds=5,policies.files.acme=x'],
      ...['--set-string', 'fullnameOverride=1caps,nameOverride=-caps'],
    )
    const unknown = ['maxLowerd', 'path', 'mod', 'pricePerCedit', 'ledger', 'replicas', 'repo', 'acme'].map((name) => `'${name}'`)
    const places = [
      'workspaces/2/rate/max',
      'workspaces/3/interval',
      'persistence/size',
      'keys/existingSecret',
      'podMonitor/interval',
      '/mode',
    ]
    const more = ['fullnameOverride', 'nameOverride', 'terminationGracePeriodSeconds', ...env.map((_, index) => `extraEnv/${index}/name`)]
    for (const name of [...unknown, ...places, ...more, "'baseUrl'", 'repository']) expect(said).toContain(name)
    expect(status).toBe(1)
    expect(refusal('--set', 'fullnameOverride=Caps').said).toContain('fullnameOverride')
    expect(refusal('--set-json', 'workspaces=[]').said).toContain('/workspaces')
  })

  test.skipIf(!hasHelm).each([
    [
      'a variable twice',
      ['--set-json', 'extraEnv=[{"name":"HTTPS_PROXY","value":"a"},{"name":"HTTPS_PROXY","value":"b"}]'],
      'extraEnv names HTTPS_PROXY a second time',
    ],
    ['both monitors', ['--set', 'podMonitor.enabled=true,serviceMonitor.enabled=true'], 'every series would be there twice'],
    ['a backup that goes nowhere', ['--set', 'backup.enabled=true'], 'backup.enabled needs a place for the copies'],
    [
      'a backup of a volume that only one pod may have',
      ['--set', 'backup.enabled=true,backup.existingClaim=copies,persistence.accessMode=ReadWriteOncePod'],
      'no second pod may read the ledger',
    ],
    ['a ledger in PostgreSQL without the secret of its address', ['--set', 'ledger.kind=postgres'], 'needs ledger.postgres.existingSecret'],
    [
      'one with copies of a volume that is not there',
      ['--values', valuesFile('postgres'), '--set', 'backup.enabled=true,backup.existingClaim=x'],
      "the database's own backups",
    ],
    ['a ledger of another kind', ['--set', 'ledger.kind=mysql'], 'ledger'],
    ['a label that the chart sets', ['--set', 'podLabels.app\\.kubernetes\\.io/component=web'], "'app.kubernetes.io/component'"],
    ['a volume that the pod has', ['--set-json', 'extraVolumes=[{"name":"tmp","emptyDir":{}}]'], '/extraVolumes/0/name'],
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

test('the checks of a running release are part of every rendering, and refuse what Kubernetes cannot change', () => {
  expect(readDeploy('helm/capkeeper/templates/statefulset.yaml')).toMatch(/^\{\{- include "capkeeper.checks" \. \}\}/)
  const checks = readDeploy('helm/capkeeper/templates/_checks.tpl')
  for (const field of ['podManagementPolicy', 'persistence.size', 'persistence.storageClass', 'persistence.accessMode', 'nameOverride'])
    expect(checks).toContain(field)
})
