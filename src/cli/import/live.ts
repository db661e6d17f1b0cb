// Reads a workspace for `import` and `init`: the roster, the members of the named groups, and every cap in force. A cap that could not be read
// is listed, never guessed.
import type { ServiceReader } from '../../api/client.ts'
import { isApproved } from '../../core/interpret/effective.ts'
import type { ApiErrorKind, CapReading, GroupMembers, Roster } from '../../core/model/observed.ts'
import type { Cap } from '../../core/model/policy.ts'
import { groupScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../../core/model/scope.ts'
import { failureOf } from '../../daemon/collect/failure.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { sweep } from '../../daemon/cycle/read.ts'
import { connectReader } from '../compose.ts'
import { type Cli, CommandError } from '../shared/context.ts'
import { sweepProgress } from '../shared/progress.ts'
import type { NamedGroup } from './command.ts'
import type { Journal } from './journal.ts'

interface LiveQuestion {
  readonly config: WorkspaceConfig
  readonly groups: readonly NamedGroup[]
  /** Keeps readings for the next run. */
  readonly journal?: Pick<Journal, 'known' | 'keep'>
  /** The message when the reading is interrupted. */
  readonly interrupted: string
  readonly cli: Cli
  readonly signal: AbortSignal
}

/** The workspace as it was read. */
export interface Live {
  /** The approved people whose cap was read. */
  readonly people: readonly string[]
  capOf(scope: Scope): Cap | undefined
  emails(groupId: string): readonly string[]
  readonly unread: readonly { readonly scope: Scope; readonly kind: ApiErrorKind; readonly message: string }[]
}

/** Reads the workspace. Throws a `CommandError` when the roster, a group or the team's cap cannot be read. */
export async function readLive(question: LiveQuestion): Promise<Live> {
  const { config, groups, journal, cli, signal } = question
  const known: Journal['known'] = journal?.known ?? new Map()
  const { client, close } = connectReader(cli, config, { signal })
  const stopping: (() => void)[] = [close]
  try {
    const roster = await readRoster(client, config, signal)
    const members = await readMembers(client, question)
    const people = roster.people.filter((person) => isApproved(person, roster)).map(({ email }) => email)
    const scopes = [TEAM, ...groups.map(({ id }) => groupScope(id)), ...people.map(userScope)]
    const pending = scopes.filter((scope) => !known.has(scopeKey(scope)))
    if (pending.length < scopes.length) {
      cli.stderr.write(`continuing the last run: ${scopes.length - pending.length} of ${scopes.length} caps are read\n`)
    }
    const progress = await sweepProgress('reading caps', cli.stderr, signal)
    stopping.push(progress.stop)
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
    throw new CommandError(question.interrupted)
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
function requireRead(groups: readonly NamedGroup[], readings: ReadonlyMap<ScopeKey, CapReading>, { name }: WorkspaceConfig): void {
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

function liveOf(
  people: readonly string[],
  members: readonly GroupMembers[],
  known: Journal['known'],
  readings: ReadonlyMap<ScopeKey, CapReading>,
): Live {
  const unread = [...readings.values()].flatMap(({ scope, failure }) =>
    failure ? [{ scope, kind: failure.kind, message: failure.message }] : [],
  )
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
