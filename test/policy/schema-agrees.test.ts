// Every key of policy and config with every value that somebody may write: what the parser takes the published schema takes, and what it
// refuses the schema refuses, but for what no schema can see. Keys come from the schemas, so a new one is tried at once.
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parseAllDocuments, parseDocument } from 'yaml'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { loadConfig } from '../support/config.ts'
import { CONFIG_KEYS, publishedSchema } from '../support/schema-keys.ts'
import { folder, hasErrors, policyText, writeFiles } from './support.ts'

/** Values by what they are about. Lists are split at two spaces. */
const VALUES = [
  '  ~  null  "null"  ""  " "  x  "x"  " x "  x y  true  "true"  false  "false"  yes  on  "on"  off  "off"  On  OFF  []  {}  [x]  [~]  [5]  [true]  {x: 1}',
  '5  "5"  0  -1  0.5  1.5  0.0  1000001  1_000  64  65  100  100.5  101  1000  1001  10000  10001  2147483647  2147483648  99999999999999999999',
  '5%  5 %  " 5% "  05%  0.5%  100%  100.0%  100.1%  101%  999%  9999.9%  10000%  10001%  20000%  -5%  %',
  '1ms  99ms  100ms  1s  0s  0s0m  0s50ms  60ms60ms  5m  005m  1h30m  " 5m "  20d  21d  99d  480h  481h  28800m  28801m  1728000s  1728001s  1000000000s  5M  5 m',
  'localhost:80  :80  127.0.0.1:9464  "[::1]:80"  " host:1 "  host:0080  host:65535  host:65536  host:70000  host:99999  host:  a b:1  a/b:1',
  'http://a  https://a  HTTPS://A  " https://a "  https://a/api/v1/  https://a/b c  https://ä.example  https://a/x%zz  https://[::1]:8/x  https://a:  https://a:80',
  'https://a:65536  https://  https://a/b?c  https://a/b#c  https://u:p@a  https://a b  ftp://a  a.example',
  'hash  email  top  all  enforce  audit  paused  Enforce  "enforce"  layered  copied  heal  alert  ignore  report  auto  explicit  inherited  separate  together  min  max  none  "none"  None',
  '2026-11-20  "2026-11-20"  " 2026-11-20 "  2026-13-40  2026-02-30  2026-12-32  2026-11-20T10:00:00Z  2026-11-20 10:00:00Z  2026-11-20t10:00:00.5+05:30  2026-11-20T23:59:60Z',
  '2026-11-20T25:00:00Z  2026-11-20T10:60:00Z  2026-11-20T10:00:61Z  2026-11-20T10:00:00+25:00  2026-11-20T10:00Z  cycleEnd  "cycleEnd"  Europe/Berlin  UTC',
  'a@b.c  " a@b.c "  a@b  a@  @b  a:b@c  [a@b.c]  7d1f0c2a9b34  [7d1f0c2a9b34]  [7d1f0c2a9b347d1f0c2a9b347d1f0c2a]  [" 7D1F0C2A9B347D1F0C2A9B347D1F0C2A "]  [12345678901234567890123456789012]  ["5"]',
].flatMap((line) => line.split('  '))

/** Values that YAML reads as another text than was written, which a schema cannot see and the parsers refuse. */
const UNSEEN = ['1e1', '010', '0x10', '+5', '.5', '5.', '1.0', '-0', '0o17', 'True', 'TRUE', '!x 5']

/** What else a schema takes and the parser does not: it compares no two values, and knows no zones, no days of a month and no ids. */
const LENIENT: Readonly<Record<string, readonly string[]>> = {
  'rate.start': ['64', '65', '100', '100.5', '101', '1000'],
  'spec.approvals': ['[5]'],
  'grant.from': ['2026-02-30'],
  'grant.until': ['2026-02-30'],
  'pool.min': ['0.0'],
}

type Slots = Readonly<Record<string, (value: string) => string>>

const CONFIG = 'apiVersion: capkeeper/v1\nkind: Config\n'
const ACME = `${CONFIG}workspaces:\n- name: acme\n`
const places = (mapping: string, keys: readonly string[], before: string): Slots =>
  Object.fromEntries(keys.map((key) => [`${mapping}.${key}`, (value: string) => `${before}${key}: ${value}\n`]))

