// The documents are typed off by hand: every command in them is one the program takes, every config one that it reads, every link leads somewhere.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { run } from '../cli/world.ts'
import { callsIn, callsInBlocks, offenceOf } from '../support/command-lines.ts'
import { type Manifest, rendered } from '../support/kubernetes.ts'
import { start, until } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { DOCUMENTS } from './documents.ts'
import { hasHelm, hasKubectl, helmed } from './renderings.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const blocks = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\``, 'gm'))].map(([, indent = '', body = '']) =>
    body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

/** `capkeeper plan --workspace acme` in a sentence; a form such as `capkeeper <command>` or `ledger backup FILE` is none to type. */
const inProse = (text: string): readonly string[] =>
  [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`(capkeeper [a-z][^`]*)`/g)]
    .flatMap(([, line = '']) => callsIn(line))
    .filter((line) => line.split(' ').length > 2 && !/[…<]|\b[A-Z]{2,}\b|--help/.test(line))

const isConfig = new Ajv2020({ strict: false }).compile(JSON.parse((await run(['schema', 'config'])).stdout))

describe.each(DOCUMENTS)('%s', (path) => {
  const text = read(path)
  const calls = [...new Set([...callsInBlocks(text), ...inProse(text)])]

  test('shows no command that the program would not take', () => {
    const offences = calls.flatMap((call) => {
      const offence = offenceOf(call)
      return offence === undefined ? [] : [`${call}: ${offence}`]
    })
    expect(offences).toEqual([])
  })

  test('names no script of npm that there is none of', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const named = [...text.matchAll(/\bnpm run (?:-s )?([\w:]+)/g)].map(([, script = '']) => script)
    expect(named.filter((script) => !(script in scripts))).toEqual([])
  })

  test('links to what is there', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
    const broken = links.filter(([, file = '', heading]) => {
      const target = file === '' ? path : join(dirname(path), file)
      return !existsSync(join(ROOT, target)) || (heading !== undefined && !headingsOf(read(target)).includes(heading))
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  test('names no file that is not there', () => {
    const named = [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`((?:[\w@-]+\/)+[\w.-]+\.ts)`/g)].map(([, file = '']) => file)
    // ARCHITECTURE.md leaves `src/` out.
    expect(named.filter((file) => !existsSync(join(ROOT, file)) && !existsSync(join(ROOT, 'src', file)))).toEqual([])
  })

  test('shows no config that would be refused', () => {
    const configs = blocks(text, 'yaml').filter(
      (block) => /^kind: Config$|^workspaces:\n {2}- name: \w+\n {4}baseUrl/m.test(block) && !/^image:/m.test(block),
    )
    const offences = configs.filter((block) => !isConfig({ apiVersion: 'capkeeper/v1', kind: 'Config', ...parse(block) }))
    expect(offences).toEqual([])
  })
})

test('the documents together show many commands', () => {
  expect(callsInBlocks(read('deploy/README.md')).length).toBeGreaterThan(25)
  expect(callsInBlocks(read('README.md')).length).toBeGreaterThan(5)
})

/** As code hosts make anchors of headings. */
const headingsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )

test.each([
  ['a prompt', '$ capkeeper plan', ['capkeeper plan']],
  ['variables before it', 'A=1 B=2 capkeeper plan', ['capkeeper plan']],
  ['a redirection', 'capkeeper import > policies/acme.yaml', ['capkeeper import']],
  ['a pipe', 'capkeeper audit --output json | jq .x', ['capkeeper audit --output json']],
  ['several', 'capkeeper plan --out p && capkeeper apply --plan p', ['capkeeper plan --out p', 'capkeeper apply --plan p']],
  ['a comment', 'capkeeper sandbox --data my.db   # keeps it', ['capkeeper sandbox --data my.db']],
  ['a substitution', 'source <(capkeeper completion bash)', ['capkeeper completion bash']],
  ['a pod', 'kubectl -n capkeeper exec capkeeper-0 -- capkeeper status', ['capkeeper status']],
  ['what only has the name', 'helm install capkeeper deploy/helm/capkeeper', []],
])('reads a line as a shell does: %s', (_name, line, calls) => {
  expect(callsIn(line)).toEqual(calls)
})

describe('the guide installs with', () => {
  const guide = blocks(read('deploy/README.md'), 'yaml')
  const found = (mark: string): string => guide.find((block) => block.includes(mark)) ?? ''

  test.skipIf(!hasHelm)('helm what it shows', () => {
    const at = temporaryFolder()
    writeFileSync(join(at, 'values.yaml'), found('mode: audit                    # the default'))
    expectInstalled(helmed('--values', join(at, 'values.yaml')))
  })

  test.skipIf(!hasKubectl).each([
    ['with monitoring', (text: string) => text, true],
    ['without', (text: string) => text.replace('# components:', 'components:'), false],
  ])('kubectl what it shows, %s', (_name, change, hasMonitoring) => {
    const at = temporaryFolder()
    const mine = join(at, 'mine')
    mkdirSync(mine)
    symlinkSync(ROOT, join(at, 'capkeeper'))
    writeFileSync(join(mine, 'kustomization.yaml'), change(found('kind: Kustomization')))
    cpSync(join(ROOT, 'deploy/kubernetes/base/config.yaml'), join(mine, 'config.yaml'))
    cpSync(join(ROOT, 'deploy/kubernetes/base/policies'), join(mine, 'policies'), { recursive: true })
    const objects = rendered('kubectl', 'kustomize', mine)
    expectInstalled(objects)
    expect(objects.some(({ kind }) => kind === 'PodMonitor')).toBe(hasMonitoring)
  })

  test('a pod for restoring that has the volume, the user and the image of the daemon', () => {
    const pod = parse(found('capkeeper-restore'))
    const set = parse(read('deploy/kubernetes/base/statefulset.yaml'))
    expect(pod.spec.volumes).toEqual([
      { name: 'data', persistentVolumeClaim: { claimName: `${set.spec.volumeClaimTemplates[0].metadata.name}-capkeeper-0` } },
    ])
    const { fsGroupChangePolicy: _policy, ...securityContext } = set.spec.template.spec.securityContext
    expect(pod.spec.securityContext).toEqual(securityContext)
    expect(pod.spec.containers[0].securityContext).toEqual(set.spec.template.spec.containers[0].securityContext)
  })
})

test('the pod for restoring ends when it is asked to, also as the first process of its container', async () => {
  const pod = parse(blocks(read('deploy/README.md'), 'yaml').find((block) => block.includes('capkeeper-restore')) ?? '')
  const [, ...argv] = pod.spec.containers[0].command
  // Whoever takes the signal itself ends with 0; by the kernel's default it would end by the signal, and as the first process not at all.
  const script = `${argv[1]}; console.log('up')`
  const pause = start([argv[0], script], { command: [process.execPath] })
  await until('the pod', () => pause.stdout() !== '')
  pause.signal('SIGTERM')
  expect(await pause.ended).toEqual({ code: 0, signal: null })
})

/** One pod of the image that was named, with the config that was written. */
function expectInstalled(objects: readonly Manifest[]): void {
  const named = (kind: string, name: string): unknown => objects.find((one) => one.kind === kind && one.metadata.name === name)
  expect(named('StatefulSet', 'capkeeper')).toMatchObject({
    spec: { template: { spec: { containers: [{ image: 'images.example.com/capkeeper:0.1.0' }] } } },
  })
  const { data } = Object(named('ConfigMap', 'capkeeper-config'))
  expect(parse(data['config.yaml']).workspaces).toMatchObject([{ name: 'acme', mode: 'audit' }])
}
