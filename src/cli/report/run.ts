// `report`: reads people, use, balance and managed caps as a plan does, runs by model and day, and the ledger; core/use/report.ts computes the
// figures. Data that cannot be read becomes a note in the report.

import { InvalidArgumentError } from 'commander'
import { renderReportPage } from '../../console/report.ts'
import { approvedIn, effectiveCap, groupsOfEach } from '../../core/interpret/effective.ts'
import { type Cycle, type GroupMembers, isSameCycle, type Roster, type RunUse } from '../../core/model/observed.ts'
import { scopeKey, userScope } from '../../core/model/scope.ts'
import { type Credits, credits, DAY_MS, type Instant, midnight } from '../../core/model/units.ts'
import { listingAt } from '../../core/resolve/roster.ts'
import { type AddOnFigures, addOnFigures } from '../../core/use/add-on.ts'
import { burnOf, forecastReadsFrom } from '../../core/use/burn.ts'
import { type CommonDays, cycleKnown, type Days, ENOUGH_KNOWN, type PastDays } from '../../core/use/history.ts'
import {
  ATTRIBUTE_VIEW,
  attributeOf,
  REPORT_VIEWS,
  type Report,
  type ReportCycle,
  type ReportInputs,
  type ReportPerson,
  type ReportView,
  reportOf,
} from '../../core/use/report.ts'
import { cycleSums, hasWholeCycle, measuredCycle } from '../../daemon/collect/add-on.ts'
import { failureOf } from '../../daemon/collect/asking.ts'
import { commonDays } from '../../daemon/collect/history.ts'
import { historyOf } from '../../daemon/collect/usage-summary.ts'
import type { Config, WorkspaceConfig } from '../../daemon/config/settings.ts'
import type { Preview } from '../../daemon/cycle/preview.ts'
import { cycleOf } from '../../daemon/cycle/state.ts'
import type { PeopleLabels } from '../../daemon/http/labels.ts'
import { assumedBorders, cyclesBefore, daysOf, gradesNote } from '../../daemon/replay/gather.ts'
import type { AddOnSum, Ledger } from '../../ports.ts'
import { readSetup } from '../compose.ts'
import { action, COMMANDS, type FlagsOf } from '../shared/command.ts'
import { type Cli, CommandError, EXIT, painter, UsageError, worstExit } from '../shared/context.ts'
import { collectLine } from '../shared/ledger/access.ts'
import { openOwnLedgers } from '../shared/ledger/ledgers.ts'
import { labelsFor } from '../shared/problems.ts'
import { readEach, type WorkspaceReader } from '../shared/reader.ts'
import { dayText, tellLine } from '../shared/text.ts'
import { renderReportCsv, renderReportJson, renderReportMarkdown, renderReportText } from './render.ts'

function readView(text: string): ReportView {
  const word = text.trim()
  const view = REPORT_VIEWS.find((one) => one === word)
  if (view !== undefined) return view
  if (word.startsWith(ATTRIBUTE_VIEW) && word.length > ATTRIBUTE_VIEW.length) return word as ReportView
  throw new InvalidArgumentError(`Allowed choices are ${REPORT_VIEWS.join(', ')}, attribute:COLUMN.`)
}

/** `current`, `previous`, or a month. */
function readWhich(text: string): ReportCycle {
  const word = text.trim()
  if (word === 'current' || word === 'previous') return word
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(word) ?? []
  if (year === undefined || Number(month) < 1 || Number(month) > 12) {
    throw new InvalidArgumentError('Write current, previous, or the month in which the cycle begins, such as 2026-09.')
  }
  return word as ReportCycle
}

const OWN = { view: readView, cycle: readWhich }
type ReportFlags = FlagsOf<typeof COMMANDS.report, typeof OWN>

export const register = action(COMMANDS.report, reportCommand, OWN)

/** The service is asked for 30 days at most (docs/service.md, What the client tolerates, point 8). */
const CHUNK_MS = 30 * DAY_MS

/** Reports on all workspaces; exits 4 when some failed. */
async function reportCommand(flags: ReportFlags, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  const open = () => openOwnLedgers(cli, setup)
  const { done: reports, codes } = await readEach(cli, setup, open, (reader) => reportOne(reader, flags, setup.config, cli))
  // A CSV table has no place for notes.
  if (flags.output === 'csv')
    for (const { workspace, notes } of reports) for (const note of notes) tellLine(cli, `note: ${workspace}: ${note}`)
  const now = cli.clock.now()
  const renderers = {
    text: () => renderReportText(reports, painter(cli.stdout)),
    json: () => renderReportJson(reports, now),
    csv: () => renderReportCsv(reports),
    markdown: () => renderReportMarkdown(reports),
    html: () => renderReportPage(reports, now),
  }
  cli.stdout.write(renderers[flags.output]())
  cli.finish(worstExit([EXIT.done, ...codes]))
}

