// `audit`: reads everything that a plan reads, and the cap of every other approved person; shows what core/plan/audit.ts finds as text, JSON
// and Markdown.

import { code, escaped, markdownText, plain, row, tableText } from '../core/escape/text.ts'
import { approvedIn } from '../core/interpret/effective.ts'
import type { Roster } from '../core/model/observed.ts'
import { declaredPeople, type PolicySet } from '../core/model/policy.ts'
import { formatPosition } from '../core/model/problem.ts'
import { scopeKey, TEAM, userScope } from '../core/model/scope.ts'
import type { Instant } from '../core/model/units.ts'
import { type Audit, audit, managedUsers } from '../core/plan/audit.ts'
import { isReached } from '../core/resolve/desired.ts'
import { type AddOnSource, addOnFigures } from '../core/use/add-on.ts'
import { sweep } from '../daemon/cycle/read.ts'
import { cycleOf, desiredInputs } from '../daemon/cycle/state.ts'
import type { DirectorySettings } from '../daemon/directory/directory-thread.ts'
import { readPeopleFile } from '../daemon/directory/read.ts'
import type { PeopleLabels } from '../daemon/http/labels.ts'
import type { SharedLedger } from '../daemon/ledger/share.ts'
import { readSetup } from './compose.ts'
import { action, COMMANDS, type FlagsOf } from './shared/command.ts'
import { type Cli, EXIT, type ExitCode, type Paint, painter, worstExit } from './shared/context.ts'
import { openLedgers } from './shared/ledger/ledgers.ts'
import { labelsFor } from './shared/problems.ts'
import { readEach, type WorkspaceReader } from './shared/reader.ts'
import { amountText, blocksText, capText, columns, count, documentText, people, present, tellLine } from './shared/text.ts'

export const register = action(COMMANDS.audit, auditCommand)

/** Audits all workspaces. Exits 4 when a workspace or some caps could not be read, and 1 when none could. */
async function auditCommand(flags: FlagsOf<typeof COMMANDS.audit>, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  const { done: audited, codes, salt } = await readEach(cli, setup, openLedgers(cli, setup, flags), (reader) => auditOne(reader, cli))
  const renderers = {
    text: () => renderAuditText(audited, painter(cli.stdout)),
    json: () => renderAuditJson(audited, cli.clock.now()),
    markdown: () => renderAuditMarkdown(audited, labelsFor(setup.config.people, salt)),
  }
  cli.stdout.write(renderers[flags.output]())
  cli.finish(worstExit([...audited.map(exitOf), ...codes]))
}

function exitOf({ audit: { people, unread }, read }: AuditedWorkspace): ExitCode {
  if (people === 0 || unread.length === read) return EXIT.failed
  return unread.length > 0 ? EXIT.partial : EXIT.done
}

async function auditOne(reader: WorkspaceReader<SharedLedger>, cli: Cli) {
  const { config, client, signal, progress } = reader
  const { state, desiredState, warnings } = await reader.preview()
  for (const { message } of warnings) tellLine(cli, `${config.name}: ${message}`)
  const { usage, readings, measured } = state
  const { approved } = desiredState.people
  // A workspace without the feature has no caps to ask for.
  const isCapless = readings.get(scopeKey(TEAM))?.failure?.lacksFeature === true
  const all = isCapless ? [] : [TEAM, ...approved.map(({ email }) => userScope(email))]
  const scopes = all.filter((scope) => !readings.has(scopeKey(scope)))
  progress.expect(scopes)
  await sweep({ client, scopes, concurrency: config.rate.concurrency, readings, onReading: progress.one, signal })
  const usedBy = new Map(usage?.roster.people.map(({ email, used }) => [email, used]))
  const inputs = desiredInputs(state, reader)
  const figures = addOnFigures({ now: cli.clock.now(), cycle: cycleOf(usage), measured, balance: usage?.balance })
  const useOf = (email: string) => figures.of(email, usedBy.get(email))
  const found = audit({
    people: approved,
    readings,
    groups: usage?.groups ?? [],
    declared: managedUsers({ ...desiredState.resolution, skipped: [], rejected: [] }),
    owned: desiredState.owned,
    reaches: (email) => isReached(email, inputs),
    useOf,
  })
  return {
    workspace: config.name,
    audit: found,
    /** How many scopes were read, or tried. */
    read: readings.size,
    /** Where add-on use comes from. */
    addOnUse: figures.source,
    /** People whose add-on use is not known, so that they cannot be seen near their cap. */
    useUnknown: approved.filter(({ email }) => useOf(email) === undefined).length,
    gone: whoLeft(inputs.set, usage?.roster),
    /** Absent without a good people file. */
    directory: config.directory && (await compareDirectory(config.directory, usage?.roster, cli)),
  }
}

