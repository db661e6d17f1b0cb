// What is compared with what is asked: the decision for each scope, the fields of a difference, and what the ledger remembers after it.
import { describe, expect, test } from 'vitest'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { ownedFrom, setBefore } from '../../../src/core/plan/diff.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { byGrant, cap, DAY, email, entryOf, keysOf, NOW, type OwnedSketch, ownedCaps, type PlainCap, scope } from '../../support/declare.ts'
import { COPYING, lines, type PlanMore, type PlanSketch, planInputs, planOf, scopes } from '../../support/plan.ts'

const ended = { on: 'p0', cap: 6000, until: NOW - DAY }
const running = { on: 'p0', cap: 6000, until: NOW + 9 * DAY }
const granted = (more: Partial<OwnedSketch> = {}): OwnedSketch => ({ cap: 6000, owner: 'grant', grant: running, ...more })
const ours = (p0: OwnedSketch) => ({ owned: { p0 } })
/** What is shown at p0, of which this is ours, while these grants are declared. */
const shown = (p0: PlainCap | 'unknown', owned: OwnedSketch, grants: PlanSketch['grants'] = []): PlanSketch => ({
  ...{ observed: { p0 }, grants },
  ...ours(owned),
})
const diffOf = (sketch: PlanSketch, more: PlanMore = {}) => planOf(sketch, more).diff
const WIDER = scopes('team 300>300, p0 300>none')
const OPEN = { readsExplicit: false }
const TRIED: OwnedSketch = { cap: 500, tried: 6000, more: { triedByGrant: true } }
const OVER_NOTHING: OwnedSketch = { cap: 'none', tried: 700 }
const GIVEN_OURS = granted({ grant: ended, baseline: 800, more: { baselineIsOurs: true } })
const COPIED: PlanSketch = { people: ['p0'], capSemantics: 'copied', guards: { emptyPolicy: false, maxCleared: 'off' } }
const NOT_KEPT = { scope: scope('p0'), code: 'ZERO_NOT_STORED', message: 'reads unset', entry: entryOf('cap', 0), at: NOW }
const KEPT = (before: PlainCap): PlanSketch => ({ quarantined: [{ ...NOT_KEPT, restore: cap(before) }] })