const CONFIG_SLOTS: Slots = {
  ...places('config', CONFIG_KEYS.document.slice(2), CONFIG),
  'config.kind': (value) => `apiVersion: capkeeper/v1\nkind: ${value}\n`,
  ...places('metrics', CONFIG_KEYS.metrics, `${CONFIG}metrics:\n  `),
  'workspace.name': (value) => `${CONFIG}workspaces:\n- name: ${value}\n`,
  ...places('workspace', CONFIG_KEYS.workspace.slice(1), `${ACME}  `),
  ...places('keys', CONFIG_KEYS.keys, `${ACME}  keys:\n    `),
  ...places('key', CONFIG_KEYS.keyReference, `${ACME}  keys:\n    default:\n      `),
  ...places('rate', CONFIG_KEYS.rate, `${ACME}  rate:\n    `),
  ...places('guards', CONFIG_KEYS.guards, `${ACME}  guards:\n    `),
  ...places('share', ['percent', 'floor'], `${ACME}  guards:\n    maxLowered:\n      `),
  ...places('breaker', CONFIG_KEYS.breaker, `${ACME}  guards:\n    breaker:\n      `),
  ...places('contested', CONFIG_KEYS.contested, `${ACME}  guards:\n    contested:\n      `),
}

const GRANT = 'users: [{email: a@b.c, cap: 5}]\ngrants:\n- '
const inSpec = (name: string, lines: string): Slots => ({ [name]: (value) => policyText(lines.replace('VALUE', () => value)) })

const POLICY_SLOTS: Slots = {
  'metadata.name': (value) => policyText('team: {cap: 5}').replace('name: test', () => `name: ${value}`),
  'metadata.labels': (value) => policyText('team: {cap: 5}').replace('name: test', () => `name: test\n  labels: ${value}`),
  'metadata.annotations.a': (value) =>
    policyText('team: {cap: 5}').replace('name: test', () => `name: test\n  annotations:\n    a: ${value}`),
  ...Object.fromEntries(
    ['workspace', 'onGroupConflict', 'team', 'groups', 'users', 'grants', 'protected', 'approvals', 'rules', 'pools'].flatMap((key) =>
      Object.entries(inSpec(`spec.${key}`, `${key}: VALUE`)),
    ),
  ),
  ...inSpec('team.cap', 'team:\n  cap: VALUE'),
  ...inSpec('team.allowZero', 'team:\n  cap: 5\n  allowZero: VALUE'),
  ...inSpec('team.reason', 'team:\n  cap: 5\n  reason: VALUE'),
  ...inSpec('group.id', 'groups:\n- name: g\n  id: VALUE'),
  ...inSpec('group.name', 'groups:\n- id: g\n  name: VALUE'),
  ...inSpec('group.cap', 'groups:\n- id: g\n  name: g\n  cap: VALUE'),
  ...inSpec('user.email', 'users:\n- cap: 5\n  email: VALUE'),
  ...inSpec('grant.user', `${GRANT}cap: 5\n  until: 2027-01-31\n  reason: r\n  user: VALUE`),
  ...inSpec('grant.team', `${GRANT}cap: 5\n  until: 2027-01-31\n  reason: r\n  team: VALUE`),
  ...inSpec('grant.cap', `${GRANT}user: a@b.c\n  until: 2027-01-31\n  reason: r\n  cap: VALUE`),
  ...inSpec('grant.add', `${GRANT}user: a@b.c\n  until: 2027-01-31\n  reason: r\n  add: VALUE`),
  ...inSpec('grant.from', `${GRANT}user: a@b.c\n  cap: 5\n  until: 2027-01-31\n  reason: r\n  from: VALUE`),
  ...inSpec('grant.until', `${GRANT}user: a@b.c\n  cap: 5\n  from: 2026-01-01\n  reason: r\n  until: VALUE`),
  ...inSpec('grant.reason', `${GRANT}user: a@b.c\n  cap: 5\n  until: 2027-01-31\n  reason: VALUE`),
  ...inSpec('rule.name', 'rules:\n- when: {role: r}\n  cap: 5\n  name: VALUE'),
  ...inSpec('rule.cap', 'rules:\n- name: r\n  when: {role: r}\n  cap: VALUE'),
  ...Object.fromEntries(
    ['email', 'role', 'groups', 'inactiveDays', 'joinedWithinDays', 'activeDays'].flatMap((key) =>
      Object.entries(inSpec(`when.${key}`, `groups: [{id: x, name: x, cap: 5}]\nrules:\n- name: r\n  cap: 5\n  when:\n    ${key}: VALUE`)),
    ),
  ),
  ...inSpec('rule.when', 'rules:\n- name: r\n  cap: 5\n  when: VALUE'),
  ...inSpec('activeDays.below', 'rules:\n- name: r\n  cap: 5\n  when:\n    activeDays:\n      within: 3650\n      below: VALUE'),
  ...inSpec('activeDays.within', 'rules:\n- name: r\n  cap: 5\n  when:\n    activeDays:\n      below: 1\n      within: VALUE'),
  ...Object.fromEntries(
    ['groups', 'emails', 'when'].flatMap((key) =>
      Object.entries(inSpec(`members.${key}`, `pools:\n- name: p\n  credits: 100\n  members:\n    ${key}: VALUE`)),
    ),
  ),
  ...inSpec('pool.members', 'pools:\n- name: p\n  credits: 100\n  members: VALUE'),
  ...inSpec('pool.credits', 'pools:\n- name: p\n  members: {emails: [a@b.c]}\n  credits: VALUE'),
  ...inSpec('pool.share', 'pools:\n- name: p\n  members: {emails: [a@b.c]}\n  credits: 5\n  share: VALUE'),
  ...inSpec('pool.min', 'pools:\n- name: p\n  members: {emails: [a@b.c]}\n  credits: 2147483647\n  min: VALUE'),
  ...inSpec('pool.max', 'pools:\n- name: p\n  members: {emails: [a@b.c]}\n  credits: 5\n  max: VALUE'),
  ...inSpec('grant.ticket', `${GRANT}user: a@b.c\n  cap: 5\n  until: 2027-01-31\n  reason: r\n  ticket: VALUE`),
}

