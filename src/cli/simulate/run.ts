// `simulate`: replays recorded use workspace by workspace, and prints the result with people as the config says.

import { type Command, Option } from 'commander'
import { plain } from '../../core/escape/text.ts'
import type { PolicyRevision } from '../../core/model/policy.ts'
import { hasErrors, InputError, type Problem } from '../../core/model/problem.ts'
import { ENOUGH_KNOWN } from '../../core/use/history.ts'
import type { Simulation, SimulationInputs, SimulationRow } from '../../core/use/replay/document.ts'
import { simulate } from '../../core/use/replay/simulation.ts'
import { loadConfigAside } from '../../daemon/config/config.ts'
import type { Config } from '../../daemon/config/settings.ts'
import { type KnownCycle, type RecordedUse, type ReplayOptions, replayStart } from '../../daemon/replay/gather.ts'
import { randomSalt } from '../../daemon/schedule/system.ts'
import type { LoadedPolicies } from '../../policy/load/loaded.ts'
import { addUsedFlags, examples, type NetworkFlags, outputOption, readInteger, type ShowFlags } from '../shared/args.ts'
import { type Cli, CommandError, EXIT, type Paint, painter, UsageError, unpainted, worstExit } from '../shared/context.ts'
import { type Answers, inEach } from '../shared/each.ts'
import { collectLine, readRecordedUse } from '../shared/ledger/access.ts'
import { labelsFor, policyPaths, readPolicies, showWarnings } from '../shared/problems.ts'
import { sweepProgress } from '../shared/progress.ts'
import { columns, dayText, documentText, padEnd, people, wrap } from '../shared/text.ts'
import {
  besideText,
  besideTitle,
  blockedText,
  changeText,
  cyclesText,
  figure,
  middle,
  money,
  neverReached,
  range,
  renderSimulationMarkdown,
  spanText,
  verdictOf,
} from './render-markdown.ts'

const SIMULATE_FORMATS = ['text', 'json', 'markdown', 'html'] as const
type SimulateFormat = (typeof SIMULATE_FORMATS)[number]

export interface SimulateFlags extends ShowFlags<SimulateFormat> {
  readonly cycles?: number
  readonly against?: string
}

export function registerSimulate(program: Command, cli: Cli): void {
  const command = program
    .command('simulate')
    .description(
      'Replays the recorded days of use under the given policies and compares them with the caps in force, or with other policies. Shows ' +
        'for each billing cycle and group the use, the people who would have been blocked, from which day and on how many of their working ' +
        'days, the caps that were never reached and the people who gain or lose. No network, no key; nothing is written.',
    )
    .argument('[path...]', 'policy files or folders; default: those of --policies or the config')
    .addOption(new Option('--cycles <n>', 'how many of the last whole billing cycles; default 3').argParser(readInteger(1, 36)))
    .addOption(new Option('--against <path>', 'compare with these policies instead of with what was in force'))
    .addOption(outputOption(SIMULATE_FORMATS))
  addUsedFlags(command, ['config', 'policies', 'ledger', 'workspace'])
    .addHelpText(
      'after',
      examples(
        'capkeeper simulate policies/',
        'capkeeper simulate proposed.yaml --against policies/ --cycles 6',
        'capkeeper simulate --output html > simulation.html',
      ),
    )
    .action((paths: readonly string[], flags: SimulateFlags) => simulateCommand(paths, flags, cli))
}

interface GatherOptions {
  /** Policy files in place of those of the config. */
  readonly paths: readonly string[]
  readonly against?: string
  readonly cycles?: number
}

/** One workspace, whether or not it can be replayed. */
export interface Recorded {
  readonly policy: PolicyRevision
  readonly groups: SimulationInputs['groups']
  /** The inputs of a replay, or why there can be none. */
  readonly start: SimulationInputs | CommandError
}

export interface Gathered {
  readonly config: Config
  readonly workspaces: readonly Recorded[]
  readonly warnings: readonly Problem[]
  /** The salt of people's hashes. */
  readonly salt: string
}

