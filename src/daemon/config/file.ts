// The config file's text to settings. It says what the file says and nothing else: flags, environment and the defaults of what is
// absent come on top in `config.ts`. Like policies, all problems are found at once, each with its place.

import { dirname, isAbsolute, join } from 'node:path'
import { parseBaseUrl } from '../../api/url.ts'
import { MODES } from '../../core/model/events.ts'
import { hasErrors, type Position, type Problem } from '../../core/model/problem.ts'
import {
  type Field,
  type Fields,
  type Item,
  isNothing,
  openReader,
  type Reader,
  readChoice,
  readFlag,
  readItems,
  readMap,
  readScalar,
  readText,
  report,
  requireField,
  shownPlaceOf,
  textOf,
  written,
} from '../../policy/nodes.ts'
import { API_VERSION, CONFIG_KEYS, CONFIG_KIND } from '../../policy/schema.ts'
import { type Place, problemOn, quoted, readYaml } from '../../policy/yaml.ts'
import type { WorkspaceConfig } from './config.ts'
import { type KeyRef, type Listen, parseListen, readGuards, readInterval, readKeys, readNumber, readToken, wordOf } from './values.ts'

export interface Rate {
  readonly start: number
  readonly max: number
  readonly concurrency: number
}

/** A workspace as the file has it; what is absent has no default that is always the same. */
export interface FileWorkspace extends Omit<WorkspaceConfig, 'baseUrl'> {
  readonly at: Position
  readonly caFileAt?: Place
  readonly baseUrl?: string
}

export interface FileConfig {
  readonly listen?: Listen
  readonly people?: 'hash' | 'email'
  readonly ledger?: string
  readonly ledgerToken?: KeyRef
  readonly metrics: { readonly perUser: 'off' | 'top' | 'all'; readonly userLabel: 'hash' | 'email' }
  readonly pricePerCredit?: number
  readonly workspaces: readonly FileWorkspace[]
}

export const DEFAULT_INTERVAL_MS = 5 * 60_000
export const DEFAULT_USAGE_INTERVAL_MS = 15 * 60_000
export const DEFAULT_RATE: Rate = { start: 5, max: 10, concurrency: 8 }

/** Parses the text of a config file. `path` is where the file lies: paths in it are relative to its folder. */
export function parseConfigText(
  file: string,
  text: string,
  path = file,
): { readonly config?: FileConfig; readonly problems: readonly Problem[] } {
  const yaml = readYaml(file, text)
  const [document, ...more] = yaml.documents
  const start: Position = { file, line: 1, column: 1 }
  if (!document) {
    const empty: Problem = {
      severity: 'error',
      code: 'MISSING',
      message: 'the config is empty',
      at: start,
      hint: `write apiVersion: ${API_VERSION} and kind: ${CONFIG_KIND}`,
    }
    return { problems: yaml.problems.length > 0 ? yaml.problems.map(withoutSecrets) : [empty] }
  }
  const reader = openReader(yaml.source, document)
  for (const extra of more)
    report(reader, extra.root, 'KIND', 'a second document: a config file holds one', { hint: 'remove what follows ---' })
  const config = readConfig(reader, path)
  const problems = [...yaml.problems, ...reader.problems].map(withoutSecrets)
  return config && !hasErrors(problems) ? { config, problems } : { problems }
}

/** Relative to the folder of the config file, as Prometheus and its like do. */
const locator =
  (path: string) =>
  (found: string): string =>
    isAbsolute(found) ? found : join(dirname(path), found)

