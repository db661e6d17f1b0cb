// What a plan makes of caps that are shown and asked for: changes and what becomes of each, holds, problems, approvals, and what the ledger is to remember.
// `CAPKEEPER_TESTS=test/core/plan/plans.test.ts npx vitest run -u` writes what came of the entries into the tables, for review as a change of text.
// In `scopes`, team 500>400 ours 300 is shown at 500, asked to be 400 and ours at 300; ? is a failed read. Twenty people p0 … are approved where none are named.
import type { Scope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { cap, DAY, email, entryOf, HOUR, keysOf, NOW, type PlainCap, policy, research, scope, short } from '../../support/declare.ts'
import { type PlanMore, type PlanSketch, planInputs, planOf, scopes } from '../../support/plan.ts'
import { clause, entryTold, fromNow, type Named, playTables, recordTold } from '../../support/tables.ts'

type Planned = ReturnType<typeof planOf>
type Inputs = ReturnType<typeof planInputs>
type Change = Planned['plan']['changes'][number]
type Excluded = ReturnType<NonNullable<PlanMore['excluded']>> & {}
type Approval = NonNullable<PlanSketch['approvals']>[number]
type Released = Approval['released'][number]
type Refused = NonNullable<PlanSketch['quarantined']>[number]

type Past = ReturnType<NonNullable<NonNullable<PlanSketch['contests']>['written']>>[number]

/** A scope by name, and the rest. */
type On<T> = Omit<T, 'scope'> & { readonly scope: string }

interface Part extends Omit<PlanSketch, 'approvals' | 'quarantined' | 'contests' | 'facts'> {
  readonly scopes?: string
  /** What happens to these scopes in this run. */
  readonly leftOut?: { readonly code: Excluded['code']; readonly of: readonly string[] }
  readonly watched?: readonly string[]
  readonly failed?: Named<PlainCap>
  readonly givenUp?: readonly string[]
  readonly skipped?: readonly string[]
  /** What was read last of scopes that cannot be read now. */
  readonly last?: Named<PlainCap>
  readonly refused?: readonly On<Refused>[]
  /** What our own writes of this run set before. */
  readonly sent?: Named<readonly [from: PlainCap, to: PlainCap]>
  /** The scopes of envelopes by name, and why those that are narrowed are. */
  readonly envelopes?: Named<readonly string[]>
  readonly narrowed?: Named<string>
  /** How often others changed scopes that are left alone since an hour. */
  readonly contested?: Named<number>
  /** Earlier writes of p0, or of the scope that they name, newest first. */
  readonly written?: readonly (Partial<Past> & { readonly at: number; readonly scope?: string })[]
  readonly approvals?: readonly (Partial<Omit<Approval, 'released' | 'beside'>> & {
    readonly released?: Named<readonly [PlainCap, PlainCap, 'verified'?]>
    readonly beside?: Named<readonly [PlainCap, PlainCap]>
  })[]
  readonly facts?: Omit<NonNullable<PlanSketch['facts']>, 'unlistedGroups'> & { readonly unlistedGroups?: readonly string[] }
  /** What has changed of people in the people file. */
  readonly peopleFile?: Named<{ readonly at: number; readonly text: string }>
  /** People who follow what is wider, in a pool with so much room, and what they had used before they joined. */
  readonly followers?: { readonly room: number; readonly base: Named<number>; readonly isLeftAtZero?: boolean }
  readonly together?: boolean
  readonly idle?: string
  /** Whether what the ledger is to remember is told as well. */
  readonly ledger?: boolean
}

/** 16 of 100 people lowered from 500 to 400: one hold by maxLowered, which has the same id on every machine. */
const ID = '35fbf18efa8ca7059c8d6c6492af67dc'
const idOf = (text: string): string => text.replaceAll('ID', ID)

const shortId = (id: string): string => (id === ID ? 'ID' : id.slice(0, 8))

const approvalOf = ({ id = 'ID', released = {}, beside = {}, ...more }: NonNullable<Part['approvals']>[number]): Approval => ({
  ...{ id: idOf(id), via: 'command', approvedAt: NOW - DAY, state: 'pending', ...more },
  beside: Object.entries(beside).map(([name, [from, to]]) => ({ scope: scope(name), from: cap(from), to: cap(to) })),
  released: Object.entries(released).map(
    ([name, [from, to, verified]]): Released => ({ scope: scope(name), from: cap(from), to: cap(to), verified: verified !== undefined }),
  ),
})

const excludes =
  (code: Excluded['code'], names: readonly string[]): NonNullable<PlanMore['excluded']> =>
  ({ scope: at }) =>
    names.includes(short(at)) ? { kind: 'excluded', code, reason: 'because' } : undefined

const [POOL] = policy({ pools: [research(100, ['ada', 'bob'])] }).pools
const followersOf = ({ room, base, isLeftAtZero = false }: NonNullable<Part['followers']>): NonNullable<PlanMore['followers']> => {
  const members = Object.entries(base).map(([name, used]) => ({ email: email(name), base: credits(used), count: 40, isLeftAtZero }))
  return POOL ? [{ pool: POOL, room, members }] : []
}

/** What `narrowed` and `envelopes` say of scopes. */
const settledOf = ({ envelopes = {}, narrowed = {} }: Part): NonNullable<NonNullable<PlanMore['policy']>['settled']> => ({
  envelopeOf: Object.fromEntries(Object.entries(envelopes).flatMap(([name, all]) => [...keysOf(...all)].map((key) => [key, name]))),
  narrowed: Object.fromEntries(Object.entries(narrowed).flatMap(([name, why]) => [...keysOf(name)].map((key) => [key, why]))),
  ...{ refusals: [], notes: [], declaredByPlatform: 1 },
  memory: { readAt: {}, members: {}, last: {}, joined: {}, spans: {}, scopes: {} },
})

const withLast = (readings: Inputs['readings'], last: Named<PlainCap>): Inputs['readings'] =>
  new Map(
    [...readings].map(([key, one]) => {
      const observed = last[short(one.scope)]
      return [key, observed === undefined ? one : { ...one, last: { observed: cap(observed), readAt: NOW - HOUR } }]
    }),
  )

function planned(part: Part): Planned {
  const {
    scopes: text,
    leftOut,
    watched,
    failed,
    givenUp,
    skipped,
    last,
    refused,
    sent,
    envelopes,
    narrowed,
    contested,
    written,
    approvals,
    facts,
    peopleFile,
    followers,
    together,
    idle,
    ledger: _,
    ...sketch
  } = part
  const shown = text === undefined ? undefined : scopes(text)
  const made = {
    ...sketch,
    ...(shown && {
      caps: { ...shown.caps, ...sketch.caps },
      observed: { ...shown.observed, ...sketch.observed },
      owned: { ...shown.owned, ...sketch.owned },
    }),
    ...(sketch.approvalIds && { approvalIds: sketch.approvalIds.map(idOf) }),
    ...(sketch.approve && { approve: sketch.approve.map(idOf) }),
    ...(sketch.holdsShown && { holdsShown: Object.fromEntries(Object.entries(sketch.holdsShown).map(([id, one]) => [idOf(id), one])) }),
    ...(approvals && { approvals: approvals.map(approvalOf) }),
    ...(refused && { quarantined: refused.map((one) => ({ ...one, scope: scope(one.scope) })) }),
    ...(facts && {
      facts: { ...facts, ...(facts.unlistedGroups && { unlistedGroups: keysOf(...facts.unlistedGroups) }) } as PlanSketch['facts'],
    }),
    ...(contested && {
      contests: {
        known: Object.fromEntries(
          Object.entries(contested).flatMap(([name, changes]) =>
            [...keysOf(name)].map((key) => [key, { at: NOW - HOUR, entry: entryOf('cap', 500), changes }]),
          ),
        ),
      },
    }),
    ...(written && {
      contests: { written: (of: Scope, since: number) => written.filter((one) => one.at >= since && (one.scope ?? 'p0') === short(of)) },
    }),
  } as PlanSketch
  return planOf(made, {
    ...((envelopes || narrowed) && { policy: { ...planInputs(made).policy, settled: settledOf(part) } }),
    ...(leftOut && { excluded: excludes(leftOut.code, leftOut.of) }),
    ...(watched && { watched: excludes('onDrift', watched) }),
    ...(failed && {
      failed: new Map(Object.entries(failed).map(([name, to]) => [[...keysOf(name)][0] as never, { to: cap(to), reason: '422' }])),
    }),
    ...(givenUp && { givenUp: keysOf(...givenUp) }),
    ...(skipped && { skipped: keysOf(...skipped) }),
    ...(last && { readings: withLast(planInputs(made).readings, last) }),
    ...(sent && {
      sent: Object.entries(sent).map(([name, [from, to]]) => ({ scope: scope(name), from: cap(from), to: cap(to), at: NOW })),
    }),
    ...(peopleFile && {
      resolution: {
        ...planInputs(made).resolution,
        attributeChanges: new Map(Object.entries(peopleFile).map(([name, one]) => [email(name), one])),
      },
    }),
    ...(followers && { followers: followersOf(followers) }),
    ...(together && { approvalSteps: 'together' as const }),
    ...(idle !== undefined && { idle }),
  })
}

const PERSON = /^p\d+$/
/** `p0..15 lower 500>400`: what is the same for people who follow each other is told once. */
function grouped(lines: readonly (readonly [name: string, what: string, line?: number])[]): readonly string[] {
  const runs: { readonly names: string[]; readonly what: string; readonly line: number | undefined }[] = []
  for (const [name, what, line] of lines) {
    const last = runs.at(-1)
    if (last?.what === what && [name, last.names[0] ?? ''].every((one) => PERSON.test(one))) last.names.push(name)
    else runs.push({ names: [name], what, line })
  }
  return runs.map(({ names, what, line }) => {
    if (names.length === 1) return `${names[0]} ${what}${clause('line', line)}`
    const numbers = names.map((name) => Number(name.slice(1))).toSorted((one, other) => one - other)
    const [first = 0, last = 0] = [numbers[0], numbers.at(-1)]
    return `${last - first === names.length - 1 ? `p${first}..${last}` : names.join(' ')} ${what}`
  })
}

const fateOf = (disposition: Change['disposition'], holds: Planned['plan']['holds']): string => {
  switch (disposition.kind) {
    case 'ready':
      return ''
    case 'held':
      return `, held by ${holds.find(({ id }) => id === disposition.hold)?.guards.join(' and ')}`
    case 'deferred':
      return `, waits${disposition.waitsFor ? ` for ${short(disposition.waitsFor)}` : ''} (${disposition.code}): ${disposition.reason.replace(/hold \w{8,}/, 'a hold')}`
    case 'excluded':
      return `, left out (${disposition.code})`
  }
}

function told({ plan, approvals, rosterAccepted, pending, ...rest }: Planned, withLedger: boolean): readonly string[] {
  const { changes, holds, unknown, problems } = plan
  return [
    ...grouped(
      changes.map((one) => {
        const { effect, from, to, cause, people, released, reason, healing, grantEnd, source, disposition } = one
        const about = [
          people > 1 ? `, ${people} people` : '',
          healing ? ', heals' : '',
          grantEnd ? ', ends a grant' : '',
          released ? ', released' : '',
        ]
        const why = reason === undefined ? '' : `, because ${reason}`
        return [short(one.scope), `${effect} ${from}>${to} ${cause}${about.join('')}${why}${fateOf(disposition, holds)}`, source?.line]
      }),
    ),
    ...holds.map(({ id, guards, people, changes: all, message, release }) => {
      const words = message.replace('acme: ', '').replaceAll(id, 'ID')
      return `hold ${guards.join(' and ')} of ${people} people, ${all.length} changes${release === undefined ? '' : `, ${release} released`}: ${words}`
    }),
    ...grouped(unknown.map((one) => [short(one.scope), `not read: ${one.message}`])),
    ...problems.map(({ severity, code, message, at, scope: on }) => {
      return `${severity} ${code}${on ? ` of ${short(on)}` : ''}: ${message.replaceAll(ID, 'ID')}${clause('line', at?.line)}`
    }),
    ...plan.approvals.map(({ id, via, state, releases, at, note }) => {
      const all = grouped(releases.map(({ scope: on, from, to }) => [short(on), `${from}>${to}`])).join(', ')
      return `approval ${shortId(id)} by ${via} is ${state}, releases ${all || 'nothing'}${clause('line', at?.line)}${note === undefined ? '' : `: ${note}`}`
    }),
    ...approvals.map(({ id, state, released, approvedAt }) => {
      const verified = released.filter((one) => one.verified).length
      return `kept approval ${shortId(id)} of ${fromNow(approvedAt)} is ${state}, released ${released.length}, ${verified} verified`
    }),
    ...(rosterAccepted ? ['the new roster is good'] : []),
    ...grouped(
      pending.flatMap(({ scope: at, from, to, isUnread }) => (isUnread ? [[short(at), `${from}>${to} waits to be read`] as const] : [])),
    ),
    ...(withLedger ? memory(rest, pending) : []),
  ]
}

const stateOf = ({ scope: at, state, desired, observed, cause, why }: Planned['scopes'][number]): readonly [string, string] => {
  const reason = why?.replace(/hold \w{8,}/, 'a hold')
  return [
    short(at),
    `is ${state}${clause('asked', desired)}${clause('shown', observed)}${clause('for', cause)}${reason === undefined ? '' : `: ${reason}`}`,
  ]
}

type Rest = Pick<Planned, 'diff' | 'differences' | 'desired' | 'scopes'>

const memory = (
  { diff: { adopted, released }, differences, desired, scopes: states }: Rest,
  pending: Planned['pending'],
): readonly string[] => [
  ...grouped(
    [...differences.values()].map(({ scope: at, key, entry, pin, pool }) => {
      const asked = desired.get(key)
      const by = asked && ` by ${asked.origin.kind} of ${asked.owner}${asked.losers.length === 0 ? '' : `, beats ${asked.losers.length}`}`
      const of = pool ? `, of pool ${pool.name}${pool.isReviewed ? ' as reviewed' : ''}` : ''
      return [short(at), `is written as ${entryTold(entry)}${by ?? ''}${pin ? ', pinned' : ''}${of}`]
    }),
  ),
  ...grouped(
    pending.map(({ scope: at, healing, isHeld, isWatched, isPooled }) => {
      const flags = [healing ? ', heals' : '', isHeld ? ', held' : '', isWatched ? ', watched' : '', isPooled ? ', pooled' : '']
      return [short(at), `is pending${flags.join('')}`]
    }),
  ),
  ...grouped(adopted.map((one) => [short(one.scope), `is ours at ${recordTold(one)}`])),
  ...released.map((key) => `${key.replace('@example.com', '')} is forgotten`),
  ...grouped(states.map(stateOf)),
]

playTables<Part>(import.meta.dirname, (part) => [told(planned(part), part.ledger ?? false)])
