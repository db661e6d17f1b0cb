// What `import` and `init` read of a workspace: the roster, the members of the groups that were named, and every cap in force. What could not
// be read is told, never guessed. It writes nothing.
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

export interface LiveQuestion {
  readonly config: WorkspaceConfig
  readonly groups: readonly NamedGroup[]
  /** Where readings are kept for the next run; without one they are all asked again. */
  readonly journal?: Pick<Journal, 'known' | 'keep'>
  /** What to say when the reading is interrupted. */
  readonly interrupted: string
  readonly cli: Cli
  readonly signal: AbortSignal
}

/** Everything that was read. */
export interface Live {
  /** Everybody approved whose cap was read. */
  readonly people: readonly string[]
  capOf(scope: Scope): Cap | undefined
  emails(groupId: string): readonly string[]
  readonly unread: readonly { readonly scope: Scope; readonly kind: ApiErrorKind; readonly message: string }[]
}

/** Reads it all; throws a `CommandError` that says what could not be read where nothing can be said without it. */
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
      cli.stderr.write(`going on where the last run stopped: ${scopes.length - pending.length} of ${scopes.length} caps are read\n`)
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
    // The team and the groups first: where they cannot be read, nobody is asked about hundreds of people in vain.
    await sweep({ ...sweeping, scopes: pending.filter(({ kind }) => kind !== 'user') })
    refuseWhatIsUnknown(groups, readings, config)
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

/** All groups or none: a policy that misses one would let its members fall back to the team's cap in the reader's eyes. */
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

/** A group id that the service does not know is a slip of the command line. */
function refuseWhatIsUnknown(groups: readonly NamedGroup[], readings: ReadonlyMap<ScopeKey, CapReading>, { name }: WorkspaceConfig): void {
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