type AuditedWorkspace = Awaited<ReturnType<typeof auditOne>>

/** Whom the policies name, and the roster does not list, with the places. Without a roster nobody. */
function whoLeft(set: PolicySet, roster: Roster | undefined) {
  const listed = new Set(roster?.people.map(({ email }) => email))
  const named = [
    ...declaredPeople(set),
    ...set.pools.flatMap(({ members, at }) => (members.kind === 'emails' ? members.emails.map((email) => ({ email, at })) : [])),
  ]
  const places = Map.groupBy(roster ? named.filter(({ email }) => !listed.has(email)) : [], ({ email }) => email)
  return [...places.keys()].sort().map((email) => ({ email, places: places.get(email)?.map(({ at }) => at) ?? [] }))
}

/** Compares the people file, as it is now, with the approved people on the roster. */
async function compareDirectory(settings: DirectorySettings, roster: Roster | undefined, cli: Cli) {
  const emails = approvedIn(roster).map(({ email }) => email)
  const answer = await readPeopleFile(settings, emails, cli.clock)
  if ('invalid' in answer) return undefined
  const others = new Set(roster?.people.map(({ email }) => email))
  return {
    notInFile: emails.filter((email) => !answer.people.has(email)).sort(),
    notOnRoster: answer.others.filter((email) => !others.has(email)).sort(),
  }
}

// An audit as text for a terminal, JSON for a script and Markdown for a ticket. JSON has whole lists; elsewhere long ones are cut with a count.

/** Lines shown of each list. */
const VISIBLE = 50

/** `{apiVersion, kind: "Audit", createdAt, workspaces: [{workspace, people, undeclared, uncapped, unreached, near, unread, gone, addOnUse, useIsUpperBound, useUnknown, directory?: {notInFile, notOnRoster}}]}` (choice). */
const renderAuditJson = (audited: readonly AuditedWorkspace[], now: Instant): string =>
  documentText('Audit', {
    createdAt: now,
    workspaces: audited.map(({ workspace, audit, addOnUse, useUnknown, gone, directory }) => {
      return { workspace, ...audit, gone, addOnUse, useIsUpperBound: addOnUse === 'upperBound', useUnknown, directory }
    }),
  })

/** One list of findings: its title, the heads of its columns, and its rows. */
type Finding = readonly [title: string, head: readonly string[], rows: readonly (readonly string[])[]]

const withUse = (some: Audit['uncapped']) => some.map(({ email, used }) => [email, used === undefined ? 'unknown' : amountText(used)])
const named = (emails: readonly string[]) => emails.map((email) => [email])