/** Throws an `InputError` with every problem of config and policies, and a `CommandError` when policies and ledger have no workspace in common. */
export async function gather(flags: NetworkFlags, options: GatherOptions, cli: Cli): Promise<Gathered> {
  const loaded = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  if (!loaded.config) throw new InputError(loaded.problems)
  const { config } = loaded
  const paths = options.paths.length > 0 ? options.paths : policyPaths(config)
  if (paths.length === 0) throw new UsageError('which policies? Name files or folders, or a config file with --config')
  // What a team may say is replayed as it is written.
  const asked = { ...flags, asWritten: true }
  const policies = await readPolicies(paths, loaded, asked, cli)
  const against = options.against === undefined ? undefined : await readPolicies([options.against], loaded, asked, cli)
  const problems = [...loaded.problems, ...policies.problems, ...(against?.problems ?? [])]
  if (hasErrors(problems)) throw new InputError(problems)
  const names = loaded.configured
    ? config.workspaces.map(({ name }) => name)
    : [policies.workspace ?? config.workspaces[0]?.name ?? 'default']
  const ledger = await readRecordedUse(cli, config.ledger, names, flags)
  const { pricePerCredit, creditsPerSeat } = config
  const workspaces = ledger.workspaces.flatMap((use): Recorded[] => {
    const policy = policies.sets.get(use.workspace)
    const beside = against && againstOf(against, use.workspace)
    if (!policy) return []
    const replay = {
      policy,
      against: beside,
      cycles: options.cycles,
      pricePerCredit,
      creditsPerSeat,
    }
    return [{ policy, groups: use.usage?.groups ?? [], start: startOf(use, { ...replay, now: cli.clock.now() }, flags) }]
  })
  for (const name of names) {
    const policy = policies.sets.get(name)
    if (!policy || ledger.workspaces.some(({ workspace }) => workspace === name)) continue
    workspaces.push({ policy, groups: [], start: nothingRecorded(name, flags) })
  }
  if (workspaces.length === 0) throw new CommandError(`no policy is for ${names.join(', ')}`)
  return { config, workspaces, warnings: problems, salt: ledger.salt ?? randomSalt() }
}

/** Without a config file the two sides may have different workspace names. */
const againstOf = ({ sets, workspace }: LoadedPolicies, name: string): PolicyRevision | undefined =>
  sets.get(name) ?? (workspace === undefined && sets.size === 1 ? [...sets.values()][0] : undefined)

/** The inputs of a replay. Throws a `CommandError` when there can be none. */
export function inputsOf({ start }: Recorded): SimulationInputs {
  if (start instanceof CommandError) throw start
  return start
}

function startOf(use: RecordedUse, options: ReplayOptions, flags: NetworkFlags): Recorded['start'] {
  const start = replayStart(use, options)
  switch (start.kind) {
    case 'inputs':
      return start.best ? new CommandError(shortText(use.workspace, start.best, flags)) : start.inputs
    case 'no-days':
      return nothingRecorded(use.workspace, flags)
    case 'no-cycle':
      return new CommandError(`${use.workspace}: the ledger knows no billing cycle, because the service names none`)
  }
}

const nothingRecorded = (workspace: string, flags: NetworkFlags): CommandError =>
  new CommandError(`${workspace}: the ledger has no day of anybody's use yet (0 %); type: ${collectLine(flags)}`)

/** What is missing, and the one command that gets it. */
function shortText(workspace: string, { startAt, endAt, known }: KnownCycle, flags: NetworkFlags): string {
  const share = (part: number): string => `${Math.floor(part * 100)} %`
  const ofUse = known.use === undefined ? '' : ` and ${share(known.use)} of the use`
  const least = share(ENOUGH_KNOWN)
  return (
    `${workspace}: no past cycle is known for ${least} of the people and of the use: the best, ${dayText(startAt)} to ${dayText(endAt)}, ` +
    `is known for ${share(known.people)} of the people${ofUse}; type: ${collectLine(flags)}`
  )
}

