// What `import` does: the roster, the groups, then every cap in force, and a policy that asks for just that. An answer is printed only when
// there is one; what could not be read is named in it, never guessed.
import type { ServiceReader } from '../../api/client.ts'
import { isApproved } from '../../core/interpret/effective.ts'
import type { CapReading, GroupMembers, Roster } from '../../core/model/observed.ts'
import type { Cap, CapRule, PolicySet } from '../../core/model/policy.ts'
import { hasErrors, InputError } from '../../core/model/problem.ts'
import { groupScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../../core/model/scope.ts'
import { type Adopted, adopt, type LiveGroup } from '../../core/resolve/adopt.ts'
import { networkProblems, type WorkspaceConfig } from '../../daemon/config/config.ts'
import { loadConfigAside } from '../../daemon/config/load-aside.ts'
import { failureOf } from '../../daemon/cycle/failure.ts'
import { sweep } from '../../daemon/cycle/read.ts'
import { printPolicy } from '../../policy/print.ts'
import { connectReader } from '../compose.ts'
import { type Cli, CommandError, UsageError } from '../shared/context.ts'
import { EXIT } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { sweepProgress } from '../shared/progress.ts'
import { count } from '../shared/text.ts'
import type { ImportFlags, NamedGroup } from './command.ts'
import { type Journal, openJournal } from './journal.ts'

/** Imports one workspace and leaves the exit code: 4 when some caps could not be read. */
export async function importCommand(flags: ImportFlags, cli: Cli): Promise<void> {
  const { config, isNamed } = await readWorkspace(flags, cli)
  const groups = flags.group ?? []
  if (groups.length === 0) cli.stderr.write('note: the service lists no groups; name each one with --group ID=NAME, or it is left out\n')
  const journal = openJournal(flags.journal, { workspace: config.name, baseUrl: config.baseUrl }, cli.clock.now())
  const live = await interruptible(cli, (signal) => readLive({ config, groups, journal, cli, signal }, flags.journal))
  const adopted = adopt({
    team: live.capOf(TEAM) ?? 'none',
    groups: groups.map(({ id, name }): LiveGroup => ({ id, name, cap: live.capOf(groupScope(id)) ?? 'none', emails: live.emails(id) })),
    people: live.people.flatMap((email) => ({ email, cap: live.capOf(userScope(email)) ?? 'none' })),
  })
  cli.stdout.write(
    `${notesOf(config, adopted, live)}${printPolicy(policyOf(config.name, adopted), { name: config.name, workspace: isNamed })}`,
  )
  tell(adopted, live, flags.journal, cli)
  if (live.unread.length === 0) journal.remove()
  cli.finish(live.unread.length > 0 ? EXIT.partial : EXIT.done)
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

interface Reading {
  readonly config: WorkspaceConfig
  readonly groups: readonly NamedGroup[]
  readonly journal: Journal
  readonly cli: Cli
  readonly signal: AbortSignal
}

/** Everything that was read. */
interface Live {
  readonly people: readonly string[]
  capOf(scope: Scope): Cap | undefined
  emails(groupId: string): readonly string[]
  readonly unread: readonly { readonly scope: Scope; readonly message: string }[]
}

async function readLive(reading: Reading, file: string): Promise<Live> {
  const { config, groups, journal, cli, signal } = reading
  const { client, close } = connectReader(cli, config, { signal })
  const stopping: (() => void)[] = [close]
  try {
    const roster = await readRoster(client, config, signal)
    const members = await readMembers(client, reading)
    const people = roster.people.filter((person) => isApproved(person, roster)).map(({ email }) => email)
    const scopes = [TEAM, ...groups.map(({ id }) => groupScope(id)), ...people.map(userScope)]
    const pending = scopes.filter((scope) => !journal.known.has(scopeKey(scope)))
    if (pending.length < scopes.length) {
      cli.stderr.write(`going on where the last run stopped: ${scopes.length - pending.length} of ${scopes.length} caps are read\n`)
    }
    const progress = await sweepProgress('reading caps', cli.stderr, signal)
    stopping.push(progress.stop)
    progress.expect(pending)
    const readings = new Map<ScopeKey, CapReading>()
    const onReading = (one: CapReading): void => {
      progress.one()
      if (one.observed !== 'unknown') journal.keep({ scope: one.scope, cap: one.observed, readAt: one.readAt })
    }
    await sweep({ client, scopes: pending, concurrency: config.rate.concurrency, readings, onReading, signal })
    refuseWhatIsUnknown(groups, readings, config)
    return liveOf(people, members, journal, readings)
  } catch (error) {
    if (!signal.aborted) throw error
    throw new CommandError(`interrupted; what was read is kept in ${file}: the same command goes on from there within an hour`)
  } finally {
    for (const stop of stopping) stop()
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

/** All groups or none: a policy that misses one would let its members fall back to the team's cap in the reader's eyes. */
async function readMembers(client: ServiceReader, { config, groups, signal }: Reading): Promise<readonly GroupMembers[]> {
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

/** A group id that the service does not know is a slip of the command line. */
function refuseWhatIsUnknown(groups: readonly NamedGroup[], readings: ReadonlyMap<ScopeKey, CapReading>, { name }: WorkspaceConfig): void {
  const team = readings.get(scopeKey(TEAM))
  if (team?.failure) throw new CommandError(`${name}: the team cap could not be read: ${team.failure.message}`)
  for (const { id } of groups) {
    const failure = readings.get(scopeKey(groupScope(id)))?.failure
    if (failure) throw new CommandError(`${name}: the cap of group ${id} could not be read: ${failure.message}; check --group`)
  }
}

function liveOf(
  people: readonly string[],
  members: readonly GroupMembers[],
  { known }: Journal,
  readings: ReadonlyMap<ScopeKey, CapReading>,
): Live {
  const unread = [...readings.values()].flatMap(({ scope, failure }) => (failure ? [{ scope, message: failure.message }] : []))
  const missing = new Set(unread.map(({ scope }) => scopeKey(scope)))
  return {
    people: people.filter((email) => !missing.has(scopeKey(userScope(email)))),
    capOf(scope) {
      const observed = readings.get(scopeKey(scope))?.observed ?? known.get(scopeKey(scope))?.cap
      return observed === 'unknown' ? undefined : observed
    },
    emails: (groupId) => members.find(({ id }) => id === groupId)?.emails ?? [],
    unread,
  }
}

function policyOf(workspace: string, { team, groups, people }: Adopted): PolicySet {
  const at = { file: 'import', line: 1, column: 1 }
  const rule = (scope: Scope, cap: Cap): readonly CapRule[] => (cap === 'none' ? [] : [{ scope, cap, at, document: workspace }])
  return {
    workspace,
    rules: [
      ...rule(TEAM, team),
      ...groups.flatMap(({ id, cap }) => rule(groupScope(id), cap)),
      ...people.flatMap(({ email, cap }) => rule(userScope(email), cap)),
    ],
    groups: groups.map(({ id, name }) => ({ scope: groupScope(id), name, at })),
    grants: [],
    protectedPeople: [],
    approvals: [],
    documents: [workspace],
  }
}

/** A comment at the top: what the reader of the file has to know a month later. */
function notesOf(config: WorkspaceConfig, adopted: Adopted, live: Live): string {
  const lines = [`Imported by capkeeper from ${config.baseUrl}.`]
  if (adopted.left > 0) lines.push(`${count(adopted.left, 'cap')} equal to the wider one ${adopted.left === 1 ? 'is' : 'are'} left out.`)
  lines.push(...adopted.bare.map(({ id, name }) => `Group ${id} (${name}) has no cap of its own, and is not managed.`))
  if (live.unread.length > 0) lines.push(`NOT COMPLETE: ${count(live.unread.length, 'cap')} could not be read:`)
  lines.push(...live.unread.map(({ scope }) => `  ${scopeKey(scope)}`))
  return `${lines.map((line) => `# ${line}`).join('\n')}\n`
}

function tell(adopted: Adopted, live: Live, file: string, cli: Cli): void {
  const talk = (line: string): unknown => cli.stderr.write(cli.secrets.redact(`${line}\n`))
  const [torn, ...others] = adopted.conflicts
  if (torn !== undefined) {
    const who = others.length > 0 ? `${torn} and ${others.length} more` : torn
    talk(`warning: ${who}: their groups have different caps; set spec.onGroupConflict to min or max, or give them a cap of their own`)
  }
  for (const { scope, message } of live.unread.slice(0, 10)) talk(`error: ${scopeKey(scope)} could not be read: ${message}`)
  if (live.unread.length > 0) {
    talk(`${count(live.unread.length, 'cap')} could not be read; the same command reads them again and keeps the rest (${file})`)
  }
}
