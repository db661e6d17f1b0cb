// The settings of a run: flags over environment over config file over defaults (docs/configuration.md). The result is a whole config or problems. It has
// references to service keys, never a key. `networkProblems` checks what only commands that reach the service need, so that `validate` runs without it.

import { parseBaseUrl } from '../../api/way.ts'
import { isLoopback } from '../../core/model/loopback.ts'
import { hasErrors, type Problem } from '../../core/model/problem.ts'
import { beyondLimit } from '../../core/model/units.ts'
import type { ProblemCode } from '../../policy/codes.ts'
import { readTextFile, shownPath } from '../../policy/load/files.ts'
import { didYouMean } from '../../policy/suggest.ts'
import { quoted } from '../../policy/yaml.ts'
import { ledgerFault } from '../ledger/postgres/address.ts'
import type { FileConfig, FileWorkspace, ParsedConfig, Places } from './file.ts'
import { notifyFor } from './notify-check.ts'
import type { Approvals, Config, ConfigFlags, ConfigInput, WorkspaceConfig } from './settings.ts'
import { plainHttpProblems, withTransport } from './transport.ts'
import { type KeyRef, type Listen, parseListen, WORKSPACE_DEFAULTS } from './values.ts'

export type { KeyRef, Keys } from './values.ts'

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

/** The environment variable that holds the key itself. */
const KEY_VARIABLE = 'CAPKEEPER_SERVICE_KEY'

const DEFAULT_LISTEN: Listen = { host: '127.0.0.1', port: 9464 }
const DEFAULT_LEDGER = './capkeeper.db'
const DEFAULT_NAME = 'default'
const DEFAULT_APPROVALS: Approvals = 'separate'

/** Settings for one workspace from flags or environment; `by`: the flag or variable, for problems. */
interface Overrides {
  readonly policies?: { readonly value: readonly string[]; readonly by: string }
  readonly baseUrl?: { readonly value: string; readonly by: string }
  readonly key?: { readonly value: KeyRef; readonly by: string }
}

export interface ConfigFileText {
  readonly file: string
  /** The path as problems show it. */
  readonly shown: string
  readonly text: string
}

/** The config file that is named. */
export const configFileOf = ({ file, flags, env }: ConfigInput): string | undefined =>
  file ?? flags.config ?? variable(env, 'CAPKEEPER_CONFIG')

/** The text of the config file; the whole result where none is named, or where it cannot be read. */
export function readConfigFile(input: ConfigInput, read?: (path: string) => Buffer): ConfigFileText | LoadedConfig {
  const cwd = input.cwd ?? process.cwd()
  const file = configFileOf(input)
  if (file === undefined) return build(input, undefined, [])
  const found = readTextFile(file, cwd, read)
  return 'problem' in found ? { problems: [found.problem], file } : { file, shown: shownPath(file, cwd) || file, text: found.text }
}

/** A parsed config file with environment and flags on top. */
export const completed = (input: ConfigInput, { file }: ConfigFileText, { config, problems, places }: ParsedConfig): LoadedConfig =>
  config ? { ...build(input, config, problems), file, ...(places && { places }) } : { problems, file }

/** An empty variable counts as absent. */
const variable = (env: ConfigInput['env'], name: string): string | undefined => env[name] || undefined

function build({ env, flags }: ConfigInput, file: FileConfig | undefined, found: readonly Problem[]): LoadedConfig {
  const problems = [...found]
  const listen = readListenFlag(flags.listen, problems) ?? file?.listen ?? DEFAULT_LISTEN
  const overrides = overridesOf(env, flags, file, problems)
  const configured = file && file.workspaces.length > 0 ? file.workspaces.map(complete) : undefined
  const beyond = beyondLimit('workspaces', configured?.length ?? 1)
  if (beyond !== undefined) problems.push({ severity: 'warning', code: 'BEYOND_LIMIT', message: beyond })
  const chosen = configured ? choose(configured, flags.workspace, problems) : [fresh(flags.workspace ?? DEFAULT_NAME)]
  const approvals = file?.approvals ?? DEFAULT_APPROVALS
  const { notify, workspaces: _, ...given } = file ?? NO_FILE
  const workspaces = override(chosen, overrides, problems)
    .map((workspace) => ({
      ...workspace,
      approvals,
      creditsPerSeat: given.creditsPerSeat,
      ...(notify && { notify: notifyFor(notify, workspace.name, given.requests?.url) }),
    }))
    .map(withTransport(env, flags, problems))
  const ledger = flags.ledger ?? variable(env, 'CAPKEEPER_LEDGER') ?? file?.ledger ?? DEFAULT_LEDGER
  const fault = ledgerFault(ledger)
  if (fault !== undefined) problems.push(problem('ADDRESS', `${flags.ledger === undefined ? 'CAPKEEPER_LEDGER' : '--ledger'}: ${fault}`))
  const config: Config = {
    ...given,
    listen,
    people: given.people ?? (isLoopback(listen.host) ? 'email' : 'hash'),
    ledger,
    approvals,
    workspaces,
  }
  if (hasErrors(problems)) return { problems }
  return {
    config,
    problems,
    configured: configured?.map((one) => workspaces.find(({ name }) => name === one.name) ?? one),
  }
}

const complete = (workspace: FileWorkspace): WorkspaceConfig => ({
  ...workspace,
  baseUrl: workspace.baseUrl ?? '',
  approvals: DEFAULT_APPROVALS,
})