async function reportOne(reader: WorkspaceReader<Ledger>, flags: ReportFlags, shared: Config, cli: Cli): Promise<Report> {
  // The caps of a past cycle are not known, so none are read for it.
  checkColumn(reader.config, flags.by)
  const seen = await reader.preview(({ usage }) => (isPresent(flags.cycle, cycleOf(usage)) ? undefined : () => false))
  for (const { message } of seen.warnings) tellLine(cli, `${reader.config.name}: ${message}`)
  const { pricePerCredit, currency } = shared
  const report = reportOf({ ...(await gather({ ...reader, seen, flags, now: cli.clock.now() })), pricePerCredit, currency })
  // A terminal is for the person who runs the command; the other formats are for others.
  return flags.output === 'text' ? report : reportShown(report, labelsFor(shared.people, reader.ledger.fact('peopleSalt')))
}

interface Sources extends Pick<WorkspaceReader<Ledger>, 'config' | 'policy' | 'client' | 'ledger' | 'signal'> {
  readonly seen: Preview
  readonly flags: ReportFlags
  readonly now: Instant
}

async function gather(sources: Sources): Promise<ReportInputs> {
  const { config, policy, seen, ledger, flags, now } = sources
  const { usage } = seen.state
  const current = cycleOf(usage)
  if (!usage || !current)
    throw new CommandError(`${config.name}: the roster with the billing cycle could not be read, so there is nothing to report on`)
  const notes: string[] = []
  const cycle = chosenCycle(sources, current, usage.previousCycle?.cycle)
  const isPast = cycle !== current
  const perSeat = usage.balance?.creditsPerSeat ?? config.creditsPerSeat
  const rows = await readRuns(sources, Math.min(cycle.startAt, forecastReadsFrom(now)), notes)
  // The day that holds a border counts to the cycle that begins in it.
  const days = isPast ? { ...cycle, endAt: midnight(cycle.endAt) } : cycle
  const runs = rows?.filter(({ dayAt }) => dayAt >= midnight(days.startAt) && dayAt < days.endAt)
  const past = isPast ? await sumsBefore(sources, days, notes) : undefined
  notes.push(...assumedBorders([cycle], current, usage.previousCycle?.cycle))
  const addOn = addOnOf(sources, cycle, past)
  if (isPast && addOn.source === 'estimated' && perSeat !== undefined) {
    notes.push(`Add-on use is estimated with what a seat includes, assumed to be today's ${perSeat} credits.`)
  }
  const figures = isPast ? undefined : await figuresOf(sources, current, rows, addOn)
  const people = isPast ? await peopleBefore(sources, cycle, past, notes, runs) : peopleNow(seen)
  return {
    workspace: config.name,
    which: isPast ? flags.cycle : 'current',
    by: flags.by,
    cycle,
    people: withAttributes(people, sources, cycle, isPast),
    groups: policy.set.groups.map(({ scope, name }) => ({ id: scope.id, name })),
    balance: usage.balance,
    addOn: addOn.source !== 'upperBound' ? addOn : undefined,
    addOnByModel:
      flags.by === 'model' && addOn.source === 'measured'
        ? await ledger.addOnByModel({ fromAt: midnight(cycle.startAt), untilAt: days.endAt })
        : undefined,
    runs,
    figures,
    writes: (await ledger.history({ sinceAt: cycle.startAt })).filter(({ at }) => at < cycle.endAt),
    notes,
  }
}

/** A column that the config does not list is never read. */
function checkColumn({ name, directory }: WorkspaceConfig, by: ReportView): void {
  const column = attributeOf(by)
  const columns = directory?.columns ?? []
  if (column === undefined || columns.includes(column)) return
  const known = columns.length === 0 ? 'it has no people file' : `its columns are ${columns.join(', ')}`
  throw new UsageError(`${name}: the config lists no column ${column} in directory; ${known}`)
}

/** The people with what the people file says of them in the report's column: now, or at the end of a past cycle. */
function withAttributes(people: readonly ReportPerson[], { seen, flags }: Sources, cycle: Cycle, isPast: boolean): readonly ReportPerson[] {
  const column = attributeOf(flags.by)
  const { directory, usage } = seen.state
  if (column === undefined || !directory) return people
  const now = new Map(usage?.roster.people.map(({ email, listing }) => [email, listing]))
  return people.map((person) => {
    const listing = isPast ? listingAt(directory, person.email, cycle.endAt - 1) : now.get(person.email)
    const value = listing?.values?.[column]
    if (value !== undefined) return { ...person, attribute: { value } }
    // Without a value though listed: the column was not in the config then.
    return listing && !listing.values ? { ...person, attribute: 'unlisted' } : person
  })
}

