// `doctor`: checks everything that capkeeper needs, from the configuration to the permissions of each key, and names the way out. It changes
// nothing: the ledger is only read, and the client has no method that sets a cap.

import type { ServiceReader } from '../../api/client.ts'
import { probesOf } from '../../api/probe.ts'
import type { HttpTransport } from '../../api/transport/http.ts'
import { compareProblems, plain } from '../../core/escape/text.ts'
import { type Observation, observeReadings } from '../../core/interpret/evidence.ts'
import type { CapReading, Roster } from '../../core/model/observed.ts'
import { hasErrors, InputError, type Problem } from '../../core/model/problem.ts'
import { type ScopeKey, scopeKey, TEAM, userScope } from '../../core/model/scope.ts'
import { type LoadedConfig, loadConfigAside, networkProblems, plainHttpProblems } from '../../daemon/config/config.ts'
import type { Config, WorkspaceConfig } from '../../daemon/config/settings.ts'
import type { LedgerStore } from '../../daemon/ledger/store.ts'
import { nodeVersion, systemRandom } from '../../daemon/schedule/system.ts'
import type { LoadedPolicies } from '../../policy/load/loaded.ts'
import type { Ledger } from '../../ports.ts'
import { openTransport } from '../compose.ts'
import { action, COMMANDS, type FlagsOf } from '../shared/command.ts'
import { type Cli, EXIT, type ExitCode, inputExit, type Paint, painter, type Style } from '../shared/context.ts'
import { interruptible, waitForRate } from '../shared/each.ts'
import { openStore } from '../shared/ledger/store.ts'
import { amountsOf, named, policyPaths, problemsText, readPolicies } from '../shared/problems.ts'
import { count, documentText, present, VERSION } from '../shared/text.ts'
import {
  type Area,
  CHECK_STATUSES,
  type Check,
  type CheckStatus,
  checkPace,
  checkSeen,
  checkService,
  failed,
  notChecked,
  ok,
  recordsOf,
  seenNow,
  type Tell,
  warning,
} from './check.ts'
import { checkKeys, type KeyReport } from './keys.ts'
import { checkFiles, checkLedgerFile } from './machine.ts'
import { checkPlan } from './plan.ts'

type DoctorFlags = FlagsOf<typeof COMMANDS.doctor>

export const register = action(COMMANDS.doctor, doctorCommand)

/** Runs all checks and sets the exit code. */
async function doctorCommand(flags: DoctorFlags, cli: Cli): Promise<void> {
  const findings = collect(flags.output, cli)
  const workspaces = await interruptible(cli, (signal) => examine(flags, cli, findings, signal))
  if (flags.output === 'json') cli.stdout.write(cli.secrets.redact(doctorJson(findings.checks, workspaces, cli.clock.now())))
  else cli.stdout.write(`\n${summary(findings.checks)}\n`)
  cli.finish(exitOf(findings.checks))
}

async function examine(flags: DoctorFlags, cli: Cli, findings: Findings, signal: AbortSignal): Promise<readonly WorkspaceReport[]> {
  findings.about('program')('version', ok(`capkeeper ${VERSION} on Node ${nodeVersion}`))
  const loaded = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  checkConfig(loaded, findings.about('config'))
  if (!loaded.config) {
    findings.about('service')('reached', notChecked('service, keys and ledger: the configuration has to be valid first'))
    return []
  }
  const policies = await checkPolicies(loaded, loaded.config, flags, cli, findings.about('policies'))
  const config = named(loaded.config, policies)
  const report = await checkLedgerFile(config, cli, findings.about('ledger'))
  const store = report && report.problems.length === 0 ? await openStore(cli, config.ledger, 'read') : undefined
  await using opened = new AsyncDisposableStack()
  opened.defer(async () => store?.close())
  const workspaces: WorkspaceReport[] = []
  for (const one of config.workspaces) {
    workspaces.push(await examineWorkspace({ config: one, policies, store, cli, findings, signal }))
  }
  return workspaces
}

function checkConfig({ config, file, problems }: LoadedConfig, tell: Tell): void {
  const missing = config ? [...networkProblems(config, { policies: false }), ...plainHttpProblems(config.workspaces, 'error')] : []
  const all = [...problems, ...missing].filter((one, index, list) => list.findIndex(({ message }) => message === one.message) === index)
  const subject = file ?? 'flags and environment'
  if (hasErrors(all)) tell('config', { ...failed(`${subject}: not valid`), problems: all })
  else if (all.length > 0) tell('config', { ...warning(`${subject}: valid, with warnings`), problems: all })
  else tell('config', ok(`${subject}: valid, ${count(config?.workspaces.length ?? 0, 'workspace')}`))
}