test.each<readonly [string, PlanSketch, string]>([
  ['a scope that reads as asked needs nothing', scopes('p0 500>500'), ''],
  ['a scope without a cap gets its first', scopes('p0 none>500'), 'p0 set none>500 policy'],
  ['a lower cap is raised', scopes('p0 400>500'), 'p0 raise 400>500 policy'],
  ['a higher cap is lowered', scopes('p0 600>500'), 'p0 lower 600>500 policy'],
  ['a cap to zero is a block', scopes('p0 600>0'), 'p0 block 600>0 policy'],
  ['a cap of a group to zero is a block', scopes('group:g 9>0'), 'group:g block 9>0 policy'],
  ['a first cap of zero is a block', scopes('p0 none>0'), 'p0 block none>0 policy'],
  ['a cap at use is a block', { ...scopes('p0 600>500'), used: { p0: 500 } }, 'p0 block 600>500 policy'],
  [
    'a cap of a group at the use of a member is a block',
    { ...scopes('group:g 9>5'), people: ['p0'], groups: { g: ['p0'] }, used: { p0: 5 } },
    'group:g block 9>5 policy',
  ],
  [
    'of two changes only the cap that is then in force is a block',
    { ...scopes('team 600>500, p0 none>5'), people: ['p0'], used: { p0: 5 } },
    'p0 block none>5 policy, team lower 600>500 policy',
  ],
  ['a raise below use is still a raise', { ...scopes('p0 400>500'), used: { p0: 900 } }, 'p0 raise 400>500 policy'],
  ['none clears what is set', scopes('p0 600>none'), 'p0 clear 600>none policy'],
  ['none over nothing needs nothing', scopes('p0 none>none'), ''],
  ['none that reads the inherited value is in sync where reads may show it', { ...WIDER, ...OPEN }, ''],
  ['none that reads the inherited value is cleared where reads are explicit', WIDER, 'p0 clear 300>none policy'],
  ['an unknown reading causes no write', scopes('p0 ?>500'), ''],
  ['a scope that was not read yet causes no write', scopes('p0 >500'), ''],
  ['an orphan stays when prune is off', { ...scopes('p0 500 ours 500'), prune: false }, ''],
  ['an orphan that somebody cleared is not cleared again', scopes('p0 none ours 500'), ''],
  [
    'what was tried over nothing, and stands there, is an orphan that is cleared',
    { ...scopes('p0 700, p1 9>9'), ...ours(OVER_NOTHING) },
    'p0 clear 700>none orphan',
  ],
  ['what a grant may have set and did not leaves an orphan where prune is off', { ...shown(500, TRIED), prune: false }, ''],
  [
    'what a grant may have set over nothing goes to what is wider at its end where caps are copied',
    { ...COPIED, ...scopes('team 300, p0 6000'), ...ours({ ...TRIED, cap: 'none' }), prune: false },
    'p0 lower 6000>300 expired',
  ],
  [
    'a cap of ours that is there again before its grant gives it back is cleared, for nobody declares it',
    shown(800, GIVEN_OURS, [ended]),
    'p0 clear 800>none expired',
  ],
  [
    'what somebody else put in place of a cap by a grant is left at its end, also where a cap of ours stood there before',
    shown(777, GIVEN_OURS, [ended]),
    '',
  ],
  ['a cap that is not ours is not even looked at', scopes('p0 500'), ''],
  ['a grant that was deleted has not ended', { ...shown(6000, granted(), [ended]), caps: { p0: 500 } }, 'p0 lower 6000>500 policy'],
  [
    'an orphan beneath a wider cap is that cap’s where caps are copied, and is left',
    { ...COPIED, ...scopes('team 300, p0 300'), ...ours({ cap: 300, owner: 'copied' }) },
    '',
  ],
  [
    'an orphan beneath another wider cap gets that where caps are copied',
    { ...COPIED, ...scopes('team 300, p0 100 ours 100') },
    'p0 raise 100>300 orphan',
  ],
  [
    'an orphan beneath a wider cap that goes as well is cleared where caps are copied',
    { ...COPIED, ...scopes('team 300 ours 300, p0 300 ours 300') },
    'team clear 300>none orphan, p0 clear 300>none orphan',
  ],
  [
    'an orphan beneath a wider cap that cannot be read is left where caps are copied',
    { ...COPIED, ...scopes('team ?, p0 300 ours 300') },
    '',
  ],
  [
    'a grant that gives back nothing leaves the wider cap where caps are copied',
    { ...COPIED, ...scopes('team 300, p0 6000'), grants: [ended], ...ours(granted({ grant: ended, baseline: 'none' })) },
    'p0 lower 6000>300 expired',
  ],
  [
    'a 0 that does not show is cleared also where it was only tried, and reads show the inherited value',
    { ...WIDER, ...OPEN, ...ours({ cap: 'none', tried: 0 }) },
    'p0 clear 300>none policy',
  ],
  ['but not where the service stores a 0 as such', { ...scopes('p0 none>none ours 0'), model: { zero: 'stored' } }, ''],
  ['nor over another cap of ours', { ...scopes('p0 none>none'), ...ours({ cap: 5, tried: 6 }) }, ''],
  ['nor where a number shows as asked', { ...scopes('p0 5>5'), ...ours({ cap: 5, tried: 0 }) }, ''],
  ['nor while policy asks for it, where the service does not keep it', { ...scopes('p0 none>0 ours 0'), ...KEPT('none') }, ''],
  ['nor where somebody else has set another cap', scopes('p0 600 ours 0, p1 9>9'), ''],
])('%s', (_name, sketch, expected) => expect(lines(planOf(sketch)).join(', ')).toBe(expected))

describe('a difference', () => {
  const [source, key] = [{ file: 'acme.yaml', line: 1, column: 5 }, email('p0')]
  const of = (from: PlainCap, to: PlainCap, cause: string, more: object) => ({
    ...{ scope: scope('p0'), key, from, to, cause, healing: false, grantEnd: false },
    ...more,
  })
  const asked = { source, entry: entryOf('cap', 500) }
  test.each<readonly [string, PlanSketch, object]>([
    [
      'of what a grant may have set before it ended gives back what was verified',
      { ...shown(6000, TRIED), prune: false },
      of(6000, 500, 'expired', { entry: entryOf('restore', 500), grantEnd: true }),
    ],
    [
      'of an orphan that shows an ended grant is the end of that grant',
      shown(6000, { cap: 6000, owner: 'copied', grant: { ...ended, on: 'p1' } }, [{ ...ended, on: 'p1' }]),
      of(6000, 'none', 'expired', { entry: UNDECLARED, grantEnd: true }),
    ],
    [
      'heals nothing that was not verified at the value asked for',
      { ...scopes('p0 900>500'), ...ours({ cap: 400, entry: entryOf('cap', 500) }) },
      of(900, 500, 'external', asked),
    ],
    [
      'of a grant that follows another is no end of it',
      shown(400, granted({ cap: 400, grant: ended }), [ended, running]),
      of(400, 6000, 'policy', { source: { ...source, line: 102 }, reason: 'release week', entry: entryOf('grant', 6000) }),
    ],
    [
      'under the entry it was verified with is no end of a grant',
      { ...shown(900, { cap: 500, grant: ended }, [ended]), caps: { p0: 500 } },
      of(900, 500, 'external', { ...asked, healing: true }),
    ],
  ])('%s', (_name, sketch, expected) => expect(diffOf(sketch).differences).toStrictEqual([expected]))

  test.each<readonly [string, PlanSketch]>([
    ['of policy', scopes('p0 none>none ours 0')],
    ['of policy that asked for none before', { ...scopes('p0 none>none'), ...ours({ cap: 'none', tried: 0 }) }],
    ['of an orphan', scopes('p0 none ours 0, p1 9>9')],
  ])('%s that clears a 0 which does not show says why', (_name, sketch) => {
    const reason = 'a cap of 0 was written here and does not show: it may be set all the same'
    expect(diffOf(sketch).differences).toMatchObject([{ from: 'none', to: 'none', reason, healing: false }])
  })

  test('gives a base back also over what our own team write set', () => {
    const sketch = { ...shown(777, granted({ grant: ended, baseline: 800 }), [ended]), model: COPYING }
    expect(diffOf(sketch)).toMatchObject({ differences: [], released: [key] })
    const sent = [{ scope: scope('team'), from: 'none' as const, to: cap(777), at: NOW }]
    expect(diffOf(sketch, { sent })).toMatchObject({ differences: [{ from: 777, to: 800, cause: 'expired' }], released: [] })
  })
})

