// What readings say of their scopes: the value shown, the inherited value, whether the one may be the other; and which values only our own team and group writes caused.
import { describe, expect, test } from 'vitest'
import { byScope } from '../../../src/core/model/scope.ts'
import { cap, HOUR, keysOf, NOW, type OwnedSketch, ownedCaps, type PlainCap, scope } from '../../support/declare.ts'
import { type PlanMore, type PlanSketch, planOf } from '../../support/plan.ts'
import { keyOf as key } from '../../support/waves.ts'

type ServiceModel = NonNullable<PlanMore['model']>
type SentCap = NonNullable<PlanMore['sent']>[number]
type Shown = PlainCap | 'unknown'
/** ada is in a and b, bob in a, cyd in none; numbers are asked for both groups. */
const COMPANY = { people: ['ada', 'bob', 'cyd', 'dan'], groups: { a: ['ada', 'bob'], b: ['ada'] }, caps: { 'group:a': 1, 'group:b': 1 } }
const OPEN: ServiceModel = { layers: 'layered', layersProven: false, reads: 'open', zero: 'open' }
const EXPLICIT: ServiceModel = { ...OPEN, reads: 'explicit' }
const slotsOf = (observed: Readonly<Record<string, Shown>>, model = OPEN, more: PlanMore = {}, sketch: PlanSketch = {}) =>
  planOf({ ...COMPANY, observed, ...sketch }, { model, ...more }).slots

const UNLISTED = { facts: { unlistedGroups: keysOf('group:c') } }
const WORLD = { team: 5, 'group:a': 5, 'group:b': 7, bob: 5 } as const

test.each<readonly [string, string, PlainCap, boolean]>([
  ['a person who shows just that may have it from there', 'cyd', 3, true],
  ['but not one who shows another value', 'cyd', 4, false],
  ['nor a group', 'group:b', 3, false],
])('while the members of group:c, with a cap of 3, are unknown, %s', (_name, at, shown, expected) =>
  expect(slotsOf({ ...WORLD, 'group:c': 3, [at]: shown }, OPEN, {}, UNLISTED).mayBeInherited(key(at))).toBe(expected),
)

test.each<readonly [string, string, readonly string[], Readonly<Record<string, PlainCap>>, PlainCap]>([
  ['is another group’s, whatever the team is to have', 'ada', ['group:a'], { team: 6 }, 7],
  ['stays that of a group of which that number is asked', 'bob', [], { team: 9 }, 5],
  ['is what comes to the group', 'bob', ['group:a'], { team: 9, 'group:a': 4 }, 4],
  ['is the team’s once the group is cleared', 'bob', ['group:a'], { 'group:a': 'none' }, 5],
])('what is going to apply where nothing is set: %s', (_name, at, unset, toCome, expected) => {
  const caps = { ...COMPANY.caps, ...Object.fromEntries(unset.map((name) => [name, 'none' as const])) }
  const slots = slotsOf(WORLD, OPEN, {}, { caps })
  const coming = new Map(Object.entries(toCome).map(([name, value]) => [key(name), cap(value)] as const))
  expect(slots.inheritedAfter(key(at), coming)).toBe(expected)
})

test.each<readonly [string, string, readonly PlainCap[]]>([
  ['at a person is the lowest of the groups, or that of those who do not show the team’s', 'ada', [5, 7]],
  ['for a person whose group shows the team’s value is that', 'bob', [5]],
  ['at the team is nothing at all', 'team', []],
])('what may apply where nothing is set: %s', (_name, at, expected) => {
  const slots = slotsOf(WORLD)
  if (at === 'team') expect(slots.inherited(key(at))).toBe('none')
  expect(['none' as const, 4, 5, 6, 7].filter((value) => slots.mayApply(key(at), cap(value)))).toEqual(expected)
})

