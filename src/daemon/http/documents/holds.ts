// Holds: what is held, why, the people it affects with their caps before and after, and the exact ways to release it. The guards count; this file only
// shows it.

import { editLine, shellWord } from '../../../core/escape/text.ts'
import {
  APPROVAL_STATES,
  type Approval,
  EFFECTS_ON_PEOPLE,
  type GuardCode,
  type GuardSettings,
  type Hold,
  type ShareLimit,
} from '../../../core/model/change.ts'
import { onceFor } from '../../../core/model/once.ts'
import { type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import { count, DAY_MS, type Instant } from '../../../core/model/units.ts'
import { APPROVAL_GROWTH, APPROVAL_LIFE_MS, creditsMoved } from '../../../core/plan/approval.ts'
import { isCounted } from '../../../core/plan/guards/round.ts'
import { allowance, CLASSES, SETTLED_OTHERWISE, type ShareGuard } from '../../../core/plan/guards/table.ts'
import { type Impact, impactOf, type NetEffect } from '../../../core/plan/impact.ts'
import type { Planned } from '../../../core/plan/plan.ts'
import { asked, DocumentError, limitOf, PAGE, type Page, pageOf, type Query, type Seen, word } from './documents.ts'
import { fields, from, ifKnown, object, optional, record, type SourceOf } from './field.ts'
import * as t from './parts.ts'
import type { WorkspaceFacts } from './types.ts'

export const HOLDS_QUERY = [PAGE, limitOf(50, 200)]
export const HOLD_QUERY = [word('effect', EFFECTS_ON_PEOPLE, 'What happens to them.'), PAGE, limitOf(100, 500)]

const MOST_HELD = 200

/** Since when is known of holds that were shown before. */
export type HoldShown = Hold & { readonly since?: Instant; readonly approval?: Approval['state'] }

/** Without its changes. */
export const HOLD_ENTRY = fields<HoldShown>()({
  id: t.plain('32 hex digits.'),
  guards: t.list(t.guard, 'Which guards.'),
  people: t.count('People affected, by net effect.'),
  changes: from(t.count('Held changes.'), ({ changes }) => changes.length),
  message: t.text(),
  since: optional(t.instant('When it was first shown.')),
  approval: optional(t.words(APPROVAL_STATES, 'The state of its approval.')),
})

/** The holds in force. */
export async function holdsShown({ records, view }: Seen): Promise<readonly HoldShown[]> {
  if (view.holds.length === 0) return []
  const shown = (await records.fact('holdsShown')) ?? {}
  return view.holds.map((hold) => ({
    ...hold,
    since: shown[hold.id]?.at,
    approval: view.approvals.find(({ id }) => id === hold.id)?.state,
  }))
}

export const HOLDS = record('Holds in force.')({
  ...t.about('HoldList'),
  ...t.paged(object<HoldShown>('One hold.')(HOLD_ENTRY), 'Those that affect the most people first.'),
})

export async function holdsDocument(seen: Seen, query: Query = {}) {
  const question = asked(query, HOLDS_QUERY)
  const items = (await holdsShown(seen)).toSorted((a, b) => b.people - a.people || (a.id < b.id ? -1 : 1))
  return HOLDS.show(pageOf(items, question), seen)
}

const heldChange = object<ReturnType<typeof heldOf>[number]>('A held change.')({
  scope: t.scopeName,
  from: t.cap('The cap now.'),
  to: t.cap('The cap to be written.'),
  effect: ifKnown(t.effect, ({ change }) => change?.effect),
  cause: ifKnown(t.cause, ({ change }) => change?.cause),
  people: ifKnown(t.count('Approved people in the scope.'), ({ change }) => change?.people),
  source: ifKnown(t.place, ({ change }) => change?.source),
})

/** Each held change with that of the present plan. */
function heldOf({ changes }: Hold, { planned }: Seen) {
  const present = new Map((planned?.plan.changes ?? []).map((one) => [scopeKey(one.scope), one]))
  return changes.map((held) => ({ ...held, change: present.get(scopeKey(held.scope)) }))
}

const affected = object<Impact & { readonly isProtected: boolean }>('A person whose cap in force would change.')({
  person: from(t.person(), (one) => one.person.email),
  before: t.observed('The cap in force now.'),
  after: t.observed('The cap in force afterwards.'),
  effect: t.words(EFFECTS_ON_PEOPLE),
  addOn: from(t.amount('Add-on use; a cap at or below it blocks.'), ({ person }) => person.use),
  protected: ifKnown(t.flag('Protected by the policy.'), ({ isProtected }) => isProtected || undefined),
})

const arithmetic = record('What a guard counted.')({
  guard: t.guard,
  setting: t.plain('The setting of the limit.'),
  exceeded: t.flag('The count is above the limit.'),
  what: t.text('What it counts, in words.'),
  counted: optional(t.amount('The count.')),
  of: optional(t.amount('The total.')),
  percent: optional(t.share('The count in percent of the total.')),
  limit: t.plain('The limit, in words.'),
  allowed: optional(t.figure('The highest allowed count.')),
})

const release = record('A way to release the hold.')({
  how: t.words(['policy', 'command', 'apply', 'setting', 'wait']),
  who: t.plain('Who may do it.'),
  text: t.plain('The exact line or command, or what to wait for.'),
  edit: optional(t.plain('The command that writes the line into the policies.')),
  file: optional(t.text('Where the line goes.')),
  note: optional(t.plain()),
})

type Release = SourceOf<typeof release>

type HoldSource = HoldShown &
  Pick<Seen, 'view'> &
  Page<SourceOf<typeof affected>> & { readonly seen: Seen; readonly impacts: readonly Impact[] | undefined }

const net = (description: string, ...effects: readonly NetEffect[]) =>
  from(t.count(description), (impacts: readonly Impact[]) => impacts.filter(({ effect }) => effects.includes(effect)).length)

export const HOLD = object<HoldSource>('One hold: its changes, the people affected, why, and the ways to release it.')({
  ...t.about('Hold'),
  ...HOLD_ENTRY,
  arithmetic: from(t.list(arithmetic, 'What each guard counted.'), (hold) =>
    hold.guards.map((guard) => arithmeticOf(guard, hold, hold.seen)),
  ),
  counted: ifKnown(
    object<readonly Impact[]>('People affected, by net effect; absent, without `items`, where another replica holds the workspace.')({
      lowered: net('A lower cap.', 'lowered'),
      blocked: net('A cap of 0, or at or below their use.', 'blocked'),
      cleared: net('No cap any more.', 'cleared'),
      raised: net('A higher cap, or a first one above their use.', 'raised', 'capped'),
    }),
    ({ impacts }) => impacts,
  ),
  ...t.bounded('held', MOST_HELD, heldChange, 'Held changes.', (hold: HoldSource) => heldOf(hold, hold.seen)),
  heldBy: ifKnown(t.text('The replica that holds this workspace.'), ({ view }) => view.lease?.holder),
  releases: from(t.list(release, 'The ways to release it.'), (hold) => releasesOf(hold, hold.seen)),
  void: from(t.plain('When an approval of it is void.'), (hold) => voidText(hold, hold.seen)),
  ...t.paged(affected, 'People affected; those who lose the most first.'),
})

export async function holdDocument(seen: Seen, id: string, query: Query = {}) {
  const question = asked(query, HOLD_QUERY)
  const hold = (await holdsShown(seen)).find((one) => one.id === id)
  if (!hold) throw new DocumentError(404, 'there is no such hold: it was released, its changes are different now, or it never existed')
  const impacts = affectedBy(hold, seen)
  const protectedPeople = new Set(seen.policy?.set.protectedPeople.map(({ scope }) => scope.email))
  const effect = question.word('effect', EFFECTS_ON_PEOPLE)
  const listed = (impacts ?? [])
    .filter((one) => (effect ?? one.effect) === one.effect)
    .toSorted(byWeight)
    .map((one) => ({ ...one, isProtected: protectedPeople.has(one.person.email) }))
  return HOLD.show({ ...hold, seen, view: seen.view, impacts, ...pageOf(listed, question) }, seen)
}

/** When an approval is void; the credits that it moves count for a pool's deal alone. */
function voidText({ people, changes }: Hold, { planned }: WorkspaceFacts): string {
  const isDeal = changes.some(({ scope }) => planned?.differences.get(scopeKey(scope))?.pool !== undefined)
  const most = count(Math.floor(people * APPROVAL_GROWTH), 'person is', 'people are')
  const moved = creditsMoved(changes)
  const more = isDeal ? `, or this deal of a pool moves more than ${Math.floor(moved * APPROVAL_GROWTH)} credits (now ${moved})` : ''
  return `void after ${APPROVAL_LIFE_MS / DAY_MS} days, or when more than ${most} affected (now ${people})${more}`
}

/** The worst first. */
const WEIGHT: readonly NetEffect[] = ['blocked', 'cleared', 'lowered', 'raised', 'capped']
const byWeight = (a: Impact, b: Impact): number =>
  WEIGHT.indexOf(a.effect) - WEIGHT.indexOf(b.effect) || lostBy(b) - lostBy(a) || (a.person.email < b.person.email ? -1 : 1)

const lostBy = ({ before, after }: Impact): number => (typeof before === 'number' && typeof after === 'number' ? before - after : 0)

/** The impact of a plan on people. */
const planImpact = onceFor((planned: Planned) => impactOf(planned.differences, planned.impact))

function affectedBy(hold: Hold, { planned }: WorkspaceFacts): readonly Impact[] | undefined {
  if (!planned) return undefined
  const keys = new Set<ScopeKey>(hold.changes.map(({ scope }) => scopeKey(scope)))
  return planImpact(planned).filter(({ changes }) => changes.some((key) => keys.has(key)))
}

const isShare = (guard: GuardCode): guard is ShareGuard => Object.hasOwn(CLASSES, guard)

function arithmeticOf(guard: GuardCode, hold: Hold, { planned, settings, view }: Seen): SourceOf<typeof arithmetic> {
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
      counted: sum,
      of: remaining,
      limit: `${settings.guards.maxRaise} % of the add-on credits remaining`,
      allowed: Math.floor(allowed),
      exceeded: sum > allowed,
    }
  }
  return { ...base, what: whyOf(hold), limit: SETTLED_OTHERWISE[guard] ?? 'see the message' }
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
    percent: of > 0 ? (counted / of) * 100 : undefined,
    limit: limitText(limit),
    allowed: Math.floor(allowed),
    exceeded: counted > allowed,
  }
}

const limitText = ({ percent, floor }: ShareLimit): string => `${percent} %, never under ${floor}`

function releasesOf({ id, guards, release }: Hold, { policy, settings, view }: Seen): readonly Release[] {
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
      file,
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
