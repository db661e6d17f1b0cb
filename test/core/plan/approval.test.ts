// The life of an approval: what gives it, what it releases, how it grows, and when it is used up or counts no more. What one release does to
// other holds is in judgement.test.ts.
import { describe, expect, test } from 'vitest'
import { cap, DAY, NOW, type PlainCap, scope, short } from '../../support/declare.ts'
import { each, type PlanMore, type PlanSketch, planOf } from '../../support/plan.ts'

type Approval = NonNullable<PlanSketch['approvals']>[number]

/** 16 of 100 people lowered: one hold by maxLowered, which has the same id on every machine. */
const HELD: PlanSketch = { people: 100, caps: { ...each(100, 500), ...each(16, 400) }, observed: each(100, 500) }
const ID = '35fbf18efa8ca7059c8d6c6492af67dc'
const given = (more: Partial<Approval> = {}): Approval => ({
  ...{ id: ID, via: 'policy', approvedAt: NOW - DAY, state: 'pending', released: [] },
  ...more,
})
const released = (name: string, from: PlainCap = 500, to: PlainCap = 400, verified = false) => ({
  ...{ scope: scope(name), from: cap(from), to: cap(to), verified },
})
/** Somebody could read the hold before its approval was listed. */
const SHOWN = { [ID]: { people: 16, at: NOW, reviewed: true } }

test.each<readonly [string, Partial<Approval> | undefined, { policy?: true; command?: true }, string]>([
  ['a new id in policy', undefined, { policy: true }, 'policy pending now'],
  ['a new id on the command line', undefined, { command: true }, 'command pending now'],
  ['an id in both counts once, as an operator’s word', undefined, { policy: true, command: true }, 'command pending now'],
  ['a known id in policy goes on as it is', { state: 'spent' }, { policy: true }, 'policy spent before'],
  [
    'a pending id that has released something goes on, also when it is given again',
    { released: [released('p200')] },
    { command: true },
    'policy pending before',
  ],
  ['a pending id of policy that released nothing becomes an operator’s word', {}, { policy: true, command: true }, 'command pending now'],
  ['an operator’s word is not given twice', { via: 'command' }, { command: true }, 'command pending before'],
  ['a spent id that is given again begins again', { state: 'spent' }, { command: true }, 'command pending now'],
  ['a void id that is given again begins again', { state: 'void' }, { command: true }, 'command pending now'],
  ['an id that policy does not list any more was withdrawn', {}, {}, ''],
  ['an operator’s word is in no policy', { via: 'command' }, {}, 'command pending before'],
  ['after 14 days it is still good', { approvedAt: NOW - 14 * DAY }, { policy: true }, 'policy pending before'],
  ['beyond 14 days it is void', { approvedAt: NOW - 14 * DAY - 1 }, { policy: true }, 'policy void before'],
  ['dated ahead, by a clock that was set back, it is void', { approvedAt: NOW + DAY }, { policy: true }, 'policy void before'],
  ['what is spent stays spent beyond 14 days', { approvedAt: NOW - 15 * DAY, state: 'spent' }, {}, 'policy spent before'],
])('%s', (_name, known, { policy, command }, expected) => {
  const approvals = known ? [given(known)] : []
  const now = planOf({ ...HELD, approvals, approvalIds: policy ? [ID] : [], approve: command ? [ID] : [] }).approvals
  expect(now.map((one) => `${one.via} ${one.state} ${one.approvedAt === NOW ? 'now' : 'before'}`).join()).toBe(expected)
})

