// Parses the text of the config file. The schema validates each value; this file compares values with each other. All problems are found at once, each
// with its place. Flags and environment come on top in `config.ts`.
import { dirname, isAbsolute, join, normalize } from 'node:path'
import { parseBaseUrl } from '../../api/way.ts'
import { hasErrors, type Problem } from '../../core/model/problem.ts'
import { ROSTER_LIFE_MS } from '../../core/model/units.ts'
import { REQUEST_PLACEHOLDERS, unknownInRequest } from '../../core/notify/settings.ts'
import { API_VERSION, CONFIG_KIND } from '../../policy/bounds.ts'
import type { EnvelopeSource } from '../../policy/load/delegated.ts'
import { checkDocument } from '../../policy/schema/faults.ts'
import { refuse } from '../../policy/schema/kinds.ts'
import { didYouMean } from '../../policy/suggest.ts'
import { type Branch, field, good, items, nameOf, placeOf, repeated, report, shownPlaceOf, withoutLine } from '../../policy/tree.ts'
import { type Place, quoted, readYaml } from '../../policy/yaml.ts'
import type { AuthSettings, ViewerRule } from '../http/auth.ts'
import { isPostgresAddress } from '../ledger/postgres/address.ts'
import { checkNotify, type FileNotify, type Locate, notifyOf, referenceOf, reportDuplicates } from './notify-check.ts'
import { check, SCHEMA } from './schema.generated.ts'
import type { Config, ConfigText, EnvelopeText, Rate, ViewerText, WorkspaceConfig, WorkspaceText } from './settings.ts'
import { DEFAULT_RATE, guardsOf, isNetwork, parseDuration, parseListen, WORKSPACE_DEFAULTS } from './values.ts'

/** More of them would let teams use up what all files together may take to read. */
const MAX_ENVELOPES = 64

/** Unknown workspaces, empty lists, and paths that two envelopes share. */
function checkEnvelopes(root: Branch<ConfigText>, locate: Locate): void {
  const list = field(root, 'envelopes')
  const envelopes = items(list)
  if (list && envelopes.length > MAX_ENVELOPES)
    report(list, 'ENVELOPE', `${envelopes.length} envelopes, and ${MAX_ENVELOPES} at most are possible`, { on: 'key' })
  reportDuplicates('envelope', envelopes)
  for (const envelope of envelopes) {
    checkKnown(root, field(envelope, 'workspace'), 'ENVELOPE')
    for (const key of ['policies', 'groups'] as const) {
      const some = field(envelope, key)
      if (items(some).length > 0) continue
      if (some) report(some, 'ENVELOPE', `${nameOf(some)} is empty, so the envelope holds nothing`, { on: 'key' })
      else report(envelope, 'ENVELOPE', `${nameOf(envelope)} has no ${key}, so it holds nothing`, { hint: `write ${key}: […]` })
    }
  }
  const paths = envelopes.flatMap((envelope) => items(field(envelope, 'policies')))
  const pathOf = (path: Branch<string>): string | undefined => good(path) && normalize(locate(path.value)).replace(/\/+$/, '')
  for (const { one, first } of repeated(paths, pathOf)) {
    const extra = { hint: 'give each a folder of its own', other: placeOf(first) }
    report(one, 'ENVELOPE', `${quoted(one.value)} is of another envelope`, extra)
  }
}

/** A workspace that is not configured. */
function checkKnown(root: Branch<ConfigText>, workspace: Branch<string> | undefined, code: 'ENVELOPE' | 'AUTH'): void {
  const known = items(field(root, 'workspaces')).flatMap((one) => good(field(one, 'name')) ?? [])
  const name = good(workspace)
  if (workspace && name !== undefined && known.length > 0 && !known.includes(name))
    report(workspace, code, `${nameOf(workspace)} is ${quoted(name)}, and no workspace is called so`, { hint: didYouMean(name, known) })
}

/** The envelopes of a workspace. */
function envelopesOf(root: Branch<ConfigText>, workspace: string, locate: Locate): readonly EnvelopeSource[] {
  return items(field(root, 'envelopes')).flatMap((branch: Branch<EnvelopeText>) => {
    const { sum, maxPeople, grants, policies, groups, ...one } = branch.value
    if (one.workspace !== workspace) return []
    return {
      ...one,
      groups: groups ?? [],
      policies: (policies ?? []).map(locate),
      at: placeOf(branch),
      sum,
      maxPeople,
      grants: grants && { maxDays: grants.maxDays, maxAdd: grants.maxAdd },
    }
  })
}

/** A workspace of the file. */
export type FileWorkspace = Omit<WorkspaceConfig, 'approvals' | 'notify' | 'creditsPerSeat'>

export interface FileConfig extends Partial<Omit<Config, 'metrics' | 'workspaces'>> {
  readonly metrics: Config['metrics']
  readonly notify?: FileNotify
  readonly workspaces: readonly FileWorkspace[]
}