function findings({ audit, addOnUse, gone, directory }: AuditedWorkspace): readonly Finding[] {
  const { undeclared, uncapped, unreached, near, unread } = audit
  const { notInFile = [], notOnRoster = [] } = directory ?? {}
  const setBy = (ours: boolean): string => (ours ? 'capkeeper' : 'somebody else')
  const bound = addOnUse === 'upperBound' ? `, ${SOURCE_WORDS.upperBound}` : ''
  const undeclaredRows = undeclared.map((one) => [one.email, capText(one.cap), setBy(one.ours)])
  const nearRows = near.map(({ email, used, cap, from }) => [email, amountText(used), capText(cap), shareText(used, cap), from])
  const unreadRows = unread.map(({ scope, message }) => [scope, message])
  const goneRows = gone.map(({ email, places }) => [email, places.map(formatPosition).join(', ')])
  const all: readonly Finding[] = [
    [`${count(undeclared.length, 'user-level cap')} that no policy declares`, ['PERSON', 'CAP', 'SET BY'], undeclaredRows],
    [`${people(uncapped.length)} without any cap`, ['PERSON', 'USED'], withUse(uncapped)],
    [`${people(unreached.length)} whom no rule, group or cap of the policies reaches`, ['PERSON', 'USED'], withUse(unreached)],
    [`${people(near.length)} at 85 % of their cap or more${bound}`, ['PERSON', 'USED', 'CAP', 'SHARE', 'CAP SET AT'], nearRows],
    [`${people(gone.length)} whom the policies name and who are not on the roster`, ['PERSON', 'NAMED AT'], goneRows],
    [`${people(notInFile.length)} on the roster and not in the people file`, ['PERSON'], named(notInFile)],
    [`${people(notOnRoster.length)} in the people file and not on the roster`, ['PERSON'], named(notOnRoster)],
    [`${count(unread.length, 'cap')} could not be read`, ['SCOPE', 'WHY'], unreadRows],
  ]
  return all.filter(([, , rows]) => rows.length > 0)
}

const SOURCE_WORDS: Readonly<Record<AddOnSource, string>> = {
  measured: 'measured',
  estimated: 'estimated',
  upperBound: 'an upper bound while the balance is unknown',
}

const shareText = (used: number, cap: number): string => (cap === 0 ? 'blocked' : `${Math.floor((used / cap) * 100)} %`)

/** How many people were checked, and how much of their use is known. */
function coverage({ audit, addOnUse, useUnknown }: AuditedWorkspace, isEmpty: boolean): string {
  const found = isEmpty ? ', nothing found' : useUnknown < audit.people ? `; add-on use is ${SOURCE_WORDS[addOnUse]}` : ''
  const missing =
    useUnknown > 0 ? `; the add-on use of ${people(useUnknown)} is not known, so nobody can see how near their cap they are` : ''
  return `${people(audit.people)} looked at${found}${missing}`
}

const left = (total: number): string => (total > VISIBLE ? `… and ${total - VISIBLE} more; --output json has all` : '')

/** A block for each list that is not empty, and one line when all are. */
const renderAuditText = (audited: readonly AuditedWorkspace[], paint: Paint): string =>
  blocksText(
    audited.flatMap((one) => {
      const found = findings(one)
      const lists = found.map(([name, head, rows]) => {
        const table = columns([head, ...rows.slice(0, VISIBLE).map((cells) => cells.map(plain))])
        return [`${paint('yellow', name)}:`, ...present(table, left(rows.length) || undefined).map((line) => `  ${line}`)]
      })
      return [[`${paint('bold', plain(one.workspace))}: ${coverage(one, found.length === 0)}`], ...lists]
    }),
  )

/** Tables for others; people show as `labels` says. */
function renderAuditMarkdown(audited: readonly AuditedWorkspace[], labels: PeopleLabels): string {
  const rowOf = ([first = '', ...rest]: readonly string[]): string =>
    row([code(labels.text(first)), ...rest.map((text) => escaped(labels.text(text)))])
  const listOf = ([title, head, rows]: Finding): readonly string[] => [
    `**${title}**`,
    tableText(head, rows.slice(0, VISIBLE).map(rowOf)),
    left(rows.length),
  ]
  return markdownText(
    audited.flatMap((one) => {
      const found = findings(one)
      return [`### capkeeper audit: ${escaped(one.workspace)}`, `${coverage(one, found.length === 0)}.`, ...found.flatMap(listOf)]
    }),
  )
}