const [POLICY_SCHEMA, CONFIG_SCHEMA] = [await publishedSchema('policy'), await publishedSchema('config')]
const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false })

const HOLE = 'the value goes here'

/** What YAML reads where a value stands after a key; undefined where it reads none. Each is read once, and not in each of hundreds of slots. */
const READ: ReadonlyMap<string, { readonly value: unknown } | undefined> = new Map(
  [...VALUES, ...UNSEEN].map((text) => {
    const document = parseDocument(`key: ${text}\n`)
    return [text, document.errors.length === 0 ? { value: document.toJS().key } : undefined]
  }),
)

/** A copy with the value where the hole is. */
const filled = (node: unknown, value: unknown): unknown => {
  if (node === HOLE) return value
  if (Array.isArray(node)) return node.map((one) => filled(one, value))
  if (node === null || typeof node !== 'object') return node
  return Object.fromEntries(Object.entries(node).map(([key, one]) => [key, filled(one, value)]))
}

const cwd = folder({})

/** Whether each text is taken as the config. */
const takenConfigs = (texts: readonly string[]): readonly boolean[] =>
  texts.map((text) => {
    writeFiles(cwd, { 'c.yaml': text })
    return !hasErrors(loadConfig({ env: {}, flags: { config: 'c.yaml' }, cwd }).problems)
  })

/** What is wrong between entries, or with the workspace, which no schema can see. */
const BETWEEN = ['WORKSPACE_UNKNOWN', 'UNDECLARED_GROUP']

type TakenOf = (texts: readonly string[]) => readonly boolean[] | Promise<readonly boolean[]>

/** Whether each text is taken as a policy. Each is that of a workspace of its own. */
async function takenPolicies(texts: readonly string[]): Promise<readonly boolean[]> {
  const names = texts.map((_, index) => `${index}.yaml`)
  writeFiles(cwd, Object.fromEntries(texts.map((text, index) => [`${index}.yaml`, text])))
  const { problemsOf } = await loadPolicies(names, { cwd, workspaces: names.map((name) => ({ name, policies: [name] })) })
  return names.map((name) => !hasErrors((problemsOf.get(name) ?? []).filter(({ code }) => !BETWEEN.includes(code))))
}

async function differences(slots: Slots, takenOf: TakenOf, schema: object): Promise<readonly string[]> {
  const isValid = ajv.compile(schema)
  const found: string[] = []
  for (const [slot, textOf] of Object.entries(slots)) {
    const around: unknown = parseDocument(textOf(HOLE)).toJS()
    const all = await takenOf([...READ.keys()].map(textOf))
    for (const [index, [value, read]] of [...READ].entries()) {
      const [taken, fit] = [all[index], read !== undefined && isValid(filled(around, read.value)) === true]
      const mayFit = UNSEEN.includes(value) || LENIENT[slot]?.includes(value)
      if (taken !== fit && !(fit && mayFit)) found.push(`${slot}: ${value} is ${taken ? 'taken' : 'refused'} by the parser alone`)
    }
  }
  return found
}

test('the schema and the parser of the config agree on every value of every key', async () => {
  expect(Object.keys(CONFIG_SLOTS).length).toBeGreaterThan(50)
  expect(await differences(CONFIG_SLOTS, takenConfigs, CONFIG_SCHEMA)).toEqual([])
})

test('the schema and the parser of policies agree on every value of every key', async () => {
  expect(await differences(POLICY_SLOTS, takenPolicies, POLICY_SCHEMA)).toEqual([])
})

/** A schema as it is walked: its mappings and lists, and of alternatives the one that is a mapping. */
interface Walked {
  readonly properties?: Readonly<Record<string, Walked>>
  readonly additionalProperties?: boolean | Walked
  readonly required?: readonly string[]
  readonly items?: Walked
  readonly anyOf?: readonly Walked[]
}

