// `import`: reads the roster, the groups and every cap in force, and prints a policy that asks for exactly that. A cap that could not be read is
// named in it, never guessed. Readings are kept in a file meanwhile, so that a run that was stopped goes on.
import { appendFileSync, rmSync, statSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import type { ServiceReader } from '../api/client.ts'
import { plain } from '../core/escape/text.ts'
import { approvedIn } from '../core/interpret/effective.ts'
import type { CapReading, GroupMembers, Roster } from '../core/model/observed.ts'
import type { Cap, CapRule, PolicySet } from '../core/model/policy.ts'
import { hasErrors, InputError } from '../core/model/problem.ts'
import { groupScope, parseScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../core/model/scope.ts'
import { credits, type Instant, isYounger, MAX_CAP } from '../core/model/units.ts'
import { type Adopted, adopt, type LiveGroup } from '../core/plan/audit.ts'
import { failureOf } from '../daemon/collect/asking.ts'
import { loadConfigAside, networkProblems } from '../daemon/config/config.ts'
import type { WorkspaceConfig } from '../daemon/config/settings.ts'
import { sweep } from '../daemon/cycle/read.ts'
import { readText, whyUnreadAndCode } from '../files.ts'
import { printPolicy } from '../policy/print.ts'
import { oddCharacter } from '../policy/schema/check.ts'
import { connectReader } from './compose.ts'
import { action, COMMANDS, type FlagsOf } from './shared/command.ts'
import { type Cli, CommandError, EXIT, UsageError } from './shared/context.ts'
import { interruptible } from './shared/each.ts'
import { sweepProgress } from './shared/progress.ts'
import { count, jsonIn, present, tellLine } from './shared/text.ts'

export interface NamedGroup {
  readonly id: string
  readonly name: string
}

type ImportFlags = FlagsOf<typeof COMMANDS.import, typeof GROUPS>

/** Said where no group is named. */
export const NO_GROUPS = 'note: the service lists no groups; name each one with --group ID=NAME, or it is left out\n'

/** Parses `ID=NAME` and adds it to the groups before it. */
export function readGroup(text: string, before: readonly NamedGroup[] = []): readonly NamedGroup[] {
  const at = text.indexOf('=')
  const [id, name] = [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  if (at < 0 || id === '' || name === '') throw new InvalidArgumentError('Write ID=NAME, such as grp_platform=Platform.')
  if (/\s|:\/\//.test(id))
    throw new InvalidArgumentError('A group id has no blanks in it and is no address; write ID=NAME, such as grp_platform=Platform.')
  if (before.some((one) => one.id === id)) throw new InvalidArgumentError(`The group ${id} is given twice.`)
  if (before.some((one) => one.name === name)) throw new InvalidArgumentError(`The name ${name} is given twice.`)
  return [...before, { id, name }]
}

/** The reader of `--group`, for `import` and `init`. */
export const GROUPS = { group: readGroup }

export const register = action(COMMANDS.import, importCommand, GROUPS)

/** Older readings are read again, because others may have written since. Choice. */
const JOURNAL_LIFE_MS = 3_600_000

type Owner = Pick<WorkspaceConfig, 'baseUrl'> & { readonly workspace: string }

interface JournalEntry {
  readonly scope: Scope
  readonly cap: Cap
  readonly readAt: Instant
}

type Journal = ReturnType<typeof openJournal>

/** Opens the journal of one workspace; lines of others are ignored. Throws a `UsageError` when the file is no journal. */
function openJournal(file: string, owner: Owner, now: Instant) {
  const known = new Map<ScopeKey, JournalEntry>()
  for (const line of linesOf(file)) {
    const entry = decode(line, owner)
    if (entry && isYounger(entry.readAt, now, JOURNAL_LIFE_MS)) known.set(scopeKey(entry.scope), entry)
  }
  let isKept = true
  return {
    /** Recent readings of this workspace at this address. */
    known,
    /** What the next run finds: `kept`, or that nothing could be written. */
    ending: (kept: string): string => (isKept ? kept : `nothing is kept for the next run, because ${file} cannot be written`),
    keep({ scope, cap, readAt }: JournalEntry): void {
      const line = `${JSON.stringify({ ...owner, scope: scopeKey(scope), cap, readAt })}\n`
      if (isKept) isKept = succeeds(() => appendFileSync(file, line, { mode: 0o600 }))
    },
    /** Deletes the file when the import is complete. */
    remove: () => void succeeds(() => rmSync(file, { force: true })),
  }
}

/** Whether it could be done; why it could not is nobody's concern. */
export function succeeds(act: () => void): boolean {
  try {
    act()
    return true
  } catch {
    return false
  }
}

const MAX_JOURNAL_BYTES = 256 * 1024 * 1024

/** The start of a journal: `keep` writes the workspace first. */
const JOURNAL = /^(?:$|\{"workspace":)/

/** The file is deleted in the end, so it must be a journal, not a policy named by mistake, nor a device. */
function linesOf(file: string): readonly string[] {
  try {
    const found = statSync(file, { throwIfNoEntry: false })
    if (!found) return []
    const text = found.isFile() ? readText(file, MAX_JOURNAL_BYTES) : 'something else'
    if (JOURNAL.test(text)) return text.split('\n')
  } catch (error) {
    throw new CommandError(`the journal ${file} ${whyUnreadAndCode(error)}`)
  }
  throw new UsageError(`${file} is not a journal of import: name another file with --journal`)
}

/** A line that is cut, invalid or of another workspace is no reading. */
function decode(line: string, owner: Owner): JournalEntry | undefined {
  const { workspace, baseUrl, scope: key, cap, readAt } = Object(jsonIn(line))
  if (workspace !== owner.workspace || baseUrl !== owner.baseUrl) return undefined
  const scope = typeof key === 'string' ? parseScope(key) : undefined
  if (!scope || typeof readAt !== 'number') return undefined
  if (cap === 'none') return { scope, cap, readAt }
  const isCap = typeof cap === 'number' && Number.isInteger(cap) && cap >= 0 && cap <= MAX_CAP
  return isCap ? { scope, cap: credits(cap), readAt } : undefined
}

interface LiveQuestion {
  readonly config: WorkspaceConfig
  readonly groups: readonly NamedGroup[]
  /** Keeps readings for the next run. */
  readonly journal?: Pick<Journal, 'known' | 'keep'>
  /** The message when the reading is interrupted. */
  readonly interrupted: () => string
  readonly cli: Cli
  readonly signal: AbortSignal
}

type Readings = ReadonlyMap<ScopeKey, CapReading>

/** The workspace as it was read. */
export type Live = ReturnType<typeof liveOf>

/** Reads the workspace. Throws a `CommandError` when the roster, a group or the team's cap cannot be read. */
export async function readLive(question: LiveQuestion): Promise<Live> {
  const { config, groups, journal, cli, signal } = question
  const known: Journal['known'] = journal?.known ?? new Map()
  using connection = connectReader(cli, config, { signal })
  const { client } = connection
  try {
    const roster = await readRoster(client, config, signal)
    const members = await readMembers(client, question)
    const people = approvedIn(roster).map(({ email }) => email)
    const scopes = [TEAM, ...groups.map(({ id }) => groupScope(id)), ...people.map(userScope)]
    const pending = scopes.filter((scope) => !known.has(scopeKey(scope)))
    if (pending.length < scopes.length) {
      cli.stderr.write(`continuing the last run: ${scopes.length - pending.length} of ${scopes.length} caps are read\n`)
    }
    using progress = await sweepProgress('reading caps', cli.stderr, signal)
    progress.expect(pending)
    const readings = new Map<ScopeKey, CapReading>()
    const onReading = (one: CapReading): void => {
      progress.one()
      if (one.observed !== 'unknown') journal?.keep({ scope: one.scope, cap: one.observed, readAt: one.readAt })
    }
    const sweeping = { client, concurrency: config.rate.concurrency, readings, onReading, signal }
    // The team and the groups first: when they cannot be read, hundreds of people would be read in vain.
    await sweep({ ...sweeping, scopes: pending.filter(({ kind }) => kind !== 'user') })
    requireRead(groups, readings, config)
    await sweep({ ...sweeping, scopes: pending.filter(({ kind }) => kind === 'user') })
    return liveOf(people, members, known, readings)
  } catch (error) {
    if (!signal.aborted) throw error
    throw new CommandError(question.interrupted())
  }
}

async function readRoster(client: ServiceReader, { name }: WorkspaceConfig, signal: AbortSignal): Promise<Roster> {
  try {
    const roster = await client.readRoster(signal)
    if (roster.people.length > 0) return roster
  } catch (error) {
    signal.throwIfAborted()
    throw new CommandError(`${name}: the roster could not be read: ${failureOf(error).message}`)
  }
  throw new CommandError(`${name}: the roster came without anybody, which counts as not read`)
}

/** All groups or an error: in a policy that misses one, its members would seem to have the team's cap. */
async function readMembers(client: ServiceReader, { config, groups, signal }: LiveQuestion): Promise<readonly GroupMembers[]> {
  const members: GroupMembers[] = []
  for (const group of groups) {
    try {
      members.push(await client.readGroup(group, signal))
    } catch (error) {
      signal.throwIfAborted()
      throw new CommandError(`${config.name}: the group ${group.id} (${group.name}) could not be listed: ${failureOf(error).message}`)
    }
  }
  return members
}

/** Requires the caps of the team and of each group. An unknown group id is a mistake on the command line. */
function requireRead(groups: readonly NamedGroup[], readings: Readings, { name }: WorkspaceConfig): void {
  const team = readings.get(scopeKey(TEAM))
  if (team?.failure?.lacksFeature) {
    throw new CommandError(`${name}: the service refuses caps here whatever the key, so there are none to keep: ${team.failure.message}`)
  }
  if (team?.failure) throw new CommandError(`${name}: the team cap could not be read: ${team.failure.message}`)
  for (const { id } of groups) {
    const failure = readings.get(scopeKey(groupScope(id)))?.failure
    if (failure) throw new CommandError(`${name}: the cap of group ${id} could not be read: ${failure.message}; check --group`)
  }
}

function liveOf(people: readonly string[], members: readonly GroupMembers[], known: Journal['known'], readings: Readings) {
  const unread = [...readings.values()].flatMap(({ scope, failure }) =>
    failure ? [{ scope, kind: failure.kind, message: failure.message }] : [],
  )
  const missing = new Set(unread.map(({ scope }) => scopeKey(scope)))
  return {
    /** The approved people whose cap was read. */
    people: people.filter((email) => !missing.has(scopeKey(userScope(email)))),
    capOf(scope: Scope): Cap | undefined {
      const observed = readings.get(scopeKey(scope))?.observed ?? known.get(scopeKey(scope))?.cap
      return observed === 'unknown' ? undefined : observed
    },
    emails: (groupId: string) => members.find(({ id }) => id === groupId)?.emails ?? [],
    unread,
  }
}

/** The caps to declare, and those that the policy leaves out, with the reason. */
export interface Imported extends Adopted {
  readonly leftOut: readonly { readonly scope: Scope; readonly message: string }[]
}

/** Works out what the policy declares. It leaves out what could not be read, and who has an address that a policy refuses. */
export function adoptLive(live: Live, groups: readonly NamedGroup[]): Imported {
  const adopted = adopt({
    team: live.capOf(TEAM) ?? 'none',
    groups: groups.map(({ id, name }): LiveGroup => ({ id, name, cap: live.capOf(groupScope(id)) ?? 'none', emails: live.emails(id) })),
    people: live.people.flatMap((email) => ({ email, cap: live.capOf(userScope(email)) ?? 'none' })),
  })
  const refused = adopted.people.flatMap(({ email, cap }) => {
    const odd = oddCharacter(email)
    return odd === undefined ? [] : [{ email, message: `no policy can name this address, whose cap is ${cap}: ${odd}` }]
  })
  const names = new Set(refused.map(({ email }) => email))
  return {
    ...adopted,
    people: adopted.people.filter(({ email }) => !names.has(email)),
    leftOut: [...live.unread, ...refused.map(({ email, message }) => ({ scope: userScope(email), message }))],
  }
}

/** The policy set of a workspace that declares them. */
export function policyOf(workspace: string, { team, groups, named, people }: Adopted): PolicySet {
  const at = { file: 'import', line: 1, column: 1 }
  const rule = (scope: Scope, cap: Cap): readonly CapRule[] => (cap === 'none' ? [] : [{ scope, cap, at, document: workspace }])
  return {
    workspace,
    rules: [
      ...rule(TEAM, team),
      ...groups.flatMap(({ id, cap }) => rule(groupScope(id), cap)),
      ...people.flatMap(({ email, cap }) => rule(userScope(email), cap)),
    ],
    groups: [...groups, ...named].map(({ id, name }) => ({ scope: groupScope(id), name, at })),
    grants: [],
    protectedPeople: [],
    peopleRules: [],
    pools: [],
    approvals: [],
    documents: [workspace],
  }
}

/** Lines for the top of the file: what a reader must know a month later. */
export const notesOf = ({ baseUrl }: Pick<WorkspaceConfig, 'baseUrl'>, { left, leftOut }: Imported): readonly string[] =>
  present(
    `Imported by capkeeper from ${baseUrl}.`,
    left > 0 && `${count(left, 'cap')} equal to the wider one ${left === 1 ? 'is' : 'are'} left out.`,
    leftOut.length > 0 && `NOT COMPLETE: ${count(leftOut.length, 'cap')} missing:`,
    leftOut.map(({ scope }) => `  ${scopeKey(scope)}`),
  )

/** Imports one workspace. Exits 4 when some caps are left out. */
async function importCommand(flags: ImportFlags, cli: Cli): Promise<void> {
  const { config, isNamed } = await readWorkspace(flags, cli)
  const groups = flags.group ?? []
  if (groups.length === 0) cli.stderr.write(NO_GROUPS)
  const journal = openJournal(flags.journal, { workspace: config.name, baseUrl: config.baseUrl }, cli.clock.now())
  const kept = `the readings are kept in ${flags.journal}: the same command continues within an hour`
  const interrupted = (): string => `interrupted; ${journal.ending(kept)}`
  const live = await interruptible(cli, (signal) => readLive({ config, groups, journal, interrupted, cli, signal }))
  const adopted = adoptLive(live, groups)
  const notes = notesOf(config, adopted).map((line) => `# ${plain(line)}\n`)
  cli.stdout.write(`${notes.join('')}${printPolicy(policyOf(config.name, adopted), { name: config.name, workspace: isNamed })}`)
  tellImported(adopted, cli)
  const unread = `${count(live.unread.length, 'cap')} could not be read`
  if (live.unread.length === 0) journal.remove()
  else tellLine(cli, `${unread}; ${journal.ending(`the same command reads them again and keeps the rest (${flags.journal})`)}`)
  cli.finish(adopted.leftOut.length > 0 ? EXIT.partial : EXIT.done)
}

async function readWorkspace(flags: ImportFlags, cli: Cli): Promise<{ readonly config: WorkspaceConfig; readonly isNamed: boolean }> {
  const loaded = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  if (!loaded.config || hasErrors(loaded.problems)) throw new InputError(loaded.problems)
  const missing = networkProblems(loaded.config, { policies: false })
  const [config, ...others] = loaded.config.workspaces
  if (others.length > 0 || !config) {
    const names = loaded.config.workspaces.map(({ name }) => name).join(', ')
    throw new UsageError(`there are several workspaces: ${names}; choose one with --workspace`)
  }
  if (missing.length > 0) throw new InputError([...missing, ...loaded.problems])
  if (flags.workspace === undefined || loaded.configured) return { config, isNamed: loaded.configured !== undefined }
  return { config: { ...config, name: flags.workspace }, isNamed: true }
}

/** Says what a reader of the policy must know, on stderr. */
export function tellImported({ conflicts, leftOut }: Imported, cli: Cli): void {
  const [torn, ...others] = conflicts
  if (torn !== undefined) {
    const who = others.length > 0 ? `${torn} and ${others.length} more` : torn
    const ways = 'set spec.onGroupConflict to min or max, or give them a cap of their own'
    tellLine(cli, `warning: ${who}: their groups have different caps; ${ways}`)
  }
  for (const { scope, message } of leftOut.slice(0, 10)) tellLine(cli, `error: ${scopeKey(scope)} is left out: ${message}`)
}
