// What becomes of each change, and which of several reasons is shown.
import { describe, expect, test } from 'vitest'
import { waveInputs } from '../../../src/core/plan/dispositions.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { CYCLE, cap, DAY, email, entryOf, keysOf, NOW, type PlainCap, scope, short } from '../../support/declare.ts'
import { type PlanMore, type PlanSketch, planInputs, planOf, scopes } from '../../support/plan.ts'
import { keyOf } from '../../support/waves.ts'

type Disposition = ReturnType<typeof buildPlan>['plan']['changes'][number]['disposition']

const OFF = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
const COPIED = { capSemantics: 'copied' } as const
const sketchOf = (text: string, more: PlanSketch = {}): PlanSketch => ({ people: ['p0', 'p1'], guards: OFF, ...scopes(text), ...more })
const fate = (one: Disposition): string => {
  if (one.kind === 'deferred') return `${one.code} ${one.waitsFor ? short(one.waitsFor) : ''}`.trim()
  return one.kind === 'excluded' ? one.code : one.kind
}
/** `p0 ready, team order p0`: the last waits for p0. */
const fates = (sketch: PlanSketch, more: PlanMore = {}): string =>
  planOf(sketch, more)
    .plan.changes.map((one) => `${short(one.scope)} ${fate(one.disposition)}`)
    .join(', ')
const reasonOf = (name: string, sketch: PlanSketch, more: PlanMore = {}): string | undefined => {
  const one = planOf(sketch, more).plan.changes.find(({ scope: at }) => short(at) === name)?.disposition
  return one && 'reason' in one ? one.reason : undefined
}
type Excluded = Pick<Required<PlanMore>, 'excluded'>
const leaveOut = (code: 'focus' | 'onDrift' | 'pause' | 'mode' | 'replaced' | 'notShown', ...names: readonly string[]): Excluded => ({
  excluded: ({ scope: at }) => (names.includes(short(at)) ? { kind: 'excluded', code, reason: 'because' } : undefined),
})
const watched = (name: string): PlanMore => ({ watched: leaveOut('onDrift', name).excluded })
const failing = (name: string, to: PlainCap): PlanMore => ({ failed: new Map([[keyOf(name), { to: cap(to), reason: '422' }]]) })
const givenUp = (name: string): PlanMore => ({ givenUp: keysOf(name) })
const refused = (name: string, value: PlainCap = 500, code = 'CAP_REFUSED'): PlanSketch => ({
  quarantined: [{ scope: scope(name), code, message: 'too high', entry: entryOf('cap', value), at: NOW }],
})
const g = (...names: readonly string[]) => ({ groups: { g: names } })
const DOUBT = { facts: { rosterDoubt: { before: 9, now: 2 } } }

/** p0 is cleared and falls to the team's first cap. */
const LEANING = sketchOf('team none>500, p0 500>none, p1 8>9')
/** Nobody knows whether p0 has the cap that policy gives them, so the team's may not fall below it. */
const UNREAD = 'team 500>100, p0 ?>500'
const LOWER_G = sketchOf('group:g 300>200, p0 300>300, team none', g('p0', 'p1'))
const GROUP = sketchOf('group:g none>500, p0 500>none', g('p0'))
/** p0 has 200 of their own and is to have the 500 of the team, which somebody has set to 5000. */
const LEAK = 'team 5000>500, p0 200 ours 200'
const OVERWRITTEN = 'team 500>600, p0 900>900, p1 500'
/** p0's own cap is protected, and somebody has approved what is to become of the wide scope before p0's change was there. */
const released = (wide: string): PlanSketch => {
  const change = { scope: scope(wide), from: cap(500), to: cap(600), verified: false }
  const approval = { id: 'a'.repeat(32), via: 'command', approvedAt: NOW, state: 'pending', people: 9, released: [change] } as const
  return { ...COPIED, protect: ['p0'], approvals: [approval] }
}
const dealing = (shown: PlainCap | 'unknown'): PlanSketch => {
  const member = { base: cap(0) as never, use: cap(0) as never, dealt: cap(200) as never, sent: [], lowered: [] }
  return {
    ...sketchOf('team 100>900', { observed: { team: 100, p0: shown } }),
    pools: [{ name: 'research', credits: 1000, members: { kind: 'emails', emails: [email('p0')] } }],
    dealt: { research: { cycle: CYCLE, readAt: NOW, dealtAt: NOW, members: { [email('p0')]: member } } },
  }
}
const ENDED = { on: 'group:g', cap: 6000, until: NOW - DAY }

