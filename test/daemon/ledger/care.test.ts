import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { type LedgerMode, openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { fakeClock } from '../../support/clock.ts'
import { ADA, BOB, historyOf, intentFor, ledgerErrorOf, ownedCap, raise, TEAM, temporaryFolder } from '../../support/ledger.ts'

const URL_A = 'https://a.example/api/v1'
const clock = fakeClock()
const open = (file: string, mode: LedgerMode = 'write') => openLedger({ file, mode, clock })

function usedLedger(): { readonly folder: string; readonly file: string } {
  const folder = temporaryFolder()
  const file = join(folder, 'capkeeper.db')
  const store = open(file)
  const ledger = store.workspace('acme', URL_A)
  const change = raise(TEAM, 1, 2)
  ledger.saveOwned([ownedCap(ADA, 5), ownedCap(BOB, 6)])
  ledger.recordOutcome(ledger.recordIntent(intentFor(change)), historyOf(change, 1), 'kept')
  ledger.recordIntent(intentFor(change))
  ledger.saveFact('verifiedDeclared', 3)
  ledger.savePause({ untilAt: 9, reason: 'x', pausedAt: 1 })
  store.close()
  return { folder, file }
}

test('a whole ledger is reported with its version and what it holds, without the write lock', () => {
  const { file } = usedLedger()
  const writer = open(file)
  const store = open(file, 'read')
  expect(store.check()).toEqual({
    file,
    exists: true,
    schemaVersion: 4,
    problems: [],
    workspaces: [
      {
        workspace: 'acme',
        baseUrl: URL_A,
        current: true,
        boundAt: clock.now(),
        owned: 2,
        openIntents: 1,
        history: 1,
        approvals: 0,
        quarantined: 0,
      },
    ],
  })
  store.close()
  writer.close()
})

test('a ledger that does not exist is reported as such, and cannot be copied', () => {
  const folder = temporaryFolder()
  const store = open(join(folder, 'capkeeper.db'), 'read')
  expect(store.check()).toMatchObject({ exists: false, problems: [], workspaces: [] })
  const refused = ledgerErrorOf(() => store.backup(join(folder, 'copy.db')))
  expect(refused.code).toBe('LEDGER_BACKUP')
  expect(refused.message).toContain('there is no ledger at')
  expect(readdirSync(folder)).toEqual([])
})

const DAMAGE: readonly (readonly [name: string, sql: string, says: string])[] = [
  [
    'a row that cannot be read',
    `UPDATE owned SET data = '{}' WHERE id = 1`,
    'row 1 of table owned cannot be read, because .scope is missing',
  ],
  [
    'a fact that this version does not know',
    `UPDATE fact SET name = 'mood'`,
    'row 1 of table fact cannot be read, because .name is "mood"',
  ],
  [
    'a fact of another type',
    `UPDATE fact SET data = '"x"'`,
    'row 1 of table fact cannot be read, because the value is "x" and should be a number',
  ],
  ['a fact that is no JSON', `UPDATE fact SET data = '{'`, 'row 1 of table fact cannot be read'],
  ['a row of no workspace', `PRAGMA foreign_keys = OFF; UPDATE history SET binding = 77`, 'row 1 of table history belongs to no workspace'],
  ['a table that is gone', `DROP TABLE quarantine`, 'no such table: quarantine'],
]

test.each(DAMAGE)('the check tells %s', (_, sql, says) => {
  const { file } = usedLedger()
  const sqlite = new DatabaseSync(file)
  sqlite.exec(sql)
  sqlite.close()
  const store = open(file, 'read')
  expect(store.check().problems.join('\n')).toContain(says)
  store.close()
})

test('the check lists every damaged row, not just the first', () => {
  const { file } = usedLedger()
  const sqlite = new DatabaseSync(file)
  sqlite.exec(`UPDATE owned SET data = '{}'; UPDATE history SET data = '7'`)
  sqlite.close()
  const store = open(file, 'read')
  expect(store.check().problems).toHaveLength(3)
  store.close()
})

test('a copy made while a writer is at work is a whole ledger, private, and free of later writes', () => {
  const { folder, file } = usedLedger()
  const writer = open(file)
  const reader = open(file, 'read')
  const copy = join(folder, 'copy.db')
  reader.backup(copy)
  writer.workspace('acme', URL_A).saveOwned([ownedCap(TEAM, 1)])
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  reader.close()
  writer.close()
  const restored = open(copy)
  expect(restored.check().problems).toEqual([])
  expect(restored.workspace('acme', URL_A).owned()).toEqual([ownedCap(ADA, 5), ownedCap(BOB, 6)])
  expect(restored.workspace('acme', URL_A).openIntents()).toHaveLength(1)
  restored.close()
  expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
})

test('a copy never replaces a file', () => {
  const { folder, file } = usedLedger()
  const copy = join(folder, 'copy.db')
  writeFileSync(copy, 'precious')
  const store = open(file, 'read')
  const refused = ledgerErrorOf(() => store.backup(copy))
  store.close()
  expect(refused).toMatchObject({ code: 'LEDGER_BACKUP', message: expect.stringContaining('exists already') })
  expect(statSync(copy).size).toBe(8)
})

test('a copy to a folder that does not exist is refused', () => {
  const { folder, file } = usedLedger()
  const store = open(file, 'read')
  expect(ledgerErrorOf(() => store.backup(join(folder, 'nowhere', 'copy.db'))).code).toBe('LEDGER_BACKUP')
  store.close()
})

test('a copy that fails half-way leaves nothing behind', () => {
  const { folder, file } = usedLedger()
  const sqlite = new DatabaseSync(file)
  // The row lies on a page that the copy must read.
  const root = Number(sqlite.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'history'`).get()?.['rootpage'])
  sqlite.close()
  const content = readFileSync(file)
  content.fill(0xff, (root - 1) * 4_096, root * 4_096)
  writeFileSync(file, content)
  const store = open(file, 'read')
  expect(ledgerErrorOf(() => store.backup(join(folder, 'copy.db'))).code).toBe('LEDGER_BACKUP')
  store.close()
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([])
})
