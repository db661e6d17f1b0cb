// The Helm chart beyond what its manifests are: which values it refuses, and that each of them is explained.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isMap, isScalar, parse, parseDocument, type YAMLMap } from 'yaml'
import { named, rendered, schemaOffences } from '../support/kubernetes.ts'
import { readDeploy, runProgram } from '../support/rules.ts'
import { CONFIG_KEYS } from '../support/schema-keys.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { CHART, hasHelm, helmed, valuesFile } from './renderings.ts'

const schema = JSON.parse(readDeploy('helm/capkeeper/values.schema.json'))

describe('helm', () => {
  test.skipIf(!hasHelm)('lint --strict finds nothing wrong with the chart or any of its values files (needs helm)', () => {
    const files = readdirSync(`${CHART}/ci`).map((file) => `${CHART}/ci/${file}`)
    for (const flags of [[], ...files.map((file) => ['--values', file])]) {
      expect(runProgram('helm', ['lint', '--strict', '--kube-version', '1.35.0', CHART, ...flags])).toMatchObject({ status: 0 })
    }
  })

  test.skipIf(!hasHelm)('tells after an install what is missing, how to look and how to stop (needs helm)', () => {
    const notes = notesOf('--namespace', 'credits')
    expect(notes).toContain('WARNING: this address is an example')
    expect(notes).toContain('kubectl -n credits create secret generic capkeeper-keys --from-file=service-key=./service-key')
    expect(notes).toContain('kubectl -n credits exec capkeeper-0 -- capkeeper plan')
    expect(notes).toContain('capkeeper pause --for 4h')
    expect(notesOf('--values', valuesFile('git-sync'))).toContain('create secret generic cap-policies-token --from-file=token=./token')
  })

  test.skipIf(!hasHelm)('packs the rules and the dashboards, and no values of tests (needs helm)', () => {
    const folder = temporaryFolder()
    expect(runProgram('helm', ['package', CHART, '--destination', folder])).toMatchObject({ status: 0 })
    const [archive = ''] = readdirSync(folder)
    const packed = runProgram('tar', ['-tzf', join(folder, archive)])
      .said.trim()
      .split('\n')
    expect(packed.filter((path) => path.startsWith('capkeeper/files/'))).toHaveLength(7)
    expect(packed.filter((path) => path.startsWith('capkeeper/ci/'))).toEqual([])
  })

  test.skipIf(!hasHelm)('names everything after the release, unless told otherwise (needs helm)', () => {
    const names = (...flags: readonly string[]) =>
      new Set(
        rendered('helm', 'template', ...flags, CHART, '--no-hooks', '--kube-version', '1.35.0').map(({ metadata }) =>
          metadata.name.replace(/-(config|policies|dashboard-\w+)$/, ''),
        ),
      )
    expect(names('capkeeper')).toEqual(new Set(['capkeeper']))
    expect(names('prod')).toEqual(new Set(['prod-capkeeper']))
    expect(names('prod', '--values', valuesFile('existing'))).toEqual(new Set(['caps']))
  })
})

test.skipIf(!hasHelm)('a number as a name, and a text that is indented as a whole, arrive as they were written (needs helm)', () => {
  const file = join(temporaryFolder(), 'caps.yaml')
  writeFileSync(file, '  kind: CapPolicy\n  spec: {team: {cap: 500}}\n\n')
  const made = helmed(
    ...['--set-json', 'workspaces=[{"name":4815162342,"baseUrl":"https://service.example"}]'],
    ...['--set-file', `policies.files.caps\\.yaml=${file}`],
  )
  const data = Object.assign({}, ...made.flatMap((one) => (one.kind === 'ConfigMap' && 'data' in one ? [one['data']] : [])))
  expect(data['config.yaml']).toContain('- name: 4815162342\n')
  expect(parse(data['caps.yaml'])).toEqual({ kind: 'CapPolicy', spec: { team: { cap: 500 } } })
})

/** Helm renders notes for a cluster only; so here they are a template like any other, in a copy of the chart. */
function notesOf(...flags: readonly string[]): string {
  const chart = temporaryFolder()
  cpSync(CHART, chart, { recursive: true })
  const text = readFileSync(join(chart, 'templates/NOTES.txt'), 'utf8')
  writeFileSync(
    join(chart, 'templates/notes.yaml'),
    `{{ define "notes" }}${text}{{ end }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {text: {{ include "notes" . | quote }}}\n`,
  )
  const argv = ['template', 'capkeeper', chart, '--show-only', 'templates/notes.yaml', '--kube-version', '1.35.0', ...flags]
  return rendered('helm', ...argv)[0]?.data?.['text'] ?? ''
}

describe('values', () => {
  test('are the versions of the package', () => {
    const { version } = JSON.parse(readDeploy('../package.json'))
    expect(parse(readDeploy('helm/capkeeper/Chart.yaml'))).toMatchObject({ version, appVersion: version })
  })

  test('of a workspace are those that capkeeper knows', () => {
    expect(Object.keys(schema.properties.workspaces.items.properties).toSorted()).toEqual([...CONFIG_KEYS.workspace].toSorted())
    expect(Object.keys(schema.properties.metrics.properties)).toEqual(CONFIG_KEYS.metrics)
  })

  test('are explained one by one, and are those of the schema', () => {
    const values = parseDocument(readDeploy('helm/capkeeper/values.yaml')).contents
    expect(isMap(values) && unexplained(values, schema, '')).toEqual([])
  })

  test('without an explanation, or without a place in the schema, are seen', () => {
    const values = parseDocument('# one\na: 1\nb: 2\n\n# three\nc: 3\n').contents
    expect(isMap(values) && unexplained(values, { properties: { a: {}, b: {} } }, '')).toEqual([
      'b is not explained',
      'c is not in the schema',
    ])
  })
})

interface Properties {
  readonly properties?: Readonly<Record<string, Properties>>
}

/** Keys without a comment before them, of every map that the schema knows the keys of. */
function unexplained(map: YAMLMap, { properties = {} }: Properties, path: string): readonly string[] {
  return map.items.flatMap(({ key, value }, index) => {
    if (!isScalar(key)) return []
    const [name, known] = [`${path}${key.value}`, properties[String(key.value)]]
    if (!known) return [`${name} is not in the schema`]
    const isSection = isMap(value) && known.properties !== undefined && value.commentBefore !== undefined
    if (isSection && value.commentBefore) return unexplained(value, known, `${name}.`)
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined)
    return comment ? [] : [`${name} is not explained`]
  })
}

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