async function checkPolicies(loaded: LoadedConfig, config: Config, flags: DoctorFlags, cli: Cli, tell: Tell): Promise<LoadedPolicies> {
  const policies = await readPolicies(policyPaths(config), loaded, flags, cli)
  const without = config.workspaces.filter((one) => one.policies.length === 0)
  const judged: readonly Problem[] = without.length === config.workspaces.length ? [] : policies.problems
  if (without.length > 0)
    tell('policies', notChecked('no policies are given', 'give --policies, CAPKEEPER_POLICIES, or policies in the config'))
  if (without.length === config.workspaces.length) return policies
  const amounts = [...policies.sets].map(([name, one]) => {
    const { rules, grants } = amountsOf(one)
    return `${name} ${count(rules, 'cap')}, ${count(grants, 'grant')}`
  })
  if (hasErrors(judged)) tell('policies', { ...failed('policies are not valid'), problems: judged })
  else if (judged.length > 0) tell('policies', { ...warning(`valid, with warnings: ${amounts.join('; ')}`), problems: judged })
  else tell('policies', ok(`valid: ${amounts.join('; ') || 'none declared'}`))
  return policies
}

interface Examination {
  readonly config: WorkspaceConfig
  readonly policies: LoadedPolicies
  readonly store: LedgerStore | undefined
  readonly cli: Cli
  readonly findings: Findings
  readonly signal: AbortSignal
}

/** The facts about one workspace, for the JSON document. */
type WorkspaceReport = Awaited<ReturnType<typeof examineWorkspace>>

async function examineWorkspace(job: Examination) {
  const { config, store, cli, findings } = job
  const about = (area: Area): Tell => findings.about(area, config.name)
  await checkFiles(config, cli, about('files'))
  const ledger = store && (await recordsOf(store, config, about('records'), cli.clock.now()))
  const observations: Observation[] = []
  const asked = await askService(job, ledger, observations, about)
  checkPace(ledger, about('deployment'))
  const seen = seenNow(ledger, observations, cli.clock.now())
  checkSeen(seen, config, cli.clock.now(), about('deployment'))
  return { workspace: config.name, baseUrl: config.baseUrl, ...asked, seen }
}

const UNASKED: { readonly reached: boolean; readonly keys: readonly KeyReport[] } = { reached: false, keys: [] }

async function askService(
  { config, policies, cli, signal }: Examination,
  ledger: Ledger | undefined,
  observations: Observation[],
  about: (area: Area) => Tell,
): Promise<typeof UNASKED> {
  // A key must not be sent to an address that the configuration may not use.
  const isAllowed = config.baseUrl !== '' && plainHttpProblems([config], 'error').length === 0
  if (!isAllowed) about('service')('reached', notChecked('the service: its address has to be valid first'))
  const transport = isAllowed ? transportOf(config, cli, about('service')) : undefined
  if (!transport) return UNASKED
  const waiting = waitForRate(cli, config.name)
  using opened = new DisposableStack()
  opened.defer(() => transport.close())
  opened.defer(waiting.stop)
  const reached = await checkService(config, transport, cli, signal, about('service'))
  const learned = ledger?.fact('pace')
  const probes = probesOf({
    sources: config.keys,
    env: cli.env,
    transport,
    clock: cli.clock,
    random: systemRandom,
    rate: config.rate,
    signal,
    onRequest: waiting.onRequest,
    givenUp: waiting.givenUp,
    onSeen: (observation) => void observations.push(observation),
    onKeys: (keys) => cli.secrets.alsoRedact(keys.redact),
    learned,
  })
  if (!reached) {
    about('keys')('permissions', notChecked('permissions, plan and deployment: the service was not reached'))
    return UNASKED
  }
  const now = cli.clock.now()
  const { reports, able, capless } = await checkKeys({ config, keys: probes, keyFirst: reached.keyFirst, now, signal }, about('keys'))
  const readers = { teams: able('teamsRead')?.reader, billing: able('billingRead')?.reader }
  const analytics = able('analyticsRead')
  const set = policies.sets.get(config.name)?.set
  const roster = await checkPlan({ ...readers, analytics, capless: capless?.reader, set, ledger, config, now, signal }, about('plan'))
  if (roster && readers.billing && !seenNow(ledger, observations, now).reads)
    observations.push(...(await sampleReads(readers.billing, roster, signal)))
  return { reached: true, keys: reports }
}