describe('a slot', () => {
  const shown = { ...WORLD, ada: 7, cyd: 9 }
  test.each<readonly [string, string, ServiceModel, readonly [mayBeInherited: boolean, mayBeUnset: boolean]]>([
    ['of a group with another value than the team is certain, and may have been the team’s', 'group:b', OPEN, [false, true]],
    ['of a person who shows the group that is not the team’s may be inherited', 'ada', OPEN, [true, true]],
    ['of a scope that was not read is not known', 'dan', OPEN, [false, false]],
    ['is certain where reads are explicit, though an ancestor has the same', 'bob', EXPLICIT, [false, false]],
    ['is certain where reads are explicit, and no ancestor has the same', 'cyd', EXPLICIT, [false, false]],
  ])('%s', (_name, at, model, expected) => {
    const slots = slotsOf(shown, model)
    expect([slots.mayBeInherited(key(at)), slots.mayBeUnset(key(at))]).toEqual(expected)
  })
  test('under ancestors without any cap may have nothing set only once reads are known to show inherited caps', () => {
    const bare = (reads: 'open' | 'inherited'): boolean => slotsOf({ team: 'none', cyd: 9 }, { ...OPEN, reads }).mayBeUnset(key('cyd'))
    expect([bare('open'), bare('inherited')]).toEqual([false, true])
  })

  test.each<readonly [string, NonNullable<OwnedSketch['more']>, boolean]>([
    ['is certain where a write of ours set it', { cap: cap(5), written: true }, false],
    ['may be inherited where we only found it so', { cap: cap(5) }, true],
    ['may be inherited where we wrote something else', { cap: cap(6), written: true }, true],
  ])('with the value of an ancestor %s', (_name, ours, expected) => {
    const owned = new Map([...ownedCaps({ bob: { cap: 5 } })].map(([one, before]) => [one, { ...before, ...ours }]))
    expect(slotsOf(shown, OPEN, { owned }).mayBeInherited(key('bob'))).toBe(expected)
  })
  test('that cannot be read now is remembered as it was read last, or verified', () => {
    const readings: PlanMore['readings'] = new Map([
      [key('cyd'), { scope: scope('cyd'), observed: 'unknown', readAt: NOW, last: { observed: cap(9), readAt: NOW - HOUR } }],
      [key('bob'), { scope: scope('bob'), observed: cap(5), readAt: NOW }],
    ])
    expect(['cyd', 'bob', 'dan'].map((name) => slotsOf({}, OPEN, { readings }).lastRead(key(name)))).toEqual([9, undefined, undefined])
    const slots = slotsOf({ bob: 'unknown', cyd: 'unknown', dan: 4 }, OPEN, { owned: ownedCaps({ bob: { cap: 8 }, dan: { cap: 8 } }) })
    expect(['bob', 'cyd', 'dan'].map((name) => slots.lastKnown(key(name)))).toEqual([8, 'unknown', 4])
  })
})

const INHERITED: ServiceModel = { ...OPEN, reads: 'inherited' }
test.each<readonly [string, ServiceModel, Readonly<Record<string, Shown>>, PlainCap | undefined, number, boolean]>([
  ['applies there as well while reads are open', OPEN, { team: 5, cyd: 9 }, 9, 9, true],
  ['is nothing that another value shows', INHERITED, { team: 5, cyd: 8 }, undefined, 5, false],
  ['needs no such group once the team has the same', INHERITED, { team: 9, cyd: 9 }, undefined, 9, true],
])(
  'what shows since a clear of ours and comes from a group that no policy names: %s',
  (_name, model, shown, unexplained, inherited, mayBeInherited) => {
    const owned = byScope([...ownedCaps({ cyd: { cap: 'none' } }).values()].map((one) => ({ ...one, shows: cap(9) })))
    const slots = slotsOf(shown, model, { owned })
    expect(slots.unexplained(key('cyd'))).toBe(unexplained)
    expect([slots.inherited(key('cyd')), slots.mayBeInherited(key('cyd'))]).toEqual([inherited, mayBeInherited])
  },
)