test.each<readonly [string, PlanSketch, PlanMore, string]>([
  ['a change waits for one that a guard holds', { ...LEANING, ...DOUBT }, {}, 'p1 ready, team held, p0 held'],
  ['a change waits for one that failed in this run', LEANING, failing('team', 500), 'p1 ready, p0 order team, team failed'],
  ['a change goes when what failed was another value', LEANING, failing('team', 400), 'p1 ready, team ready, p0 ready'],
  ['a change waits for nothing that is only watched', sketchOf('team 500>100, p0 none>500'), watched('p0'), 'team ready, p0 onDrift'],
  [
    'a group waits for it where reads show it',
    { ...LOWER_G, model: { reads: 'inherited' } },
    leaveOut('focus', 'p0'),
    'group:g order p0, p0 focus',
  ],
  [
    'what a guard holds is shown as held, whatever else keeps it',
    sketchOf('p0 5>4', { protect: ['p0'] }),
    { ...leaveOut('pause', 'p0'), ...failing('p0', 4) },
    'p0 held',
  ],
  ['but not what is only watched', sketchOf('p0 5>4', { protect: ['p0'] }), { ...failing('p0', 4), ...watched('p0') }, 'p0 onDrift'],
  ['an unread scope keeps out what counts on it', sketchOf(UNREAD), {}, 'team unread p0'],
  ['an unread scope defers nothing once it is given up', sketchOf(UNREAD), givenUp('p0'), 'team ready'],
  ['nor where the ledger verified it under the same entry', sketchOf(`${UNREAD} ours 500`), {}, 'team ready'],
  [
    'it does where the ledger verified another value under the same entry',
    sketchOf(UNREAD, { owned: { p0: { cap: 400, entry: entryOf('cap', 500) } } }),
    {},
    'team unread p0',
  ],
  ['nor where it is no longer desired, and the person falls to the team’s cap', sketchOf('team 500>100, p0 ? ours 50'), {}, 'team ready'],
  ['nor a change that takes nothing away', sketchOf('team 500>600, p0 ?>500'), {}, 'team ready'],
  ['nor a change that reaches others', sketchOf('p1 5>4, p0 ?>500'), {}, 'p1 ready'],
  ['what a mode keeps back is in the order of writing', LEANING, leaveOut('mode', 'team', 'p0', 'p1'), 'p1 mode, team mode, p0 mode'],
  ['what a pause keeps back is in the order of writing', LEANING, leaveOut('pause', 'team', 'p0', 'p1'), 'p1 pause, team pause, p0 pause'],
  [
    'what replaced policies keep back is as well',
    LEANING,
    leaveOut('replaced', 'team', 'p0', 'p1'),
    'p1 replaced, team replaced, p0 replaced',
  ],
  [
    'the cap that a pool deals keeps out what would lift its member above it',
    dealing('none'),
    leaveOut('focus', 'p0'),
    'team order p0, p0 focus',
  ],
  ['so it does where it could not be read', dealing('unknown'), {}, 'team unread p0'],
  [
    'a foreign value is reverted at the team though a first cap of a member is left out: it is not protected',
    sketchOf('team 900>100 ours 100, p0 none>500'),
    leaveOut('focus', 'p0'),
    'team ready, p0 focus',
  ],
  ['a change of policy waits for that cap', sketchOf('team 900>100, p0 none>500'), leaveOut('focus', 'p0'), 'team order p0, p0 focus'],
  ['a refused cap of a group keeps out its members', { ...GROUP, ...refused('group:g') }, {}, 'p0 order group:g'],
  [
    'so does one of the team where the scope is unknown',
    { ...LEANING, ...refused('team', 500, 'SCOPE_UNKNOWN') },
    {},
    'p1 ready, p0 order team',
  ],
  ['one of a person defers no change', { ...LEANING, ...refused('p1', 9) }, {}, 'team ready, p0 ready'],
  ['who loses their cap falls to the team’s, which is lowered first', sketchOf(LEAK), {}, 'team ready, p0 ready'],
  ['they wait for a team’s cap that was not in the plan', sketchOf(LEAK), leaveOut('notShown', 'team'), 'p0 order team, team notShown'],
  ['they do not where the team’s cap is refused, which may be for good', sketchOf(LEAK, refused('team')), {}, 'p0 ready'],
  ['they fall to no more than policy gives', sketchOf('team 300>500, p0 200 ours 200'), failing('team', 500), 'p0 ready, team failed'],
  [
    'they wait for a group that could not be read, whatever the ledger verified there',
    sketchOf('group:g ?>60 ours 60, p0 40 ours 40', g('p0')),
    {},
    'p0 unread group:g',
  ],
  ['they go where they are to have less by it', sketchOf('group:g ?>60 ours 60, p0 90 ours 90', g('p0')), {}, 'p0 ready'],
  ['they go once nobody waits for it any more', sketchOf('group:g ?>60 ours 60, p0 40 ours 40', g('p0')), givenUp('group:g'), 'p0 ready'],
  ['a lower cap of their own goes out though the team’s could not be read', sketchOf('team ?>500 ours 500, p0 200>100'), {}, 'p0 ready'],
  [
    'the clear of a group waits for the team’s cap, and for no cap of a member',
    sketchOf('team 5000>500, group:g 50 ours 50, p0 none>300', g('p0', 'p1')),
    failing('team', 500),
    'p0 ready, group:g order team, team failed',
  ],
  [
    'nothing is overwritten when the wide write does not go',
    sketchOf(OVERWRITTEN, COPIED),
    leaveOut('focus', 'team'),
    'p1 ready, team focus',
  ],
  [
    'a released write of the team waits while a guard holds a person’s change, where caps are copied',
    sketchOf('team 500>600, p0 900>700, p1 600', released('team')),
    {},
    'team order p0, p0 held',
  ],
  [
    'a released write of a group of others goes',
    sketchOf('group:g 500>600, p0 900>700, p1 600', { ...g('p1'), ...released('group:g') }),
    {},
    'group:g ready, p0 held',
  ],
  [
    'where caps are copied nothing is written again for whom no cap is known to fall back to',
    {
      ...{ ...sketchOf('group:g 6000, group:h ?, p0 6000>none', COPIED), groups: { g: ['p0'], h: ['p0'] }, grants: [ENDED] },
      owned: { 'group:g': { cap: 6000, owner: 'grant', grant: ENDED, baseline: 400 } },
    },
    {},
    'group:g ready',
  ],
  [
    'nothing is hidden beneath a wide cap that goes: its clear is copied as well',
    sketchOf('team 300>none, p0 300>none', { ...COPIED, readsExplicit: false }),
    {},
    'team ready',
  ],
])('%s', (_name, sketch, more, expected) => expect(fates(sketch, more)).toBe(expected))