const NO_FILE: FileConfig = { metrics: { perUser: 'off', userLabel: 'hash' }, workspaces: [] }

/** The only workspace where there is no config file. */
const fresh = (name: string): WorkspaceConfig => ({
  name,
  baseUrl: '',
  keys: {},
  policies: [],
  approvals: DEFAULT_APPROVALS,
  ...WORKSPACE_DEFAULTS,
})

const problem = (code: ProblemCode, message: string, hint?: string): Problem => ({
  severity: 'error',
  code,
  message,
  hint,
})

function choose(configured: readonly WorkspaceConfig[], name: string | undefined, problems: Problem[]): readonly WorkspaceConfig[] {
  if (name === undefined) return configured
  const chosen = configured.filter((workspace) => workspace.name === name)
  const names = configured.map((workspace) => workspace.name)
  if (chosen.length === 0)
    problems.push(problem('WORKSPACE_UNKNOWN', `there is no workspace ${quoted(name)} in the config`, didYouMean(name, names)))
  return chosen
}

function readListenFlag(text: string | undefined, problems: Problem[]): Listen | undefined {
  if (text === undefined) return undefined
  const listen = parseListen(text)
  if (!listen) problems.push(problem('ADDRESS', `--listen is ${quoted(text)}, not host:port`, 'write it like 127.0.0.1:9464'))
  return listen
}

function overridesOf(env: ConfigInput['env'], flags: ConfigFlags, file: FileConfig | undefined, problems: Problem[]): Overrides {
  const policies =
    flags.policies ??
    variable(env, 'CAPKEEPER_POLICIES')
      ?.split(/[:,]/)
      .filter((path) => path !== '')
  const baseUrl = flags.baseUrl ?? variable(env, 'CAPKEEPER_BASE_URL')
  const parsed = baseUrl === undefined ? undefined : parseBaseUrl(baseUrl)
  const by = (given: unknown, flag: string, name: string): string => (given === undefined ? name : flag)
  const urlBy = by(flags.baseUrl, '--base-url', 'CAPKEEPER_BASE_URL')
  if (parsed && 'message' in parsed)
    problems.push(problem('URL', `${urlBy}: ${parsed.message}`, 'write it like https://service.example/api/v1'))
  const key = keyOverride(env, flags, file)
  return {
    policies: policies && policies.length > 0 ? { value: policies, by: by(flags.policies, '--policies', 'CAPKEEPER_POLICIES') } : undefined,
    baseUrl: parsed && 'url' in parsed ? { value: parsed.url, by: urlBy } : undefined,
    key,
  }
}

function keyOverride(env: ConfigInput['env'], flags: ConfigFlags, file: FileConfig | undefined): Overrides['key'] {
  const variableFile = variable(env, 'CAPKEEPER_SERVICE_KEY_FILE')
  if (flags.serviceKeyFile !== undefined) return { value: { file: flags.serviceKeyFile }, by: '--service-key-file' }
  if (variableFile !== undefined) return { value: { file: variableFile }, by: 'CAPKEEPER_SERVICE_KEY_FILE' }
  // A config that names the variable itself says which workspace its key is for.
  const isNamed = file?.workspaces.some(({ keys }) => Object.values(keys).some((ref: KeyRef) => 'env' in ref && ref.env === KEY_VARIABLE))
  return variable(env, KEY_VARIABLE) === undefined || isNamed ? undefined : { value: { env: KEY_VARIABLE }, by: KEY_VARIABLE }
}

/** Overrides need a single workspace. A key replaces `keys.default`. */
function override(workspaces: readonly WorkspaceConfig[], overrides: Overrides, problems: Problem[]): readonly WorkspaceConfig[] {
  const { policies, baseUrl, key } = overrides
  if (workspaces.length > 1) {
    const names = workspaces.map(({ name }) => name).join(', ')
    for (const { by } of [policies, baseUrl, key].filter((one) => one !== undefined)) {
      problems.push(
        problem(
          'NEEDS_WORKSPACE',
          `${by} is for one workspace, and ${workspaces.length} are configured: ${names}`,
          'choose one with --workspace, or write it in the config file',
        ),
      )
    }
    return workspaces
  }
  return workspaces.map((workspace) => ({
    ...workspace,
    ...(policies && { policies: policies.value }),
    ...(baseUrl && { baseUrl: baseUrl.value }),
    ...(key && { keys: { ...workspace.keys, default: key.value } }),
  }))
}

/** Why a command cannot reach the service: no address or an unencrypted one, no key, and, where it needs them, no policies. */
export function networkProblems(config: Config, needs: { readonly policies: boolean } = { policies: true }): readonly Problem[] {
  const missing = config.workspaces.flatMap(({ name, baseUrl, keys, policies }) => [
    baseUrl === '' &&
      problem(
        'NO_BASE_URL',
        `${name}: the address of the service is missing`,
        'give --base-url, CAPKEEPER_BASE_URL, or baseUrl in the config',
      ),
    // Any key will do: only the service knows the permissions of a key.
    Object.keys(keys).length === 0 &&
      problem('NO_KEY', `${name}: the service key is missing`, 'give --service-key-file, CAPKEEPER_SERVICE_KEY, or keys in the config'),
    needs.policies &&
      policies.length === 0 &&
      problem('NO_POLICIES', `${name}: no policies are given`, 'give --policies, CAPKEEPER_POLICIES, or policies in the config'),
  ])
  return [...missing.filter((one) => one !== false), ...plainHttpProblems(config.workspaces, 'error')]
}