describe('an approval', () => {
  test.each<readonly [string, PlanSketch, PlanMore, boolean]>([
    ['listed in policy', { approvalIds: [ID], holdsShown: SHOWN }, {}, true],
    [
      'listed in policy before the hold was shown without it',
      { approvalIds: [ID], holdsShown: { [ID]: { people: 16, at: NOW } } },
      {},
      false,
    ],
    ['listed in policy, of what was never shown', { approvalIds: [ID] }, {}, false],
    ['listed in policy with its change, where approvals are together', { approvalIds: [ID] }, { approvalSteps: 'together' }, true],
    ['given by the command approve', { approvals: [given({ via: 'command' })] }, {}, true],
    ['given by apply --approve', { approve: [ID] }, {}, true],
    ['of what was shown with a fifth fewer people', { approve: [ID], holdsShown: { [ID]: { people: 13, at: NOW } } }, {}, true],
    ['of what was shown with a quarter fewer people', { approve: [ID], holdsShown: { [ID]: { people: 12, at: NOW } } }, {}, false],
    ['of a hold to which something came', { caps: { ...HELD.caps, p50: 400 }, approvalIds: [ID], holdsShown: SHOWN }, {}, false],
  ])('%s releases the changes of its hold, and no others: %o', (_name, sketch, more, isReleased) => {
    const { plan, approvals } = planOf({ ...HELD, ...sketch }, more)
    const changes = isReleased ? 16 : 0
    expect(plan.changes.flatMap((one) => one.released?.id ?? [])).toEqual(Array(changes).fill(ID))
    expect(plan.approvals.map(({ id, releases }) => [id, releases.length])).toEqual([[ID, changes]])
    expect(plan.holds).toHaveLength(isReleased ? 0 : 1)
    if (isReleased) expect(approvals).toMatchObject([{ id: ID, state: 'pending', released: { length: 16 } }])
  })

  test('of a roster hold says that the new roster is good', () => {
    const sketch: PlanSketch = { caps: { p0: 400 }, observed: { p0: 500 }, facts: { rosterDoubt: { before: 40, now: 20 } } }
    const id = planOf(sketch).plan.holds[0]?.id ?? ''
    const { plan, rosterAccepted } = planOf({ ...sketch, approve: [id], now: NOW + DAY / 24 })
    expect([plan.holds, rosterAccepted]).toEqual([[], true])
  })
})

/** p0 and p1 are lowered from 500, and were released. */
const TWO: PlanSketch = { caps: { p0: 400, p1: 400 }, observed: { p0: 500, p1: 500 }, protect: ['p0', 'p1'] }
const BOTH = [released('p0'), released('p1')]

test.each<readonly [string, Partial<Approval>, PlanSketch, PlanMore, readonly string[]]>([
  [
    'the changes as they were shown',
    { released: BOTH },
    { caps: { ...TWO.caps, p2: 400 }, observed: { ...TWO.observed, p2: 500 } },
    {},
    ['p0', 'p1'],
  ],
  ['not one to another value', { released: [released('p0', 500, 300)] }, {}, {}, []],
  ['not one from another value', { released: [released('p0', 600)] }, {}, {}, []],
  ['not one that was verified', { released: [released('p0', 500, 400, true), released('p1')] }, {}, {}, ['p1']],
  ['nothing of a spent approval', { released: BOTH, state: 'spent' }, {}, {}, []],
  ['nothing of a void one', { released: BOTH, state: 'void' }, {}, {}, []],
  ['nothing of a spent one, though the same is held again', { state: 'spent' }, { ...HELD, protect: [] }, {}, []],
  [
    'one from another value that our own team write set',
    { released: [released('p0', 600)] },
    { capSemantics: 'copied' },
    { sent: [{ scope: scope('team'), from: 'none', to: cap(500), at: NOW }] },
    ['p0'],
  ],
  [
    'not one to another value, overwritten or not',
    { released: [released('p0', 600, 300)] },
    { capSemantics: 'copied' },
    { sent: [{ scope: scope('team'), from: 'none', to: cap(500), at: NOW }] },
    [],
  ],
])('what goes out by an approval is %s', (_name, one, sketch, more, expected) => {
  const { changes } = planOf({ ...TWO, ...sketch, approvals: [given({ via: 'command', ...one })] }, more).plan
  expect(changes.flatMap((change) => (change.released ? short(change.scope) : []))).toEqual(expected)
})

/** `written` since then, whatever is asked. */
const written = (at: number): PlanSketch => ({
  contests: { written: (_scope, since) => (since <= at ? [{ from: cap(500), to: cap(400), cause: 'policy', result: 'applied' }] : []) },
})
const CLEAR = [released('p0', 500, 'none')]
const INHERITS: PlanSketch = { observed: { team: 300, p0: 300 }, readsExplicit: false }

