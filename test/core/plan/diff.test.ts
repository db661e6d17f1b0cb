import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { cap, DAY, entryOf, NOW, type OwnedSketch, scope } from '../../support/declare.ts'
import { lines, type PlanSketch, planOf } from '../../support/plan.ts'

const ended = { on: 'p0', cap: 6000, until: NOW - DAY }
const endedForAll = { ...ended, on: 'team' }
const running = { on: 'p0', cap: 6000, until: NOW + 9 * DAY }

const WIDER: PlanSketch = { caps: { team: 300, p0: 'none' }, observed: { team: 300, p0: 300 } }

const TRIED_BY_GRANT: OwnedSketch = { cap: 500, tried: 6000, more: { triedByGrant: true } }

const COPIED: PlanSketch = { people: ['p0'], capSemantics: 'copied', guards: { emptyPolicy: false, maxCleared: 'off' } }

const TABLE: readonly (readonly [string, PlanSketch, readonly string[]])[] = [
  ['a scope that reads as asked needs nothing', { caps: { p0: 500 }, observed: { p0: 500 } }, []],
  ['a scope without a cap gets its first', { caps: { p0: 500 }, observed: { p0: 'none' } }, ['p0 set none>500 policy']],
  ['a lower cap is raised', { caps: { p0: 500 }, observed: { p0: 400 } }, ['p0 raise 400>500 policy']],
  ['a higher cap is lowered', { caps: { p0: 500 }, observed: { p0: 600 } }, ['p0 lower 600>500 policy']],
  ['a cap to zero is a block', { caps: { p0: 0 }, observed: { p0: 600 } }, ['p0 block 600>0 policy']],
  ['a first cap of zero is a block', { caps: { p0: 0 }, observed: { p0: 'none' } }, ['p0 block none>0 policy']],
  ['a cap at use is a block', { caps: { p0: 500 }, observed: { p0: 600 }, used: { p0: 500 } }, ['p0 block 600>500 policy']],
  ['a raise below use is still a raise', { caps: { p0: 500 }, observed: { p0: 400 }, used: { p0: 900 } }, ['p0 raise 400>500 policy']],
  ['none clears what is set', { caps: { p0: 'none' }, observed: { p0: 600 } }, ['p0 clear 600>none policy']],
  ['none over nothing needs nothing', { caps: { p0: 'none' }, observed: { p0: 'none' } }, []],
  ['none that reads the inherited value is in sync where reads may show it', { ...WIDER, readsExplicit: false }, []],
  ['none that reads the inherited value is cleared where reads are explicit', WIDER, ['p0 clear 300>none policy']],
  ['an unknown reading causes no write', { caps: { p0: 500 }, observed: { p0: 'unknown' } }, []],
  ['a scope that was not read yet causes no write', { caps: { p0: 500 } }, []],
  ['an orphan stays when prune is off', { observed: { p0: 500 }, owned: { p0: { cap: 500 } }, prune: false }, []],
  ['an orphan that somebody changed is not ours any more', { observed: { p0: 600 }, owned: { p0: { cap: 500 } } }, []],
  ['an orphan that somebody cleared is not cleared again', { observed: { p0: 'none' }, owned: { p0: { cap: 500 } } }, []],
  [
    'what was tried over nothing, and stands there, is an orphan that is cleared',
    { caps: { p1: 9 }, observed: { p0: 700, p1: 9 }, owned: { p0: { cap: 'none', tried: 700 } } },
    ['p0 clear 700>none orphan'],
  ],
  [
    'what was tried over nothing, and is not there, is not cleared',
    { observed: { p0: 'none' }, owned: { p0: { cap: 'none', tried: 700 } } },
    [],
  ],
  [
    'what a grant may have set and did not leaves an orphan as it is where prune is off',
    { observed: { p0: 500 }, owned: { p0: TRIED_BY_GRANT }, prune: false },
    [],
  ],
  [
    'what a grant may have set over nothing goes to what is wider at its end where caps are copied',
    { ...COPIED, observed: { team: 300, p0: 6000 }, owned: { p0: { ...TRIED_BY_GRANT, cap: 'none' } }, prune: false },
    ['p0 lower 6000>300 expired'],
  ],
  [
    'a cap of ours that is there again before its grant gives it back is cleared, for nobody declares it',
    {
      grants: [ended],
      observed: { p0: 800 },
      owned: { p0: { cap: 6000, owner: 'grant', baseline: 800, grant: ended, more: { baselineIsOurs: true } } },
    },
    ['p0 clear 800>none expired'],
  ],
  [
    'what somebody else put in place of a cap by a grant is left at its end, also where a cap of ours stood there before',
    {
      grants: [ended],
      observed: { p0: 777 },
      owned: { p0: { cap: 6000, owner: 'grant', baseline: 800, grant: ended, more: { baselineIsOurs: true } } },
    },
    [],
  ],
  ['an orphan that cannot be read is left', { observed: { p0: 'unknown' }, owned: { p0: { cap: 500 } } }, []],
  ['a cap that is not ours is not even looked at', { observed: { p0: 500 } }, []],
  [
    'a grant that was deleted has not ended',
    { caps: { p0: 500 }, grants: [ended], observed: { p0: 6000 }, owned: { p0: { cap: 6000, owner: 'grant', grant: running } } },
    ['p0 lower 6000>500 policy'],
  ],
  [
    'a copied cap that came from no grant shows no end of one',
    {
      people: ['p0'],
      caps: { team: 500 },
      grants: [endedForAll],
      observed: { team: 500, p0: 6000 },
      owned: { p0: { cap: 6000, owner: 'copied' } },
      capSemantics: 'copied',
    },
    ['p0 lower 6000>500 policy'],
  ],
  [
    'a base is not given back over what somebody else has set since',
    { grants: [ended], observed: { p0: 777 }, owned: { p0: { cap: 6000, owner: 'grant', baseline: 800, grant: ended } } },
    [],
  ],
  [
    'an orphan beneath a wider cap is that cap’s where caps are copied, and is left',
    { ...COPIED, observed: { team: 300, p0: 300 }, owned: { p0: { cap: 300, owner: 'copied' } } },
    [],
  ],
  [
    'an orphan beneath another wider cap gets that where caps are copied',
    { ...COPIED, observed: { team: 300, p0: 100 }, owned: { p0: { cap: 100 } } },
    ['p0 raise 100>300 orphan'],
  ],
  [
    'an orphan beneath a wider cap that goes as well is cleared where caps are copied',
    { ...COPIED, observed: { team: 300, p0: 300 }, owned: { team: { cap: 300 }, p0: { cap: 300, owner: 'copied' } } },
    ['team clear 300>none orphan', 'p0 clear 300>none orphan'],
  ],
  [
    'an orphan beneath a wider cap that cannot be read is left where caps are copied',
    { ...COPIED, observed: { team: 'unknown', p0: 300 }, owned: { p0: { cap: 300, owner: 'copied' } } },
    [],
  ],
  [
    'a grant that gives back nothing leaves the wider cap where caps are copied',
    {
      ...COPIED,
      grants: [ended],
      observed: { team: 300, p0: 6000 },
      owned: { p0: { cap: 6000, owner: 'grant', baseline: 'none', grant: ended } },
    },
    ['p0 lower 6000>300 expired'],
  ],
  [
    'also where it was only tried, and reads show the inherited value',
    { ...WIDER, readsExplicit: false, owned: { p0: { cap: 'none', tried: 0 } } },
    ['p0 clear 300>none policy'],
  ],
  [
    'but not where the service stores a 0 as such',
    { caps: { p0: 'none' }, observed: { p0: 'none' }, owned: { p0: { cap: 0 } }, model: { zero: 'stored' } },
    [],
  ],
  ['nor over another cap of ours', { caps: { p0: 'none' }, observed: { p0: 'none' }, owned: { p0: { cap: 5, tried: 6 } } }, []],
  [
    'a 0 that did not show is over where a number shows as asked',
    { caps: { p0: 5 }, observed: { p0: 5 }, owned: { p0: { cap: 5, tried: 0 } } },
    [],
  ],
  [
    'a 0 that the service does not keep is not cleared while policy asks for it',
    {
      caps: { p0: 0 },
      observed: { p0: 'none' },
      owned: { p0: { cap: 0 } },
      quarantined: [
        { scope: scope('p0'), code: 'ZERO_NOT_STORED', message: 'reads unset', entry: entryOf('cap', 0), at: NOW, restore: cap('none') },
      ],
    },
    [],
  ],
  ['but not where prune is off', { observed: { p0: 'none' }, owned: { p0: { cap: 0 } }, prune: false }, []],
  ['nor where somebody else has set another cap', { caps: { p1: 9 }, observed: { p0: 600, p1: 9 }, owned: { p0: { cap: 0 } } }, []],
]

