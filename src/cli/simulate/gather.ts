// What a replay starts from: config, policies and ledger of each workspace, and which billing cycles were recorded. No key is read and no
// service asked. What the ledger cannot tell becomes a note, or an error that says what to do.

import type { Cycle } from '../../core/model/observed.ts'
import type { PolicyRevision } from '../../core/model/policy.ts'
import { hasErrors, InputError, type Problem } from '../../core/model/problem.ts'
import { type Credits, credits, type Instant } from '../../core/model/units.ts'
import { firstDayOf, type ReplayCycle } from '../../core/use/replay/demand.ts'
import type { SimulationInputs } from '../../core/use/replay/document.ts'
import { DAY_MS, isWeekend, recordedSpan } from '../../core/use/replay/recorded.ts'
import type { LoadedConfig } from '../../daemon/config/config.ts'
import { loadConfigAside } from '../../daemon/config/load-aside.ts'
import type { Config } from '../../daemon/config/settings.ts'
import { randomSalt } from '../../daemon/schedule/system.ts'
import type { LoadedPolicies } from '../../policy/load/load.ts'
import { loadPoliciesAside } from '../../policy/load/load-aside.ts'
import type { NetworkFlags } from '../shared/args.ts'
import { type Cli, CommandError, UsageError } from '../shared/context.ts'
import { cycleBeside, cyclesBetween } from '../shared/cycles.ts'
import { cyclesKnown, HOW_TO_GET_DAYS, type RecordedUse, readRecordedUse } from '../shared/ledger/recorded-use.ts'
import { count } from '../shared/text.ts'

/** Cycles that are shown when nobody asks for a number. Choice. */
const CYCLES = 3

export interface GatherOptions {
  /** Policy files in place of those of the config. */
  readonly paths: readonly string[]
  readonly against?: string
  readonly cycles?: number
}

export interface Gathered {
  readonly config: Config
  readonly workspaces: readonly SimulationInputs[]
  readonly warnings: readonly Problem[]
  /** What people are hashed with. */
  readonly salt: string
}

/** Throws an `InputError` with every problem of config and policies, and a `CommandError` when nothing can be replayed. */
export async function gather(flags: NetworkFlags, options: GatherOptions, cli: Cli): Promise<Gathered> {
  const loaded = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  if (!loaded.config) throw new InputError(loaded.problems)
  const { config } = loaded
  const paths = options.paths.length > 0 ? options.paths : [...new Set(config.workspaces.flatMap(({ policies }) => policies))]
  if (paths.length === 0) throw new UsageError('which policies? Name files or folders, or a config file with --config')
  const policies = await load(paths, loaded, flags, cli)
  const against = options.against === undefined ? undefined : await load([options.against], loaded, flags, cli)
  const problems = [...loaded.problems, ...policies.problems, ...(against?.problems ?? [])]
  if (hasErrors(problems)) throw new InputError(problems)
  const names = loaded.configured
    ? config.workspaces.map(({ name }) => name)
    : [policies.workspace ?? config.workspaces[0]?.name ?? 'default']
  const ledger = await readRecordedUse(cli, config.ledger, names)
  const workspaces = ledger.workspaces.flatMap((use) => {
    const policy = policies.sets.get(use.workspace)
    const beside = against && againstOf(against, use.workspace)
    return policy ? [inputsOf(use, { policy, ...(beside && { against: beside }) }, options, { config, now: cli.clock.now() })] : []
  })
  if (workspaces.length === 0) throw new CommandError(`no policy is for ${names.join(', ')}`)
  return { config, workspaces, warnings: problems, salt: ledger.salt ?? randomSalt() }
}

const load = (paths: readonly string[], { configured }: LoadedConfig, { workspace }: NetworkFlags, cli: Cli): Promise<LoadedPolicies> =>
  loadPoliciesAside(
    paths,
    { ...(configured && { workspaces: configured }), ...(workspace !== undefined && { workspace }), now: cli.clock.now() },
    cli.clock,
  )

/** Without a config file both sides may be called as they like. */
const againstOf = ({ sets, workspace }: LoadedPolicies, name: string): PolicyRevision | undefined =>
  sets.get(name) ?? (workspace === undefined && sets.size === 1 ? [...sets.values()][0] : undefined)

