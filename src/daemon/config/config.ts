// What capkeeper runs with: flags over environment over config file over defaults (product.md, section 4). It gives a whole config or
// problems, never both half. It holds references to service keys, never a key. What only commands that reach the service need (an
// address, a key, policies) is asked for by `networkProblems`, so that `validate` runs without them.

import { parseBaseUrl } from '../../api/url.ts'
import { DEFAULT_GUARDS } from '../../core/model/change.ts'
import { beyondLimit } from '../../core/model/limits.ts'
import { isLoopback } from '../../core/model/loopback.ts'
import { hasErrors, type Problem } from '../../core/model/problem.ts'
import type { ProblemCode } from '../../policy/codes.ts'
import { readTextFile, shownPath } from '../../policy/load/files.ts'
import { didYouMean } from '../../policy/suggest.ts'
import { type Place, quoted } from '../../policy/yaml.ts'
import type { FileConfig, FileWorkspace, ParsedConfig } from './file.ts'
import { notifyFor } from './notify-values.ts'
import type { Approvals, Config, ConfigFlags, ConfigInput, WorkspaceConfig } from './settings.ts'
import { plainHttpProblems, withTransport } from './transport.ts'
import {
  DEFAULT_INTERVAL_MS,
  DEFAULT_RATE,
  DEFAULT_USAGE_INTERVAL_MS,
  DEFAULT_USAGE_LAG_MS,
  type KeyRef,
  type Keys,
  type Listen,
  parseListen,
} from './values.ts'

export type { KeyRef, Keys } from './values.ts'

/**
 * `config` is there exactly when no problem is an error. `configured` are all workspaces of the config file, also when one was chosen
 * (`loadPolicies` needs them to know every name); absent without a config file. `file` is the config file's path, when there is one.
 */
export interface LoadedConfig {
  readonly config?: Config
  readonly problems: readonly Problem[]
  readonly configured?: readonly WorkspaceConfig[]
  readonly file?: string
  /** Where the config file names CA files, by path: whether they can be used is not looked at here. */
  readonly caFilesAt?: ReadonlyMap<string, Place>
}

/** The environment variable that holds the key itself. */
const KEY_VARIABLE = 'CAPKEEPER_SERVICE_KEY'

const DEFAULT_LISTEN: Listen = { host: '127.0.0.1', port: 9464 }
const DEFAULT_LEDGER = './capkeeper.db'
const DEFAULT_NAME = 'default'
const DEFAULT_APPROVALS: Approvals = 'separate'

/** Settings of one workspace that flags or environment give, with the names to complain under. */
interface Overrides {
  readonly policies?: { readonly value: readonly string[]; readonly by: string }
  readonly baseUrl?: { readonly value: string; readonly by: string }
  readonly key?: { readonly value: KeyRef; readonly by: string }
}

/** A config file that was found, and how it is shown. */
export interface ConfigFileText {
  readonly file: string
  readonly shown: string
  readonly text: string
}

/** The config file that the input names; without one, or when it cannot be read, what there is to say already. */
export function readConfigFile(input: ConfigInput): ConfigFileText | LoadedConfig {
  const cwd = input.cwd ?? process.cwd()
  const file = input.file ?? input.flags.config ?? variable(input.env, 'CAPKEEPER_CONFIG')
  if (file === undefined) return build(input, undefined, [])
  const read = readTextFile(file, cwd)
  return 'problem' in read ? { problems: [read.problem], file } : { file, shown: shownPath(file, cwd) || file, text: read.text }
}

/** A parsed config file with environment and flags on top. */
export const completed = (input: ConfigInput, { file }: ConfigFileText, { config, problems }: ParsedConfig): LoadedConfig =>
  config ? { ...build(input, config, problems), file, caFilesAt: caFilesOf(config) } : { problems, file }

const caFilesOf = ({ workspaces }: FileConfig): ReadonlyMap<string, Place> =>
  new Map(workspaces.flatMap(({ caFile, caFileAt }) => (caFile !== undefined && caFileAt ? [[caFile, caFileAt]] : [])))

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
  const workspaces = override(chosen, overrides, problems)
    .map((workspace) => ({ ...workspace, approvals, ...(file?.notify && { notify: notifyFor(file.notify, workspace.name) }) }))
    .map(withTransport(env, flags, problems))
  const ledger = flags.ledger ?? variable(env, 'CAPKEEPER_LEDGER') ?? file?.ledger ?? DEFAULT_LEDGER
  const config: Config = {
    listen,
    people: file?.people ?? (isLoopback(listen.host) ? 'email' : 'hash'),
    ledger,
    approvals,
    ...(file?.ledgerToken === undefined ? {} : { ledgerToken: file.ledgerToken }),
    ...(file?.auth === undefined ? {} : { auth: file.auth }),
    ...(file?.sourceUrl === undefined ? {} : { sourceUrl: file.sourceUrl }),
    metrics: file?.metrics ?? { perUser: 'off', userLabel: 'hash' },
    ...(file?.pricePerCredit === undefined ? {} : { pricePerCredit: file.pricePerCredit }),
    ...(file?.currency === undefined ? {} : { currency: file.currency }),
    workspaces,
  }
  if (hasErrors(problems)) return { problems }
  return {
    config,
    problems,
    ...(configured ? { configured: configured.map((one) => workspaces.find(({ name }) => name === one.name) ?? one) } : {}),
  }
}

