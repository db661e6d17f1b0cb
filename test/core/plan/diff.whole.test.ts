// Differences and what the ledger remembers, field by field; the decisions themselves are in diff.test.ts.

import { describe, expect, test } from 'vitest'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { ownedFrom, setBefore } from '../../../src/core/plan/diff.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { grantId } from '../../../src/core/resolve/grants.ts'
import { cap, DAY, entryOf, grant, NOW, type OwnedSketch, ownedCaps, type PlainCap, scope } from '../../support/declare.ts'
import { COPYING, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

const ended = { on: 'p0', cap: 6000, until: NOW - DAY }
const running = { on: 'p0', cap: 6000, until: NOW + 9 * DAY }
const at = { file: '', line: 0, column: 0 }
const AT = { file: 'acme.yaml', line: 1, column: 5 }
const P0 = { scope: scope('p0'), key: 'p0@example.com' }
const sentToTeam = (amount: number) => [{ scope: scope('team'), from: 'none' as const, to: credits(amount), at: NOW }]
const diffOf = (sketch: PlanSketch) => planOf(sketch).diff
const byGrant = (more: Partial<OwnedSketch> = {}): OwnedSketch => ({ cap: 6000, owner: 'grant', grant: running, ...more })

describe('a difference', () => {
  test.each<readonly [string, PlanSketch, object]>([
    [
      'of what a grant may have set before it ended gives back what was verified',
      { observed: { p0: 6000 }, owned: { p0: { cap: 500, tried: 6000, more: { triedByGrant: true } } }, prune: false },
      { ...P0, from: 6000, to: 500, cause: 'expired', entry: entryOf('restore', 500), healing: false, grantEnd: true },
    ],
    [
      'of an orphan that shows an ended grant is the end of that grant',
      {
        grants: [{ ...ended, on: 'p1' }],
        observed: { p0: 6000 },
        owned: { p0: { cap: 6000, owner: 'copied', grant: { ...ended, on: 'p1' } } },
      },
      { ...P0, from: 6000, to: 'none', cause: 'expired', entry: UNDECLARED, healing: false, grantEnd: true },
    ],
    [
      'heals what others changed under the same entry',
      { caps: { p0: 500 }, observed: { p0: 900 }, owned: { p0: { cap: 500 } } },
      { ...P0, from: 900, to: 500, cause: 'external', source: AT, entry: entryOf('cap', 500), healing: true, grantEnd: false },
    ],
    [
      'heals nothing that was not verified at the value asked for',
      { caps: { p0: 500 }, observed: { p0: 900 }, owned: { p0: { cap: 400, entry: entryOf('cap', 500) } } },
      { ...P0, from: 900, to: 500, cause: 'external', source: AT, entry: entryOf('cap', 500), healing: false, grantEnd: false },
    ],
    [
      'of a grant that follows another is no end of it',
      { grants: [ended, running], observed: { p0: 400 }, owned: { p0: byGrant({ cap: 400, grant: ended }) } },
      {
        ...P0,
        from: 400,
        to: 6000,
        cause: 'policy',
        source: { ...AT, line: 102 },
        reason: 'release week',
        entry: entryOf('grant', 6000),
        healing: false,
        grantEnd: false,
      },
    ],
    [
      'under the entry it was verified with is no end of a grant',
      { caps: { p0: 500 }, grants: [ended], observed: { p0: 900 }, owned: { p0: { cap: 500, grant: ended } } },
      { ...P0, from: 900, to: 500, cause: 'external', source: AT, entry: entryOf('cap', 500), healing: true, grantEnd: false },
    ],
  ])('%s', (_name, sketch, expected) => expect(diffOf(sketch).differences).toStrictEqual([expected]))

  test.each<readonly [string, PlanSketch]>([
    ['of policy', { caps: { p0: 'none' }, observed: { p0: 'none' }, owned: { p0: { cap: 0 } } }],
    ['of policy that asked for none before', { caps: { p0: 'none' }, observed: { p0: 'none' }, owned: { p0: { cap: 'none', tried: 0 } } }],
    ['of an orphan', { caps: { p1: 9 }, observed: { p0: 'none', p1: 9 }, owned: { p0: { cap: 0 } } }],
  ])('%s that clears a 0 which does not show says why', (_name, sketch) => {
    const reason = 'a cap of 0 was written here and does not show: it may be set all the same'
    expect(diffOf(sketch).differences).toMatchObject([{ from: 'none', to: 'none', reason, healing: false }])
  })

  test('gives a base back also over what our own team write set', () => {
    const given = byGrant({ grant: ended, baseline: 800 })
    const inputs = planInputs({ grants: [ended], observed: { p0: 777 }, owned: { p0: given }, model: COPYING })
    expect(buildPlan(inputs).diff).toMatchObject({ differences: [], released: ['p0@example.com'] })
    const overwritten = buildPlan({ ...inputs, sent: sentToTeam(777) }).diff
    expect(overwritten).toMatchObject({ differences: [{ from: 777, to: 800, cause: 'expired' }], released: [] })
  })
})

describe('beside differences', () => {
  test('a scope that was asked for and failed without a reason says that it was not read', () => {
    const inputs = planInputs({ caps: { p0: 5 }, owned: { p1: { cap: 5 } } })
    const readings = new Map(
      ['p0', 'p1'].map((name) => [scopeKey(scope(name)), { scope: scope(name), observed: 'unknown' as const, readAt: NOW }]),
    )
    expect(buildPlan({ ...inputs, readings }).diff.unknown.map((one) => one.message)).toEqual(['not read yet', 'not read yet'])
  })

  test('a desired `none` under an unread team is reported as unknown, and stays desired', () => {
    const beneath = { people: ['p0'], capSemantics: 'copied', observed: { team: 'unknown', p0: 500 } } as const
    const declared = planOf({ ...beneath, caps: { p0: 'none' } })
    const message = 'the cap to fall back to could not be read'
    expect(declared.diff.unknown).toEqual([{ scope: scope('p0'), message }])
    expect(declared.scopes).toMatchObject([{ state: 'unknown', desired: 'none', why: message }])
    expect(diffOf({ ...beneath, owned: { p0: { cap: 500 } } }).unknown).toEqual([{ scope: scope('p0'), message }])
  })

  test('a scope that is left alone is not compared, whatever policy asks', () => {
    const { differences, inSync, unknown } = planOf(
      { caps: { p0: 500 }, observed: { p0: 900 } },
      { skipped: new Set([scopeKey(scope('p0'))]) },
    ).diff
    expect([differences, inSync, unknown]).toEqual([[], [], []])
  })

  test('an owned scope at none is released without a reading', () => {
    const forgotten = diffOf({ observed: { p0: 'unknown' }, owned: { p0: { cap: 'none' } } })
    expect([forgotten.released, forgotten.unknown]).toEqual([['p0@example.com'], []])
  })
})

describe('what the ledger is to remember', () => {
  const desired = (sketch: PlanSketch) => {
    const [one] = planInputs(sketch).resolution.desired
    if (!one) throw new Error('nothing is asked')
    return one
  }
  const rule = desired({ caps: { p0: 500 } })
  const granted = desired({ grants: [running] })
  const based = desired({ caps: { p0: 500 }, grants: [running] })
  const ours = (one: OwnedSketch) => ownedCaps({ p0: one }).get(scopeKey(scope('p0')))
  const id = grantId(grant(running, at))
  const base = { scope: scope('p0'), verifiedAt: NOW }

  test.each<readonly [string, Parameters<typeof ownedFrom>[0], OwnedSketch | undefined, PlainCap, object]>([
    ['of a rule: no base', rule, undefined, 9, { cap: 500, owner: 'policy', entry: entryOf('cap', 500) }],
    [
      'of a grant over a rule: the rule’s cap as ours, for the rule may go',
      based,
      undefined,
      9,
      { cap: 6000, owner: 'grant', entry: entryOf('grant', 6000), grant: id, baseline: 500, baselineIsOurs: true },
    ],
    [
      'of a grant over what was tried: that it was ours as well',
      granted,
      { cap: 8, tried: 9 },
      9,
      { cap: 6000, owner: 'grant', entry: entryOf('grant', 6000), grant: id, baseline: 9, baselineIsOurs: true },
    ],
    [
      'of a grant that was found in place, where we knew of another cap of ours: that one',
      granted,
      { cap: 500, tried: 6000 },
      6000,
      { cap: 6000, owner: 'grant', entry: entryOf('grant', 6000), grant: id, baseline: 500, baselineIsOurs: true },
    ],
    [
      'of a grant over a foreign change of a cap of ours: the foreign cap',
      granted,
      { cap: 500 },
      9,
      { cap: 6000, owner: 'grant', entry: entryOf('grant', 6000), grant: id, baseline: 9 },
    ],
    [
      'of a grant after a grant without a base: nothing comes back',
      granted,
      byGrant(),
      9,
      { cap: 6000, owner: 'grant', entry: entryOf('grant', 6000), grant: id, baseline: 'none' },
    ],
    [
      'of a grant after a grant over what was ours: that it was',
      granted,
      byGrant({ baseline: 7, more: { baselineIsOurs: true } }),
      9,
      { cap: 6000, owner: 'grant', entry: entryOf('grant', 6000), grant: id, baseline: 7, baselineIsOurs: true },
    ],
    [
      'of what stays in place of a grant’s 0 that is not kept: that very cap, for it stood there before',
      { ...granted, cap: credits(7), entry: entryOf('kept', 7) },
      undefined,
      'none',
      { cap: 7, owner: 'grant', entry: entryOf('kept', 7), grant: id, baseline: 7 },
    ],
    [
      'of a cap that a write of ours has set: that it did',
      rule,
      { cap: 500, more: { written: true } },
      500,
      { cap: 500, owner: 'policy', entry: entryOf('cap', 500), written: true },
    ],
    [
      'of a cap that is found where a write of ours had set another: no write of ours',
      rule,
      { cap: 400, more: { written: true } },
      500,
      { cap: 500, owner: 'policy', entry: entryOf('cap', 500) },
    ],
  ])('%s', (_name, asked, owned, before, expected) =>
    expect(ownedFrom(asked, owned && ours(owned), cap(before), NOW)).toStrictEqual({ ...base, ...expected }),
  )

  test('what is shown since a clear of ours, and nothing known explains, is remembered until it is gone', () => {
    const none = { cap: 'none' as const, entry: entryOf('cap', 'none'), more: { shows: credits(300) } }
    const adopted = (shown: PlainCap, owned: OwnedSketch) =>
      diffOf({ caps: { p0: 'none' }, observed: { p0: shown }, owned: { p0: owned }, readsExplicit: false }).adopted.map((one) => one.shows)
    expect(adopted(300, none)).toEqual([])
    expect(adopted(300, { ...none, entry: entryOf('cap', 5) })).toEqual([300])
    expect(adopted('none', none)).toEqual([undefined])
  })

  test('a `none` that shows a cap which may be inherited is not verified while it is open what reads show', () => {
    const adopted = (p0: PlainCap) =>
      diffOf({ caps: { team: 500, p0: 'none' }, observed: { team: 500, p0 }, readsExplicit: false }).adopted.map((one) =>
        scopeKey(one.scope),
      )
    expect(adopted(500)).toEqual([scopeKey(scope('team'))])
    expect(adopted('none')).toHaveLength(2)
  })

  test('a cap that is only inherited, or was copied, was not set', () => {
    const was = (value: PlainCap, wider: PlainCap, readsExplicit = false, capSemantics: PlanSketch['capSemantics'] = 'layered') => {
      const { slots } = planOf({ observed: { p0: value, team: wider }, readsExplicit, capSemantics })
      return setBefore(cap(value), slots, scopeKey(scope('p0')))
    }
    expect([was(5, 5), was(5, 6), was('none', 'none'), was(5, 5, true)]).toEqual(['none', 5, 'none', 5])
    expect([was(5, 5, true, 'copied'), was(5, 6, true, 'copied')]).toEqual(['none', 5])
  })

  const news = (one: OwnedSketch | undefined, sketch: PlanSketch) =>
    diffOf({ ...sketch, ...(one && { owned: { p0: one } }) }).adopted.map((two) => [two.cap, two.entry, two.owner, two.grant === id])
  const equal: PlanSketch = { caps: { p0: 500 }, observed: { p0: 500 } }
  test.each<readonly [string, OwnedSketch | undefined, PlanSketch, boolean]>([
    ['nothing is known of it', undefined, equal, true],
    ['it is known just so', { cap: 500 }, equal, false],
    ['it was verified under another entry', { cap: 500, entry: entryOf('cap', 400) }, equal, true],
    ['it was verified at another value', { cap: 400, entry: entryOf('cap', 500) }, equal, true],
    ['it was ours for another cause', { cap: 500, owner: 'copied', entry: entryOf('cap', 500) }, equal, true],
    ['another value was tried there since, which does not show', { cap: 500, tried: 900 }, equal, true],
    ['it came from a grant', { cap: 500, grant: running }, equal, true],
    ['a grant is known just so', byGrant({ baseline: 'none' }), { grants: [running], observed: { p0: 6000 } }, false],
  ])('a scope found equal is news: %s', (_name, one, sketch, isNews) => expect(news(one, sketch)).toHaveLength(isNews ? 1 : 0))

  test('the baseline of a person who only shows the inherited cap is that nothing was set', () => {
    const { adopted } = diffOf({ caps: { team: 6000 }, grants: [running], observed: { team: 6000, p0: 6000 }, readsExplicit: false })
    expect(adopted.map((one) => [one.cap, one.baseline])).toEqual([
      [6000, undefined],
      [6000, 'none'],
    ])
  })
})