function readConfig(reader: Reader, path: string): FileConfig | undefined {
  const root = reader.document.root
  const fields = readMap(reader, root, 'the config', CONFIG_KEYS.document)
  if (!fields) return undefined
  const named: Fields = new Map([...fields].map(([key, field]) => [key, { ...field, name: key }]))
  expectWord(reader, named, 'apiVersion', API_VERSION)
  expectWord(reader, named, 'kind', CONFIG_KIND)
  const locate = locator(path)
  const workspaces = readItems(reader, named.get('workspaces'), (item) => readWorkspace(reader, item, locate))
  checkNames(reader, workspaces)
  return {
    ...optional(
      'listen',
      given(named, 'listen', (field) => readListen(reader, field)),
    ),
    ...optional(
      'people',
      given(named, 'people', (field) => readChoice(reader, field, ['hash', 'email'] as const)?.value),
    ),
    ...optional(
      'ledger',
      given(named, 'ledger', (field) => readLedger(reader, field, locate)),
    ),
    ...optional(
      'ledgerToken',
      given(named, 'ledgerToken', (field) => readToken(reader, field, locate)),
    ),
    ...optional(
      'pricePerCredit',
      given(named, 'pricePerCredit', (field) => readPrice(reader, field)),
    ),
    metrics: readMetrics(reader, named.get('metrics')),
    workspaces,
  }
}

function expectWord(reader: Reader, fields: Fields, key: string, word: string): void {
  const field = fields.get(key)
  const hint = `write ${key}: ${word}`
  if (!field) {
    report(reader, reader.document.root, 'KIND', `the config has no ${key}`, { hint })
    return
  }
  const read = readScalar(reader, field, 'KIND', `not ${word}`)
  if (read && textOf(read.value) !== word) report(reader, read.node, 'KIND', `${key} is ${written(read.value)}, not ${word}`, { hint })
}

/** Reads a key that is there and says something. */
function given<T>(fields: Fields, key: string, read: (field: Field) => T | undefined): T | undefined {
  const field = fields.get(key)
  return field && !isNothing(field.value) ? read(field) : undefined
}

const optional = <K extends string, T>(key: K, value: T | undefined) =>
  value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: T })

function readListen(reader: Reader, field: Field): Listen | undefined {
  const read = readText(reader, field)
  const listen = read && parseListen(read.value)
  if (listen || !read) return listen
  return report(reader, read.node, 'ADDRESS', `listen is ${quoted(read.value)}, not host:port`, {
    hint: 'write 127.0.0.1:9464, or 0.0.0.0:9464 for all addresses',
  })
}

const readLedger = (reader: Reader, field: Field, locate: (path: string) => string): string | undefined => {
  const read = readText(reader, field)
  return read && (read.value === ':memory:' ? read.value : locate(read.value))
}

function readCaFile(
  reader: Reader,
  field: Field,
  locate: (path: string) => string,
): Pick<FileWorkspace, 'caFile' | 'caFileAt'> | undefined {
  const read = readText(reader, field)
  return read && { caFile: locate(read.value), caFileAt: withoutSecrets(shownPlaceOf(reader, read.node)) }
}

function readPrice(reader: Reader, field: Field): number | undefined {
  const price = readNumber(reader, field, { least: 0, most: 1_000_000 })
  if (price !== 0) return price
  return report(reader, field.value ?? field.keyNode, 'NUMBER', 'pricePerCredit is 0', { hint: 'leave it out to show no money' })
}

function readMetrics(reader: Reader, field: Field | undefined): FileConfig['metrics'] {
  const fields: Fields =
    (field && !isNothing(field.value) ? readMap(reader, field.value, 'metrics', CONFIG_KEYS.metrics) : undefined) ?? new Map()
  return {
    perUser: given(fields, 'perUser', (one) => readPerUser(reader, one)) ?? 'off',
    userLabel: given(fields, 'userLabel', (one) => readChoice(reader, one, ['hash', 'email'] as const)?.value) ?? 'hash',
  }
}

/** `off` is false to YAML 1.1, which Helm and others write it back as. */
const readPerUser = (reader: Reader, field: Field): FileConfig['metrics']['perUser'] | undefined =>
  wordOf(field) === 'off' ? 'off' : readChoice(reader, field, ['off', 'top', 'all'] as const)?.value

