// What the chart runs beside the daemon: the validation before an install or an upgrade, and `helm test`. Their scripts are run for real, against a
// daemon on loopback where they ask one.
import { execFile } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Manifest, named, ofKind, schemaOffences } from '../support/kubernetes.ts'
import { restrictedOffences } from '../support/pod-security.ts'
import { readDeploy } from '../support/rules.ts'
import { hasHelm, helmed, hooksOf, valuesFile } from './renderings.ts'

const VALUES = ['audit', 'existing', 'git-sync', 'no-monitoring', 'workspaces']
const podSpec = ({ kind, spec }: Manifest) => (kind === 'Pod' ? Object(spec) : Object(spec).template.spec)
const job = (...flags: readonly string[]) => {
  const [found] = ofKind(hooksOf(...flags), 'Job')
  if (!found) throw new Error('there is no validation')
  return found
}

describe.each([[[]], ...VALUES.map((name) => [['--values', valuesFile(name)]])])('the hooks with %s', (flags) => {
  test.skipIf(!hasHelm)('are what Kubernetes takes and a restricted namespace lets in (needs helm)', () => {
    const hooks = hooksOf(...flags)
    expect(hooks.flatMap(schemaOffences)).toEqual([])
    const pods = hooks.filter(({ kind }) => kind === 'Pod' || kind === 'Job')
    expect(pods.map(({ kind }) => kind).toSorted()).toEqual(['Job', 'Pod'])
    expect(pods.flatMap((one) => restrictedOffences(podSpec(one)))).toEqual([])
    expect(pods.map(podSpec)).toMatchObject([{ automountServiceAccountToken: false }, { automountServiceAccountToken: false }])
  })

  test.skipIf(!hasHelm)('share no name with what is released, so that a failed upgrade leaves the old config in place (needs helm)', () => {
    const released = new Set(helmed(...flags).map(named))
    expect(
      hooksOf(...flags)
        .map(named)
        .filter((name) => released.has(name)),
    ).toEqual([])
  })

  test.skipIf(!hasHelm)('look at the very config that is released (needs helm)', () => {
    const textOf = (manifests: readonly Manifest[], end: string) =>
      ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith(end))?.data?.['config.yaml']
    expect(textOf(hooksOf(...flags), '-validate')).toBe(textOf(helmed(...flags), '-config'))
    expect(textOf(hooksOf(...flags), '-validate')).toContain('kind: Config')
  })
})

describe('the validation', () => {
  test.skipIf(!hasHelm)('runs before anything else of an install or an upgrade, and needs nothing of the release (needs helm)', () => {
    const hooks = hooksOf().filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== 'test')
    expect(hooks.map(named)).toEqual(['ConfigMap capkeeper-validate', 'ConfigMap capkeeper-validate-policies', 'Job capkeeper-validate'])
    expect(new Set(hooks.map(({ metadata }) => metadata.annotations?.['helm.sh/hook']))).toEqual(new Set(['pre-install,pre-upgrade']))
    expect(podSpec(job())).toMatchObject({
      serviceAccountName: 'default',
      containers: [{ args: ['validate'], env: [{ name: 'CAPKEEPER_CONFIG' }, { name: 'NODE_OPTIONS' }] }],
      volumes: [{ configMap: { name: 'capkeeper-validate' } }, { configMap: { name: 'capkeeper-validate-policies' } }, {}],
    })
    expect(job().spec).toMatchObject({ backoffLimit: 0, activeDeadlineSeconds: 120 })
  })

  test.skipIf(!hasHelm)('looks at policies that somebody else made, and at the config alone where they come from git (needs helm)', () => {
    expect(podSpec(job('--values', valuesFile('existing'))).volumes).toContainEqual({
      name: 'policies',
      configMap: { name: 'cap-policies' },
    })
    expect(podSpec(job('--values', valuesFile('git-sync'))).containers[0].args).toEqual(['validate', '/policies'])
  })

  test.skipIf(!hasHelm)('can be turned off (needs helm)', () => {
    expect(ofKind(hooksOf('--set', 'validation.enabled=false'), 'Job')).toEqual([])
  })
})

describe('helm test', () => {
  test.skipIf(!hasHelm)('asks the page of the release for the workspaces of the values, and is let in (needs helm)', () => {
    const flags = ['--values', valuesFile('workspaces')]
    const [pod] = ofKind(hooksOf(...flags), 'Pod')
    const env = Object.fromEntries(
      Object(pod?.spec).containers[0].env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    )
    expect(env).toEqual({ PAGE: 'http://capkeeper:9464', WORKSPACES: '["acme","labs"]' })
    const [policy] = ofKind(helmed(...flags), 'NetworkPolicy')
    const asked = Object(policy?.spec).ingress[0].from[1].podSelector.matchLabels
    expect(pod?.metadata.labels).toMatchObject(asked)
  })

  test.skipIf(!hasHelm)('is run by Argo CD after a sync (needs helm)', () => {
    const [pod] = ofKind(hooksOf(), 'Pod')
    expect(pod?.metadata.annotations).toMatchObject({ 'argocd.argoproj.io/hook': 'PostSync' })
  })

  test.each([
    ['ends well with a daemon that is ready and knows them', 200, ['acme', 'labs'], 0, '/status: acme, audit'],
    ['fails while the daemon is not ready', 503, ['acme'], 1, '/readyz: 503 not yet'],
    ['fails when a workspace is missing', 200, ['acme', 'other'], 1, '/status does not know other'],
  ])('%s', async (_row, status, workspaces, code, said) => {
    const page = await serving(status)
    const answer = await script('ask.mjs', { PAGE: page, WORKSPACES: JSON.stringify(workspaces), WITHIN: '0' })
    expect(answer).toEqual({ code, said: expect.stringContaining(said) })
  })
})

describe('the wait for the first sync', () => {
  test.each([
    ['ends at once when it is there', import.meta.filename],
    ['gives up after its time, and the daemon starts all the same', '/nowhere/at/all'],
  ])('%s', async (_row, link) => {
    expect(await script('wait.mjs', { LINK: link, WITHIN: '1' })).toEqual({ code: 0, said: '' })
  })
})

/** A page as the daemon's, as far as the test asks it. */
async function serving(ready: number): Promise<string> {
  const server: Server = createServer(({ url }, response) => {
    if (url === '/readyz') response.writeHead(ready).end(ready === 200 ? 'ok' : 'not yet')
    else response.end(JSON.stringify({ workspaces: ['acme', 'labs'].map((workspace) => ({ workspace, mode: 'audit' })) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

/** A script of the chart, run as in its container: by its text. */
function script(name: string, env: Readonly<Record<string, string>>): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--input-type=module', '--eval', readDeploy(`helm/capkeeper/files/${name}`)],
      { env },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), said: `${stdout}${stderr}` }),
    )
  })
}
