// Holds: what is held, why, the people it affects with their caps before and after, and the exact ways to release it. The guards count; this file only
// shows it.

import { editLine, shellWord } from '../../../core/escape/text.ts'
import { EFFECTS_ON_PEOPLE, type GuardCode, type GuardSettings, type Hold, type ShareLimit } from '../../../core/model/change.ts'
import { onceFor } from '../../../core/model/once.ts'
import { type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import { count, DAY_MS } from '../../../core/model/units.ts'
import { APPROVAL_GROWTH, APPROVAL_LIFE_MS, creditsMoved } from '../../../core/plan/approval.ts'
import { isCounted } from '../../../core/plan/guards/round.ts'
import { allowance, CLASSES, SETTLED_OTHERWISE, type ShareGuard } from '../../../core/plan/guards/table.ts'
import { type Impact, impactOf, type NetEffect } from '../../../core/plan/impact.ts'
import type { Planned } from '../../../core/plan/plan.ts'
import { asked, DocumentError, limitOf, PAGE, pageOf, type Query, type Seen, word } from './documents.ts'
import { bounded, cents, headAbout, placeOf, ratio, rfc3339, scopeText } from './show.ts'
import type { HoldDocument, HoldListDocument, Showing, WorkspaceFacts } from './types.ts'

export const HOLDS_QUERY = [PAGE, limitOf(50, 200)]
export const HOLD_QUERY = [word('effect', EFFECTS_ON_PEOPLE, 'What happens to them.'), PAGE, limitOf(100, 500)]

const MOST_HELD = 200

type HoldEntry = HoldListDocument['items'][number]

/** When each hold was first shown, by id. */
export async function holdsSince({ records, view }: Seen): Promise<ReadonlyMap<string, number>> {
  if (view.holds.length === 0) return new Map()
  const shown = await records.fact('holdsShown')
  return new Map(Object.entries(shown ?? {}).map(([id, { at }]) => [id, at]))
}

export async function holdsDocument(seen: Seen, query: Query = {}): Promise<HoldListDocument> {
  const question = asked(query, HOLDS_QUERY)
  const since = await holdsSince(seen)
  const items = seen.view.holds.toSorted((a, b) => b.people - a.people || (a.id < b.id ? -1 : 1))
  const page = pageOf(items, question)
  return {
    ...headAbout('HoldList', seen),
    ...page,
    items: page.items.map((hold) => holdEntry(hold, seen, since)),
  }
}

function holdEntry(hold: Hold, seen: Seen, since: ReadonlyMap<string, number>): HoldEntry {
  const approval = seen.view.approvals.find(({ id }) => id === hold.id)
  return { ...holdOf(hold, since, seen), approval: approval?.state }
}

/** A hold without its changes. `since`: when each hold was first shown. */
export function holdOf({ id, guards, people, changes, message }: Hold, since: ReadonlyMap<string, number>, showing: Showing) {
  return {
    id,
    guards,
    people,
    changes: changes.length,
    message: showing.people.text(message),
    since: rfc3339(since.get(id)),
  }
}

export async function holdDocument(seen: Seen, id: string, query: Query = {}): Promise<HoldDocument> {
  const question = asked(query, HOLD_QUERY)
  const hold = seen.view.holds.find((one) => one.id === id)
  if (!hold) throw new DocumentError(404, 'there is no such hold: it was released, its changes are different now, or it never existed')
  const impacts = affectedBy(hold, seen)
  const effect = question.word('effect', EFFECTS_ON_PEOPLE)
  const listed = effect === undefined ? impacts : impacts.filter((one) => one.effect === effect)
  const page = pageOf(listed.toSorted(byWeight), question)
  const protectedPeople = new Set(seen.policy?.set.protectedPeople.map(({ scope }) => scope.email))
  return {
    ...headAbout('Hold', seen),
    ...holdEntry(hold, seen, await holdsSince(seen)),
    arithmetic: hold.guards.map((guard) => arithmeticOf(guard, hold, seen)),
    counted: {
      lowered: countOf(impacts, 'lowered'),
      blocked: countOf(impacts, 'blocked'),
      cleared: countOf(impacts, 'cleared'),
      raised: countOf(impacts, 'raised') + countOf(impacts, 'capped'),
    },
    ...bounded('held', hold.changes, MOST_HELD, (one) => heldChange(one, seen)),
    releases: releasesOf(hold, seen),
    void: voidText(hold, seen),
    ...page,
    items: page.items.map(({ person, before, after, effect: what }) => ({
      person: seen.people.label(person.email),
      before,
      after,
      effect: what,
      addOn: cents(person.use),
      protected: protectedPeople.has(person.email) ? true : undefined,
    })),
  }
}

/** When an approval is void; the credits that it moves count for a pool's deal alone. */
function voidText({ people, changes }: Hold, { planned }: WorkspaceFacts): string {
  const isDeal = changes.some(({ scope }) => planned?.differences.get(scopeKey(scope))?.pool !== undefined)
  const most = count(Math.floor(people * APPROVAL_GROWTH), 'person is', 'people are')
  const moved = creditsMoved(changes)
  const more = isDeal ? `, or this deal of a pool moves more than ${Math.floor(moved * APPROVAL_GROWTH)} credits (now ${moved})` : ''
  return `void after ${APPROVAL_LIFE_MS / DAY_MS} days, or when more than ${most} affected (now ${people})${more}`
}

const countOf = (impacts: readonly Impact[], effect: NetEffect): number => impacts.filter((one) => one.effect === effect).length

/** The worst first. */
const WEIGHT: readonly NetEffect[] = ['blocked', 'cleared', 'lowered', 'raised', 'capped']
const byWeight = (a: Impact, b: Impact): number =>
  WEIGHT.indexOf(a.effect) - WEIGHT.indexOf(b.effect) || lostBy(b) - lostBy(a) || (a.person.email < b.person.email ? -1 : 1)

const lostBy = ({ before, after }: Impact): number => (typeof before === 'number' && typeof after === 'number' ? before - after : 0)

/** The impact of a plan on people. */
const planImpact = onceFor((planned: Planned) => impactOf(planned.differences, planned.impact))

function affectedBy(hold: Hold, { planned }: WorkspaceFacts): readonly Impact[] {
  if (!planned) return []
  const keys = new Set<ScopeKey>(hold.changes.map(({ scope }) => scopeKey(scope)))
  return planImpact(planned).filter(({ changes }) => changes.some((key) => keys.has(key)))
}

function heldChange({ scope, from, to }: Hold['changes'][number], seen: Seen): HoldDocument['held'][number] {
  const change = seen.planned?.plan.changes.find((one) => scopeKey(one.scope) === scopeKey(scope))
  return {
    scope: scopeText(scope, seen),
    from,
    to,
    effect: change?.effect,
    cause: change?.cause,
    people: change?.people,
    reason: seen.people.text(change?.reason),
    source: change?.source && placeOf(change.source, seen, seen.view.policy?.revision),
  }
}

type Arithmetic = HoldDocument['arithmetic'][number]

const isShare = (guard: GuardCode): guard is ShareGuard => Object.hasOwn(CLASSES, guard)

function arithmeticOf(guard: GuardCode, hold: Hold, { planned, settings, view, people }: Seen): Arithmetic {
  const base = { guard, setting: `guards.${guard}`, exceeded: true }
  const whole = planned ? planImpact(planned) : []
  if (planned && settings && isShare(guard) && settings.guards[guard] !== 'off') {
    return { ...base, ...shareCounted(guard, settings.guards[guard], planned, whole) }
  }
  const remaining = view.balance && Math.max(0, view.balance.addOnAvailable - view.balance.addOnUsed)
  if (planned && settings && guard === 'maxRaise' && settings.guards.maxRaise !== 'off' && remaining !== undefined) {
    const raised = whole.filter((one) => one.effect === 'raised')
    const allowed = (remaining * settings.guards.maxRaise) / 100
    const sum = raised.reduce((total, one) => total - lostBy(one), 0)
    return {
      ...base,
      what: `credits by which ${count(raised.length, 'person', 'people')} would be raised`,
      counted: cents(sum),
      of: cents(remaining),
      limit: `${settings.guards.maxRaise} % of the add-on credits remaining`,
      allowed: Math.floor(allowed),
      exceeded: sum > allowed,
    }
  }
  return { ...base, what: people.text(whyOf(hold)), limit: SETTLED_OTHERWISE[guard] ?? 'see the message' }
}

/** The message without the way out, which `releases` shows. */
const whyOf = ({ message }: Hold): string => message.split('; approve hold ')[0] ?? message

function shareCounted(guard: ShareGuard, limit: ShareLimit, { differences, impact }: Planned, whole: readonly Impact[]) {
  const { effects, words } = CLASSES[guard]
  const round = { active: differences, inputs: { impact } }
  const counted = whole.filter((one) => effects.has(one.effect) && isCounted(one, round, guard)).length
  const of = impact.people.total
  const allowed = allowance(limit, of)
  return {
    what: `people who ${words}`,
    counted,
    of,
    percent: of > 0 ? ratio((counted / of) * 100) : undefined,
    limit: limitText(limit),
    allowed: Math.floor(allowed),
    exceeded: counted > allowed,
  }
}

const limitText = ({ percent, floor }: ShareLimit): string => `${percent} %, never under ${floor}`

type Release = HoldDocument['releases'][number]

function releasesOf({ id, guards, release }: Hold, { policy, settings, view, people }: Seen): readonly Release[] {
  const file = policy?.set.rules[0]?.at.file ?? policy?.set.groups[0]?.at.file
  const isSeparate = settings?.approvals !== 'together'
  const limits = guards.filter((guard) => !SETTLED_OTHERWISE[guard])
  const waits = guards.flatMap((guard): readonly Release[] => {
    const otherwise = SETTLED_OTHERWISE[guard]
    return otherwise === undefined ? [] : [{ how: 'wait', who: 'it needs no release', text: otherwise }]
  })
  if (release === 'never') return waits
  return [
    {
      how: 'policy',
      who: 'a person who may merge policy changes',
      text: `approvals: [${id}]`,
      edit: editLine('approve', id),
      file: people.text(file),
      note: isSeparate
        ? 'Write it under spec. It counts because this hold was shown before the line was added; remove it once it is spent.'
        : 'Write it under spec; remove it once it is spent.',
    },
    {
      how: 'command',
      who: 'a person who may write the ledger of this daemon',
      text: `capkeeper approve ${id} --workspace ${shellWord(view.workspace)}`,
      note: 'The daemon applies it in its next cycle, or at once with SIGHUP.',
    },
    { how: 'apply', who: 'a person who runs capkeeper without a daemon', text: `capkeeper apply --approve ${id}` },
    ...limits.map(
      (guard): Release => ({
        how: 'setting',
        who: 'a person who may change the config',
        text: `guards: {${guard}: ${limitNow(guard, settings?.guards)}}`,
        note: 'The present limit. A higher one releases this hold and all future changes within it. With approvals: separate it counts for changes shown before.',
      }),
    ),
    ...waits,
  ]
}

function limitNow(guard: GuardCode, settings: GuardSettings | undefined): string {
  const value = settings?.[guard]
  if (typeof value === 'object' && 'floor' in value) return `{percent: ${value.percent}, floor: ${value.floor}}`
  return typeof value === 'number' ? `${value}` : '…'
}