function readWorkspace(reader: Reader, item: Item, locate: (path: string) => string): FileWorkspace | undefined {
  const fields = readMap(reader, item.value, item.name, CONFIG_KEYS.workspace)
  if (!fields) return undefined
  const nameField = requireField(reader, item.value, fields.get('name'), 'name', item.name)
  const name = nameField && readText(reader, nameField)
  const choice = <T extends string>(key: string, choices: readonly [T, ...T[]]): T =>
    given(fields, key, (field) => readChoice(reader, field, choices)?.value) ?? choices[0]
  const settings = {
    ...optional(
      'baseUrl',
      given(fields, 'baseUrl', (field) => readBaseUrl(reader, field)),
    ),
    ...given(fields, 'caFile', (field) => readCaFile(reader, field, locate)),
    ...(given(fields, 'allowPlainHttp', (field) => readFlag(reader, field)?.value) === true ? { allowPlainHttp: true as const } : {}),
    keys: readKeys(reader, fields.get('keys'), locate),
    policies: readItems(reader, fields.get('policies'), (path) => readText(reader, path)?.value).map(locate),
    mode: choice('mode', MODES),
    capSemantics: choice('capSemantics', ['layered', 'copied'] as const),
    intervalMs: given(fields, 'interval', (field) => readInterval(reader, field)) ?? DEFAULT_INTERVAL_MS,
    usageIntervalMs: given(fields, 'usageInterval', (field) => readInterval(reader, field)) ?? DEFAULT_USAGE_INTERVAL_MS,
    onDrift: choice('onDrift', ['heal', 'alert'] as const),
    prune: given(fields, 'prune', (field) => readFlag(reader, field)?.value) ?? true,
    undeclaredUsers: choice('undeclaredUsers', ['ignore', 'report'] as const),
    guards: readGuards(reader, fields.get('guards')),
    rate: readRate(reader, fields.get('rate')),
  }
  return name && { name: name.value, at: name.at, ...settings }
}

function readBaseUrl(reader: Reader, field: Field): string | undefined {
  const read = readText(reader, field)
  const parsed = read && parseBaseUrl(read.value)
  if (!read || !parsed) return undefined
  if ('url' in parsed) return parsed.url
  return report(reader, read.node, 'URL', `${field.name}: ${parsed.message}`, { hint: 'write it like https://service.example/api/v1' })
}

/** Lines that may hold a secret written in the wrong place are not repeated. */
const SECRETIVE = /secret|token|passw|key\w*\s*:|:\/\/[^/\s]*@|:\/\/\S*[?#]/i

function withoutSecrets<T extends Place>(place: T): T | Omit<T, 'sourceLine'> {
  const { sourceLine, ...rest } = place
  return sourceLine === undefined || SECRETIVE.test(sourceLine) ? rest : place
}

const REQUESTS = { least: 0.1, most: 1000 }

/** Without `start`, learning starts at the usual rate or at `max`, whichever is less. */
function readRate(reader: Reader, field: Field | undefined): Rate {
  const fields = field && !isNothing(field.value) ? readMap(reader, field.value, field.name, CONFIG_KEYS.rate) : undefined
  if (!fields) return DEFAULT_RATE
  const start = given(fields, 'start', (one) => readNumber(reader, one, REQUESTS))
  const max = given(fields, 'max', (one) => readNumber(reader, one, REQUESTS)) ?? DEFAULT_RATE.max
  const concurrency = given(fields, 'concurrency', (one) => readNumber(reader, one, { least: 1, most: 64, whole: true }))
  const startField = fields.get('start')
  if (start !== undefined && start > max && startField) {
    const hint = 'start at max or below, or raise max'
    report(reader, startField.value ?? startField.keyNode, 'NUMBER', `${startField.name} is ${start}, more than max, which is ${max}`, {
      hint,
    })
  }
  return { start: start ?? Math.min(DEFAULT_RATE.start, max), max, concurrency: concurrency ?? DEFAULT_RATE.concurrency }
}

function checkNames(reader: Reader, workspaces: readonly FileWorkspace[]): void {
  const first = new Map<string, Position>()
  for (const { name, at } of workspaces) {
    const other = first.get(name)
    if (!other) {
      first.set(name, at)
      continue
    }
    const message = `the workspace ${quoted(name)} is configured twice`
    reader.problems.push(problemOn(reader.source, at, 'error', 'DUPLICATE_NAME', message, { hint: 'give each its own name', other }))
  }
}