describe('beside differences', () => {
  test('a scope that was asked for and failed without a reason says that it was not read', () => {
    const inputs = planInputs(scopes('p0 ?>5, p1 ? ours 5'))
    const readings = new Map([...inputs.readings].map(([at, { failure: _, ...one }]) => [at, one]))
    expect(buildPlan({ ...inputs, readings }).diff.unknown.map((one) => one.message)).toEqual(['not read yet', 'not read yet'])
  })

  test('a desired `none` under an unread team is reported as unknown, and stays desired', () => {
    const beneath = { people: ['p0'], capSemantics: 'copied' } as const
    const declared = planOf({ ...beneath, ...scopes('team ?, p0 500>none') })
    const message = 'the cap to fall back to could not be read'
    expect(declared.diff.unknown).toEqual([{ scope: scope('p0'), message }])
    expect(declared.scopes).toMatchObject([{ state: 'unknown', desired: 'none', why: message }])
    expect(diffOf({ ...beneath, ...scopes('team ?, p0 500 ours 500') }).unknown).toEqual([{ scope: scope('p0'), message }])
  })

  test('a scope that is left alone is not compared, whatever policy asks', () =>
    expect(diffOf(scopes('p0 900>500'), { skipped: keysOf('p0') })).toMatchObject({ differences: [], inSync: [], unknown: [] }))
})