/** The cycle of the report: the present one, or one of those that the ledger can know. */
function chosenCycle({ flags, config }: Sources, current: Cycle, previous: Cycle | undefined): Cycle {
  if (isPresent(flags.cycle, current)) return current
  const past = [...cyclesBefore(current, previous).take(KEPT_CYCLES)]
  const found = past.find(({ startAt }) => flags.cycle === 'previous' || monthOf(startAt) === flags.cycle)
  if (found) return found
  throw new CommandError(
    `${config.name}: no billing cycle that the ledger can know begins in ${flags.cycle}; the present one began on ${dayText(current.startAt)}`,
  )
}

/** What was recorded counts to the present. */
const EVER = Number.POSITIVE_INFINITY

/** Days are kept for 400 days. */
const KEPT_CYCLES = 15

/** Whether the present cycle was asked for, by name or by its month. */
const isPresent = (asked: ReportCycle, current: Cycle | undefined): boolean =>
  asked === 'current' || (current !== undefined && monthOf(current.startAt) === asked)

const monthOf = (at: Instant): string => dayText(at).slice(0, 7)

/** Runs are optional for a report. */
async function readRuns({ client, now, signal }: Sources, fromAt: Instant, notes: string[]): Promise<readonly RunUse[] | undefined> {
  const rows: RunUse[] = []
  try {
    for (let at = midnight(fromAt); at <= now; at += CHUNK_MS) {
      const untilAt = at + CHUNK_MS
      const reading = await client.readRuns({ fromAt: at, untilAt: untilAt <= now ? untilAt : undefined }, signal)
      for (const row of reading.rows) rows.push(row)
    }
    return rows
  } catch (error) {
    signal.throwIfAborted()
    notes.push(`Use by model and by day could not be read: ${failureOf(error).message}`)
    return undefined
  }
}

function peopleNow({ desiredState, state }: Preview): readonly ReportPerson[] {
  const groupsOf = membership(state.usage?.groups ?? [])
  const { readings } = state
  return (state.usage?.roster.people ?? []).flatMap(({ email, used }): readonly ReportPerson[] => {
    const counted = desiredState.people.byKey.get(scopeKey(userScope(email)))
    // People who left or are not approved yet are listed only when they used something.
    if (!counted && !used) return []
    const cap = counted && effectiveCap(counted, (key) => readings.get(key)?.observed).cap
    return [{ email, groups: groupsOf(email), used, cap }]
  })
}

interface Sums {
  readonly sums: ReadonlyMap<string, AddOnSum>
  /** People whose rows cannot be found. */
  readonly unassignable: readonly string[]
}

/** Measured add-on use of a past cycle, as far as the ledger has it. */
async function sumsBefore({ ledger, flags }: Sources, cycle: Cycle, notes: string[]): Promise<Sums | undefined> {
  const asked = ledger.fact('addOnAsked')
  const sums = await cycleSums(ledger, cycle)
  if (!sums || !asked || asked.readAt <= cycle.startAt) return undefined
  if (!hasWholeCycle(asked, cycle)) {
    const missing = `Add-on use of that cycle was last read on ${dayText(asked.readAt)}, so its last days may be missing`
    notes.push(`${missing}; type: ${collectLine(flags)}`)
  }
  return { sums, unassignable: ledger.fact('addOn')?.unassignable ?? [] }
}

function addOnOf({ config, seen, now }: Sources, cycle: Cycle, past: Sums | undefined): AddOnFigures {
  const { usage, measured } = seen.state
  const before = past && { readAt: now, cycles: [measuredCycle(cycle.startAt, past.sums)], unassignable: past.unassignable }
  const isCurrent = cycle.startAt === cycleOf(usage)?.startAt
  const { creditsPerSeat } = config
  const seats = isCurrent || creditsPerSeat === undefined ? undefined : { creditsPerSeat: credits(creditsPerSeat) }
  return addOnFigures({ now, cycle, measured: isCurrent ? measured : before, balance: usage?.balance ?? seats })
}

