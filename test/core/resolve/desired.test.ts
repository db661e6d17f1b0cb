import { describe, expect, test } from 'vitest'
import { declaredIn, resolveDesired, resolvePerson } from '../../../src/core/resolve/desired.ts'
import { grantId, hasEnded } from '../../../src/core/resolve/grants.ts'
import type { DesiredInputs } from '../../../src/core/resolve/resolution.ts'
import {
  asked,
  CYCLE,
  checkDecision,
  codes,
  coming,
  type Decision,
  desiredInputs,
  grant,
  HOUR,
  members,
  NOW,
  over,
  ownedCaps,
  type PolicySketch,
  roster,
  running,
  short,
  skips,
  withoutCycle,
} from '../../support/declare.ts'

describe('what is asked of a scope', () => {
  test.each<[string, Decision]>([
    ['nothing where nothing is declared', {}],
    ['none where the rule says none', { policy: { caps: { team: 500, ada: 'none' } }, desired: { team: 'cap 500', ada: 'cap none' } }],
    [
      'a running grant before its rule',
      { policy: { caps: { ada: 4000 }, grants: [{ on: 'ada', cap: 6000, ...running }] }, desired: { ada: 'grant 6000' } },
    ],
    [
      'a running grant before its rule even when it is lower',
      { policy: { caps: { team: 500 }, grants: [{ on: 'team', cap: 9, ...running }] }, desired: { team: 'grant 9' } },
    ],
    ['a running grant without a rule', { policy: { grants: [{ on: 'ada', cap: 6000, ...running }] }, desired: { ada: 'grant 6000' } }],
    [
      'its rule before a grant starts',
      { policy: { caps: { ada: 4000 }, grants: [{ on: 'ada', ...coming }] }, desired: { ada: 'cap 4000' } },
    ],
    ['its rule after a grant ended', { policy: { caps: { ada: 4000 }, grants: [{ on: 'ada', ...over }] }, desired: { ada: 'cap 4000' } }],
    ['nothing before a grant without a rule starts', { policy: { grants: [{ on: 'ada', ...coming }] } }],
  ])('is %s', (_, row) => checkDecision(row))

  test('of a group names the team as a loser', () => {
    const [, group] = resolveDesired(desiredInputs({ caps: { team: 500, 'group:a': 1500 } })).desired
    expect(group?.losers.map((one) => one.cap)).toEqual([500])
  })

  test('of the team names what its grant beat, once', () => {
    const [team] = resolveDesired(desiredInputs({ caps: { team: 500 }, grants: [{ on: 'team', cap: 9, ...running }] })).desired
    expect(team?.losers.map((one) => one.cap)).toEqual([500])
  })

  test('comes in the canonical order', () => {
    const { desired } = resolveDesired(desiredInputs({ caps: { zoe: 1, ada: 2, 'group:z': 3, 'group:a': 4, team: 5 } }))
    expect(desired.map((one) => short(one.scope))).toEqual(['team', 'group:a', 'group:z', 'ada', 'zoe'])
  })
})

describe('a scope is skipped', () => {
  const declared: PolicySketch = { caps: { team: 500, 'group:a': 1500, ada: 4000 }, grants: [{ on: 'bob', cap: 6, ...running }] }
  const skipped = (more: Partial<DesiredInputs>, policy = declared) => {
    const resolution = resolveDesired(desiredInputs(policy, more))
    return { skipped: skips(resolution), asked: Object.keys(asked(resolution)) }
  }
  const both = ['team', 'group:a', 'ada', 'bob']

  test.each<[string, Partial<DesiredInputs>, ReturnType<typeof skipped>]>([
    ['for nobody while the roster is unknown', {}, { skipped: {}, asked: both }],
    ['for nobody who is approved', { roster: roster({ ada: 'approved', bob: 'approved' }) }, { skipped: {}, asked: both }],
    ['for nobody who is approved and disabled', { roster: roster({ ada: 'disabled', bob: 'disabled' }) }, { skipped: {}, asked: both }],
    [
      'when it is ours and its group unknown, so that it is no orphan',
      { unknownGroups: ['x'], owned: ownedCaps({ 'group:x': { cap: 1 } }) },
      { skipped: { 'group:x': 'the service does not know group x' }, asked: both },
    ],
  ])('%s', (_, more, expected) => expect(skipped(more)).toEqual(expected))

  test('rather than rejected when its grant makes no sense either', () => {
    const resolution = resolveDesired(desiredInputs({ grants: [{ on: 'bob', add: 1, ...running }] }, { roster: roster({}) }))
    expect([skips(resolution), codes(resolution), resolution.skipped[0]?.at?.line]).toEqual([
      { bob: 'bob@example.com is not on the roster' },
      {},
      101,
    ])
  })

  test('not for a person of whom nothing is declared or ours', () => {
    expect(
      skips(resolveDesired(desiredInputs({ caps: { team: 1 } }, { roster: roster({ eve: 'pending' }), capSemantics: 'copied' }))),
    ).toEqual({})
  })
})

