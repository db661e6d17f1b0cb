// `explain`: reads the roster, the scope, its ancestors, managed or not, and the members of its pool whose caps are not known. All other caps are
// read only when the scope, or the one whose cap it inherits, has a pending change: only the whole plan tells whether a guard holds it, and whom it counts.

import { capEdit, plain } from '../core/escape/text.ts'
import type { Change } from '../core/model/change.ts'
import { shortRevision } from '../core/model/policy.ts'
import { formatPosition } from '../core/model/problem.ts'
import { groupScope, parseScope, type Scope, scopeKey, TEAM, userScope } from '../core/model/scope.ts'
import { type Rhythm, type RhythmBound, rhythmBound, rhythmOf, rhythmText, sweepRate } from '../core/pace/rhythm.ts'
import { type ExplainedCandidate, type Explanation, explain } from '../core/plan/explain.ts'
import { memberOf } from '../core/pools/state.ts'
import type { Preview } from '../daemon/cycle/preview.ts'
import { sweep } from '../daemon/cycle/read.ts'
import { type DesiredState, desiredInputs, type WorkspaceState } from '../daemon/cycle/state.ts'
import { declaredIn, slicingOf } from '../daemon/schedule/slice.ts'
import { readSetup, type WorkspaceSetup } from './compose.ts'
import { historyDocument } from './history.ts'
import { RESULT_WORDS, SIGNS, tellReading, unreadBecause } from './plan/render.ts'
import { action, COMMANDS, type FlagsOf } from './shared/command.ts'
import { type Cli, EXIT, type ExitCode, type Paint, painter, UsageError, worstExit } from './shared/context.ts'
import { openLedgers, type PlanLedger } from './shared/ledger/ledgers.ts'
import { slowestPace } from './shared/ledger/replica.ts'
import { readEach, type WorkspaceReader } from './shared/reader.ts'
import { amountText, blocksText, capText, columns, dayText, documentOrList, present, rfc3339, shortTime } from './shared/text.ts'

export const register = action(COMMANDS.explain, explainCommand)

/** How often a daemon reads the scope; only a bound where the use by day is not known. */
type Reading = Rhythm | RhythmBound

/** One explanation as text. */
function explanationText(one: Explanation, rhythm: Reading | undefined, paint: Paint): string {
  return blocksText([
    [headline(one, paint), ...statusLines(one)],
    block('Declared:', chainLines(one, paint), 'nothing in the policies bears on this scope'),
    block('Observed:', columns(one.observed.map(({ scope, reading }) => observedCells(scope, reading))), 'nothing was read'),
    present(inForce(one), useLine(one), stopLine(one)),
    (one.pool?.lines ?? []).map((line, index) => `${index === 0 ? '' : '  '}${plain(line)}`),
    presentLines(one, paint),
    present(lastWrite(one), ownedLine(one), readLine(one, rhythm)),
  ])
}

const block = (title: string, lines: readonly string[], empty: string): readonly string[] => [
  title,
  ...(lines.length > 0 ? lines : [empty]).map((line) => `  ${line}`),
]

function headline(one: Explanation, paint: Paint): string {
  const asks = one.cap === undefined ? 'policy asks for no cap here' : `policy asks for ${capText(one.cap)}`
  return `${paint('bold', plain(scopeKey(one.scope)))}: ${asks}`
}

function statusLines({ scope, chain, person, groups, skipped, rejected, nearest }: Explanation): readonly string[] {
  const isNamed = chain.some(({ candidate }) => scopeKey(candidate.scope) === scopeKey(scope))
  const status = person && `${person.status}${person.disabled ? ', access switched off' : ''}`
  const member = groups.length > 0 && `in ${groups.map((group) => `group:${group.id} (${group.name})`).join(', ')}`
  const about = present(status, member)
  return present(
    scope.kind === 'group' && !isNamed && '  no policy sets a cap for this group',
    about.length > 0 && `  ${plain(about.join(', '))}`,
    nearest !== undefined && !skipped && `  did you mean ${plain(nearest)}?`,
    skipped && `  skipped, neither read nor written: ${plain(skipped.why)}`,
    rejected && `  rejected: ${plain(rejected.message)} (${rejected.code})`,
  )
}