test.each<readonly [string, Partial<Approval>, PlanSketch, string]>([
  ['goes on while one of its changes does not show', { released: BOTH }, { ...TWO, observed: { p0: 400, p1: 500 } }, 'pending true false'],
  [
    'goes on with what was verified before',
    { released: [released('p0', 500, 400, true), released('p1')] },
    { ...TWO, observed: { p0: 900, p1: 900 } },
    'pending true false',
  ],
  ['is spent once all of them show', { released: BOTH }, { ...TWO, observed: { p0: 400, p1: 400 } }, 'spent true true'],
  ['is not spent before it has released anything', {}, TWO, 'pending'],
  [
    'is spent where its value shows, though policy asks for another meanwhile',
    { released: [released('p0')] },
    { caps: { p0: 300 }, observed: { p0: 400 } },
    'spent true',
  ],
  ['stays void', { released: BOTH, state: 'void' }, { ...TWO, observed: { p0: 400, p1: 400 } }, 'void false false'],
  [
    'is spent once its change was written, where nobody reads the scope any more',
    { released: [released('p0')] },
    written(NOW),
    'spent true',
  ],
  ['is not spent by what was written before it', { released: [released('p0')] }, written(NOW - DAY), 'pending false'],
  ['is not spent while the plan asks for it again', { released: [released('p0')] }, { ...TWO, ...written(NOW) }, 'pending false'],
  ['of a cap goes on where nothing of ours is set any more', { released: [released('p0')] }, INHERITS, 'pending false'],
  ['of a clear is spent then', { released: CLEAR }, { ...INHERITS, caps: { team: 300 } }, 'spent true'],
  [
    'of a clear is spent once its scope is in sync, whatever a read shows',
    { released: CLEAR },
    { ...INHERITS, caps: { team: 300, p0: 'none' }, owned: { p0: { cap: 'none' } } },
    'spent true',
  ],
  ['of a clear is spent once the scope is no longer read', { released: CLEAR }, { caps: { p1: 5 }, observed: { p1: 5 } }, 'spent true'],
  [
    'of a clear goes on while the cap is set and ours, though policy declares another meanwhile',
    { released: CLEAR },
    { caps: { p0: 600 }, observed: { p0: 500 }, owned: { p0: { cap: 500 } } },
    'pending false',
  ],
  [
    'of a clear goes on while a cap is set that is not ours',
    { released: CLEAR },
    { caps: { p0: 600 }, observed: { p0: 500 } },
    'pending false',
  ],
])('an approval %s', (_name, one, sketch, expected) => {
  const [after] = planOf({ ...sketch, approvals: [given({ via: 'command', releasedAt: NOW - DAY / 2, ...one })] }).approvals
  expect([after?.state, ...(after?.released.map((change) => change.verified) ?? [])].join(' ')).toBe(expected)
})

const OFF = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
/** So many people have their cap from a group that is lowered, and others their own. */
const group = (members: number, others = 0): PlanSketch => ({
  ...{ people: 30, groups: { g: Object.keys(each(members, 0)) }, guards: OFF },
  caps: { 'group:g': 400, ...each(others, 400, 20) },
  observed: { 'group:g': 500, ...each(others, 500, 20) },
})
test.each<readonly [string, Partial<Approval>, PlanSketch, string]>([
  ['a quarter more people is still good', { people: 4 }, group(5), 'pending'],
  ['more than that is void', { people: 4 }, group(6), 'void'],
  [
    'people count whom one of several changes reaches',
    { people: 4 },
    { ...group(6), caps: { 'group:g': 400, ...each(6, 'none') }, observed: { 'group:g': 500, ...each(6, 900) } },
    'void',
  ],
  ['people of other changes do not count', { people: 4 }, group(4, 9), 'pending'],
  [
    'people of what is verified do not count',
    { people: 4, released: [released('group:g', 500, 400, true), released('p20')] },
    group(9, 1),
    'pending',
  ],
  ['what was not matched yet has no size', {}, group(9), 'pending'],
  ['what is spent stays so', { people: 4, state: 'spent' }, group(9), 'spent'],
])('growth: %s', (_name, one, sketch, expected) => {
  const approval = given({ via: 'command', released: [released('group:g')], ...one })
  expect(planOf({ ...sketch, approvals: [approval] }).approvals).toMatchObject([{ state: expected }])
})

/** A hold by rosterShrink, which was shown with so many people on the roster. */
const doubted = (now: number, roster?: number): PlanSketch => {
  const sketch: PlanSketch = { caps: { p0: 400 }, observed: { p0: 500 }, facts: { rosterDoubt: { before: 100, now } } }
  const id = planOf(sketch).plan.holds[0]?.id ?? ''
  return { ...sketch, approve: [id], holdsShown: { [id]: { people: 1, at: NOW, ...(roster !== undefined && { roster }) } } }
}
test.each<readonly [string, PlanSketch, string]>([
  ['releases what was shown with the same', doubted(50, 50), 'pending 1'],
  ['is void where another was shown', doubted(40, 50), 'void 0'],
  ['releases what was shown without a size', doubted(40), 'pending 1'],
  [
    'counts as ever for the hold of another guard',
    {
      ...{ ...HELD, approve: [ID], holdsShown: { [ID]: { people: 16, at: NOW, roster: 50 } } },
      ...{ facts: { rosterDoubt: { before: 100, now: 40 } }, guards: { rosterShrink: 'off' } },
    },
    'pending 16',
  ],
])('an approval while the roster is doubted %s', (_name, sketch, expected) =>
  expect(planOf(sketch).approvals.map(({ state, released: all }) => `${state} ${all.length}`)).toEqual([expected]),
)