function transportOf(config: WorkspaceConfig, cli: Cli, tell: Tell): HttpTransport | undefined {
  try {
    return openTransport(cli, config, 1)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    for (const { message } of error.problems) tell('transport', failed(message))
    return undefined
  }
}

/** Enough to include a person without an explicitly set cap in most teams. Choice. */
const SAMPLE = 3

/** How reads work where nothing is set, as long as no cycle has seen it: of the team, and where it has a cap of a few people. */
async function sampleReads(reader: ServiceReader, { people }: Roster, signal: AbortSignal): Promise<readonly Observation[]> {
  const team = await reader.readCap(TEAM, signal)
  if (typeof team.observed !== 'number') return []
  const readings = new Map<ScopeKey, CapReading>([[scopeKey(TEAM), team]])
  for (const { email } of people.filter(({ status }) => status === 'approved').slice(0, SAMPLE))
    readings.set(scopeKey(userScope(email)), await reader.readCap(userScope(email), signal))
  return observeReadings({}, readings)
}

// The output of `doctor`: a line for each check as it is made, or one JSON document at the end.

type Findings = ReturnType<typeof collect>

const WORDS: Readonly<Record<CheckStatus, string>> = { ok: 'ok', warning: 'warning', failed: 'failed', not_checked: 'not checked' }
const STYLES: Readonly<Record<CheckStatus, Style>> = { ok: 'green', warning: 'yellow', failed: 'red', not_checked: 'dim' }
const COLUMN = 13

/** Collects checks; with `text` each is printed at once. */
function collect(output: 'text' | 'json', cli: Cli) {
  const checks: Check[] = []
  const paint = painter(cli.stdout)
  let title = ''
  return {
    checks,
    /** Reports checks of one area, for one workspace or for all. */
    about(area: Area, workspace?: string): Tell {
      return (name, finding) => {
        const check: Check = { area, name, workspace, ...finding }
        checks.push(check)
        if (output === 'json') return
        const next = workspace === undefined ? area : `${plain(workspace)}: ${area}`
        if (next !== title) cli.stdout.write(`${title === '' ? '' : '\n'}${paint('bold', next)}\n`)
        title = next
        cli.stdout.write(cli.secrets.redact(checkText(check, paint)))
      }
    },
  }
}

function checkText({ status, message, hint, problems = [] }: Check, paint: Paint): string {
  const head = `  ${paint(STYLES[status], WORDS[status].padEnd(COLUMN))}${plain(message)}\n`
  const way = hint === undefined ? '' : `  ${' '.repeat(COLUMN)}→ ${plain(hint)}\n`
  return `${head}${way}${problemsText(problems, paint).replace(/^(?=.)/gm, '    ')}`
}

/** `1 failed, 2 warnings, 17 ok, 3 not checked`. */
function summary(checks: readonly Check[]): string {
  const { failed, warning, ok, not_checked } = countsOf(checks)
  const bad = present(failed > 0 && `${failed} failed`, warning > 0 && count(warning, 'warning'))
  return present(bad, `${ok} ok`, not_checked > 0 && `${not_checked} not checked`).join(', ')
}

const countsOf = (checks: readonly Check[]): Readonly<Record<CheckStatus, number>> => {
  const of = (status: CheckStatus): number => checks.filter((check) => check.status === status).length
  return { ok: of('ok'), warning: of('warning'), failed: of('failed'), not_checked: of('not_checked') }
}

/** 65 for configuration and policies that cannot be used, 1 for anything else that failed (docs/commands.md). */
function exitOf(checks: readonly Check[]): ExitCode {
  const failed = checks.filter(({ status }) => status === 'failed')
  const input = failed.filter(({ area }) => area === 'config' || area === 'policies')
  if (input.length > 0) return inputExit(input.flatMap(({ problems = [] }) => problems))
  return failed.length > 0 ? EXIT.failed : EXIT.done
}

/** `{apiVersion, kind: "Doctor", version, at, result, counts, workspaces[], checks[]}` (choice). */
function doctorJson(checks: readonly Check[], workspaces: readonly WorkspaceReport[], now: number): string {
  const counts = countsOf(checks)
  const result = CHECK_STATUSES.find((status) => status === 'failed' && counts[status] > 0) ?? (counts.warning > 0 ? 'warning' : 'ok')
  return documentText('Doctor', {
    version: VERSION,
    at: now,
    result,
    counts,
    workspaces: workspaces.map(({ seen, ...rest }) => ({
      ...rest,
      seen: Object.entries(seen).map(([aspect, one]) => ({ aspect, ...one })),
    })),
    checks: checks.map(({ problems, ...check }) => ({ ...check, problems: problems?.toSorted(compareProblems) })),
  })
}
