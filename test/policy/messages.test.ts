// What somebody who writes a policy or the config is told: the place, how long the caret is, the code, the words, the way out and the other place.
// messages.txt has the texts and what is told of each; `CAPKEEPER_TESTS=test/policy/messages.test.ts npx vitest run -u` writes what was told into it,
// for review as a change of text. What is told there must not change when the code that finds the mistakes does, unless for the better.
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { loadConfig } from '../support/config.ts'
import { publishedSchema } from '../support/schema-keys.ts'
import { tableAt } from '../support/tables.ts'
import { folder, hasErrors, policyText } from './support.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false })
const [isPolicy, isConfig] = [ajv.compile(await publishedSchema('policy')), ajv.compile(await publishedSchema('config'))]

type LoadedPolicies = Awaited<ReturnType<typeof loadPolicies>>
type Files = Readonly<Record<string, string>>

/** Two files of one document each, which stand with --- between them. */
const two = (text: string): Files => {
  const [a = '', b = ''] = text.split('\n---\n')
  return { 'a.yaml': policyText(a, 'a'), 'b.yaml': policyText(b, 'b') }
}
/** A group that nothing declares, and a base that is nowhere, unless the text may hold them. */
const ASKING = 'rules: [{name: asks, when: {groups: [grp]}, cap: none}]\ngrants: [{user: ask@x.y, add: 5, until: 2036-01-05, reason: r}]'
const everywhere = (address: string): string => `users: [{email: ${address}, cap: 5}]
protected: [${address}]
grants: [{user: ${address}, cap: 5, until: 2026-12-01, reason: r}]
pools: [{name: p, members: {emails: [${address}]}, credits: 5}]
rules: [{name: r, when: {email: ${address}}, cap: 5}]`

const POLICIES: Readonly<Record<string, (text: string) => Files>> = {
  policy: (text) => ({ 'f.yaml': text }),
  spec: (lines) => ({ 'f.yaml': policyText(lines).replace(/^ {2}(?=[<=>]{7})/gm, '') }),
  address: (text) => ({ 'f.yaml': policyText(everywhere(text)) }),
  two,
  asked: (lines) => two(`${lines}\n---\n${ASKING}`),
  homeless: two,
  'homeless file': (text) => ({ 'f.yaml': text }),
}
const CONFIG = 'apiVersion: capkeeper/v1\nkind: Config\n'
const CONFIGS: Readonly<Record<string, (lines: string) => string>> = {
  config: (text) => text,
  top: (lines) => `${CONFIG}${lines}\n`,
  acme: (lines) => `${CONFIG}workspaces:\n- name: acme\n  ${lines.replaceAll('\n', '\n  ')}\n`,
}

interface Entry {
  readonly heading: string
  readonly kind: string
  readonly text: string
}

const { entries, holds } = tableAt(join(import.meta.dirname, 'messages.txt'))

const rows: readonly Entry[] = entries.map((entry) => {
  const [heading = '', ...lines] = entry.split('\n')
  const text = lines.flatMap((line) => (line.startsWith('>') ? [line.slice(2)] : [])).join('\n')
  return { heading, kind: heading.replace(/:.*/, ''), text }
})