describe('what the ledger is to remember', () => {
  const desired = (sketch: PlanSketch) => {
    const [one] = planInputs(sketch).resolution.desired
    if (!one) throw new Error('nothing is asked')
    return one
  }
  const rule = desired({ caps: { p0: 500 } })
  const grant = desired({ grants: [running] })
  const based = desired({ caps: { p0: 500 }, grants: [running] })
  const ledger = (one: OwnedSketch) => ownedCaps({ p0: one }).values().next().value
  const id = ledger(granted())?.grant
  const ofRule = { cap: 500, owner: 'policy', entry: entryOf('cap', 500) }
  const ofGrant = (baseline: PlainCap, more: object = {}) => ({
    ...{ cap: 6000, owner: 'grant', entry: entryOf('grant', 6000), grant: id, baseline },
    ...more,
  })
  const OURS = { baselineIsOurs: true }

  test.each<readonly [string, Parameters<typeof ownedFrom>[0], OwnedSketch | undefined, PlainCap, object]>([
    ['of a rule: no base', rule, undefined, 9, ofRule],
    ['of a grant over a rule: the rule’s cap as ours, for the rule may go', based, undefined, 9, ofGrant(500, OURS)],
    ['of a grant over what was tried: that it was ours as well', grant, { cap: 8, tried: 9 }, 9, ofGrant(9, OURS)],
    [
      'of a grant that was found in place, where we knew of another cap of ours: that one',
      ...([grant, { cap: 500, tried: 6000 }, 6000, ofGrant(500, OURS)] as const),
    ],
    ['of a grant over a foreign change of a cap of ours: the foreign cap', grant, { cap: 500 }, 9, ofGrant(9)],
    ['of a grant after a grant without a base: nothing comes back', grant, granted(), 9, ofGrant('none')],
    ['of a grant after a grant over what was ours: that it was', grant, granted({ baseline: 7, more: OURS }), 9, ofGrant(7, OURS)],
    [
      'of what stays in place of a grant’s 0 that is not kept: that very cap, for it stood there before',
      { ...grant, cap: 7 as never, entry: entryOf('kept', 7) },
      ...([undefined, 'none', { ...ofGrant(7), cap: 7, entry: entryOf('kept', 7) }] as const),
    ],
    ['of a cap that a write of ours has set: that it did', rule, { cap: 500, more: { written: true } }, 500, { ...ofRule, written: true }],
    ['of a cap that is found where a write of ours had set another: no write', rule, { cap: 400, more: { written: true } }, 500, ofRule],
  ])('%s', (_name, one, owned, before, expected) =>
    expect(ownedFrom(one, owned && ledger(owned), cap(before), NOW)).toStrictEqual({ scope: scope('p0'), verifiedAt: NOW, ...expected }),
  )

  test('what is shown since a clear of ours, and nothing known explains, is remembered until it is gone', () => {
    const none = { cap: 'none' as const, entry: entryOf('cap', 'none'), more: { shows: 300 as never } }
    const adopted = (p0: PlainCap, owned: OwnedSketch) =>
      diffOf({ ...OPEN, caps: { p0: 'none' }, ...shown(p0, owned) }).adopted.map((one) => one.shows)
    expect(adopted(300, none)).toEqual([])
    expect(adopted(300, { ...none, entry: entryOf('cap', 5) })).toEqual([300])
    expect(adopted('none', none)).toEqual([undefined])
  })

  test('a `none` that shows a cap which may be inherited is not verified while it is open what reads show', () => {
    expect(diffOf({ ...OPEN, ...scopes('team 500>500, p0 500>none') }).adopted).toMatchObject([{ scope: scope('team') }])
    expect(diffOf({ ...OPEN, ...scopes('team 500>500, p0 none>none') }).adopted).toHaveLength(2)
  })

  test('a cap that is only inherited, or was copied, was not set', () => {
    const was = (value: PlainCap, wider: PlainCap, more: PlanSketch = OPEN) =>
      setBefore(cap(value), planOf({ observed: { p0: value, team: wider }, ...more }).slots, email('p0') as never)
    expect([was(5, 5), was(5, 6), was('none', 'none'), was(5, 5, {})]).toEqual(['none', 5, 'none', 5])
    expect([was(5, 5, { capSemantics: 'copied' }), was(5, 6, { capSemantics: 'copied' })]).toEqual(['none', 5])
  })

  const equal = scopes('p0 500>500')
  test.each<readonly [string, OwnedSketch | undefined, PlanSketch, boolean]>([
    ['it is known just so', { cap: 500 }, equal, false],
    ['it was verified at another value', { cap: 400, entry: entryOf('cap', 500) }, equal, true],
    ['it was ours for another cause', { cap: 500, owner: 'copied', entry: entryOf('cap', 500) }, equal, true],
    ['another value was tried there since, which does not show', { cap: 500, tried: 900 }, equal, true],
    ['it came from a grant', { cap: 500, grant: running }, equal, true],
    ['a grant is known just so', granted({ baseline: 'none' }), { grants: [running], observed: { p0: 6000 } }, false],
  ])('a scope found equal is news: %s', (_name, one, sketch, isNews) =>
    expect(diffOf({ ...sketch, ...(one && ours(one)) }).adopted).toHaveLength(isNews ? 1 : 0),
  )

  test('the baseline of a person who only shows the inherited cap is that nothing was set', () => {
    const { adopted } = diffOf({ ...OPEN, ...scopes('team 6000>6000, p0 6000'), grants: [running] })
    expect(adopted.map((one) => [one.cap, one.baseline])).toEqual([
      [6000, undefined],
      [6000, 'none'],
    ])
  })
})

test.each<readonly [string, PlanSketch, number]>([
  ['a given-back base once it is there', shown(800, byGrant(800), [ended]), 1],
  ['a base that was ours before the grant once it is cleared, where prune is on', shown('none', GIVEN_OURS, [ended]), 1],
  ['what was tried over nothing, and is not there', shown('none', OVER_NOTHING), 1],
  ['an orphan that somebody changed', scopes('p0 600 ours 500'), 1],
  ['a scope of ours at none, without a reading', scopes('p0 ? ours none'), 1],
  ['no base that was ours before the grant, where prune is off', { ...shown(800, GIVEN_OURS, [ended]), prune: false }, 0],
])('forgotten is %s', (_name, sketch, count) => {
  const { released, differences, unknown, adopted } = diffOf(sketch)
  const again = { scope: scope('p0'), cap: 800, owner: 'policy', entry: { kind: 'given_up' }, verifiedAt: NOW }
  expect([released.length, differences, unknown, adopted]).toEqual([count, [], [], count === 1 ? [] : [again]])
})