describe('the cap of a person', () => {
  const caps = { team: 500, 'group:a': 1500, 'group:b': 900, ada: 4000, eve: 'none' as const }
  const groups = members({ a: ['ada', 'bob', 'eve'], b: ['bob'] })
  const person = (name: string, policy: PolicySketch, more: Partial<DesiredInputs> = {}) => {
    const found = resolvePerson(`${name}@example.com`, desiredInputs(policy, { groups, ...more }))
    return found && [found.cap, ...found.chain.map((one) => `${one.kind} ${short(one.scope)} ${one.cap}`)]
  }

  test.each<[string, string, PolicySketch, (string | number)[] | undefined]>([
    ['is their own rule', 'ada', { caps }, [4000, 'cap ada 4000', 'cap group:a 1500', 'cap team 500']],
    ['is the next inherited one under a none', 'eve', { caps }, [1500, 'cap group:a 1500', 'cap eve none', 'cap team 500']],
    [
      'is the group’s grant before its rule',
      'eve',
      { caps, grants: [{ on: 'group:a', cap: 6, ...running }] },
      [6, 'grant group:a 6', 'cap eve none', 'cap group:a 1500', 'cap team 500'],
    ],
    ['is the team’s where nothing else is declared', 'zoe', { caps }, [500, 'cap team 500']],
    [
      'is chosen by the conflict rule',
      'bob',
      { caps, onGroupConflict: 'max' },
      [1500, 'conflict bob 1500', 'cap group:a 1500', 'cap group:b 900', 'cap team 500'],
    ],
    ['is undecided where groups clash', 'bob', { caps }, undefined],
    ['is undecided where groups clash and their own cap is none', 'bob', { caps: { ...caps, bob: 'none' } }, undefined],
    ['is none where the team’s none is all', 'zoe', { caps: { team: 'none' } }, ['none', 'cap team none']],
    ['is none by the last none', 'eve', { caps: { team: 'none', eve: 'none' } }, ['none', 'cap team none', 'cap eve none']],
    ['is undefined where nothing is declared', 'zoe', { caps: { ada: 1 } }, undefined],
  ])('%s', (_, name, policy, expected) => expect(person(name, policy)).toEqual(expected))

  test('is found whatever the spelling of the e-mail', () => {
    expect(resolvePerson(' Ada@Example.COM ', desiredInputs({ caps }))?.cap).toBe(4000)
  })
})

test('what is declared is found once for the same inputs, however many people are asked about', () => {
  const inputs = desiredInputs({ caps: { ada: 5 } })
  expect(declaredIn(inputs)).toBe(declaredIn(inputs))
  expect(declaredIn({ ...inputs })).not.toBe(declaredIn(inputs))
})

describe('grants in a resolution', () => {
  test.each([
    ['has ended with the cycle that it ran in', CYCLE.startAt - 1, true, true],
    ['has not ended while its cycle runs', CYCLE.startAt, true, false],
    ['has not ended while the cycle is not known', CYCLE.startAt - 1, false, false],
  ])('tell that one to the end of the cycle that is no longer declared %s', (_name, from, isKnown, ended) => {
    const id = grantId(grant({ on: 'ada', from, until: 'cycleEnd' }, { file: 'acme.yaml', line: 1, column: 1 }))
    const inputs = isKnown ? desiredInputs({}) : withoutCycle(desiredInputs({}))
    expect(hasEnded(id, resolveDesired(inputs).grantClock)).toBe(ended)
  })

  test('are all reported with their state', () => {
    const grants = [
      { on: 'ada', ...over },
      { on: 'bob', ...running },
      { on: 'cyd', until: NOW + HOUR },
      { on: 'team', ...coming },
    ]
    const { grants: reported } = resolveDesired(desiredInputs({ grants }, { roster: roster({}) }))
    expect(reported.map((one) => `${short(one.grant.scope)} ${one.state}`)).toEqual([
      'team pending',
      'ada ended',
      'bob active',
      'cyd expiring',
    ])
  })
})
