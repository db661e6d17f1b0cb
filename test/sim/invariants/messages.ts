// Messages: each is recorded before it leaves, told once, to nobody else, at a time when it may be told, and none is lost; and who was forgotten stays
// so. A jump of the wall clock makes days and hours that are told twice or never, so these are judged until the first one.
import type { HistoryEntry } from '../../../src/core/model/change.ts'
import type { PersonStatus } from '../../../src/core/model/events.ts'
import type { Told } from '../../../src/core/model/facts.ts'
import type { Scope } from '../../../src/core/model/scope.ts'
import { cycleAt } from '../../../src/sandbox/time.ts'
import { invariant, type Scene, type Step } from '../steps.ts'

const MINUTE_MS = 60_000
const MOST_TRIES = 10

/** Without an outcome it may have arrived. */
interface Sent {
  readonly level: number
  readonly atMs: number
  readonly lines: readonly unknown[]
  outcome?: string
}

const mayHaveArrived = ({ outcome }: Sent): boolean => outcome !== 'refused'

/** All messages so far in order, by key and for thresholds by cycle, and the caps that were written, as events tell of them. */
function createPost(scene: Scene) {
  const sent = new Map<string, Sent[]>()
  let open: readonly (readonly [string, { readonly level: number }])[] = []
  const forgotten = new Set<string>()
  const written: { readonly event: string; readonly scope: Scope; readonly line: string; readonly atMs: number }[] = []
  const idOf = (key: string): string => (/^\["(event|digest)/.test(key) ? key : `${scene.ledger()?.fact('told')?.cycleStartAt} ${key}`)
  const wordOf = (scope: Scope): string => {
    if (scope.kind === 'user') return scene.labels.label(scope.email)
    return scope.kind === 'group' ? `group:${scope.id}` : scope.kind
  }
  const post = {
    written,
    hasJumped: false,
    of: (...key: readonly string[]): readonly Sent[] => sent.get(idOf(key.length > 1 ? JSON.stringify(key) : (key[0] ?? ''))) ?? [],
    note(step: Step): void {
      if (step.kind === 'world' && step.what === 'wall-jump') post.hasJumped = true
      if (step.kind === 'forgotten') forgotten.add(`"${step.email}"`)
      // A daemon erases what it has told since as well, once it takes the mark up, but not of those who have a record of a cap again.
      const isErased = step.kind === 'forgotten' || (step.kind === 'recorded' && step.values[0] === 'forgotten')
      const kept = step.kind === 'recorded' ? Object.keys(scene.ledger()?.fact('told')?.entries ?? {}) : []
      const isOf = (key: string): boolean => [...forgotten].some((email) => key.includes(email)) && !kept.some((one) => key.endsWith(one))
      if (isErased) for (const key of sent.keys()) if (isOf(key)) sent.delete(key)
      if (isErased && step.kind === 'recorded') forgotten.clear()
      if (step.kind === 'message') {
        const { key, level, values } = step.message
        sent.set(idOf(key), [...post.of(key), { level, atMs: scene.elapsed(), lines: [values['items']].flat() }])
      }
      // The record of a message is all that is left of it where the process died before it left.
      if (step.kind === 'recorded' && step.method === 'saveFact' && step.values[0] === 'told') {
        const { entries } = (step.values[1] ?? { entries: {} }) as Told
        open = Object.entries(entries).filter(([, { state }]) => state === 'sending')
      }
      if (step.kind === 'died') {
        for (const [key, { level }] of open) {
          const last = post.of(key).at(-1)
          // One that was refused before is a try of its own.
          if (last?.level === level && last.outcome === undefined) continue
          sent.set(idOf(key), [...post.of(key), { level, atMs: scene.elapsed(), lines: ['and '] }])
        }
        open = []
      }
      if (step.kind === 'delivered') Object.assign(post.of(step.message.key).at(-1) ?? {}, { outcome: step.outcome })
      if (step.kind !== 'recorded' || step.method !== 'recordOutcome') return
      const { result, scope, from, to, cause } = (step.values[1] ?? {}) as Partial<HistoryEntry>
      if (result !== 'applied' || !scope) return
      const event = cause === 'external' ? 'reverted' : 'applied'
      written.push({ event, scope, line: `${wordOf(scope)}: ${from} → ${to}`, atMs: scene.elapsed() })
    },
  }
  return post
}

const isQuietAt = (scene: Scene, at: number): boolean => {
  const { fromMinute = 0, untilMinute = 0 } = scene.notify()?.quietHours ?? {}
  const [isFrom, isUntil] = [at % 86_400_000 >= fromMinute * MINUTE_MS, at % 86_400_000 < untilMinute * MINUTE_MS]
  return fromMinute <= untilMinute ? isFrom && isUntil : isFrom || isUntil
}

export const toldOnce = invariant(
  'a message is recorded before it leaves, in due time, and once if it may have arrived',
  (scene, checker) => {
    const post = createPost(scene)
    return (step) => {
      const before = step.kind === 'message' ? post.of(step.message.key).filter(mayHaveArrived) : []
      post.note(step)
      if (step.kind !== 'message') return
      const { kind, key, level, values } = step.message
      checker.checked()
      const entry = scene.ledger()?.fact('told')?.entries[key]
      if (entry?.state !== 'sending' || entry.level !== level)
        checker.violated(`${key} leaves, and the ledger has ${JSON.stringify(entry)}`)
      if (post.hasJumped) return
      if (isQuietAt(scene, scene.now())) checker.violated(`${key} is told in quiet hours`)
      // The level of an event is the instant at which it is told, of a clock that may drift from the one of the scene.
      const again = before.find((one) => one.level >= level || (kind === 'event' && level - one.level < 10 * MINUTE_MS))
      if (again) checker.violated(`${key} ${level} is sent again; it was ${again.outcome ?? 'cut off'}`)
      for (const line of [values['items']].flat()) {
        const isOf = (one: { readonly line: string; readonly event: string }): boolean => one.line === line && one.event === values['event']
        const [times, happened] = [before.filter(({ lines }) => lines.includes(line)).length + 1, post.written.filter(isOf).length]
        if (happened > 0 && times > happened) checker.violated(`${key} tells ${line} ${times} times; it happened ${happened} times`)
      }
    }
  },
)

export const toldWhom = invariant('nothing of a person is told to others than the leads of their groups', (scene, checker) => {
  let listings: readonly ReadonlyMap<string, readonly string[]>[] = []
  return (step) => {
    if (step.kind === 'told' && step.event.kind === 'usage-read')
      listings = [new Map(step.event.groups.map(({ id, emails }) => [id, [...emails]])), ...listings].slice(0, 3)
    if (step.kind !== 'message' || step.message.key.includes('"workspace"')) return
    const { key, to, subject, text, values } = step.message
    const shown = JSON.stringify([subject, text, values])
    checker.checked()
    const isOwn = key.startsWith('["person"')
    if (!isOwn && scene.labels.shown === 'hash' && shown.includes('@example.com')) checker.violated(`${key} names somebody: ${shown}`)
    for (const email of [...scene.company.people.keys(), ...scene.company.left]) {
      if (!shown.includes(email) && !shown.includes(scene.labels.label(email))) continue
      const isIn = (id: string): boolean =>
        [...listings.flatMap((one) => one.get(id) ?? []), ...(scene.company.groups.get(id) ?? [])].includes(email)
      const isSeen = isOwn
        ? to.kind === 'email' && to.address === email
        : scene.notify()?.owners.some(({ of }) => of.kind === 'group' && key.includes(`"${of.id}"`) && isIn(of.id))
      if (!isSeen) checker.violated(`${key} names ${email}: ${shown}`)
    }
  }
})

export const toldAll = invariant('once channels work, what is to be told has been told', (scene, checker) => {
  const post = createPost(scene)
  // A message that did not arrive is tried again within an hour, and work comes up once an interval.
  const enoughMs = 70 * MINUTE_MS + 1.1 * (scene.scenario.intervalMs + scene.scenario.usageIntervalMs)
  let people: readonly PersonStatus[] = []
  let [calmMs, startedMs] = [0, 0]
  const gone = new Set<unknown>()
  const isTold = (all: readonly Sent[]): boolean => all.some(mayHaveArrived) || all.length >= MOST_TRIES
  return (step) => {
    post.note(step)
    if (step.kind === 'calm') calmMs = scene.elapsed()
    if (step.kind === 'started') startedMs = scene.elapsed()
    if (step.kind === 'forgotten') gone.add(step.email)
    if (step.kind === 'settled') people = scene.view()?.people ?? []
    const [settings, now, sinceMs] = [scene.notify(), scene.now(), scene.elapsed() - enoughMs]
    if (step.kind !== 'quiet' || !settings || post.hasJumped || Math.max(calmMs, startedMs) > sinceMs) return
    for (let back = 0; back < enoughMs; back += 5 * MINUTE_MS) if (isQuietAt(scene, now - back)) return
    for (const { email, cap, used = 0, source } of people) {
      const level = typeof cap === 'number' && cap > 0 ? settings.people.findLast((one) => used * 100 >= cap * one) : undefined
      // About the turn of a cycle figures are of the last one.
      if (level === undefined || source === 'upperBound' || now - cycleAt(now).startAt < 26 * 60 * MINUTE_MS) continue
      checker.checked()
      if (!isTold(post.of('person', email).filter((one) => one.level >= level)))
        checker.violated(`${email} has used ${used} of ${cap} and was not told`)
    }
    const receivers = [
      ...settings.owners.flatMap(({ of }) => (of.kind === 'group' ? [['group', of.id, 'webhook chat'] as const] : [])),
      ['workspace', 'webhook all'] as const,
    ]
    for (const { event, scope, line, atMs } of post.written.filter((one) => one.atMs >= calmMs && one.atMs <= sinceMs))
      for (const [kind, id, ...more] of receivers) {
        const members = scene.view()?.groups.find((one) => one.id === id)?.emails ?? []
        const isOf = (email: string): boolean => new Set(members).has(email) && scene.company.groups.get(id)?.has(email) === true
        const reaches = kind === 'workspace' || (scope.kind === 'user' ? isOf(scope.email) : scope.kind === 'team' || scope.id === id)
        if (!reaches || (scope.kind === 'user' && gone.has(scope.email))) continue
        checker.checked()
        const after = post.of('event', event, kind, id, ...more).filter((one) => one.atMs >= atMs)
        if (!isTold(after.filter(({ lines }) => lines.some((one) => one === line || `${one}`.startsWith('and ')))))
          checker.violated(`${id} was not told of ${line}`)
      }
  }
})

/** Their records come back where the roster or a policy names them; an earlier `protected` that did is kept for a day. */
export const staysForgotten = invariant('who was forgotten is nowhere in the ledger', (scene, checker) => {
  const forgotten = new Set<string>()
  const named = new Map<string, number>()
  let policy = ''
  return (step) => {
    if (step.kind === 'forgotten') forgotten.add(step.email)
    if (step.kind === 'forgotten') named.delete(step.email)
    for (const email of forgotten) if (scene.company.people.has(email)) forgotten.delete(email)
    // Outputs come once a day: a policy that has named them may be replaced in between.
    const next = step.kind === 'recorded' && step.values[0] === 'policy' ? JSON.stringify(step.values[1]) : undefined
    const isRead = step.kind === 'output' && step.where === 'ledger'
    if (next !== undefined || isRead) for (const email of forgotten) if (policy.includes(email)) named.set(email, scene.elapsed())
    policy = next ?? policy
    if (!isRead) return
    for (const email of forgotten) {
      if (scene.elapsed() - (named.get(email) ?? Number.NEGATIVE_INFINITY) < 25 * 60 * MINUTE_MS) continue
      checker.checked()
      const at = step.text.indexOf(email)
      if (at >= 0) checker.violated(`${email} was forgotten, and the ledger has ${step.text.slice(Math.max(0, at - 300), at + 60)}`)
    }
  }
})