test.each<readonly [string, PlanSketch]>([
  ['was refused', refused('team', 100)],
  ['could not be read', { observed: { team: 'unknown', 'group:g': 'none', p0: 'none' } }],
])('a foreign value is not what stands at a team whose own cap %s: no person falls below the present cap', (_name, more) => {
  const inputs = planInputs({ ...sketchOf('team 900>100, group:g none>300, p0 none>500', g('p0')), ...more })
  const last = { observed: cap(900), readAt: NOW - 1 }
  const readings = new Map([...inputs.readings].map(([at, one]) => [at, one.observed === 'unknown' ? { ...one, last } : one] as const))
  const { changes } = buildPlan({ ...inputs, readings, ...leaveOut('focus', 'p0') }).plan
  expect(changes.map((one) => `${short(one.scope)} ${fate(one.disposition)}`)).toEqual(['group:g order p0', 'p0 focus'])
})

test.each<readonly [string, string, PlanSketch, PlanMore, string]>([
  ['that failed', 'p0', LEANING, failing('team', 500), 'team comes first, and it failed: 422'],
  ['that is left out', 'p0', LEANING, leaveOut('focus', 'team'), 'team comes first, and is not written now: because'],
  ['that is refused', 'p0', { ...GROUP, ...refused('group:g') }, {}, 'group:g comes first, and is refused: too high'],
  ['that could not be read', 'team', sketchOf(UNREAD), {}, 'p0@example.com could not be read'],
  [
    'that waits itself',
    'p0',
    sketchOf('team none>500, group:g 400>none, p0 500>none', g('p0', 'p1')),
    leaveOut('focus', 'team'),
    'group:g comes first, and waits itself',
  ],
  ['that overwrites it', 'p0', sketchOf(OVERWRITTEN, COPIED), {}, 'team comes first, and overwrites it'],
])('a deferred change names the one %s', (_name, name, sketch, more, expected) => expect(reasonOf(name, sketch, more)).toBe(expected))