describe('the decision table', () => {
  test.each(TABLE)('%s', (_name, sketch, expected) => expect(lines(planOf(sketch))).toEqual(expected))
})

describe('what becomes ours and what is forgotten', () => {
  const adopted = (sketch: PlanSketch) => planOf(sketch).diff.adopted.map((one) => [scopeKey(one.scope), one.cap, one.owner, one.baseline])

  test('what is ours already is no news', () =>
    expect(adopted({ caps: { p0: 500 }, observed: { p0: 500 }, owned: { p0: { cap: 500 } } })).toEqual([]))

  test('a given-back base is forgotten once it is there', () => {
    const sketch = { grants: [ended], observed: { p0: 800 }, owned: { p0: { cap: 6000, owner: 'grant' as const, baseline: 800 } } }
    expect(planOf(sketch).diff.released).toEqual(['p0@example.com'])
  })

  test('a given-back base that was ours before the grant is ours again where prune is off', () => {
    const given: OwnedSketch = { cap: 6000, owner: 'grant', baseline: 800, more: { baselineIsOurs: true } }
    const { diff } = planOf({ grants: [ended], observed: { p0: 800 }, owned: { p0: given }, prune: false })
    expect(diff.adopted).toEqual([{ scope: scope('p0'), cap: 800, owner: 'policy', entry: { kind: 'given_up' }, verifiedAt: NOW }])
    expect(diff.released).toEqual([])
  })

  test('a base that was ours before the grant is forgotten once it is cleared, where prune is on', () => {
    const given: OwnedSketch = { cap: 6000, owner: 'grant', baseline: 800, more: { baselineIsOurs: true } }
    const { diff } = planOf({ grants: [ended], observed: { p0: 'none' }, owned: { p0: given } })
    expect([diff.released, diff.adopted, diff.differences]).toEqual([['p0@example.com'], [], []])
  })

  test('what was tried over nothing, and is not there, is forgotten', () =>
    expect(planOf({ observed: { p0: 'none' }, owned: { p0: { cap: 'none', tried: 700 } } }).diff.released).toEqual(['p0@example.com']))

  test('an orphan that somebody changed is forgotten', () =>
    expect(planOf({ observed: { p0: 600 }, owned: { p0: { cap: 500 } } }).diff.released).toEqual(['p0@example.com']))
})
