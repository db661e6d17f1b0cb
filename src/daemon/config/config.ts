// The settings of a run: flags over environment over config file over defaults (docs/configuration.md). The result is a whole config or problems. It has
// references to service keys, never a key. The file is read beside a daemon, and parsed in a thread with bounds unless it is small. `networkProblems`
// checks what only commands that reach the service need, so that `validate` runs without it. Every certificate of https is verified: a CA file changes
// which are trusted, and nothing turns verification off. Plain http goes only to this machine, or where a setting allows it.
import { resolve } from 'node:path'
import { parseBaseUrl } from '../../api/way.ts'
import { isLoopback } from '../../core/model/loopback.ts'
import { hasErrors, type Problem, type ProblemCode } from '../../core/model/problem.ts'
import { beyondLimit } from '../../core/model/units.ts'
import { readWhole, type TokenSource } from '../../files.ts'
import { DEFAULT_WORKSPACE, READING_DEADLINE_MS, SMALL_BYTES } from '../../policy/bounds.ts'
import { MAX_FILE_BYTES, readTextFile, shownPath } from '../../policy/load/files.ts'
import { didYouMean } from '../../policy/suggest.ts'
import { quoted } from '../../policy/yaml.ts'
import type { Clock } from '../../ports.ts'
import { ledgerFault } from '../ledger/postgres/address.ts'
import type { FileConfig, FileWorkspace, ParsedConfig, Places } from './file.ts'
import { notifyFor } from './notify-check.ts'
import type { Config, ConfigFlags, ConfigInput, Listen, WorkspaceConfig } from './settings.ts'
import { parseListen, WORKSPACE_DEFAULTS } from './values.ts'

export interface LoadedConfig {
  /** Present exactly when no problem is an error. */
  readonly config?: Config
  readonly problems: readonly Problem[]
  /** All workspaces of the config file, also when one was chosen: `loadPolicies` needs every name. Absent without a config file. */
  readonly configured?: readonly WorkspaceConfig[]
  /** The path of the config file. */
  readonly file?: string
  readonly places?: Places
}

type Environment = ConfigInput['env']

/** The environment variable that holds the key itself. */
const KEY_VARIABLE = 'CAPKEEPER_SERVICE_KEY'
const PLAIN_HTTP_VARIABLE = 'CAPKEEPER_ALLOW_PLAIN_HTTP'
const YES = ['true', '1']
const NO = ['', 'false', '0']

const DEFAULT_LISTEN: Listen = { host: '127.0.0.1', port: 9464 }
const DEFAULT_LEDGER = './capkeeper.db'

/** The config file that is named. */
export const configFileOf = ({ flags, env }: ConfigInput): string | undefined => flags.config ?? variable(env, 'CAPKEEPER_CONFIG')

/** The config file, if any, with environment and flags on top. Never throws for bad input, never ends the process, never takes longer than the deadline. */
export async function loadConfigAside(input: ConfigInput, clock: Clock): Promise<LoadedConfig> {
  const file = configFileOf(input)
  if (file === undefined) return completed(input)
  const cwd = input.cwd ?? process.cwd()
  const [read] = await Promise.allSettled([readWhole(resolve(cwd, file), MAX_FILE_BYTES, clock)])
  const found = readTextFile(file, cwd, () => {
    if (read.status === 'rejected') throw read.reason
    return read.value.bytes
  })
  if ('problem' in found) return { problems: [found.problem], file }
  const shown = shownPath(file, cwd) || file
  const given = [shown, found.text, file] as const
  if (found.text.length <= SMALL_BYTES) {
    // Without a config file its parser is not needed.
    const { parseConfigText } = await import('./file.ts')
    return completed(input, parseConfigText(...given), file)
  }
  const { beside, runAside } = await import('../../policy/load/aside.ts')
  const errand = { file: beside(import.meta.url, 'file-thread'), data: given, clock, deadlineMs: READING_DEADLINE_MS }
  const outcome = await runAside<ParsedConfig>(errand)
  if (outcome.kind === 'answer') return completed(input, outcome.answer, file)
  const why = {
    memory: 'needs more memory to be read than is allowed',
    time: `was not read within ${READING_DEADLINE_MS / 1000} s`,
    error: `cannot be read: ${outcome.message}`,
  }[outcome.kind]
  const hint = 'spread the workspaces over several config files and daemons'
  const at = { file: shown, line: 1, column: 1 }
  return { problems: [{ ...problem('TOO_LARGE', `${shown} ${why}`, hint), at }], file }
}

