// What nobody declares: whose caps are looked at, which are worth showing, and what `audit` finds in the readings.
import { describe, expect, test } from 'vitest'
import { audit, managedUsers, undeclaredCaps, undeclaredPeople } from '../../../src/core/plan/audit.ts'
import { cap, email, keysOf, members, NOW, type PlainCap, scope } from '../../support/declare.ts'
import { type PlanSketch, planInputs } from '../../support/plan.ts'

interface Sketch {
  /** What was read, by short name; people are those whose own cap is here. */
  readonly caps: NonNullable<PlanSketch['observed']>
  readonly groups?: Readonly<Record<string, readonly string[]>>
  readonly used?: Readonly<Record<string, number>>
  readonly declared?: readonly string[]
  readonly ours?: Readonly<Record<string, number>>
}

function look({ caps, groups = {}, used = {}, declared = [], ours = {} }: Sketch): ReturnType<typeof audit> {
  const owned = Object.fromEntries(Object.entries(ours).map(([name, value]) => [name, { cap: value }]))
  const names = Object.keys(caps).filter((name) => name !== 'team' && !name.startsWith('group:'))
  const inputs = planInputs({ observed: caps, people: names, groups, owned })
  return audit({
    ...{ people: inputs.people.approved, readings: inputs.readings, owned: inputs.owned, groups: members(groups) },
    declared: keysOf(...declared),
    reaches: (address) => declared.includes('team') || declared.some((name) => email(name) === address),
    useOf: (address) => {
      const found = cap(used[short(address)] ?? 'none')
      return found === 'none' ? undefined : { credits: found, source: 'estimated' }
    },
  })
}

const short = (address: string): string => address.replace('@example.com', '')

describe('whom to look at', () => {
  const { people } = planInputs({ people: ['ada', 'bob', 'cleo'] })
  const NOTHING = { desired: [], skipped: [], rejected: [], pools: [] }
  const [KEY = '' as never] = keysOf('ada')
  const ADAS = { name: 'a', credits: 9, members: { kind: 'emails' as const, emails: [email('ada')] } }
  test.each([
    ['approved people whom neither policy nor the ledger knows', managedUsers(NOTHING), 'ada bob cleo'],
    ['nobody who is declared', managedUsers(planInputs({ caps: { ada: 5, team: 5 } }).resolution), 'bob cleo'],
    [
      'nobody whom policy makes impossible',
      managedUsers({ ...NOTHING, rejected: [{ scope: scope('ada'), code: 'GROUP_CONFLICT', message: '' }] }),
      'bob cleo',
    ],
    ['nobody to whom a pool may deal', managedUsers(planInputs({ people: ['ada'], pools: [ADAS] }).resolution), 'bob cleo'],
    ['nobody whose cap is ours, or who is left alone', managedUsers(NOTHING, [KEY], keysOf('team')), 'bob cleo'],
  ])('%s', (_name, managed, expected) =>
    expect(
      undeclaredPeople(people, managed)
        .map((one) => short(one.email))
        .join(' '),
    ).toBe(expected),
  )
})

test.each<readonly [string, string, PlainCap | 'unknown', PlainCap, PlainCap | undefined, readonly number[]]>([
  ['a number of the person’s own', 'ada', 900, 500, undefined, [900]],
  ['nothing where nothing is set', 'ada', 'none', 500, undefined, []],
  ['nothing where the wider cap shows, or may', 'ada', 500, 500, undefined, []],
  ['what was read last while it cannot be read', 'ada', 'unknown', 500, 900, [900]],
  ['nothing of what was never read', 'ada', 'unknown', 500, undefined, []],
  ['a number where nothing wider is set', 'ada', 500, 'none', undefined, [500]],
  ['never the team', 'team', 500, 'none', undefined, []],
  ['never a group', 'group:a', 500, 'none', undefined, []],
])('what is worth showing is %s', (_name, name, shown, wider, before, expected) => {
  const last = before === undefined ? {} : { last: { observed: cap(before), readAt: NOW - 1 } }
  const readings = [...planInputs({ observed: { [name]: shown } }).readings.values()].map((one) => ({ ...one, ...last }))
  expect(undeclaredCaps(readings, () => cap(wider)).map((found) => Number(found.observed))).toEqual(expected)
})