/** Cells in columns, the winner marked. */
function chainLines({ chain }: Explanation, paint: Paint): readonly string[] {
  const lines = columns(chain.map((entry) => [entry.wins ? '* wins' : '  loses', ...candidateCells(entry), plain(entry.why)]))
  return chain.flatMap((entry, index) => {
    const { reason, ticket } = entry.candidate
    const note = [reason, ticket].flatMap((text) => (text === undefined || text === entry.why ? [] : [plain(text)])).join(' · ')
    const line = lines[index] ?? ''
    return present(entry.wins ? paint('green', line) : line, note !== '' && paint('dim', `           ${note}`))
  })
}

function candidateCells({ candidate, state }: ExplainedCandidate): readonly string[] {
  const { cap, add, at } = candidate
  const amount = add === undefined ? capText(cap) : `${capText(cap)} (+${add})`
  const what = `${whatOf(candidate)}${state === undefined ? '' : `, ${state}`}`
  return [amount, what, at ? plain(formatPosition(at)) : 'no longer declared']
}

function whatOf({ kind, rule, pool, scope }: ExplainedCandidate['candidate']): string {
  if (kind === 'rule') return `rule ${plain(rule ?? '')}`
  return kind === 'pool' ? `pool ${plain(pool ?? '')}` : `${scope.kind} ${kind}`
}

function observedCells(scope: Scope, reading: Explanation['observed'][number]['reading']): readonly string[] {
  const key = plain(scopeKey(scope))
  if (!reading) return [key, 'not read']
  const failure = reading.failure ? `: ${plain(reading.failure.message)}` : ''
  return [key, capText(reading.observed), `read ${shortTime(reading.readAt)}${failure}`]
}

function inForce({ inForce: now }: Explanation): string | undefined {
  if (now?.cap === 'unknown') return 'In force: not known.'
  return now && `In force: ${capText(now.cap)}${now.from === undefined ? '' : `, set at ${plain(now.from)}`}.`
}

function useLine({ use }: Explanation): string | undefined {
  if (!use) return undefined
  const { headRoom, used, source } = use
  const room = headRoom === undefined ? '' : `, ${amountText(Math.abs(headRoom))} ${headRoom < 0 ? 'over the cap' : 'left'}`
  const amount = `${amountText(used)} credits`
  switch (source) {
    case 'measured':
      return `Add-on credits used in this cycle: ${amount}${room}. Measured.`
    case 'estimated':
      return `Used beyond the seat in this cycle: ${amount}${room}. Estimated.`
    case 'upperBound':
      return `Used beyond the seat in this cycle: ${amount} at most (what a seat includes is not known)${room}.`
  }
}

const STOPS: Readonly<Record<NonNullable<Explanation['stopsFirst']>['what'], string>> = {
  cap: 'the cap',
  pool: 'the pool',
  balance: "the workspace's balance",
  nothing: 'neither the cap nor a pool in this cycle',
}

function stopLine({ stopsFirst: stop }: Explanation): string | undefined {
  if (!stop) return undefined
  const day = stop.at === undefined ? '' : `, on ${dayText(stop.at)} at this pace`
  return `Stops first: ${STOPS[stop.what]}${day}${stop.without ? "; the day of the workspace's balance is not worked out here" : ''}.`
}

function presentLines(one: Explanation, paint: Paint): readonly string[] {
  const { scope, observed, change, hold, inherits, problems, desired, skipped } = one
  const own = observed.find((each) => scopeKey(each.scope) === scopeKey(scope))
  const isRead = own?.reading !== undefined && own.reading.failure === undefined
  const nothing = desired
    ? isRead
      ? 'nothing to write.'
      : 'not known; its cap could not be read.'
    : skipped
      ? 'nothing; it is skipped.'
      : 'nothing is asked of this very scope.'
  const inherited = inherits && `  ${plain(scopeKey(inherits.scope))}: ${changeText(inherits.change, inherits.hold)}`
  const yellow = (text: string | undefined) => text !== undefined && paint('yellow', `  ${plain(text)}`)
  return present(
    `Now: ${change ? changeText(change, hold) : nothing}`,
    yellow(hold?.message),
    yellow(desired?.waits),
    yellow(whyNotNow(change)),
    inherited,
    yellow(inherits?.hold?.message),
    yellow(whyNotNow(inherits?.change)),
    problems.map((problem) => `  ${problem.severity}: ${plain(problem.message)} (${problem.code})`),
    editLine(one),
  )
}