/** Of each sort of text one that is right. */
const RIGHT = ['x', 5, true, 'a@b.c', '*@b.c', '2027-01-31', '5m', '180d', 'x:1', 'https://x/', '19:00', 'EUR', '7d1f0c2a'.repeat(4)]
const SHAPES = [null, '', 'x', -1, 0.5, 5, true, [], {}, [null], ['x'], [{}], [[]], { x: 1 }, { x: null }, { '': [] }]

const keysIn = (schema: Walked): Readonly<Record<string, Walked>> => {
  const { properties = {}, additionalProperties: others } = schema.anyOf?.find((one) => one.properties) ?? schema
  return typeof others === 'object' ? { ...properties, other: others } : properties
}

/** For each key the least mapping with it that the schema takes: with the keys that are required, and at most two more. */
function leastMappings(schema: Walked): readonly { readonly key: string; readonly within: Walked; readonly mapping: object }[] {
  const isValid = ajv.compile(schema)
  const some = Object.entries(keysIn(schema)).map(([key, within]) => ({ key, within, value: least(within) }))
  const needed = some.filter(({ key }) => schema.required?.includes(key))
  const more = [[], ...some.map((one) => [one]), ...some.flatMap((one) => some.map((other) => [one, other]))]
  return some.flatMap((one) => {
    const tried = more.map((few) => Object.fromEntries([...needed, ...few, one].map(({ key, value }) => [key, value])))
    const mapping = tried.find((each) => isValid(each))
    return mapping ? [{ key: one.key, within: one.within, mapping }] : []
  })
}

/** A value that a schema takes, with nothing in it that may be left out. */
function least(schema: Walked): unknown {
  const words: unknown = JSON.parse(/"(?:const|enum)":(\[.*?\]|"[^"]*"|true)/.exec(JSON.stringify(schema))?.[1] ?? '[]')
  const lists = schema.items ? [[least(schema.items)]] : []
  const isValid = ajv.compile(schema)
  return [{}, ...leastMappings(schema).map(({ mapping }) => mapping), ...lists, ...RIGHT, ...[words].flat()].find((one) => isValid(one))
}

/** Every place beneath one where a value stands, with the least document around it. */
type Around = (value: unknown) => unknown
const placesOf = (schema: Walked, name: string, around: Around): readonly (readonly [string, Around])[] => [
  [name, around],
  ...leastMappings(schema).flatMap(({ key, within, mapping }) =>
    placesOf(within, `${name}.${key}`, (value) => around({ ...mapping, [key]: value })),
  ),
  ...(schema.items ? placesOf(schema.items, `${name}[]`, (value) => around([value])) : []),
]

test.each([
  ['config', 170, CONFIG_SCHEMA, takenConfigs],
  ['policy', 90, POLICY_SCHEMA, takenPolicies],
] as const)('in no place of a %s a shape is taken that its schema refuses', async (kind, least, schema, takenOf) => {
  const isValid = ajv.compile(schema)
  const places = placesOf(schema, kind, (value) => value).slice(1)
  expect(places.length).toBeGreaterThan(least)
  const all = places.flatMap(([name, around]) => SHAPES.map((shape) => ({ name, shape, document: around(shape) })))
  const wrong = all.filter(({ document }) => !isValid(document))
  const taken = await takenOf(wrong.map(({ document }) => JSON.stringify(document)))
  expect(wrong.flatMap(({ name, shape }, index) => (taken[index] ? [`${name}: ${JSON.stringify(shape)}`] : []))).toEqual([])
})

test('the example policies are valid without a warning, fit the published schema, and lie beside it as it is now', async () => {
  const loaded = await loadPolicies(['policies'], { now: Date.parse('2026-11-21T00:00:00Z') })
  expect(loaded.problems).toEqual([])
  const set = loaded.sets.get('default')?.set
  expect(set?.documents).toEqual(['acme-caps', 'acme-cycle-grants', 'acme-grants'])
  expect(new Set(set?.rules.map(({ scope }) => scope.kind))).toEqual(new Set(['team', 'group', 'user']))
  expect(new Set(set?.grants.flatMap(({ until, amount }) => [until.kind, amount.kind]))).toEqual(
    new Set(['instant', 'cycleEnd', 'cap', 'add']),
  )
  const isPolicy = ajv.compile(POLICY_SCHEMA)
  for (const file of loaded.files) {
    const text = readFileSync(file, 'utf8')
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./cap-policy.schema.json')
    expect(parseAllDocuments(text).every((document) => isPolicy(document.toJS()))).toBe(true)
  }
  expect(JSON.parse(readFileSync('policies/cap-policy.schema.json', 'utf8'))).toEqual(POLICY_SCHEMA)
})