function inputsOf(
  use: RecordedUse,
  policies: Pick<SimulationInputs, 'policy' | 'against'>,
  options: GatherOptions,
  { config: { pricePerCredit }, now }: { readonly config: Config; readonly now: Instant },
): SimulationInputs {
  const { workspace, recorded, usage, owned, history, journal } = use
  const { cycles, shown, notes } = recordedCycles(use, options.cycles, now)
  const perSeat = usage?.balance?.creditsPerSeat
  return {
    workspace,
    ...policies,
    recorded,
    cycles,
    shown,
    ...(usage && { roster: usage.roster }),
    groups: usage?.groups ?? [],
    owned,
    history,
    journal,
    ...(perSeat !== undefined && { creditsPerSeat: perSeat }),
    ...(pricePerCredit !== undefined && { pricePerCredit }),
    notes,
  }
}

interface Chosen {
  readonly cycles: readonly ReplayCycle[]
  readonly shown: number
  readonly notes: readonly string[]
}

/** Whole cycles where there are any, else what there is of the latest; says when there will be as many as were asked for. */
function recordedCycles(use: RecordedUse, asked: number | undefined, now: Instant): Chosen {
  const span = recordedSpan(use.recorded)
  const known = cyclesKnown(use)
  if (!span) throw new CommandError(`${use.workspace}: the ledger has no day of anybody's use yet; ${HOW_TO_GET_DAYS}`)
  if (!known) throw new CommandError(`${use.workspace}: the ledger knows no billing cycle, because the service names none`)
  const all = cyclesBetween(known.current, span.firstAt, span.lastAt + DAY_MS).map((cycle): ReplayCycle => {
    const real = known.previous && known.previous.endAt === cycle.endAt ? known.previous : cycle
    const isWhole = beginsBy(span.firstAt, real) && real.endAt <= now && known.readAt >= real.endAt - DAY_MS
    return {
      ...real,
      isWhole,
      ...(use.recorded.addOn === 'estimated' &&
        real.startAt === known.current.startAt &&
        !isWhole && { usedBefore: usedBefore(use, real) }),
    }
  })
  const whole = all.filter(({ isWhole }) => isWhole).length
  const wanted = asked ?? CYCLES
  const last = all.findLastIndex(({ isWhole }) => isWhole)
  const cycles = whole > 0 ? all.slice(0, last + 1) : all
  const shown = Math.min(wanted, whole > 0 ? whole : all.length)
  return { cycles, shown, notes: shortage({ firstAt: span.firstAt, current: known.current }, { whole, asked }) }
}

/** Days are recorded from the cycle's first day on; days before that are a weekend without use count as recorded. Choice. */
function beginsBy(firstAt: Instant, cycle: Cycle): boolean {
  for (let at = firstDayOf(cycle); at < firstAt; at += DAY_MS) if (!isWeekend(at)) return false
  return true
}

function shortage(
  { firstAt, current }: { readonly firstAt: Instant; readonly current: Cycle },
  { whole, asked }: { readonly whole: number; readonly asked: number | undefined },
): readonly string[] {
  if (whole >= (asked ?? 1)) return []
  const [first] = cyclesBetween(current, firstAt, Number.POSITIVE_INFINITY).filter((cycle) => beginsBy(firstAt, cycle))
  const enoughAt = first && cycleBeside(first, (asked ?? 1) - 1).endAt
  const have = whole === 0 ? 'no cycle is recorded as a whole' : `${count(whole, 'cycle is', 'cycles are')} recorded as a whole`
  const from = enoughAt === undefined ? '' : `; ${asked === undefined ? 'one' : asked} will be from ${dayText(enoughAt)} on`
  return [`Days are recorded from ${dayText(firstAt)} on, and ${have}${from}.`]
}

const dayText = (at: Instant): string => new Date(at).toISOString().slice(0, 10)

/** In the cycle of the last reading: the figures of people less what their days add up to, where days begin in the middle of it. */
function usedBefore({ highest, recorded }: RecordedUse, cycle: Cycle): ReadonlyMap<string, Credits> {
  const days = new Float64Array(recorded.people.length)
  for (const { dayAt, people, cents } of recorded.days) {
    if (dayAt < firstDayOf(cycle) || dayAt >= cycle.endAt) continue
    for (let row = 0; row < people.length; row += 1) days[people[row] ?? 0] = (days[people[row] ?? 0] ?? 0) + (cents[row] ?? 0)
  }
  return new Map(
    recorded.people.flatMap((email, place) => {
      const before = (highest.get(email) ?? 0) - (days[place] ?? 0) / 100
      return before > 0 ? [[email, credits(before)] as const] : []
    }),
  )
}