function changeText({ effect, from, to, cause }: Change, hold: Explanation['hold']): string {
  const held = hold ? ` (held by ${hold.guards.join(', ')}, hold ${hold.id})` : ''
  return `${SIGNS[effect]} ${effect} ${capText(from)} → ${capText(to)}, cause ${cause}${held}`
}

/** The line to type for another cap. An address that nobody has, and a group that is not declared, may be misspelt. */
function editLine({ scope, cap, chain, person }: Explanation): string | undefined {
  const key = scopeKey(scope)
  const here = chain.filter(({ candidate }) => scopeKey(candidate.scope) === key)
  const isKnown = scope.kind === 'team' || (person !== undefined && person.status !== 'off-roster') || here.length > 0
  if (cap === undefined || !isKnown) return undefined
  const grants = here.flatMap(({ candidate: { kind, fromAt }, state }) =>
    kind === 'grant' ? [{ state, from: fromAt === undefined ? undefined : rfc3339(fromAt) }] : [],
  )
  const { what, line } = capEdit(key, capText(cap), grants)
  return plain(`To ${what} in the policies: ${line}`)
}

function whyNotNow(change: Change | undefined): string | undefined {
  const disposition = change?.disposition
  if (disposition?.kind === 'deferred') return `waits: ${disposition.reason}`
  return disposition?.kind === 'excluded' ? `not written: ${disposition.reason}` : undefined
}

function lastWrite({ lastWrite: last }: Explanation): string {
  if (!last) return 'Last write: none by capkeeper.'
  const reason = last.reason === undefined ? '' : `, ${plain(last.reason)}`
  const revision = last.revision === '' ? '' : ` at ${plain(shortRevision(last.revision))}`
  const caps = `${capText(last.from)} → ${capText(last.to)}`
  return `Last write: ${shortTime(last.at)} ${caps}, ${RESULT_WORDS[last.result]}, cause ${last.cause}${reason}, policies ${last.digest}${revision}.`
}

const ownedLine = ({ owned }: Explanation): string | undefined =>
  owned && `The ledger holds ${capText(owned.cap)} as ours (${owned.owner}), verified ${shortTime(owned.verifiedAt)}.`

const readLine = ({ scope }: Explanation, rhythm: Reading | undefined): string | undefined =>
  rhythm && `With a daemon ${rhythm.key === scopeKey(scope) ? 'it' : plain(rhythm.key)} is ${rhythmText(rhythm)}.`

/** The explanation of a scope in one workspace. */
type Explained = Awaited<ReturnType<typeof explainOne>>

/** A block for each workspace, named where there are several. */
const explainedText = (all: readonly Explained[], paint: Paint): string =>
  all
    .map(({ workspace, explanation, reading }) => {
      const name = all.length > 1 ? `${paint('bold', plain(workspace))}\n` : ''
      return `${name}${explanationText(explanation, reading, paint)}`
    })
    .join('\n')

/** An item of `{apiVersion, kind: "Explanation", …}`; an `ExplanationList` where several workspaces were asked for. */
function explanationDocument({ workspace, explanation, reading }: Explained) {
  const { lastWrite: last, ...rest } = explanation
  return { workspace, ...rest, lastWrite: last && historyDocument(last), reading: reading && readingDocument(reading) }
}

/** As in the documents of `/api/v1`; without `everySeconds` where only the bound is known. */
function readingDocument(reading: Reading) {
  const { everyMs, atLeastEveryMs } =
    'everyMs' in reading ? { everyMs: reading.everyMs, atLeastEveryMs: reading.sliced?.atLeastEveryMs } : { everyMs: undefined, ...reading }
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms / 1000))
  return { scope: reading.key, everySeconds: seconds(everyMs), atLeastEverySeconds: seconds(atLeastEveryMs), why: rhythmText(reading) }
}

