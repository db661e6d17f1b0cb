import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TEAM_KEY } from '../../../src/core/interpret/effective.ts'
import { GIVEN_UP, isSameEntry, ORIGIN_KINDS, type PolicyEntry, UNDECLARED } from '../../../src/core/model/policy.ts'
import { credits, MAX_CAP } from '../../../src/core/model/units.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { entryFrom, entryText, storedFact } from '../../../src/daemon/ledger/values/stored.ts'
import { fakeClock } from '../../support/clock.ts'
import { entryOf } from '../../support/declare.ts'
import { ADA, BOB, kept, ownedCap, temporaryFolder } from '../../support/ledger.ts'

/** The texts of every version. */
const TEXTS: readonly (readonly [text: string, entry: PolicyEntry])[] = [
  ['', UNDECLARED],
  ['given up', GIVEN_UP],
  ['rule|500', entryOf('cap', 500)],
  ['rule|0', entryOf('cap', 0)],
  ['rule|none', entryOf('cap', 'none')],
  ['grant|6000', entryOf('grant', 6000)],
  ['people|5', entryOf('rule', 5)],
  ['pool|2147483647', entryOf('pool', 2_147_483_647)],
  ['conflict|900', entryOf('conflict', 900)],
  ['copied|1500', entryOf('copied', 1500)],
  ['restore|300', entryOf('restore', 300)],
  ['kept|700', entryOf('kept', 700)],
]

test.each(TEXTS)('the text "%s" is read, and written again unchanged', (text, entry) => {
  expect(entryFrom(text)).toEqual(entry)
  expect(entryText(entry)).toBe(text)
})

test.each(['quota|500', 'rule', 'rule|many', 'rule|5|6', ' rule|5', 'constructor|5'])(
  'the text "%s" is an entry that no longer counts',
  (text) => {
    expect(entryFrom(text)).toEqual(GIVEN_UP)
  },
)

const cap = fc.oneof(fc.constant('none' as const), fc.integer({ min: 0, max: MAX_CAP }).map(credits))
const entries: fc.Arbitrary<PolicyEntry> = fc.oneof(
  fc.constantFrom(UNDECLARED, GIVEN_UP),
  fc.record({ kind: fc.constantFrom(...ORIGIN_KINDS, 'kept' as const), cap }),
)

test('two entries are equal exactly when their texts are', () => {
  fc.assert(
    fc.property(entries, entries, (one, other) => {
      expect(isSameEntry(one, other)).toBe(entryText(one) === entryText(other))
      expect(isSameEntry(one, entryFrom(entryText(one)))).toBe(true)
    }),
  )
})

test('the only fact with entries is the contests', () => {
  expect(storedFact('contested', { [TEAM_KEY]: { at: 1, entry: entryOf('cap', 5), changes: 3 } })).toEqual({
    team: { at: 1, entry: 'rule|5', changes: 3 },
  })
  expect(storedFact('peopleSalt', 'salt')).toBe('salt')
})

test('a ledger of an earlier version can be read, and its rows stay unchanged', async () => {
  const file = join(temporaryFolder(), 'capkeeper.db')
  const open = () => openLedger({ file, mode: 'write', clock: fakeClock() })
  const first = await open()
  await kept(first.workspace('acme', 'http://service'), (one) => one.saveOwned([ownedCap(ADA, 5), ownedCap(BOB, 6)]))
  await first.close()
  const texts = (sql = ''): readonly unknown[] => {
    const database = new DatabaseSync(file)
    database.exec(sql)
    const rows = database.prepare(`SELECT json_extract(data, '$.entry') AS entry FROM owned ORDER BY id`).all()
    database.close()
    return rows.map((row) => row['entry'])
  }
  expect(texts()).toEqual(['rule|5', 'rule|6'])
  const old = ['pool|5', 'of another version']
  expect(
    texts(old.map((text, at) => `UPDATE owned SET data = json_set(data, '$.entry', '${text}') WHERE id = ${at + 1};`).join('')),
  ).toEqual(old)
  const again = await open()
  const ledger = await again.workspace('acme', 'http://service')
  expect(ledger.owned().map(({ entry }) => entry)).toEqual([entryOf('pool', 5), GIVEN_UP])
  await ledger.commit()
  await again.close()
  expect(texts()).toEqual(old)
})
