// How guards work together: in rounds, on what the others have left, with changes that they may not hold, and where caps are copied.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../../src/core/model/scope.ts'
import { holdId } from '../../../../src/core/plan/guards/judge.ts'
import { cap, DAY, entryOf, NOW, roster, scope } from '../../../support/declare.ts'
import { COPYING, each, lines, type PlanSketch, planOf } from '../../../support/plan.ts'

const healing = (value: number) => ({ cap: value, entry: entryOf('cap', value) })
const key = (name: string) => scopeKey(scope(name))

/** Four people fall back from 500 to the team cap, which is 400 unless a held change makes it 600. */
const LEANING: PlanSketch = {
  caps: { team: 600 },
  observed: { team: 400, ...each(4, 500) },
  owned: each(4, { cap: 500 }),
  people: Object.keys(each(4, 0)),
  model: COPYING,
}

describe('what is left after a hold', () => {
  test('is judged again, by what it does without the held changes', () => {
    const { plan } = planOf(LEANING)
    expect(plan.holds.map((hold) => [hold.guards.join('+'), hold.changes.length, hold.people])).toEqual([
      ['semantics', 1, 4],
      ['maxLowered', 4, 4],
    ])
  })

  test('leaves no warning of a guard that holds something already', () => {
    const { plan } = planOf({ observed: { p0: 5 }, owned: { p0: { cap: 5 } }, facts: { verifiedDeclared: 9 } })
    expect(plan.holds).toHaveLength(1)
    expect(plan.problems).toEqual([])
  })

  test('a guard with nothing to hold says what is wrong, with the workspace', () =>
    expect(planOf({ facts: { verifiedDeclared: 12 } }).plan.problems.map((one) => one.message)).toEqual([
      'acme: no policy declares any scope (12 before), so nothing is cleared',
    ]))

  test.each<readonly [string, PlanSketch]>([
    ['maxAffected', { caps: each(6, 'none'), observed: each(6, 5), guards: { maxCleared: 'off' } }],
    ['maxLowered', { caps: each(4, 4), observed: each(4, 5) }],
    ['maxBlocked', { people: 100, caps: each(4, 400), observed: each(4, 500), used: each(4, 400) }],
    ['maxCleared', { caps: each(4, 'none'), observed: each(4, 500) }],
    ['maxRaise', { caps: each(4, 600), observed: each(4, 500), facts: { creditsRemaining: 399 } }],
  ])('%s says nothing any more once its hold is approved', (guard, sketch) => {
    const [hold] = planOf(sketch).plan.holds
    expect(hold?.guards).toEqual([guard])
    expect(planOf({ ...sketch, approve: [hold?.id ?? ''] }).plan).toMatchObject({ holds: [], problems: [] })
  })

  test('a guard that counts says what is wrong where all of it was done by an interrupted plan', () => {
    const sketch: PlanSketch = { caps: each(4, 400), observed: each(4, 400), baseline: each(4, 500) }
    expect(planOf({ ...sketch, caps: { ...sketch.caps, p5: 9 }, observed: { ...sketch.observed, p5: 8 } }).plan.problems).toMatchObject([
      { message: expect.stringContaining('4 of 20 people would be lowered (20 %)') },
    ])
  })

  test('two guards that are settled otherwise name both ways out', () => {
    const reads = { failed: 1, total: 9, teamFailed: true }
    const [hold] = planOf({ caps: { p0: 4 }, observed: { p0: 5 }, protectedPeople: ['p0'], facts: { reads } }).plan.holds
    expect(hold?.message).toContain(
      `approve hold ${hold?.id} (capkeeper edit approve ${hold?.id}) or change spec.protected (capkeeper edit remove protect:p0@example.com), and wait for the service to answer`,
    )
  })
})

describe('the id of a hold', () => {
  test('is taken from the workspace and one line a change, whatever the order of the changes', () => {
    const texts: string[] = []
    const digest = (text: string): string => {
      texts.push(text)
      return '0123456789abcdef0123456789abcdef0123456789abcdef'
    }
    const changes = [
      { key: key('team'), from: cap(5), to: cap('none') },
      { key: key('group:g'), from: cap('none'), to: cap(6) },
    ]
    expect(holdId('acme', changes, digest)).toBe('0123456789abcdef0123456789abcdef')
    holdId('acme', changes.toReversed(), digest)
    expect(new Set(texts)).toEqual(new Set([JSON.stringify(['acme', ['["group:g","none",6]', '["team",5,"none"]']])]))
    const pool = { name: 'research', key: 'k', isReviewed: false }
    const deal = [5, 6].map((to) => holdId('acme', [{ key: key('p0'), from: cap('none'), to: cap(to), pool }], digest))
    expect(deal).toEqual(['0123456789abcdef0123456789abcdef', '0123456789abcdef0123456789abcdef'])
    expect(new Set(texts.slice(2))).toEqual(new Set(['["acme","pool","k"]']))
  })
})