test('a released wide write says whose change it waits for, and which hold keeps that', () => {
  const sketch = sketchOf('team 500>600, p0 900>700, p1 600', released('team'))
  const [hold] = planOf(sketch).plan.holds
  expect(reasonOf('team', sketch)).toBe(`p0@example.com comes first, and hold ${hold?.id} keeps it back`)
})

test('what is overwritten is told in the order of scopes, with the line that asks for it', () => {
  const { changes } = planOf({ ...sketchOf('team 500>600, p1 800>800, p0 900>900', COPIED), people: ['p1', 'p0'] }).plan
  expect(changes.slice(1)).toMatchObject([
    { scope: scope('p0'), source: { line: 3 }, cause: 'policy', healing: false, grantEnd: false },
    { scope: scope('p1'), source: { line: 2 } },
  ])
})

test('a scope that is given up is not pending', () => {
  const unread = sketchOf('p0 ?>500')
  expect(planOf(unread).pending).toMatchObject([{ key: keyOf('p0'), from: 'none', to: 500, isUnread: true }])
  expect(planOf(unread, givenUp('p0')).pending).toEqual([])
})

describe('what a wave is judged by', () => {
  const shown = 'team 500>500, p0 ?>40 ours 40, p1 ?>30 ours 30, p2 500>500, p3 50>60, p4 ?>7, p5 ? ours 70, p6 ?>90 ours 90, p7 80>80'
  const sketch = sketchOf(shown, { people: 8, readsExplicit: false })
  const inputs = planInputs({ ...sketch, owned: { ...sketch.owned, p7: { cap: 80, more: { written: true } } } })
  const last = { observed: cap(90), readAt: NOW - 1 }
  const lastRead = keysOf('p1', 'p6')
  const readings = new Map([...inputs.readings].map(([at, one]) => [at, lastRead.has(at) ? { ...one, last } : one] as const))
  const { slots, people, owned, desired } = buildPlan({ ...inputs, readings })
  const { caps, mayBeInherited, ...rest } = waveInputs({ slots, people, owned, desired })
  test.each<readonly [string, string, PlainCap, boolean]>([
    ['is what shows, or nothing where no write of ours set it', 'p3', 50, true],
    ['is what shows where a write of ours set it', 'p7', 80, false],
    ['may be nothing where what shows may be inherited', 'p2', 500, true],
    ['is what the ledger verified under the same entry, where nothing could be read', 'p0', 40, false],
    ['is what was read last, or nothing, whatever the ledger had verified before', 'p1', 90, true],
    ['is what the ledger verified under the same entry, where that was read last', 'p6', 90, false],
    ['is nothing where nothing was ever read', 'p4', 'none', true],
    ['is nothing where nothing could be read and policy asks for nothing any more', 'p5', 'none', true],
  ])('%s', (_name, name, expected, isOpen) => expect([caps(keyOf(name)), mayBeInherited(keyOf(name))]).toEqual([expected, isOpen]))
  test('names groups with unknown members, where there are any', () => {
    expect(rest).toEqual({ people, layers: 'layered' })
    const unlisted = keysOf('group:g')
    expect(waveInputs({ slots, people, owned, desired, unlisted }).unlisted).toBe(unlisted)
  })
})