/** A parsed config file, if any, with environment and flags on top. */
export const completed = (input: ConfigInput, { config, problems, places }: ParsedConfig = NO_FILE, file?: string): LoadedConfig =>
  config ? { ...build(input, config, problems), file, places } : { problems, file }

/** An empty variable counts as absent. */
const variable = (env: Environment, name: string): string | undefined => env[name] || undefined

const problem = (code: ProblemCode, message: string, hint?: string): Problem => ({ severity: 'error', code, message, hint })

const NO_FILE: ParsedConfig = { config: { metrics: { perUser: 'off', userLabel: 'hash' }, workspaces: [] }, problems: [] }

function build({ env, flags, listening }: ConfigInput, file: FileConfig, found: readonly Problem[]): LoadedConfig {
  const problems = [...found]
  const { notify, workspaces: listed, ...given } = file
  const approvals = given.approvals ?? 'separate'
  const listen = parseListen(flags.listen ?? '') ?? file.listen ?? DEFAULT_LISTEN
  const overrides = overridesOf(env, flags, file, problems)
  const isListed = listed.length > 0
  const beyond = isListed ? beyondLimit('workspaces', listed.length) : undefined
  if (beyond !== undefined) problems.push({ severity: 'warning', code: 'BEYOND_LIMIT', message: beyond })
  const chosen = isListed
    ? choose(listed, flags.workspace, problems)
    : [{ name: flags.workspace ?? DEFAULT_WORKSPACE, baseUrl: '', ...WORKSPACE_DEFAULTS }]
  const overridden = override(chosen, overrides, problems)
  const transport = transportOf(env, flags, problems)
  const whole = (workspace: FileWorkspace): WorkspaceConfig => ({
    ...workspace,
    ...transport,
    approvals,
    creditsPerSeat: given.creditsPerSeat,
    notify: notify && notifyFor(notify, workspace.name, given.requests?.url),
  })
  const ledger = flags.ledger ?? variable(env, 'CAPKEEPER_LEDGER') ?? file.ledger ?? DEFAULT_LEDGER
  const fault = ledgerFault(ledger)
  if (fault !== undefined) problems.push(problem('ADDRESS', `${flags.ledger === undefined ? 'CAPKEEPER_LEDGER' : '--ledger'}: ${fault}`))
  if (hasErrors(problems)) return { problems }
  const people = given.people ?? (isLoopback((listening ?? listen).host) ? 'email' : 'hash')
  const all = isListed ? listed.map((one) => whole(overridden.find(({ name }) => name === one.name) ?? one)) : undefined
  return {
    config: { ...given, listen, people, ledger, approvals, workspaces: overridden.map(whole) },
    problems,
    configured: all,
  }
}

function choose(listed: readonly FileWorkspace[], name: string | undefined, problems: Problem[]): readonly FileWorkspace[] {
  if (name === undefined) return listed
  const chosen = listed.filter((workspace) => workspace.name === name)
  const names = listed.map((workspace) => workspace.name)
  if (chosen.length === 0)
    problems.push(problem('WORKSPACE_UNKNOWN', `there is no workspace ${quoted(name)} in the config`, didYouMean(name, names)))
  return chosen
}

/** A setting for one workspace by a flag, else by a variable; `by`: which of them, for problems. */
const either = <T>(flag: T | undefined, flagName: string, found: T | undefined, name: string) =>
  flag !== undefined ? { value: flag, by: flagName } : found !== undefined ? { value: found, by: name } : undefined

function overridesOf(env: Environment, flags: ConfigFlags, file: FileConfig, problems: Problem[]) {
  const paths = variable(env, 'CAPKEEPER_POLICIES')?.split(/[:,]/)
  const policies = either(
    flags.policies,
    '--policies',
    paths?.filter((path) => path !== ''),
    'CAPKEEPER_POLICIES',
  )
  const baseUrl = either(flags.baseUrl, '--base-url', variable(env, 'CAPKEEPER_BASE_URL'), 'CAPKEEPER_BASE_URL')
  const parsed = baseUrl && parseBaseUrl(baseUrl.value)
  if (parsed && 'message' in parsed)
    problems.push(problem('URL', `${baseUrl?.by}: ${parsed.message}`, 'write it like https://service.example/api/v1'))
  return {
    policies: policies && policies.value.length > 0 ? policies : undefined,
    baseUrl: baseUrl && parsed && 'url' in parsed ? { ...baseUrl, value: parsed.url } : undefined,
    key: keyOverride(env, flags, file),
  }
}

