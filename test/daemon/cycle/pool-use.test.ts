// The use of a member that counts in a pool, where some measured use belongs to nobody on the roster; and a figure that is no number.
import { expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { useNow } from '../../../src/daemon/cycle/deal.ts'
import { CYCLE, email, NOW, roster } from '../../support/declare.ts'

const BALANCE = { creditsPerSeat: credits(500), seats: 2, addOnAvailable: credits(9_000), addOnUsed: credits(9_000), readAt: NOW }

test.each([
  ['what was measured, where all of it has an owner', 100, 0, 3_964, 100],
  ['what was measured and all that nobody owns, where the rest of their use can hold it', 100, 50, 3_964, 150],
  ['no more of it than the rest of their use can hold', 100, 3_000, 800, 300],
  ['what was measured, where that is more than an estimate', 400, 3_000, 800, 400],
  ['what nobody owns, where nothing was measured of them', undefined, 3_464, 3_964, 3_464],
])('%s', (_name, own, others, used, expected) => {
  const { people, ...rest } = roster({ ada: 'approved', bob: 'approved' }, { cycle: CYCLE })
  const rows = people.map((one) => ({ ...one, used: credits(one.email === email('ada') ? used : 9_500) }))
  const measured = { [email('bob')]: credits(9_000), ...(own !== undefined && { [email('ada')]: credits(own) }) }
  const known = useNow(
    {
      usage: { roster: { ...rest, people: rows }, groups: [], balance: BALANCE },
      measured: {
        readAt: NOW,
        cycles: [{ startAt: CYCLE.startAt, people: measured, others: credits(others) }],
        unassignable: [],
      },
    },
    NOW,
  )
  expect(known.kind === 'known' && known.used.get(email('ada'))).toBe(expected)
})