/** People of a past cycle: with the measured use, or else the sum of their days where it is known of almost everybody, or else the use at its end. */
async function peopleBefore(sources: Sources, cycle: Cycle, past: Sums | undefined, notes: string[], runs: readonly RunUse[] = []) {
  const { seen, ledger, config, flags } = sources
  const { usage } = seen.state
  const groupsOf = membership(usage?.groups ?? [])
  const before = usage?.previousCycle
  // Where the present cycle begins before that one ended, its last figures count what the present one counts too.
  const last =
    before?.cycle.startAt === cycle.startAt && isSameCycle({ startAt: before.cycle.endAt }, { startAt: cycle.endAt }) ? before : undefined
  const unassignable = new Set(past?.unassignable)
  const measured = past && [...past.sums].filter(([email]) => email !== '' && !unassignable.has(email))
  const days = { fromAt: midnight(cycle.startAt), untilAt: midnight(cycle.endAt) }
  const kept = { people: new Map((await ledger.histories()).map((one) => [one.email, one])), common: await commonDays(ledger, EVER) }
  const share = knownShare(usage?.roster, days, kept)
  const isKnown = share >= ENOUGH_KNOWN
  const summed = await useByBestSource(ledger, days, kept.common)
  const other: readonly (readonly [string, Credits])[] = last && !isKnown ? Object.entries(last.used) : summed
  const used = measured
    ? [...measured.map(([email, sum]) => [email, sum.used] as const), ...other.filter(([email]) => unassignable.has(email))]
    : other
  const of = `known of ${Math.floor(share * 100)} % of the people`
  if (used.length === 0) {
    const unknown = `The ledger of ${config.name} knows nobody's use in that cycle; type: ${collectLine(flags)}`
    // Runs give the use of a team and its models, but not of people and groups.
    if ((flags.by !== 'team' && flags.by !== 'model') || (runs.length === 0 && flags.cycle !== 'previous')) throw new CommandError(unknown)
    notes.push(unknown)
  } else if (!measured && isKnown) notes.push(`Use of people is the sum of their days, which are ${of}.`)
  else if (!last && !measured) notes.push(`Days of that cycle are ${of}, so use may be missing; type: ${collectLine(flags)}`)
  else if (!measured && last?.readAt !== undefined && last.readAt < cycle.endAt - config.usageLagMs)
    notes.push(`Use of that cycle was last read on ${dayText(last.readAt)}, so its last days may be missing; type: ${collectLine(flags)}`)
  if (used.length > 0 && (measured || isKnown || !last)) notes.push(...gradesNote({ usage, past: kept }, [cycle]))
  notes.push('Groups are those of today.')
  return used.map(([email, amount]): ReportPerson => ({ email, groups: groupsOf(email), used: amount }))
}

/** Each person's use on these days, the most first; each day from its best source. */
async function useByBestSource(ledger: Ledger, days: Days, common: CommonDays): Promise<readonly (readonly [string, Credits])[]> {
  const { people, days: each } = await daysOf(ledger, days, common)
  const sums = new Float64Array(people.length)
  for (const { people: places, cents } of each)
    for (const [row, place] of places.entries()) sums[place] = (sums[place] ?? 0) + (cents[row] ?? 0)
  const named = people.map((email, place) => [email, credits((sums[place] ?? 0) / 100)] as const)
  return named.filter(([email, used]) => email !== '' && used > 0).sort(([, a], [, b]) => b - a)
}

/** The share of the people of whom every day of a cycle is known. */
function knownShare(roster: Roster | undefined, days: Days, past: PastDays): number {
  const emails = approvedIn(roster).map(({ email }) => email)
  return cycleKnown(days, { addOn: 'estimated', people: [], days: [] }, emails, past).people
}

/** The groups of each person. */
function membership(groups: readonly GroupMembers[]): (email: string) => readonly string[] {
  const keys = groupsOfEach(groups)
  return (email) => keys.get(email)?.map((key) => key.slice('group:'.length)) ?? []
}

async function figuresOf(sources: Sources, cycle: Cycle, rows: readonly RunUse[] | undefined, addOn: AddOnFigures) {
  const { seen, ledger, now } = sources
  const { usage } = seen.state
  if (!usage) return undefined
  const people = peopleNow(seen).flatMap(({ email, used, cap }) => {
    const paid = addOn.of(email, used)
    return used === undefined ? [] : [{ used, addOn: paid?.credits, cap: cap !== undefined && cap !== 'unknown' ? cap : undefined }]
  })
  if (people.length === 0) return undefined
  const used = credits(people.reduce((sum, one) => sum + one.used, 0))
  const history = rows && historyOf({ asked: { fromAt: forecastReadsFrom(now), throughAt: midnight(now), readAt: now, wideAt: now }, rows })
  const readings = [...(await ledger.useReadings()), { at: usage.roster.readAt, used }]
  return burnOf({ now, cycle, readings, people, history, balance: usage.balance })
}

// A report with people by e-mail or as hashes, as `people` of the config says, in rows and in texts.

/** The report with people as `labels` shows them. */
function reportShown(report: Report, labels: PeopleLabels): Report {
  const { by, rows } = report
  const shown = by === 'user' ? rows.map((one) => ({ ...one, key: labels.label(one.key), name: labels.label(one.name) })) : rows
  return labels.all({ ...report, rows: shown })
}