describe('a value from our own team write', () => {
  const COPYING: ServiceModel = { ...EXPLICIT, copying: 'seen' }
  const sent = (on: string, from: PlainCap, to: PlainCap, at = NOW): SentCap => ({ scope: scope(on), from: cap(from), to: cap(to), at })
  const [SENT, CLEARED] = [[sent('team', 700, 900)], [sent('team', 700, 'none')]]
  const SEEN: ServiceModel = { ...OPEN, copying: 'seen' }
  const LOWER = { model: OPEN, owned: { bob: { cap: 950 } } }
  const WRITTEN = { model: OPEN, owned: { bob: { cap: 950, more: { written: true } } } }
  const GROUP = [sent('group:a', 'none', 900)]
  interface Sketch {
    readonly model?: ServiceModel
    readonly shown?: Readonly<Record<string, Shown>>
    readonly owned?: Readonly<Record<string, OwnedSketch>>
    readonly sent?: readonly SentCap[]
    readonly writtenAt?: number
    readonly now?: number
  }
  const isFromAncestorWrite = ({ model = COPYING, shown, owned = { bob: { cap: 500 } }, sent = [], writtenAt, now = NOW }: Sketch) =>
    slotsOf({ bob: 900, ...shown }, model, { owned: ownedCaps(owned), sent, now, writtenAt: () => writtenAt }).isFromAncestorWrite(
      key('bob'),
    )

  test.each<readonly [string, Sketch, boolean]>([
    ['what is inherited where our clear of an ancestor was copied', { model: SEEN, shown: { 'group:a': 900 }, sent: CLEARED }, true],
    ['what a group that no policy names may give once the clear shows', { model: SEEN, shown: { team: 'none' }, sent: CLEARED }, true],
    ['not that while the team is unread', { model: SEEN, shown: { team: 'unknown' }, sent: CLEARED }, false],
    [
      'not what is inherited where we sent another cap to an ancestor, for that one was copied',
      { model: SEEN, shown: { 'group:a': 900 }, sent: [sent('team', 700, 800)] },
      false,
    ],
    ['not what is unread beneath what is unread', { model: SEEN, shown: { bob: 'unknown', 'group:a': 'unknown' }, sent: CLEARED }, false],
    ['not what is ours there', { shown: { bob: 500 }, sent: [sent('team', 700, 500)] }, false],
    ['not what could not be read', { shown: { bob: 'unknown' }, sent: SENT }, false],
    ['what we sent after we let the person go', { owned: {}, sent: SENT, writtenAt: NOW - 1 }, true],
    ['what we sent, though a clock since went back', { sent: [sent('team', 700, 900, NOW - 2 * HOUR)], now: NOW - 1.5 * HOUR }, true],
    ['not what we sent before we let the person go', { owned: {}, sent: SENT, writtenAt: NOW }, false],
    ['what we sent to a team that had what we knew there, while reads are open', { model: OPEN, sent: [sent('team', 500, 900)] }, true],
    ['not what we sent to a team that had something else, while reads are open', { model: OPEN, sent: SENT }, false],
    [
      'not what a team was sent where nothing is ours and reads are open',
      { model: OPEN, owned: {}, sent: [sent('team', 500, 900)] },
      false,
    ],
    ['what a group was sent where a higher cap had shown, not written by us', { ...LOWER, sent: GROUP }, true],
    ['not what we sent to the team there', { ...LOWER, sent: SENT }, false],
    ['not what we sent to a group where a write of ours had set the higher cap', { ...WRITTEN, sent: GROUP }, false],
    ['not what we sent to a group where a lower cap had shown', { model: OPEN, sent: GROUP }, false],
    [
      'not what the ledger verified at the team no later than the person',
      { owned: { bob: { cap: 500 }, team: { cap: 900 } }, model: { ...COPYING, layers: 'copied' } },
      false,
    ],
  ])('is %s', (_name, sketch, expected) => expect(isFromAncestorWrite(sketch)).toBe(expected))

  test.each<readonly [string, PlainCap, PlainCap, ServiceModel, boolean]>([
    ['is nothing of a person with a cap of ours, while reads are open', 500, 900, OPEN, false],
    ['is what a person shows whose cap we cleared, while reads are open', 'none', 900, OPEN, true],
    ['is nothing of a person whose cap we cleared, where reads are explicit', 'none', 900, EXPLICIT, false],
  ])('of a team that was verified after the person %s', (_name, person, team, model, expected) => {
    const owned = new Map(ownedCaps({ bob: { cap: person }, team: { cap: team } }))
    const later = owned.get(key('team'))
    if (later) owned.set(key('team'), { ...later, verifiedAt: NOW })
    expect(slotsOf({ bob: 900 }, model, { owned }).isFromAncestorWrite(key('bob'))).toBe(expected)
  })
  test('is never at a group, because caps are copied to people', () =>
    expect(
      slotsOf({ team: 900, 'group:a': 900 }, COPYING, {
        owned: ownedCaps({ 'group:a': { cap: 500 } }),
        sent: [sent('team', 500, 900)],
      }).isFromAncestorWrite(key('group:a')),
    ).toBe(false))
})