describe('where reads may show what applies', () => {
  const HIDDEN = sketchOf('team 500>600, group:g 500>none, p0 500>none, p1 700>none', { ...g('p0', 'p1'), readsExplicit: false })
  const told = (sketch: PlanSketch) =>
    planOf(sketch).plan.changes.map((one) => `${short(one.scope)} ${one.from}>${one.to} ${fate(one.disposition)}`)
  test('what may be hidden beneath a wide cap that goes is shown with its condition, and is no difference before', () => {
    expect(told(HIDDEN)).toEqual(['team 500>600 ready', 'p1 700>none ready', 'group:g 500>none order team', 'p0 500>none order team'])
    const { plan, differences, scopes: states } = planOf(HIDDEN)
    expect(plan.changes.at(-1)).toMatchObject({
      ...{ action: 'clear', cause: 'policy', source: { line: 3 } },
      disposition: { reason: 'team comes first, and shows whether 500 is a cap of its own: only then is it cleared' },
    })
    expect([...differences.keys()].map(String)).not.toContain(keyOf('p0'))
    expect(states.find((one) => short(one.scope) === 'p0')?.state).toBe('in_sync')
  })
  test('what is surely ours beneath it, and is cleared at once, is no second change', () =>
    expect(told({ ...HIDDEN, ...scopes('team 500>600, p0 500>none ours 500') })).toEqual(['team 500>600 ready', 'p0 500>none ready']))

  test('what a held wide cap would reveal is in the hold of that cap, and waits for it once both are released', () => {
    const sketch = sketchOf('team 500>300, p0 500>none, p1 none>none', { people: 8, guards: {}, readsExplicit: false })
    const { plan } = planOf(sketch)
    const [hold] = plan.holds
    expect(plan.holds).toMatchObject([{ people: 8, changes: [{ scope: scope('team') }, { scope: scope('p0'), from: 500, to: 'none' }] }])
    expect(fates(sketch)).toBe('team held, p0 held')
    const approved = { ...sketch, approve: [hold?.id ?? ''] }
    expect(fates(approved)).toBe('team ready, p0 order team')
    expect(planOf(approved).plan.changes.map((one) => one.released?.id)).toEqual([hold?.id, hold?.id])
  })
  test.each<readonly [string, PlanSketch, PlanMore]>([
    ['the wide cap is not written', {}, leaveOut('focus', 'team')],
    ['reads show what is set', { readsExplicit: true, ...scopes('team 500>600, p0 900>900') }, {}],
    ['another value is shown', { observed: { team: 501, 'group:g': 'none', p0: 'none', p1: 'none' } }, {}],
    ['what is shown comes from a group, and the team’s other cap is written', scopes('team 600>700, group:g 500, p0 500>none'), {}],
    ['a cap is asked for', { caps: { team: 600, p0: 500 } }, {}],
  ])('nothing is where %s', (_name, sketch, more) => {
    const { changes } = planOf({ ...HIDDEN, ...sketch }, more).plan
    expect(changes.filter(({ disposition }) => disposition.kind === 'deferred' && disposition.reason.includes('only then'))).toEqual([])
  })
})
