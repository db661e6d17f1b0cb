// What becomes of each change now, in one chain: watched only, held by a guard, left out of this run, failed in it, waiting for another
// write, or ready. Nothing else decides that something is not written, and every output shows what was decided here.
import { ancestorsOf, type CapAt, type People } from '../interpret/effective.ts'
import type { Slots } from '../interpret/slots.ts'
import { type Disposition, READY, type Release } from '../model/change.ts'
import { isSameEntry } from '../model/entry.ts'
import type { OwnedCap } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import { compareScopes, type Scope, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { DesiredCap } from '../resolve/candidate.ts'
import { type Difference, sourceOf } from './diff.ts'
import type { Judged } from './judgement.ts'
import { type Pending, schedule, type WaveInputs } from './wave.ts'

export type Exclusion = Extract<Disposition, { kind: 'excluded' }>

/** A write of this run that did not succeed; another value may still be written. */
export interface Failure {
  readonly to: Cap
  readonly reason: string
}

/** A cap that the service has refused, which is asked for all the same: of the team, of a group, or of a member of a pool. */
export interface Refused {
  readonly scope: Scope
  readonly to: Cap
  readonly message: string
}

/** A change with what becomes of it. */
export interface DisposedChange {
  readonly difference: Difference
  readonly disposition: Disposition
  readonly released?: Release
}

export interface Disposed {
  /** In the order of writing; what is not written now stands behind what is. */
  readonly order: readonly DisposedChange[]
  /** What the waves of this run must leave room for. */
  readonly pending: readonly Pending[]
}

export interface DisposeInputs {
  readonly differences: readonly Difference[]
  readonly judged: Pick<Judged, 'judgement' | 'releases'>
  readonly watched?: (difference: Difference) => Exclusion | undefined
  readonly excluded?: (difference: Difference) => Exclusion | undefined
  readonly failed?: ReadonlyMap<ScopeKey, Failure>
  readonly givenUp?: ReadonlySet<ScopeKey>
  readonly refused: readonly Refused[]
  readonly unknown: readonly { readonly scope: Scope; readonly message: string }[]
  readonly desired: ReadonlyMap<ScopeKey, DesiredCap>
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly people: People
  readonly unlisted?: ReadonlySet<ScopeKey>
  readonly slots: Slots
  /** Members of pools whom nothing wider may lift before their own caps stand. */
  readonly pooled: ReadonlySet<ScopeKey>
}

/** Audit mode, a pause and policies that were replaced keep everything back, and show what would go out without them. */
const KEEPS_ALL: ReadonlySet<string> = new Set(['mode', 'pause', 'replaced'])

/** Gives each change its disposition, and all of them their order. */
export function dispose(inputs: DisposeInputs): Disposed {
  const { differences, judged } = inputs
  const { heldBy } = judged.judgement
  const fixed = new Map<ScopeKey, Disposition>()
  for (const one of differences) {
    const disposition =
      inputs.watched?.(one) ?? held(heldBy.get(one.key)) ?? leftOut(one, inputs) ?? failed(one, inputs) ?? overHeld(one, inputs)
    if (disposition) fixed.set(one.key, disposition)
  }
  const unread = unreadChanges(inputs)
  // What a guard holds is not put back now, so nobody has it to fall back on.
  const asPending = (one: Difference): Pending => {
    const isHeld = heldBy.has(one.key)
    // Nor does a deal that nobody has agreed to keep back what is wider, but where that would lift somebody above the credits.
    const isPooled = inputs.pooled.has(one.key) || (one.pool !== undefined && !isHeld)
    return { ...one, healing: one.healing && !isHeld, isPooled, isHeld }
  }
  const refused = inputs.refused.map(
    ({ scope, to }): Pending => ({
      ...{ scope, key: scopeKey(scope), from: 'none', to, healing: false, isRefused: true },
      isPooled: scope.kind === 'user',
    }),
  )
  // What is only watched holds up nobody, but in the sum of a pool, which yields to nothing.
  const counts = (one: Difference): boolean => inputs.pooled.has(one.key) || !inputs.watched?.(one)
  const pending: Pending[] = [...differences.filter(counts).map(asPending), ...unread, ...refused]
  const ready = differences.filter((one) => !fixed.has(one.key))
  const { waves, blocked } = schedule({ ...waveInputs(inputs), ready, pending })
  const going = waves.flat()
  const messages = new Map(inputs.refused.map(({ scope, message }) => [scopeKey(scope), message]))
  const words: Words = { fixed, unread: new Set(unread.map(({ key }) => key)), refused: messages }
  const disposed = (difference: Difference, disposition: Disposition): DisposedChange => {
    const released = judged.releases.get(difference.key)
    return { difference, disposition, ...(released && { released }) }
  }
  return {
    order: [
      ...going.map((one) => disposed(one, keptBack(one, inputs) ?? READY)),
      ...[...repairs(going, inputs), ...reveals(going, inputs)].map((one) => disposed(one.difference, one.disposition)),
      ...ready.flatMap((one) => {
        const waitsFor = blocked.get(one.key)
        return waitsFor ? disposed(one, deferred(waitsFor, words)) : []
      }),
      ...differences.flatMap((one) => (fixed.has(one.key) ? disposed(one, fixed.get(one.key) ?? READY) : [])),
    ],
    pending,
  }
}

/** What every wave of a plan is judged by. A later one gives newer readings. */
export function waveInputs(
  inputs: Pick<DisposeInputs, 'slots' | 'people' | 'unlisted' | 'owned' | 'desired'>,
): Omit<WaveInputs, 'ready' | 'pending'> {
  const { slots, people, unlisted } = inputs
  const now: CapAt = (key) => {
    const shown = slots.shown(key)
    return shown === 'unknown' ? (believed(key, inputs) ?? slots.lastRead(key) ?? 'none') : shown
  }
  // What was read last may be gone: a change must be right with it and without.
  const isOpen = (key: ScopeKey): boolean =>
    slots.shown(key) === 'unknown' ? believed(key, inputs) === undefined : slots.mayBeInherited(key)
  return { now, mayBeInherited: isOpen, people, ...(unlisted && { unlisted }), layers: slots.model.layers }
}

/** A cap that the ledger verified under the same policy entry is believed to stand while it cannot be read, unless another was read since. */
function believed(key: ScopeKey, { slots, owned, desired }: Pick<DisposeInputs, 'slots' | 'owned' | 'desired'>): Cap | undefined {
  const [ours, want, last] = [owned.get(key), desired.get(key), slots.lastRead(key)]
  const isOurs = ours && want && isSameEntry(ours.entry, want.entry) && ours.cap === want.cap
  return isOurs && (last === undefined || last === ours.cap) ? ours.cap : undefined
}

/** What is asked of scopes that could not be read counts as still to come; nobody waits for ever. */
function unreadChanges(inputs: DisposeInputs): readonly Pending[] {
  return inputs.unknown.flatMap(({ scope }): Pending[] => {
    const key = scopeKey(scope)
    const want = inputs.desired.get(key)
    if (inputs.givenUp?.has(key)) return []
    // What is believed to stand keeps nobody back but who would fall to it.
    const isPooled = want?.origin.pool !== undefined && believed(key, inputs) === undefined
    // What nobody asks for any more is to go.
    return [{ scope, key, from: 'none', to: want?.cap ?? 'none', healing: false, isPooled, isUnread: true }]
  })
}

const held = (hold: string | undefined): Disposition | undefined => (hold === undefined ? undefined : { kind: 'held', hold })

function leftOut(one: Difference, { excluded }: DisposeInputs): Disposition | undefined {
  const exclusion = excluded?.(one)
  return exclusion && !KEEPS_ALL.has(exclusion.code) ? exclusion : undefined
}

const keptBack = (one: Difference, { excluded }: DisposeInputs): Disposition | undefined => excluded?.(one)

function failed({ key, to }: Difference, inputs: DisposeInputs): Disposition | undefined {
  const failure = inputs.failed?.get(key)
  return failure?.to === to ? { kind: 'deferred', code: 'failed', reason: failure.reason } : undefined
}

/** Where caps are copied, a wide write that was released would carry out, or overwrite, what is still held for somebody reached it. */
function overHeld({ key, scope }: Difference, { slots, people, judged }: DisposeInputs): Disposition | undefined {
  if (slots.model.layers !== 'copied') return undefined
  const { heldBy } = judged.judgement
  const reached = scope.kind === 'team' ? people.approved : (people.byGroup.get(key) ?? [])
  const first = reached.find((person) => heldBy.has(person.key))
  if (!first) return undefined
  const reason = `${first.key} ${whyNot(held(heldBy.get(first.key)))}`
  return { kind: 'deferred', code: 'order', reason, waitsFor: { kind: 'user', email: first.email } }
}

interface Words {
  readonly fixed: ReadonlyMap<ScopeKey, Disposition>
  readonly unread: ReadonlySet<ScopeKey>
  readonly refused: ReadonlyMap<ScopeKey, string>
}

function deferred(waitsFor: Scope, { fixed, unread, refused }: Words): Disposition {
  const key = scopeKey(waitsFor)
  if (unread.has(key)) return { kind: 'deferred', code: 'unread', reason: `${key} could not be read`, waitsFor }
  const refusal = refused.get(key)
  const why = refusal === undefined ? whyNot(fixed.get(key)) : `comes first, and is refused: ${refusal}`
  return { kind: 'deferred', code: 'order', reason: `${key} ${why}`, waitsFor }
}

function whyNot(disposition: Disposition | undefined): string {
  switch (disposition?.kind) {
    case 'held':
      return `comes first, and hold ${disposition.hold} keeps it back`
    case 'deferred':
      return `comes first, and it failed: ${disposition.reason}`
    case 'excluded':
      return `comes first, and is not written now: ${disposition.reason}`
    default:
      return 'comes first, and waits itself'
  }
}

/** A change of a scope that is as asked for now, once something wider was written. */
function afterwards(
  { scope, cap, entry, origin }: DesiredCap,
  from: Cap,
  { key, scope: waitsFor }: Difference,
  why: string,
): DisposedChange {
  const own = { scope, key: scopeKey(scope), from, to: cap, ...sourceOf(origin), entry }
  const difference: Difference = { ...own, cause: 'policy', healing: false, grantEnd: false }
  return { difference, disposition: { kind: 'deferred', code: 'order', reason: `${key} comes first, and ${why}`, waitsFor } }
}

/** Where caps are copied, a wide write overwrites caps that are as asked for: each is written again afterwards. */
function repairs(going: readonly Difference[], inputs: DisposeInputs): readonly DisposedChange[] {
  if (inputs.slots.model.layers !== 'copied') return []
  const known = new Set(inputs.differences.map(({ key }) => key))
  const written = new Map(going.map((one) => [one.key, one]))
  return inputs.people.approved
    .flatMap((person): DisposedChange[] => {
      const over = ancestorsOf(person.key, inputs.people).flatMap((key) => written.get(key) ?? [])[0]
      const want = inputs.desired.get(person.key)
      if (!over || !want || known.has(person.key) || want.cap === over.to || want.cap === 'none') return []
      return [afterwards(want, over.to, over, 'overwrites it')]
    })
    .toSorted(byChangedScope)
}

/** Where reads show what applies, a wide write shows whether a scope that is to have no cap of its own has the one that it inherits. */
function reveals(going: readonly Difference[], { slots, differences, desired, people }: DisposeInputs): readonly DisposedChange[] {
  if (slots.model.layers === 'copied' || going.length === 0) return []
  const known = new Set(differences.map(({ key }) => key))
  return [...desired]
    .flatMap(([key, want]): DisposedChange[] => {
      // Few are to have none: the rest of tens of thousands are not looked at.
      const shown = want.cap === 'none' ? slots.shown(key) : undefined
      if (typeof shown !== 'number' || known.has(key) || !slots.mayBeInherited(key)) return []
      const above = new Set(ancestorsOf(key, people))
      const over = going.find((one) => above.has(one.key) && slots.shown(one.key) === shown)
      return over ? [afterwards(want, shown, over, `shows whether ${shown} is a cap of its own: only then is it cleared`)] : []
    })
    .toSorted(byChangedScope)
}

const byChangedScope = (a: DisposedChange, b: DisposedChange): number => compareScopes(a.difference.scope, b.difference.scope)