describe('where caps are copied, a team or group write that reaches a person with a held change', () => {
  const COPIED: PlanSketch = {
    caps: { team: 600, 'group:g': 700, 'group:h': 800, p0: 4, p1: 4, p2: 4 },
    observed: { team: 500, 'group:g': 650, 'group:h': 750, p0: 5, p1: 5, p2: 5 },
    groups: { g: ['p0', 'p2'], h: ['p9'] },
    capSemantics: 'copied',
  }
  const breaker = { openedAt: NOW, retryAt: NOW + 1, waitMs: 1, failed: 3, planned: 3, cause: '422', refused: true, scopes: [key('p1')] }

  test('is held by every guard that holds anybody it reaches, each once', () => {
    const planned = planOf({ ...COPIED, protectedPeople: ['p0', 'p2'], facts: { breaker } })
    expect(lines(planned).filter((line) => line.includes('held'))).toEqual([
      'team raise 500>600 policy held:protected+breaker',
      'group:g raise 650>700 policy held:protected',
      'p0 lower 5>4 policy held:protected',
      'p1 lower 5>4 policy held:breaker',
      'p2 lower 5>4 policy held:protected',
    ])
  })

  test('is held by its own guards alone when it has some', () =>
    expect(lines(planOf({ ...COPIED, caps: { team: 400, p0: 4 }, observed: { team: 500, p0: 5 }, protectedPeople: ['p0'] }))).toEqual([
      'team lower 500>400 policy held:maxAffected+maxLowered',
      'p0 lower 5>4 policy held:maxAffected+maxLowered+protected',
    ]))
})

describe('a person whose cap changes by two changes, of which one may not be held', () => {
  const TEAM_HEALS: PlanSketch = {
    caps: { team: 400 },
    observed: { team: 900, ...each(4, 500) },
    owned: { team: healing(400), ...each(4, { cap: 500 }) },
  }

  test('counts, and only the other change is held', () =>
    expect(lines(planOf(TEAM_HEALS))).toEqual([
      'team lower 900>400 external',
      ...Object.keys(each(4, 0)).map((name) => `${name} clear 500>none orphan held:maxLowered`),
    ]))

  const until = NOW - DAY
  const ENDED: PlanSketch = {
    grants: [{ on: 'p0', cap: 6000, until }],
    owned: { p0: { cap: 6000, owner: 'grant', grant: { on: 'p0', until } } },
    observed: { p0: 6000 },
    protectedPeople: ['p0'],
  }

  test('a protected one is kept from the other, not from the end of a grant', () => {
    const sketch = { ...ENDED, caps: { team: 400 }, observed: { team: 500, p0: 6000 }, people: ['p0'] }
    expect(lines(planOf(sketch))).toEqual(['p0 clear 6000>none expired', 'team lower 500>400 policy held:protected'])
  })

  test('a protected one whose grant ends is not named beside others, and is no warning alone', () => {
    const ending = { ...ENDED, caps: { p0: 500, p1: 4 }, observed: { p0: 6000, p1: 5 } }
    expect(planOf(ending).plan.problems).toEqual([])
    const [hold] = planOf({ ...ending, protectedPeople: ['p1', 'p0'] }).plan.holds
    expect(hold?.message).toContain('acme: p1@example.com is protected and would be lowered; ')
  })
})

describe('protected people', () => {
  const LOWERED: PlanSketch = { caps: each(2, 4), observed: each(2, 5) }
  test('are named in the order of their addresses, without those who are not on the roster', () => {
    const [hold] = planOf({ ...LOWERED, protectedPeople: ['p1', 'nobody', 'p0'] }).plan.holds
    expect(hold?.message).toContain('acme: p0@example.com, p1@example.com are protected')
  })

  const overwritten = (observed: number, before: number): string[] => {
    const sketch: PlanSketch = { caps: { p0: 400 }, observed: { p0: observed }, baseline: { p0: before }, protectedPeople: ['p0'] }
    const sent = [{ scope: scope('team'), from: 'none' as const, to: cap(observed), at: NOW }]
    return planOf({ ...sketch, capSemantics: 'copied' }, { sent }).plan.holds.map((hold) => hold.guards.join('+'))
  }
  test.each([
    ['may be given back what our own team write took', 100, 400, []],
    ['are not given back less than what it took', 100, 500, ['protected']],
    ['may get more than before it, though less than it gave', 500, 300, []],
  ])('%s', (_name, observed, before, expected) => expect(overwritten(observed, before)).toEqual(expected))
})

describe('while the roster is doubted', () => {
  const DOUBT = { rosterDoubt: { before: 40, now: 20 } }
  const doubted = (sketch: PlanSketch) => lines(planOf({ ...sketch, facts: DOUBT }))

  test('a first cap is held when it takes something from its person, and not otherwise', () =>
    expect(
      doubted({
        caps: { team: 600, p0: 500, p1: 700, p2: 500 },
        observed: { team: 600, p0: 'none', p1: 'none', p2: 'none' },
        used: { p1: 700 },
      }),
    ).toEqual(['p1 set none>700 policy', 'p0 set none>500 policy held:rosterShrink', 'p2 set none>500 policy held:rosterShrink']))

  test('a person who is not counted is not lowered or cleared either, but may be raised', () => {
    const names = ['p0', 'p1', 'p2', 'p3']
    const people = roster(Object.fromEntries([...names.map((name) => [name, 'disabled' as const]), ['p4', 'approved' as const]]))
    const caps = { p0: 4, p1: 6, p2: 'none' as const, p3: 7 }
    expect(doubted({ roster: people, caps, observed: { p0: 5, p1: 5, p2: 5, p3: 'none' } })).toEqual([
      'p1 raise 5>6 policy',
      'p3 set none>7 policy',
      'p0 lower 5>4 policy held:rosterShrink',
      'p2 clear 5>none policy held:rosterShrink',
    ])
  })
})