function keyOverride(env: Environment, flags: ConfigFlags, { workspaces }: FileConfig) {
  const name = `${KEY_VARIABLE}_FILE`
  const given = either(flags.serviceKeyFile, '--service-key-file', variable(env, name), name)
  if (given) return { ...given, value: { file: given.value } }
  // A config that names the variable itself says which workspace its key is for.
  const isNamed = workspaces.some(({ keys }) => Object.values(keys).some((ref: TokenSource) => 'env' in ref && ref.env === KEY_VARIABLE))
  return variable(env, KEY_VARIABLE) === undefined || isNamed ? undefined : { value: { env: KEY_VARIABLE }, by: KEY_VARIABLE }
}

/** Overrides need a single workspace. A key replaces `keys.default`. */
function override(
  workspaces: readonly FileWorkspace[],
  { policies, baseUrl, key }: ReturnType<typeof overridesOf>,
  problems: Problem[],
): readonly FileWorkspace[] {
  const [only, ...others] = workspaces
  if (only && others.length === 0) {
    const keys = key ? { ...only.keys, default: key.value } : only.keys
    return [{ ...only, policies: policies?.value ?? only.policies, baseUrl: baseUrl?.value ?? only.baseUrl, keys }]
  }
  const names = workspaces.map(({ name }) => name).join(', ')
  for (const one of workspaces.length > 0 ? [policies, baseUrl, key] : []) {
    const message = `${one?.by} is for one workspace, and ${workspaces.length} are configured: ${names}`
    if (one) problems.push(problem('NEEDS_WORKSPACE', message, 'choose one with --workspace, or write it in the config file'))
  }
  return workspaces
}

/** The CA file and the permission for plain http from flags or environment; unlike an address, they apply to every workspace. Choice. */
function transportOf(env: Environment, flags: ConfigFlags, problems: Problem[]): Pick<WorkspaceConfig, 'caFile' | 'allowPlainHttp'> {
  const caFile = flags.caFile ?? variable(env, 'CAPKEEPER_CA_FILE')
  const word = env[PLAIN_HTTP_VARIABLE] ?? ''
  if (!YES.includes(word) && !NO.includes(word))
    problems.push(problem('NOT_BOOLEAN', `${PLAIN_HTTP_VARIABLE} is ${quoted(word)}, not true or false`, 'write true, or leave it out'))
  const isAllowed = flags.allowPlainHttp === true || YES.includes(word)
  return { ...(caFile !== undefined && { caFile }), ...(isAllowed && { allowPlainHttp: true }) }
}

/** Addresses over which the key would travel unencrypted. The command decides the severity. */
export const plainHttpProblems = (workspaces: readonly WorkspaceConfig[], severity: Problem['severity']): readonly Problem[] =>
  workspaces
    .filter(({ baseUrl, allowPlainHttp }) => baseUrl.startsWith('http:') && !allowPlainHttp && !isHere(baseUrl))
    .map(({ name, baseUrl }) => ({
      severity,
      code: 'PLAIN_HTTP',
      message: `${name}: ${baseUrl} would carry the service key unencrypted to another machine`,
      hint: 'write https://, or allow it with --allow-plain-http, CAPKEEPER_ALLOW_PLAIN_HTTP=true or allowPlainHttp: true in the config',
    }))

const isHere = (baseUrl: string): boolean => isLoopback(new URL(baseUrl).hostname.replace(/^\[|\]$/g, ''))

const WAYS = {
  baseUrl: 'give --base-url, CAPKEEPER_BASE_URL, or baseUrl in the config',
  key: 'give --service-key-file, CAPKEEPER_SERVICE_KEY, or keys in the config',
  policies: 'give --policies, CAPKEEPER_POLICIES, or policies in the config',
}

/** Why a command cannot reach the service: no address or an unencrypted one, no key, and, where it needs them, no policies. */
export function networkProblems(config: Config, needs: { readonly policies: boolean } = { policies: true }): readonly Problem[] {
  const missing = config.workspaces.flatMap(({ name, baseUrl, keys, policies }) => [
    baseUrl === '' && problem('NO_BASE_URL', `${name}: the address of the service is missing`, WAYS.baseUrl),
    // Any key will do: only the service knows the permissions of a key.
    Object.keys(keys).length === 0 && problem('NO_KEY', `${name}: the service key is missing`, WAYS.key),
    needs.policies && policies.length === 0 && problem('NO_POLICIES', `${name}: no policies are given`, WAYS.policies),
  ])
  return [...missing.filter((one) => one !== false), ...plainHttpProblems(config.workspaces, 'error')]
}