/** Simulates all workspaces of policies and ledger; exits 4 when some have no recorded use, and fails when none has. */
export async function simulateCommand(paths: readonly string[], flags: SimulateFlags, cli: Cli): Promise<void> {
  const gathered = await gather(flags, { paths, against: flags.against, cycles: flags.cycles }, cli)
  showWarnings(gathered.warnings, cli)
  const labels = labelsFor(gathered.config.people, gathered.salt)
  const { done, codes } = await simulateAll(gathered, cli)
  const simulations = done.map(labels.all)
  const now = cli.clock.now()
  const renderers = {
    text: () => renderSimulationText(simulations, painter(cli.stdout)),
    json: () => documentText('Simulation', { createdAt: now, simulations }),
    markdown: () => renderSimulationMarkdown(simulations),
    html: async () => (await import('../../console/report.ts')).renderSimulationPage(simulations, now),
  }
  cli.stdout.write(await renderers[flags.output]())
  cli.finish(worstExit([EXIT.done, ...codes]))
}

async function simulateAll({ workspaces }: Gathered, cli: Cli): Promise<Answers<Simulation>> {
  const progress = await sweepProgress('replaying cycles', cli.stderr)
  for (const { start } of workspaces) if ('cycles' in start) progress.expect(start.cycles)
  try {
    return await inEach(cli, workspaces, (one) => simulate({ ...inputsOf(one), onCycle: progress.one }))
  } finally {
    progress.stop()
  }
}

// A simulation as text, on about one screen: the verdict, a line for each cycle and group, then people and caps. Long lists are cut with a
// count; JSON has all of it.

/** Groups shown for each cycle, people and caps of each list. */
const VISIBLE = { groups: 8, blocked: 8, changed: 3, caps: 6 }
/** With more lines than this for groups, only the last cycle shows its groups. */
const GROUP_LINES = 18
const WIDTH = 110

/** Simulations as text, a blank line between blocks. */
const renderSimulationText = (simulations: readonly Simulation[], paint: Paint = unpainted): string =>
  simulations.map((one) => `${blocksOf(one, paint).join('\n\n')}\n`).join('\n')

function blocksOf(simulation: Simulation, paint: Paint): readonly string[] {
  const { workspace, policy, notes } = simulation
  const title = `${workspace}: policy ${policy.digest} over ${cyclesText(simulation)}, ${spanText(simulation)}, beside ${besideText(simulation)}`
  return [
    [paint('bold', plain(title)), ...wrap(verdictOf(simulation), WIDTH)].join('\n'),
    table(simulation, paint),
    ...blockedBlock(simulation, paint),
    ...listsOf(simulation),
    notes
      .flatMap((note) => wrap(`note: ${plain(note)}`, WIDTH).map((line, index) => paint('dim', index === 0 ? line : `      ${line}`)))
      .join('\n'),
  ].filter((block) => block !== '')
}

function table(simulation: Simulation, paint: Paint): string {
  const hasMoney = simulation.pricePerCredit !== undefined
  const beside = besideTitle(simulation)
  const heads = [
    ['', '', 'ADD-ON CREDITS', '', '', ...(hasMoney ? [''] : []), 'PEOPLE BLOCKED', '', 'DAYS BLOCKED', '', ''],
    ['CYCLE', 'PEOPLE', beside, 'policy', 'kept', ...(hasMoney ? ['money'] : []), beside, 'policy', beside, 'policy', 'of'],
  ]
  const { cycles } = simulation
  const isLong = cycles.reduce((sum, one) => sum + Math.min(VISIBLE.groups, one.groups.length), 0) > GROUP_LINES
  const rows = cycles.flatMap(({ startAt, isWhole, total, groups: all, pools }, index) => {
    const groups = isLong && index < cycles.length - 1 ? [] : all
    return [
      cells(`${dayText(startAt)}${isWhole ? '' : ' (in part)'}`, total, hasMoney),
      ...groups.slice(0, VISIBLE.groups).map((group) => cells(`  ${plain(group.name)}`, group, hasMoney)),
      ...(groups.length > VISIBLE.groups ? [[`  … and ${groups.length - VISIBLE.groups} more groups`]] : []),
      ...pools.slice(0, VISIBLE.groups).map((pool) => cells(`  ${plain(pool.name)} (${figure(pool.credits)})`, pool, hasMoney)),
      ...(pools.length > VISIBLE.groups ? [[`  … and ${pools.length - VISIBLE.groups} more pools`]] : []),
    ]
  })
  const [first = '', second = '', ...body] = columns([...heads, ...rows], (column) => column > 0)
  return [paint('dim', first), paint('dim', second), ...body, ...ranges(simulation)].join('\n')
}