/** `config` is present exactly when no problem is an error. */
export interface ParsedConfig {
  readonly config?: FileConfig
  readonly problems: readonly Problem[]
  readonly places?: Places
}

/** Where the config names what only `validate` and `doctor` look at: files by their path, groups of viewers by the name of the field. */
export type Places = ReadonlyMap<string, Place>

/** A timer can wait 24 days at most. */
const MAX_INTERVAL_MS = 20 * 86_400_000
const MIN_INTERVAL_MS = 100

/** `path`: the path of the file, to whose folder paths in it are relative. */
export function parseConfigText(file: string, text: string, path = file): ParsedConfig {
  const yaml = readYaml(file, text)
  const [document, ...more] = yaml.documents
  if (!document) return { problems: yaml.problems.length > 0 ? yaml.problems.map(withoutSecrets) : [emptyProblem(file)] }
  const source = yaml.source
  const root = checkDocument<ConfigText>({ source, document, name: 'the config', says: { url: whyNoUrl } }, SCHEMA, check)
  for (const extra of more) {
    const second = { ...root, node: extra.root }
    report(second, 'KIND', 'a second document: a config file holds one', { hint: 'remove what follows ---' })
  }
  const workspaces = items(field(root, 'workspaces'))
  const names = reportDuplicates('workspace', workspaces)
  for (const workspace of workspaces) checkWorkspace(workspace)
  if (!hasErrors(root.reader.problems)) checkTwins(workspaces, locator(path))
  checkNotify(root, names)
  checkViewers(root)
  checkRequests(root)
  checkEnvelopes(root, locator(path))
  const problems = [...yaml.problems, ...root.reader.problems].map(withoutSecrets)
  return hasErrors(problems) ? { problems } : { config: configOf(root, locator(path)), problems, places: placesOf(root, locator(path)) }
}

function placesOf(root: Branch<ConfigText>, locate: Locate): Places {
  const files = items(field(root, 'workspaces')).flatMap((workspace) => {
    const directory = field(workspace, 'directory')
    return [field(workspace, 'caFile'), directory && field(directory, 'file')]
  })
  const groups = items(field(root, 'viewers')).flatMap((viewer) => {
    const only = field(viewer, 'only')
    return items(only && field(only, 'groups'))
  })
  const place = (branch: Branch): Place => withoutSecrets(shownPlaceOf(branch))
  return new Map([
    ...files.flatMap((file): [string, Place][] => (typeof file?.value === 'string' ? [[locate(file.value), place(file)]] : [])),
    ...groups.map((group): [string, Place] => [nameOf(group), place(group)]),
  ])
}

const emptyProblem = (file: string): Problem => ({
  severity: 'error',
  code: 'MISSING',
  message: 'the config is empty',
  at: { file, line: 1, column: 1 },
  hint: `write apiVersion: ${API_VERSION} and kind: ${CONFIG_KIND}`,
})

function whyNoUrl(text: string): string {
  const parsed = parseBaseUrl(text)
  return 'message' in parsed ? parsed.message : 'not an address that can be reached'
}