function complete({ caFileAt: _caFileAt, ...workspace }: FileWorkspace): WorkspaceConfig {
  return { baseUrl: '', approvals: DEFAULT_APPROVALS, ...workspace }
}

/** The one workspace there is without a config file. */
const fresh = (name: string): WorkspaceConfig => ({
  name,
  baseUrl: '',
  keys: {},
  policies: [],
  mode: 'enforce',
  capSemantics: 'layered',
  capReads: 'auto',
  approvals: DEFAULT_APPROVALS,
  intervalMs: DEFAULT_INTERVAL_MS,
  usageIntervalMs: DEFAULT_USAGE_INTERVAL_MS,
  usageLagMs: DEFAULT_USAGE_LAG_MS,
  onDrift: 'heal',
  prune: true,
  undeclaredUsers: 'ignore',
  guards: DEFAULT_GUARDS,
  rate: DEFAULT_RATE,
})

const problem = (code: ProblemCode, message: string, hint?: string): Problem => ({
  severity: 'error',
  code,
  message,
  ...(hint === undefined ? {} : { hint }),
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
    ...(policies && policies.length > 0
      ? { policies: { value: policies, by: by(flags.policies, '--policies', 'CAPKEEPER_POLICIES') } }
      : {}),
    ...(parsed && 'url' in parsed ? { baseUrl: { value: parsed.url, by: urlBy } } : {}),
    ...(key ? { key } : {}),
  }
}

function keyOverride(env: ConfigInput['env'], flags: ConfigFlags, file: FileConfig | undefined): Overrides['key'] {
  const variableFile = variable(env, 'CAPKEEPER_SERVICE_KEY_FILE')
  if (flags.serviceKeyFile !== undefined) return { value: { file: flags.serviceKeyFile }, by: '--service-key-file' }
  if (variableFile !== undefined) return { value: { file: variableFile }, by: 'CAPKEEPER_SERVICE_KEY_FILE' }
  // A config that names the variable itself says which workspace it is for.
  const isNamed = file?.workspaces.some(({ keys }) => Object.values(keys).some((ref: KeyRef) => 'env' in ref && ref.env === KEY_VARIABLE))
  return variable(env, KEY_VARIABLE) === undefined || isNamed ? undefined : { value: { env: KEY_VARIABLE }, by: KEY_VARIABLE }
}

/** Settings that are for one workspace need one; a key given so takes the place of `keys.default`. */
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
    ...(policies ? { policies: policies.value } : {}),
    ...(baseUrl ? { baseUrl: baseUrl.value } : {}),
    ...(key ? { keys: { ...workspace.keys, default: key.value } } : {}),
  }))
}

/** What keeps a command from the service: no address or one that shows the key, no key, and (if it plans) no policies. */
export function networkProblems(config: Config, needs: { readonly policies: boolean } = { policies: true }): readonly Problem[] {
  const missing = config.workspaces.flatMap(({ name, baseUrl, keys, policies }) => [
    ...(baseUrl === ''
      ? [
          problem(
            'NO_BASE_URL',
            `${name}: the address of the service is missing`,
            'give --base-url, CAPKEEPER_BASE_URL, or baseUrl in the config',
          ),
        ]
      : []),
    ...(hasKeys(keys)
      ? []
      : [
          problem('NO_KEY', `${name}: the service key is missing`, 'give --service-key-file, CAPKEEPER_SERVICE_KEY, or keys in the config'),
        ]),
    ...(needs.policies && policies.length === 0
      ? [problem('NO_POLICIES', `${name}: no policies are given`, 'give --policies, CAPKEEPER_POLICIES, or policies in the config')]
      : []),
  ])
  return [...missing, ...plainHttpProblems(config.workspaces, 'error')]
}

/** Any key will do: which permissions are needed is only known when the service refuses. */
const hasKeys = (keys: Keys): boolean => Object.keys(keys).length > 0