const cells = (name: string, row: SimulationRow, hasMoney: boolean): readonly string[] => [
  name,
  figure(row.people),
  figure(row.beside.credits.middle),
  figure(row.policy.credits.middle),
  figure(row.kept),
  ...(hasMoney ? [row.keptMoney === undefined ? '' : money(row.keptMoney)] : []),
  middle(row.beside.blockedPeople),
  figure(row.policy.blockedPeople.middle),
  middle(row.beside.blockedDays),
  figure(row.policy.blockedDays.middle),
  figure(row.workingDays),
]

/** The ranges of figures that are uncertain, because people were at a cap. */
function ranges(simulation: Simulation): readonly string[] {
  const [{ cycles }, title] = [simulation, besideTitle(simulation)]
  return cycles.flatMap(({ startAt, total: { policy, beside } }) => {
    const parts = [
      ['credits', range(policy.credits)],
      ['people blocked', range(policy.blockedPeople)],
      ['days blocked', range(policy.blockedDays)],
      [`people blocked ${title}`, beside.blockedPeople && range(beside.blockedPeople)],
    ].flatMap(([of, text]) => (text === undefined ? [] : [`${text} ${of}`]))
    return parts.length === 0 ? [] : [`range ${dayText(startAt)}: ${parts.join(', ')}`]
  })
}

function blockedBlock(simulation: Simulation, paint: Paint): readonly string[] {
  const listed = simulation.blocked.filter(({ policy }) => policy)
  if (listed.length === 0) return []
  const beside = besideTitle(simulation)
  const head = ['BLOCKED UNDER THIS POLICY', 'CYCLE', 'BLOCKED', 'CAP', beside.toUpperCase()]
  const rows = listed
    .slice(0, VISIBLE.blocked)
    .map((one) => [
      plain(one.email),
      dayText(one.cycleStartAt),
      blockedText(simulation, one, 'policy'),
      figure(one.policy?.cap ?? 0),
      blockedText(simulation, one, 'beside'),
    ])
  const [title = '', ...body] = columns([head, ...rows], (column) => column === 3)
  return [[paint('dim', title), ...body, ...more(listed.length, rows.length)].join('\n')]
}

const more = (all: number, shown: number): readonly string[] => (all > shown ? [`… and ${all - shown} more; --output json has all`] : [])

function listsOf(simulation: Simulation): readonly string[] {
  const { gains, losses } = simulation
  const unreached = neverReached(simulation)
  const changed = (list: Simulation['gains']): string => {
    const named = list.slice(0, VISIBLE.changed).map((one) => `${plain(one.email)} (${changeText(one)})`)
    return `${people(list.length)}: ${named.join('; ')}${list.length > named.length ? '; …' : ''}`
  }
  const caps = unreached
    .slice(0, VISIBLE.caps)
    .map(({ scope, cap, highest }) => `${plain(scope)} ${figure(cap)} (highest ${figure(highest)})`)
  const lines = [
    ...(gains.length > 0 ? [['Gain', changed(gains)]] : []),
    ...(losses.length > 0 ? [['Lose', changed(losses)]] : []),
    ...(unreached.length > 0
      ? [['Caps never reached', `${caps.join(', ')}${unreached.length > caps.length ? `, … ${unreached.length - caps.length} more` : ''}`]]
      : []),
  ]
  const indent = Math.max(...lines.map(([name = '']) => name.length)) + 2
  const wrapped = lines.flatMap(([name = '', text = '']) =>
    wrap(text, WIDTH - indent).map((line, index) => `${padEnd(index === 0 ? name : '', indent)}${line}`),
  )
  return lines.length > 0 ? [wrapped.join('\n')] : []
}