describe('a plan tells an approval', () => {
  const AT = { file: 'acme.yaml', line: 1, column: 5 }
  const spent = given({ via: 'command', state: 'spent' })
  const told = (sketch: PlanSketch, more: PlanMore = {}) => {
    const { approvals, problems } = planOf(sketch, more).plan
    const over = '; remove it from spec.approvals: capkeeper edit remove approval:'
    const about = problems
      .filter(({ code }) => code.startsWith('APPROVAL'))
      .map(({ code, at, message }) => `${code}:${at?.line}${message.includes(over) ? ', to be removed' : ''}`)
    return [
      ...approvals.map(({ via, state, releases, at, note }) => `${via} ${state} ${releases.length} ${at?.line}: ${note}`),
      ...about,
    ].join(' | ')
  }
  const VOID = 'it is void, because it reaches more people than were shown or is too old; review its hold again and approve it anew'
  const USED = 'it was used, and releases nothing any more'
  const NONE = 'no hold has this id now'
  const IDLE = { idle: 'mode is audit' }
  test.each<readonly [string, PlanSketch, PlanMore, string]>([
    [
      'that is void while its hold exists',
      { ...HELD, approve: [ID], holdsShown: { [ID]: { people: 12, at: NOW } } },
      {},
      `command void 0 undefined: ${VOID}`,
    ],
    [
      'with its place where a policy lists it, also when a command gave it',
      { ...HELD, approvalIds: [ID], approvals: [spent] },
      {},
      `command spent 0 1: ${USED} | APPROVAL_SPENT:1, to be removed`,
    ],
    ['not where an operator gave it and it was used, though the same is held again', { ...HELD, approvals: [spent] }, {}, ''],
    ['not once it is void and nothing is held', { approvals: [{ ...spent, state: 'void' }] }, {}, ''],
    [
      'that is void and still listed',
      { approvalIds: [ID], approvals: [given({ state: 'void' })] },
      {},
      `policy void 0 1: ${VOID} | APPROVAL_VOID:1, to be removed`,
    ],
    ['that is listed and matches nothing', { approvalIds: [ID] }, {}, `policy pending 0 1: ${NONE} | APPROVAL_UNMATCHED:1`],
    [
      'that is to release its hold once anything may be written',
      { ...HELD, approvals: [given({ via: 'command' })] },
      IDLE,
      'command pending 16 undefined: undefined',
    ],
    [
      'that has grown, which is void then',
      { ...HELD, approvals: [given({ via: 'command', people: 4 })] },
      IDLE,
      `command void 0 undefined: ${VOID}`,
    ],
  ])('%s', (_name, sketch, more, expected) => expect(told(sketch, more)).toBe(expected))

  test('with what removes it from the policy where it is over, and from the hold where it came too early', () => {
    const { problems } = planOf({ ...HELD, caps: each(100, 500), approvals: [given({ state: 'spent' })], approvalIds: [ID] }).plan
    expect(problems).toMatchObject([
      {
        severity: 'warning',
        at: AT,
        message: `approval ${ID}: ${USED}; remove it from spec.approvals: capkeeper edit remove approval:${ID}`,
      },
    ])
    const idle = planOf({ ...HELD, approvals: [given()], approvalIds: [ID] }, IDLE)
    expect(idle.plan.approvals).toMatchObject([{ state: 'pending', releases: [], note: expect.stringMatching(/^it came with the change/) }])
    expect([idle.plan.holds.map(({ id }) => id), idle.approvals]).toEqual([[ID], [given()]])
    const byCommand = given({ via: 'command' })
    const later = planOf({ ...HELD, approvals: [byCommand] }, IDLE)
    expect([later.approvals, later.plan.approvals[0]?.releases]).toEqual([[byCommand], later.plan.holds[0]?.changes])
  })
})