/** Problems do not quote lines that may have a secret in the wrong place. */
const SECRETIVE = /secret|token|passw|key\w*\s*:|:\/\/[^/\s]*@|:\/\/\S*[?#]/i

function withoutSecrets<T extends Place>(place: T): T | Omit<T, 'sourceLine' | 'sourceColumn'> {
  // The part of a long line that is shown may be the secret without its key.
  const isPart = place.sourceColumn !== undefined
  return isPart || SECRETIVE.test(place.sourceLine ?? '') ? withoutLine(place) : place
}

/** Two workspaces that write to one team: each would revert what the other sets, for ever. */
function checkTwins(workspaces: readonly Branch<WorkspaceText>[], locate: Locate): void {
  const teamOf = ({ value: { baseUrl = '', keys = {}, mode = 'enforce' } }: Branch<WorkspaceText>): string | undefined => {
    const address = parseBaseUrl(baseUrl)
    const key = keys.billingWrite ?? keys.default
    if (!('url' in address) || !key || mode !== 'enforce') return undefined
    return JSON.stringify([address.url, key.file === undefined ? undefined : normalize(locate(key.file)), key.env])
  }
  for (const { one, first } of repeated(workspaces, teamOf)) {
    const names = [one, first].map(({ value }) => quoted(value.name))
    const message = `${names[0]} writes with the key and to the address of ${names[1]}: each would revert what the other sets`
    const hint = 'declare the caps of one team in one workspace, or set mode: audit in the other'
    report(field(one, 'name') ?? one, 'SAME_TEAM', message, { hint, other: placeOf(field(first, 'name') ?? first) })
  }
}

/** Durations out of range, and a rate that starts above its maximum. */
function checkWorkspace(workspace: Branch<WorkspaceText>): void {
  for (const interval of [field(workspace, 'interval'), field(workspace, 'usageInterval'), field(workspace, 'usageLag')]) {
    const ms = parseDuration(good(interval)?.trim() ?? '')
    if (interval && ms !== undefined && (ms < MIN_INTERVAL_MS || ms > MAX_INTERVAL_MS)) refuse(interval)
  }
  checkDirectory(workspace)
  const rate = field(workspace, 'rate')
  const start = rate && field(rate, 'start')
  const max = (rate && good(field(rate, 'max'))) ?? DEFAULT_RATE.max
  const first = good(start)
  if (start && first !== undefined && first > max) {
    const message = `${nameOf(start)} is ${first}, more than max, which is ${max}`
    report(start, 'NUMBER', message, { hint: 'start at max or below, or raise max' })
  }
}

/** A column twice, and one that cannot be told from the word `listed`. */
function checkDirectory(workspace: Branch<WorkspaceText>): void {
  const directory = field(workspace, 'directory')
  const columns = items(directory && field(directory, 'columns'))
  const hint = 'take it out, or rename the column'
  for (const column of columns.filter((one) => good(one) === 'listed'))
    report(column, 'DIRECTORY', `${nameOf(column)} is called listed, which asks whether a person is in the file`, { hint })
  for (const { one } of repeated(columns, good)) report(one, 'DIRECTORY', `${nameOf(one)} stands twice`, { hint })
}

/** Invalid networks, viewers without a proxy that names groups, and workspaces that are not configured. */
function checkViewers(root: Branch<ConfigText>): void {
  const auth = field(root, 'auth')
  for (const network of items(auth && field(auth, 'from'))) {
    const text = good(network)
    if (text === undefined || isNetwork(text)) continue
    report(network, 'AUTH', `${nameOf(network)} is ${quoted(text)}, not an address or a network`, { hint: 'write one such as 10.0.0.0/8' })
  }
  const viewers = field(root, 'viewers')
  const [proxyHeader, emailHeader] = [auth && field(auth, 'proxyHeader'), auth && field(auth, 'emailHeader')]
  if (viewers && good(viewers) && items(viewers).length > 0 && !proxyHeader) {
    const hint = 'name the header in auth.proxyHeader, or leave viewers out'
    report(viewers, 'AUTH', 'viewers are distinguished by groups that a proxy names, and no proxy is configured', { on: 'key', hint })
  }
  if (emailHeader && proxyHeader && good(emailHeader)?.toLowerCase() === good(proxyHeader)?.toLowerCase())
    report(emailHeader, 'AUTH', 'auth.emailHeader is the header of the groups as well', { hint: 'name one of its own for the address' })
  if (emailHeader && items(viewers).length === 0) {
    const hint = 'say in viewers who sees what, such as {self: true}'
    report(emailHeader, 'AUTH', 'auth.emailHeader tells readers apart, and viewers do not say who sees what', { on: 'key', hint })
  }
  for (const viewer of items(viewers)) {
    checkViewer(viewer, emailHeader !== undefined)
    for (const workspace of items(field(viewer, 'workspaces'))) if (good(workspace) !== '*') checkKnown(root, workspace, 'AUTH')
  }
}

function checkViewer(viewer: Branch<ViewerText>, asksEmail: boolean): void {
  const [self, only] = [field(viewer, 'self'), field(viewer, 'only')]
  const isSelf = good(self) === true
  if (!isSelf && items(field(viewer, 'groups')).length === 0) {
    report(viewer, 'AUTH', `${nameOf(viewer)} has neither groups nor self, so it is for nobody`, {
      hint: 'write groups: [NAME] or self: true',
    })
  } else if (!isSelf && items(field(viewer, 'workspaces')).length === 0) {
    report(viewer, 'AUTH', `${nameOf(viewer)} names no workspace, so it shows nothing`, { hint: "write workspaces: ['*'] for all" })
  }
  if (self && isSelf && !asksEmail) {
    const hint = 'name the header in which the proxy names the reader in auth.emailHeader'
    report(self, 'AUTH', `${nameOf(self)} needs the address of the reader, and no header names it`, { on: 'key', hint })
  }
  if (only && isSelf) {
    report(only, 'AUTH', `${nameOf(only)} is beside self, which shows nobody else`, { on: 'key', hint: 'write two entries' })
  }
  if (only && items(field(only, 'groups')).length === 0) {
    report(only, 'AUTH', `${nameOf(only)} names no group, so it shows nobody`, { on: 'key', hint: 'write it as {groups: [ID]}' })
  }
}

/** Placeholders that the link to ask for more does not have. */
function checkRequests(root: Branch<ConfigText>): void {
  const requests = field(root, 'requests')
  const url = requests && field(requests, 'url')
  for (const unknown of new Set(unknownInRequest(good(url) ?? ''))) {
    if (!url) continue
    const message = `${nameOf(url)} has {${unknown}}, which is no placeholder of this link`
    report(url, 'NOTIFY_PLACEHOLDER', message, { hint: didYouMean(unknown, REQUEST_PLACEHOLDERS) })
  }
}

/** Paths are relative to the folder of the config file, as in Prometheus. */
const locator =
  (path: string): Locate =>
  (found) =>
    isAbsolute(found) ? found : join(dirname(path), found)

/** The settings of a file without an error. */
function configOf(root: Branch<ConfigText>, locate: Locate): FileConfig {
  const { listen, ledger, ledgerToken, currency, metrics, people, approvals, sourceUrl, requests, pricePerCredit, creditsPerSeat } =
    root.value
  const notify = good(field(root, 'notify'))
  const perUser = metrics?.perUser
  return {
    listen: listen === undefined ? undefined : parseListen(listen),
    people,
    ledger: ledger === undefined || ledger === ':memory:' || isPostgresAddress(ledger) ? ledger : locate(ledger),
    approvals,
    ledgerToken: ledgerToken && referenceOf(ledgerToken, locate),
    auth: authOf(root.value, locate),
    ...{ sourceUrl, requests, pricePerCredit, currency: currency?.trim(), creditsPerSeat },
    notify: notify && notifyOf(notify, locate),
    // YAML 1.1 reads `off` as false, and Helm writes it so.
    metrics: { perUser: perUser === 'top' || perUser === 'all' ? perUser : 'off', userLabel: metrics?.userLabel ?? 'hash' },
    workspaces: items(field(root, 'workspaces')).map((workspace) => {
      const envelopes = envelopesOf(root, workspace.value.name, locate)
      return { ...workspaceOf(workspace.value, locate), ...(envelopes.length > 0 && { envelopes }) }
    }),
  }
}

function authOf({ auth, viewers }: ConfigText, locate: Locate): AuthSettings | undefined {
  if (!auth) return undefined
  const { token, proxyHeader, emailHeader, from, metrics } = auth
  return {
    token: token && referenceOf(token, locate),
    proxy: proxyHeader === undefined ? undefined : { header: proxyHeader, emailHeader, from: from ?? [] },
    metrics: metrics ?? false,
    viewers: viewers?.map(viewerOf),
  }
}

function viewerOf({ groups, workspaces, only, self, people }: ViewerText): ViewerRule {
  const isSelf = self === true
  return {
    groups,
    workspaces: workspaces ?? (isSelf ? ['*'] : []),
    only: only && (only.groups ?? []),
    self: isSelf ? true : undefined,
    emails: people === 'email' ? true : undefined,
  }
}

function workspaceOf(given: WorkspaceText, locate: Locate): FileWorkspace {
  const { name, baseUrl, caFile, allowPlainHttp, keys = {}, policies = [], directory, guards, rate, ...more } = given
  const { interval, usageInterval, usageLag, history, ...settings } = more
  const address = baseUrl === undefined ? undefined : parseBaseUrl(baseUrl)
  const duration = (text: string | undefined, usual: number): number => parseDuration(text?.trim() ?? '') ?? usual
  return {
    name,
    baseUrl: address && 'url' in address ? address.url : '',
    caFile: caFile === undefined ? undefined : locate(caFile),
    allowPlainHttp: allowPlainHttp === true ? allowPlainHttp : undefined,
    ...WORKSPACE_DEFAULTS,
    ...settings,
    keys: Object.fromEntries(Object.entries(keys).map(([name, reference]) => [name, referenceOf(reference, locate)])),
    policies: policies.map(locate),
    directory: directory && { ...directory, file: locate(directory.file), columns: directory.columns ?? [] },
    intervalMs: duration(interval, WORKSPACE_DEFAULTS.intervalMs),
    // One reading may fail before nobody can be counted any more, and nothing is written.
    usageIntervalMs: Math.min(duration(usageInterval, WORKSPACE_DEFAULTS.usageIntervalMs), ROSTER_LIFE_MS / 3),
    usageLagMs: duration(usageLag, WORKSPACE_DEFAULTS.usageLagMs),
    // 0: the past is not read.
    historyDays: history === undefined ? WORKSPACE_DEFAULTS.historyDays : Number(/^\s*(\d+)d/.exec(history)?.[1] ?? 0),
    guards: guardsOf(guards ?? {}),
    rate: rateOf(rate),
  }
}

/** Without `start`, learning starts at the default rate or at `max`, whichever is less. */
function rateOf(given: WorkspaceText['rate'] = {}): Rate {
  const max = given.max ?? DEFAULT_RATE.max
  return { ...DEFAULT_RATE, start: Math.min(DEFAULT_RATE.start, max), ...given }
}