/** Explains one scope in all workspaces. */
async function explainCommand(text: string, flags: FlagsOf<typeof COMMANDS.explain>, cli: Cli): Promise<void> {
  const scope = parseScope(text)
  if (!scope) throw new UsageError(`'${text}' is not a scope: write an e-mail, group:ID or team`)
  const setup = await readSetup(cli, flags, () => undefined)
  const { done: all, codes } = await readEach(cli, setup, openLedgers(cli, setup, flags), (reader) => explainOne(scope, reader, cli))
  const document = (): string => documentOrList('Explanation', all.map(explanationDocument), setup.workspaces.length)
  cli.stdout.write(flags.output === 'json' ? document() : explainedText(all, painter(cli.stdout)))
  cli.finish(worstExit([...all.map(({ code }) => code), ...codes]))
}

async function explainOne(scope: Scope, reader: WorkspaceReader<PlanLedger>, cli: Cli) {
  const { config, policy, client, ledger, signal } = reader
  const history = await ledger.history({ scope, limit: 1 })
  const explained = ({ state, planned: { plan } }: Preview) => {
    const { usage, readings, measured } = state
    const asked = desiredInputs(state, reader)
    return explain({ asked, readings, history, holds: plan.holds, plan, balance: usage?.balance, measured }, scope)
  }
  const near = await reader.preview((state, { pools }) => nearTo(scope, pools, policy, state.pools))
  const { change, inherits } = explained(near)
  const full = change || inherits ? await reader.preview() : near
  const { readings } = full.state
  const scopes = unmanagedNear(scope, full).filter((other) => !readings.has(scopeKey(other)))
  await sweep({ client, scopes, concurrency: config.rate.concurrency, readings, signal })
  tellReading(cli, config.name, full)
  const explanation = explained(full)
  const code: ExitCode = unreadBecause(full) === undefined ? EXIT.done : EXIT.failed
  return { workspace: config.name, explanation, reading: await rhythmAt(scope, full, reader), code }
}

/** How often a daemon would read the scope, at the learned pace or else at `rate.max`. */
async function rhythmAt(
  scope: Scope,
  { desiredState, state }: Preview,
  { ledger, config, clock }: WorkspaceReader<PlanLedger>,
): Promise<Reading | undefined> {
  const { intervalMs, rate } = config
  const pace = Math.min(rate.max, slowestPace(ledger.fact('pace'), rate.max))
  const { readsPerSecond, count } = sweepRate(pace, intervalMs)
  const { toRead, people } = desiredState
  const asked = { scope, toRead, people, declared: declaredIn(desiredState), intervalMs }
  if (toRead.length <= count) return rhythmOf(asked)
  const { useByPerson, writtenLately } = ledger
  // A remote daemon does not share the use by day.
  if (!useByPerson) return rhythmBound(asked, readsPerSecond)
  const sliced = { desired: desiredState, readings: state.readings, readsPerSecond, now: clock.now(), useWhenRead: new Map() }
  return rhythmOf({ ...asked, slicing: await slicingOf({ ...sliced, ledger: { useByPerson, writtenLately } }) })
}

/** Whether a scope is the explained one, may be its ancestor, or is dealt from the same credits and the ledger does not tell its cap. */
function nearTo(
  scope: Scope,
  pools: DesiredState['resolution']['pools'],
  policy: WorkspaceSetup['policy'],
  before: WorkspaceState['pools'],
): (seen: Scope) => boolean {
  const groups = scope.kind === 'user' ? policy.set.groups.map((group) => groupScope(group.scope.id)) : []
  const pool = scope.kind === 'user' ? pools.find(({ members }) => members.some(({ email }) => email === scope.email)) : undefined
  const known = pool && Object.hasOwn(before, pool.pool.name) ? before[pool.pool.name] : undefined
  const dealt = pool?.members.flatMap(({ email }) => (known && memberOf(known, email)?.inForce ? [] : userScope(email))) ?? []
  const near = new Set([scope, TEAM, ...groups, ...dealt].map(scopeKey))
  return (seen) => near.has(scopeKey(seen))
}

/** Caps that no policy declares are in force all the same. Of people, only those who are approved are read. */
const unmanagedNear = (scope: Scope, { desiredState }: Preview): readonly Scope[] =>
  scope.kind === 'user' && desiredState.people.byKey.has(scopeKey(scope)) ? [scope, TEAM] : scope.kind === 'team' ? [scope] : []