/** Letters that may not be seen, or not be told apart, stand in the table by their numbers. */
const escaped = (text: string): string => text.replace(/[^ -~…]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
const unescaped = (text: string): string =>
  text.replace(/\\u([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

function filesOf({ kind, text }: Entry): Files {
  const [policies, config] = [POLICIES[kind], CONFIGS[kind]]
  if (policies) return policies(unescaped(text))
  if (!config) throw new Error(`unknown kind: ${kind}`)
  return { 'f.yaml': config(unescaped(text)) }
}

const readConfig = (text: string) => loadConfig({ env: {}, flags: { config: 'conf/f.yaml' }, cwd: folder({ 'conf/f.yaml': text }) })

async function read(entry: Entry, files: Files): Promise<Pick<LoadedPolicies, 'problems'> & Partial<LoadedPolicies>> {
  if (CONFIGS[entry.kind]) return readConfig(files['f.yaml'] ?? '')
  const workspaces = entry.kind.startsWith('homeless') ? { workspaces: ['acme', 'beta'] } : {}
  return loadPolicies(['.'], { cwd: folder(files), now: NOW, ...workspaces })
}

type Problem = Parameters<typeof hasErrors>[0][number]

const shown = (at: Problem['at']): string => (at ? `${at.file.endsWith('f.yaml') ? '' : `${at.file}:`}${at.line}:${at.column}` : '-')

function told({ severity, at, length, code, message, hint, other }: Problem): string {
  const where = `${shown(at)}${length === undefined ? '' : `+${length}`}`
  const rest = `${hint === undefined ? '' : `; ${hint}`}${other ? ` (${shown(other)})` : ''}`
  return escaped(`= ${where} ${severity === 'warning' ? 'warning ' : ''}${code} ${message}${rest}`)
}

/** What is told, in the order of the text. A problem of a workspace is an error exactly where there is nothing whole of it. */
async function saidOf(entry: Entry): Promise<readonly string[]> {
  const files = filesOf(entry)
  const { problems, sets, problemsOf } = await read(entry, files)
  for (const [name, theirs] of problemsOf ?? []) expect(hasErrors(theirs), `${entry.heading}: ${name}`).toBe(!sets?.has(name))
  if (problemsOf) expect(new Set([...problemsOf.values()].flat()), entry.heading).toEqual(new Set(problems))
  const isTaken = !problems.some(({ code }) => code.startsWith('YAML_')) && fitsSchema(entry, files)
  if (!hasErrors(problems)) expect(isTaken, entry.heading).toBe(true)
  return [
    ...problems.toSorted(byPlace).map(told),
    ...(problems.length === 0 ? ['='] : []),
    ...(hasErrors(problems) && isTaken ? ['~'] : []),
    ...(CONFIGS[entry.kind] && !hasErrors(problems) ? comesTo(files['f.yaml'] ?? '') : []),
    ...(entry.kind.startsWith('homeless') ? [`= whole: ${[...(sets?.keys() ?? [])].join(', ') || 'none'}`] : []),
  ]
}

/** Whether the published schema takes all documents. */
const fitsSchema = ({ kind }: Entry, files: Files): boolean =>
  Object.values(files)
    .flatMap((text) => parseAllDocuments(text, { logLevel: 'silent' }).map((document) => document.toJS()))
    .every((value) => value === null || (CONFIGS[kind] ? isConfig : isPolicy)(value))

/** What a config comes to, other than one that names the same workspaces, and `notify` where it has a block of that, and says nothing else. */
function comesTo(text: string): readonly string[] {
  const { config } = readConfig(text)
  const names = config?.workspaces.map(({ name }) => `{name: ${JSON.stringify(name)}}`)
  const bare = `${CONFIG}${/^notify:\n/m.test(text) ? 'notify: {}\n' : ''}workspaces: [${names?.join(', ')}]\n`
  const usual = leavesOf('', readConfig(bare).config)
  return [...leavesOf('', config)].flatMap(([path, value]) => (usual.get(path) === value ? [] : [escaped(`+ ${path}: ${value}`)]))
}

/** Each value in a document by its path. */
function leavesOf(path: string, value: unknown): ReadonlyMap<string, string> {
  if (value === undefined) return new Map()
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return new Map([[path, JSON.stringify(value)]])
  return new Map(Object.entries(value).flatMap(([key, one]) => [...leavesOf(path === '' ? key : `${path}.${key}`, one)]))
}

const byPlace = ({ at: a }: Problem, { at: b }: Problem): number =>
  a && b && a.file === b.file ? a.line - b.line || a.column - b.column : 0

test('every text is told of as it is written, and stands there once', async () => {
  const played = rows.map(async (entry) => {
    const lines = entry.text.split('\n').map((line) => `> ${line}`.trimEnd())
    return [`# ${entry.heading}`, ...lines, ...(await saidOf(entry))].join('\n')
  })
  expect(new Set(rows.map(({ kind, text }) => `${kind}: ${text}`)).size).toBe(rows.length)
  await holds(await Promise.all(played))
})
