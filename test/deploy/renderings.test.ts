// What the values of the chart and the parts for kustomize do to the objects, as one text: behind each line with a `$` stand the lines in which its rendering
// differs from the one that it begins with, the first one as a whole. All of it is what Kubernetes takes and a restricted namespace lets in.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Manifest, named, schemaOffences } from '../support/kubernetes.ts'
import { restrictedOffences } from '../support/pod-security.ts'
import { readDeploy } from '../support/rules.ts'
import { hasHelm, hasKubectl, hasKustomize, helmed, helmedWithoutOperator, hooksOf, kustomized, kustomizedBy } from './renderings.ts'

const PATH = join(import.meta.dirname, 'renderings.txt')
/** So much of a value is shown, and no longer texts: the rules, dashboards and scripts are compared with their files elsewhere. */
const SHOWN = 160
const LINES = 80

function manifestsOf(line: string): readonly Manifest[] {
  const [program, first = '', ...more] = line.split(' ')
  if (program === 'kustomize') return more.length === 0 ? kustomized(first) : kustomizedBy(kustomization(first, more))
  const flags = [first, ...more]
    .filter((flag) => flag !== '')
    .map((flag) => flag.replace(/^(\w|-)+-values\.yaml$/, (name) => join(CI, name)))
  return first === 'without-operator' ? helmedWithoutOperator(...flags.slice(1)) : [...helmed(...flags), ...hooksOf(...flags)]
}

const CI = join(import.meta.dirname, '../../deploy/helm/capkeeper/ci')

const kustomization = (overlay: string, components: readonly string[]): string => `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [deploy/${overlay}]
components: [${components.map((name) => `deploy/${name}`).join(', ')}]
images: [{name: images.example.com/capkeeper, newName: images.company.example/capkeeper, newTag: 1.2.3}]
`

/** Each leaf as a line: elements of lists by their names, where they have one, and texts line by line. */
function leaves(value: unknown, path: string): readonly string[] {
  if (typeof value === 'string' && value.includes('\n')) {
    const lines = value.trimEnd().split('\n')
    return lines.length > LINES ? [`${path} ${lines.length} lines`] : lines.map((line) => `${path}| ${line}`.slice(0, SHOWN))
  }
  if (value === null || typeof value !== 'object') return [`${path} ${JSON.stringify(value)}`.slice(0, SHOWN)]
  if (path === '.spec' && 'groups' in value) return [path]
  const isList = Array.isArray(value)
  const entries = Object.entries(value).map(([key, inner]) => [isList ? `[${Object(inner).name ?? key}]` : `.${key}`, inner] as const)
  return entries.length === 0 ? [`${path} ${JSON.stringify(value)}`] : entries.flatMap(([key, inner]) => leaves(inner, path + key))
}

const podOf = ({ kind, spec }: Manifest) =>
  kind === 'Pod'
    ? Object(spec)
    : (Object(spec).jobTemplate?.spec ?? Object(spec)).template?.spec?.containers &&
      (Object(spec).jobTemplate?.spec ?? Object(spec)).template.spec

type Lines = ReadonlyMap<string, readonly string[]>

const rendered = new Map<string, Lines>()
const { version } = JSON.parse(readDeploy('../package.json'))
/** What the name says already, and what each release changes. */
const SAID = /^\.(apiVersion|kind|metadata\.name) |labels\.(app\.kubernetes\.io\/(version|managed-by)|helm\.sh\/chart) /

function linesOf(line: string): Lines {
  const known = rendered.get(line)
  if (known) return known
  const manifests = manifestsOf(line)
  expect([line, manifests.flatMap(schemaOffences)]).toEqual([line, []])
  expect([line, manifests.flatMap(podOf).filter(Boolean).flatMap(restrictedOffences)]).toEqual([line, []])
  expect([line, new Set(manifests.map(named)).size]).toEqual([line, manifests.length])
  const lines = new Map(
    manifests.map((one) => [
      named(one),
      leaves(one, '')
        .filter((leaf) => !SAID.test(leaf))
        .map((leaf) => leaf.replaceAll(version, 'VERSION')),
    ]),
  )
  rendered.set(line, lines)
  return lines
}

/** `$ RENDERING`, or `$ RENDERING from OTHER`. */
function played(command: string): readonly string[] {
  const [line = '', from] = command.slice(2).split(' from ')
  const before: Lines = from === undefined ? new Map() : linesOf(from)
  const after = linesOf(line)
  const gone = before
    .keys()
    .filter((name) => !after.has(name))
    .map((name) => `- ${name}`)
  const changed = after.entries().flatMap(([name, is]) => {
    const was = before.get(name) ?? []
    return [
      ...was.filter((one) => !is.includes(one)).map((one) => `- ${name}${one}`),
      ...is.filter((one) => !was.includes(one)).map((one) => `+ ${name}${one}`),
    ]
  })
  return [command, ...gone, ...changed]
}

test.skipIf(!hasHelm || !(hasKustomize || hasKubectl))('renderings are as they are written (needs helm and kustomize 5)', async () => {
  const commands = readFileSync(PATH, 'utf8')
    .split('\n')
    .filter((line) => !/^[+-] /.test(line))
  const text = commands.flatMap((line) => (line.startsWith('$ ') ? played(line) : [line])).map((line) => line.trimEnd())
  await expect(text.join('\n')).toMatchFileSnapshot(PATH)
})