test.each<[string, Sketch, readonly string[]]>([
  ['are those at user scope that nothing asks for', { caps: { team: 500, ada: 900, bob: 'none' } }, ['ada 900']],
  ['do not include declared ones', { caps: { team: 500, ada: 900, bob: 'none' }, declared: ['ada'] }, []],
  ['say which are ours', { caps: { ada: 900, bob: 700 }, ours: { ada: 900, bob: 600 } }, ['ada 900 ours', 'bob 700']],
  ['include a cap of 0', { caps: { team: 500, ada: 0, bob: 'none' } }, ['ada 0']],
  ['leave out what was not read', { caps: { team: 500, ada: 'unknown', bob: 'none', cleo: 3 } }, ['cleo 3']],
  [
    'leave out what only shows the team’s cap, though a group could not be read',
    { caps: { team: 500, 'group:core': 'unknown', ada: 500, bob: 500 }, groups: { core: ['ada'] } },
    [],
  ],
  ['come by e-mail', { caps: { zoe: 1, ada: 2 } }, ['ada 2', 'zoe 1']],
])('caps that no policy declares: %s', (_name, sketch, expected) => {
  expect(look(sketch).undeclared.map((one) => `${short(one.email)} ${one.cap}${one.ours ? ' ours' : ''}`)).toEqual(expected)
})

test.each<[string, Sketch, readonly string[]]>([
  ['are those whom neither their own, nor a group, nor the team caps', { caps: { team: 'none', ada: 5, bob: 'none' } }, ['bob']],
  ['come by e-mail', { caps: { team: 'none', zoe: 'none', ada: 'none' } }, ['ada', 'zoe']],
  ['are nobody where the team is capped', { caps: { team: 0, ada: 'none' } }, []],
  ['do not include those whose cap could not be read', { caps: { team: 'none', ada: 'unknown' } }, []],
  ['do not include anybody when the team could not be read', { caps: { team: 'unknown', ada: 'none' } }, []],
])('people without any cap: %s', (_name, sketch, expected) => {
  expect(look(sketch).uncapped.map((one) => short(one.email))).toEqual(expected)
})

test('people whom nothing that is declared reaches come by e-mail, with their use', () => {
  const sketch: Sketch = { caps: { zoe: 5, ada: 'none', bob: 7 }, declared: ['bob'], used: { ada: 12 } }
  expect(look(sketch).unreached).toEqual([{ email: email('ada'), used: 12, source: 'estimated' }, { email: email('zoe') }])
  expect(look({ ...sketch, declared: ['team'] }).unreached).toEqual([])
})

describe('people near their cap', () => {
  test.each<[string, Sketch, readonly string[]]>([
    ['are those at 85 % or more', { caps: { ada: 100, bob: 100 }, used: { ada: 85, bob: 84.9 } }, ['ada 85_to_95']],
    [
      'begin with those at a cap of 0',
      { caps: { ada: 10, bob: 0, cleo: 0 }, used: { ada: 900, bob: 0, cleo: 7 } },
      ['bob at_cap', 'cleo at_cap', 'ada at_cap'],
    ],
    ['are judged by the cap in force', { caps: { team: 100, ada: 'none', bob: 1000 }, used: { ada: 90, bob: 90 } }, ['ada 85_to_95']],
    ['are nobody whose cap is not known', { caps: { team: 'unknown', ada: 'none' }, used: { ada: 5 } }, []],
    ['are nobody without a cap', { caps: { team: 'none', ada: 'none' }, used: { ada: 5 } }, []],
    ['begin with a cap of 0 wherever it stands', { caps: { ada: 0, bob: 10 }, used: { ada: 0, bob: 900 } }, ['ada at_cap', 'bob at_cap']],
    ['are unknown where use is', { caps: { ada: 10 } }, []],
    ['tie by e-mail', { caps: { zoe: 10, ada: 10 }, used: { zoe: 10, ada: 10 } }, ['ada at_cap', 'zoe at_cap']],
  ])('%s', (_name, sketch, expected) => {
    expect(look(sketch).near.map((one) => `${short(one.email)} ${one.band}`)).toEqual(expected)
  })

  test('name the scope that gives the cap', () => {
    const { near } = look({
      caps: { team: 100, 'group:core': 90, ada: 'none', bob: 80 },
      groups: { core: ['ada', 'bob'] },
      used: { ada: 90, bob: 80 },
    })
    expect(near.map(({ from }) => from)).toEqual(['group:core', email('bob')])
    expect(look({ caps: { team: 100, ada: 'none' }, used: { ada: 90 } }).near[0]?.from).toBe('team')
  })
})

test('what could not be read is named with its reason', () => {
  expect(look({ caps: { team: 5, ada: 'unknown', bob: 1 } }).unread).toEqual([{ scope: email('ada'), message: 'GetUsageConfig: 503' }])
})

test('it says whether values were taken for the wider ones', () => {
  expect([look({ caps: { team: 5, ada: 5 } }).showsInherited, look({ caps: { team: 5, ada: 6 } }).showsInherited]).toEqual([true, false])
})
