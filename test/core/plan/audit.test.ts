import { describe, expect, test } from 'vitest'
import { type CountedPerson, TEAM_KEY } from '../../../src/core/interpret/effective.ts'
import type { CapReading, OwnedCap } from '../../../src/core/model/observed.ts'
import { groupScope, type ScopeKey, scopeKey, userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { audit } from '../../../src/core/plan/audit.ts'
import { email, entryOf, NOW, scope } from '../../support/declare.ts'

interface Sketch {
  /** What was read, by short name; people are those whose own cap is here. */
  readonly caps: Readonly<Record<string, number | 'none' | 'unknown'>>
  readonly groups?: Readonly<Record<string, readonly string[]>>
  readonly used?: Readonly<Record<string, number>>
  readonly declared?: readonly string[]
  readonly ours?: Readonly<Record<string, number>>
}

const key = (name: string): ScopeKey => scopeKey(scope(name))

const reading = (name: string, observed: number | 'none' | 'unknown'): CapReading => ({
  scope: scope(name),
  observed: typeof observed === 'number' ? credits(observed) : observed,
  readAt: NOW,
  ...(observed === 'unknown' && { failure: { kind: 'server', message: 'it is down' } }),
})

const owned = (name: string, cap: number): OwnedCap => ({
  scope: scope(name),
  cap: credits(cap),
  owner: 'policy',
  entry: entryOf('cap', 1),
  verifiedAt: NOW,
})

function look({ caps, groups = {}, used = {}, declared = [], ours = {} }: Sketch): ReturnType<typeof audit> {
  const names = Object.keys(caps).filter((name) => name !== 'team' && !name.startsWith('group:'))
  const groupsOf = (name: string) =>
    Object.entries(groups).flatMap(([id, members]) => (members.includes(name) ? [scopeKey(groupScope(id))] : []))
  const inputs: Parameters<typeof audit>[0] = {
    people: names.map(
      (name): CountedPerson => ({ email: email(name), key: key(name), disabled: false, groups: groupsOf(name), use: credits(0) }),
    ),
    readings: new Map(Object.entries(caps).map(([name, observed]) => [key(name), reading(name, observed)])),
    groups: Object.entries(groups).map(([id, members]) => ({ id, name: id, emails: members.map(email) })),
    declared: new Set(declared.map(key)),
    owned: new Map(Object.entries(ours).map(([name, cap]) => [key(name), owned(name, cap)])),
    reaches: (address) => declared.includes('team') || declared.some((name) => email(name) === address),
    useOf: (address) => {
      const found = used[address.replace('@example.com', '')]
      return found === undefined ? undefined : { credits: credits(found), source: 'estimated' }
    },
  }
  return audit(inputs)
}

const short = (address: string): string => address.replace('@example.com', '')

describe('caps that no policy declares', () => {
  test.each<[string, Sketch, readonly string[]]>([
    ['are those at user scope that nothing asks for', { caps: { team: 500, ada: 900, bob: 'none' } }, ['ada 900']],
    ['do not include declared ones', { caps: { team: 500, ada: 900, bob: 'none' }, declared: ['ada'] }, []],
    ['say which are ours', { caps: { ada: 900, bob: 700 }, ours: { ada: 900, bob: 600 } }, ['ada 900 ours', 'bob 700']],
    ['include a cap of 0', { caps: { team: 500, ada: 0, bob: 'none' } }, ['ada 0']],
    ['leave out what only shows the wider cap', { caps: { team: 500, ada: 500, bob: 900 } }, ['bob 900']],
    ['leave out what was not read', { caps: { team: 500, ada: 'unknown', bob: 'none', cleo: 3 } }, ['cleo 3']],
    [
      'leave out what only shows the team’s cap, though a group could not be read',
      { caps: { team: 500, 'group:core': 'unknown', ada: 500, bob: 500 }, groups: { core: ['ada'] } },
      [],
    ],
    ['come by e-mail', { caps: { zoe: 1, ada: 2 } }, ['ada 2', 'zoe 1']],
  ])('%s', (_name, sketch, expected) => {
    expect(look(sketch).undeclared.map((one) => `${short(one.email)} ${one.cap}${one.ours ? ' ours' : ''}`)).toEqual(expected)
  })
})

describe('people without any cap', () => {
  test.each<[string, Sketch, readonly string[]]>([
    ['are those whom neither their own, nor a group, nor the team caps', { caps: { team: 'none', ada: 5, bob: 'none' } }, ['bob']],
    ['come by e-mail', { caps: { team: 'none', zoe: 'none', ada: 'none' } }, ['ada', 'zoe']],
    ['are nobody where the team is capped', { caps: { team: 0, ada: 'none' } }, []],
    ['do not include those whose cap could not be read', { caps: { team: 'none', ada: 'unknown' } }, []],
    ['do not include anybody when the team could not be read', { caps: { team: 'unknown', ada: 'none' } }, []],
  ])('%s', (_name, sketch, expected) => {
    expect(look(sketch).uncapped.map((one) => short(one.email))).toEqual(expected)
  })
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
    ['are unknown where use or cap is', { caps: { team: 'unknown', ada: 'none', bob: 10 } }, []],
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
    expect(near.map(({ from }) => from)).toEqual(['group:core', userScope(email('bob')).email])
    expect(look({ caps: { team: 100, ada: 'none' }, used: { ada: 90 } }).near[0]?.from).toBe(TEAM_KEY)
  })
})

test('what could not be read is named with its reason', () => {
  expect(look({ caps: { team: 5, ada: 'unknown', bob: 1 } }).unread).toEqual([{ scope: email('ada'), message: 'it is down' }])
})

test('it says whether values were taken for the wider ones', () => {
  expect([look({ caps: { team: 5, ada: 5 } }).showsInherited, look({ caps: { team: 5, ada: 6 } }).showsInherited]).toEqual([true, false])
})
