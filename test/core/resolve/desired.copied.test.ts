import { describe, test } from 'vitest'
import type { DesiredInputs } from '../../../src/core/resolve/resolution.ts'
import { byGrant, checkDecision, type Decision, members, ownedCaps, roster } from '../../support/declare.ts'

describe('where the service copies shared caps to people', () => {
  const everybody = roster({ ada: 'approved', bob: 'approved', cyd: 'disabled', dan: 'pending' })
  const copied = (more: Partial<DesiredInputs> = {}): Partial<DesiredInputs> => ({
    capSemantics: 'copied',
    roster: everybody,
    groups: members({ a: ['bob'] }),
    ...more,
  })
  const caps = { team: 500, 'group:a': 1500 }
  const wide = { team: 'cap 500', 'group:a': 'cap 1500' }
  test.each<[string, Decision]>([
    [
      'everybody approved keeps the cap that applies to them',
      { policy: { caps }, more: copied(), desired: { ...wide, ada: 'copied 500', bob: 'copied 1500', cyd: 'copied 500' } },
    ],
    [
      'a none of their own with nothing wider stays none',
      { policy: { caps: { bob: 'none' } }, more: copied(), desired: { bob: 'cap none' } },
    ],
    [
      'nobody gets anything where nothing applies',
      { policy: { caps: { 'group:a': 1500 } }, more: copied(), desired: { 'group:a': 'cap 1500', bob: 'copied 1500' } },
    ],
    [
      'none is written to those who have a cap of ours',
      {
        policy: { caps: { team: 'none' } },
        more: copied({ owned: ownedCaps({ ada: { cap: 500, owner: 'copied' } }) }),
        desired: { team: 'cap none', ada: 'copied none' },
      },
    ],
    [
      'a cap of ours that nothing declares is left to pruning',
      { more: copied({ owned: ownedCaps({ ada: { cap: 500, owner: 'copied' } }) }) },
    ],
    [
      'nothing new is copied while the members of a group are not known',
      { policy: { caps: { ...caps, ada: 4000 } }, more: copied({ groups: [] }), desired: { ...wide, ada: 'cap 4000' } },
    ],
    [
      'what was copied stays while the members of a group are not known',
      {
        policy: { caps },
        more: copied({ groups: [], owned: ownedCaps({ bob: { cap: 77, owner: 'copied' } }) }),
        desired: { ...wide, bob: 'copied 77' },
      },
    ],
    [
      'a base still comes back while the members of a group are not known',
      { policy: { caps }, more: copied({ groups: [], owned: ownedCaps({ bob: byGrant(300) }) }), desired: { ...wide, bob: 'restore 300' } },
    ],
    [
      'what a grant gave stays while the members of a group are not known, where nothing stood there before it',
      {
        policy: { caps },
        more: copied({ groups: [], owned: ownedCaps({ bob: byGrant('none') }) }),
        desired: { ...wide, bob: 'copied 6000' },
      },
    ],
    [
      'a conflict without a rule is rejected also while the members of another group are not known',
      {
        policy: { caps: { 'group:a': 1500, 'group:b': 900, 'group:c': 7 } },
        more: copied({ groups: members({ a: ['bob'], b: ['bob'] }), owned: ownedCaps({ bob: { cap: 77, owner: 'copied' } }) }),
        desired: { 'group:a': 'cap 1500', 'group:b': 'cap 900', 'group:c': 'cap 7' },
        rejected: { bob: 'GROUP_CONFLICT' },
      },
    ],
    [
      'what was copied stays while the roster is unknown',
      {
        policy: { caps },
        more: { capSemantics: 'copied', groups: members({ a: ['bob'] }), owned: ownedCaps({ bob: { cap: 1500, owner: 'copied' } }) },
        desired: { ...wide, bob: 'copied 1500' },
      },
    ],
  ])('%s', (_, row) => checkDecision(row))
})
