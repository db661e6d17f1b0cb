import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { ADA, BOB, historyOf, intentFor, kept, ledgerErrorOf, open, ownedCap, raise, TEAM } from '../../support/ledger.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const URL_A = 'https://a.example/api/v1'

async function usedLedger(): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = temporaryFolder()
  const file = join(folder, 'capkeeper.db')
  const store = await open(file)
  const ledger = await store.workspace('acme', URL_A)
  const change = raise(TEAM, 1, 2)
  ledger.saveOwned([ownedCap(ADA, 5), ownedCap(BOB, 6)])
  await ledger.recordOutcome(await ledger.recordIntent(intentFor(change)), historyOf(change, 1), 'kept')
  await ledger.recordIntent(intentFor(change))
  ledger.saveFact('verifiedDeclared', 3)
  await ledger.savePause({ untilAt: 9, reason: 'x', pausedAt: 1 })
  await store.close()
  return { folder, file }
}

test('an undamaged ledger is reported with its version, without the write lock', async () => {
  const { file } = await usedLedger()
  await open(file)
  const store = await open(file, 'read')
  expect(await store.check()).toEqual({
    file,
    exists: true,
    schemaVersion: 7,
    problems: [],
  })
})

const DAMAGE: readonly (readonly [name: string, sql: string, says: string])[] = [
  ['an unreadable row', `UPDATE owned SET data = '{}' WHERE id = 1`, 'row 1 of table owned cannot be read, because .scope is missing'],
  ['a fact unknown to this version', `UPDATE fact SET name = 'mood'`, 'row 1 of table fact cannot be read, because .name is "mood"'],
  ['another type', `UPDATE fact SET data = '"x"'`, 'row 1 of table fact cannot be read, because the value is "x" and should be a number'],
  ['a fact that is no JSON', `UPDATE fact SET data = '{'`, 'row 1 of table fact cannot be read'],
  ['a row of no workspace', `PRAGMA foreign_keys = OFF; UPDATE history SET binding = 77`, 'row 1 of table history belongs to no workspace'],
  ['a table that is gone', `DROP TABLE quarantine`, 'no such table: quarantine'],
]

test.each(DAMAGE)('the check reports %s', async (_, sql, says) => {
  const { file } = await usedLedger()
  const sqlite = new DatabaseSync(file)
  sqlite.exec(sql)
  sqlite.close()
  const store = await open(file, 'read')
  expect((await store.check()).problems.join('\n')).toContain(says)
})

test('the check reports every damaged row, not only the first', async () => {
  const { file } = await usedLedger()
  const sqlite = new DatabaseSync(file)
  sqlite.exec(`UPDATE owned SET data = '{}'; UPDATE history SET data = '7'`)
  sqlite.close()
  const store = await open(file, 'read')
  expect((await store.check()).problems).toHaveLength(3)
})

test('a copy made beside a writer is a complete ledger, private, and without later writes', async () => {
  const { folder, file } = await usedLedger()
  const writer = await open(file)
  const reader = await open(file, 'read')
  const copy = join(folder, 'copy.db')
  await reader.backup(copy)
  await kept(writer.workspace('acme', URL_A), (one) => one.saveOwned([ownedCap(TEAM, 1)]))
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  await reader.close()
  await writer.close()
  const restored = await open(copy)
  expect((await restored.check()).problems).toEqual([])
  expect((await restored.workspace('acme', URL_A)).owned()).toEqual([ownedCap(ADA, 5), ownedCap(BOB, 6)])
  expect((await restored.workspace('acme', URL_A)).openIntents()).toHaveLength(1)
  await restored.close()
  expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
})

test('a copy that fails half-way leaves nothing behind', async () => {
  const { folder, file } = await usedLedger()
  const sqlite = new DatabaseSync(file)
  // The row lies on a page that the copy must read.
  const root = Number(sqlite.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'history'`).get()?.['rootpage'])
  sqlite.close()
  const content = readFileSync(file)
  content.fill(0xff, (root - 1) * 4_096, root * 4_096)
  writeFileSync(file, content)
  const store = await open(file, 'read')
  expect((await ledgerErrorOf(async () => await store.backup(join(folder, 'copy.db')))).code).toBe('LEDGER_BACKUP')
  await store.close()
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([])
})
