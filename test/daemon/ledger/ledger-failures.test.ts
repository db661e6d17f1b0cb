import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { ADA, intentFor, kept, ledgerErrorOf, newFile, open, ownedCap, raise } from '../../support/ledger.ts'
import { realClock } from '../../support/real-clock.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const URL_A = 'https://a.example/api/v1'
const MODES: readonly Parameters<typeof open>[1][] = ['write', 'note', 'read']

/** A ledger with some records. */
async function usedLedger(): Promise<string> {
  const file = newFile()
  const store = await open(file)
  await kept(store.workspace('acme', URL_A), (one) =>
    one.saveOwned(Array.from({ length: 300 }, (_, n) => ownedCap({ kind: 'user', email: `p${n}@example.com` }, n))),
  )
  await store.close()
  return file
}

function withSqlite(file: string, sql: string): void {
  const sqlite = new DatabaseSync(file)
  sqlite.exec(sql)
  sqlite.close()
}

const overwrite = (file: string, at: number, bytes: string): void => {
  const content = readFileSync(file)
  content.write(bytes, at)
  writeFileSync(file, content)
}

type Refused = readonly [name: string, code: string, says: string, make: () => string | Promise<string>]

/** A file with this text, or a ledger in use where there is none, after some SQL. */
const altered = (text: string | undefined, sql: string) => async (): Promise<string> => {
  const file = text === undefined ? await usedLedger() : newFile()
  if (text) writeFileSync(file, text)
  if (sql) withSqlite(file, sql)
  return file
}

/** A ledger in use, after something was done beside it. */
const beside = (act: (file: string) => void) => async (): Promise<string> => {
  const file = await usedLedger()
  act(file)
  return file
}

const REFUSED: readonly Refused[] = [
  ['a text file', 'LEDGER_CORRUPT', 'is not an SQLite database', altered('apiVersion: capkeeper/v1\n'.repeat(300), '')],
  ['a database of another program', 'LEDGER_FOREIGN', 'of another program', altered('', 'CREATE TABLE songs (name TEXT)')],
  ['one that is marked as its own', 'LEDGER_FOREIGN', 'of another program', altered('', 'PRAGMA application_id = 4711')],
  ['one of a newer version', 'LEDGER_NEWER', 'its schema version is 8, this one knows 7', altered(undefined, 'PRAGMA user_version = 8')],
  [
    'a ledger of an older version',
    'LEDGER_UNREADABLE',
    'by an older capkeeper: its schema version is 4, this one knows 7; use that one',
    altered(undefined, 'PRAGMA user_version = 4'),
  ],
  [
    'a ledger whose first page was overwritten',
    'LEDGER_CORRUPT',
    'is not an SQLite database, or its first page is damaged',
    beside((file) => overwrite(file, 0, '\0'.repeat(200))),
  ],
  ['a folder', 'LEDGER_UNWRITABLE', 'is a folder', () => temporaryFolder()],
  ['a device', 'LEDGER_UNWRITABLE', 'is not a regular file', () => '/dev/null'],
  ['a ledger with a folder as its -wal', 'LEDGER_UNWRITABLE', '-wal is not a regular file', beside((file) => mkdirSync(`${file}-wal`))],
  ...['-journal', '-wal', '-shm'].map(
    (suffix): Refused => [
      `a ledger with a device as its ${suffix}`,
      'LEDGER_UNWRITABLE',
      `${suffix} is not a regular file`,
      beside((file) => symlinkSync('/dev/zero', `${file}${suffix}`)),
    ],
  ),
]

for (const mode of MODES) {
  test.each(REFUSED)(`opened to ${mode}, %s is refused and not changed`, async (_, code, says, make) => {
    const file = await make()
    const before = statSync(file).isFile() ? readFileSync(file) : undefined
    const wasLocked = existsSync(`${file}.lock`)
    const refused = await ledgerErrorOf(async () => await open(file, mode))
    expect(refused.code).toBe(code)
    expect(refused.message).toContain(file)
    expect(refused.message).toContain(says)
    if (before) expect(readFileSync(file).equals(before)).toBe(true)
    expect(existsSync(`${file}.lock`)).toBe(wasLocked)
  })
}

test('a lock file of another program is not changed', async () => {
  const file = newFile()
  writeFileSync(`${file}.lock`, 'pid 4711\n'.repeat(100), { mode: 0o600 })
  expect(await ledgerErrorOf(() => open(file))).toMatchObject({
    code: 'LEDGER_UNWRITABLE',
    message: expect.stringContaining('is not a lock file of capkeeper'),
  })
})

test('a ledger with a damaged page in the middle is refused by a writer, and the lock is free again', async () => {
  const file = await usedLedger()
  overwrite(file, statSync(file).size - 8_192, 'x'.repeat(4_096))
  for (let attempt = 0; attempt < 2; attempt += 1) expect((await ledgerErrorOf(async () => await open(file))).code).toBe('LEDGER_CORRUPT')
})

test('a ledger that was cut short is refused', async () => {
  const file = await usedLedger()
  const handle = openSync(file, 'r+')
  ftruncateSync(handle, 8_192)
  closeSync(handle)
  expect((await ledgerErrorOf(async () => await open(file))).code).toBe('LEDGER_CORRUPT')
})

test('a ledger without its tables is damaged, not new', async () => {
  const file = await usedLedger()
  withSqlite(file, 'DROP TABLE owned')
  const store = await open(file, 'read')
  const refused = await ledgerErrorOf(async () => (await store.workspace('acme', URL_A)).owned())
  await store.close()
  expect(refused.code).toBe('LEDGER_CORRUPT')
  expect(refused.message).toContain('no such table: owned')
})

test('a file of zero bytes is new to a writer, and empty to a reader', async () => {
  const file = newFile()
  writeFileSync(file, '')
  const reader = await open(file, 'read')
  expect((await reader.workspace('acme', URL_A)).owned()).toEqual([])
  await reader.close()
  expect(statSync(file).size).toBe(0)
  const store = await open(file)
  await kept(store.workspace('acme', URL_A), (one) => one.saveOwned([ownedCap(ADA, 1)]))
})

test('an existing ledger that other users may read becomes private', async () => {
  const file = await usedLedger()
  chmodSync(file, 0o644)
  await open(file)
  for (const suffix of ['', '-wal', '-shm', '.lock']) expect([suffix, statSync(file + suffix).mode & 0o777]).toEqual([suffix, 0o600])
})

test.each<Parameters<typeof open>[1]>(['write', 'note'])(
  'opened to %s, a ledger in a folder that does not exist names the folder, and makes none',
  async (mode) => {
    const file = join(temporaryFolder(), 'nowhere', 'capkeeper.db')
    const refused = await ledgerErrorOf(async () => await open(file, mode))
    expect(refused.code).toBe('LEDGER_UNWRITABLE')
    expect(refused.message).toContain('its folder does not exist')
    expect(existsSync(dirname(file))).toBe(false)
  },
)

test('a file in the place of a folder is reported', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'file'), 'x')
  expect((await ledgerErrorOf(async () => await open(join(folder, 'file', 'capkeeper.db')))).code).toBe('LEDGER_UNWRITABLE')
})

test('a ledger that was moved while in use records nothing more, because the records would be lost', async () => {
  const file = await usedLedger()
  const store = await open(file)
  const ledger = await store.workspace('acme', URL_A)
  renameSync(file, `${file}.old`)
  const refused = await ledgerErrorOf(async () => await ledger.recordIntent(intentFor(raise(ADA, 1, 2))))
  expect(refused.code).toBe('LEDGER_UNWRITABLE')
  expect(refused.message).toContain('was moved, deleted, cut or replaced')
  expect((await ledgerErrorOf(async () => await store.probe())).code).toBe('LEDGER_UNWRITABLE')
  renameSync(`${file}.old`, file)
  expect((await ledger.recordIntent(intentFor(raise(ADA, 1, 2)))).id).toBe(1)
  await store.probe()
})

test('a ledger that was cut while in use records nothing more, and what is left of it is not taken for a new one', async () => {
  const file = await usedLedger()
  const ledger = await (await open(file)).workspace('acme', URL_A)
  await ledger.recordIntent(intentFor(raise(ADA, 1, 2)))
  truncateSync(file)
  expect((await ledgerErrorOf(async () => await ledger.recordIntent(intentFor(raise(ADA, 2, 3))))).code).toBe('LEDGER_UNWRITABLE')
  for (const mode of ['read', 'note'] as const)
    expect((await ledgerErrorOf(async () => await open(file, mode))).code).toBe('LEDGER_CORRUPT')
})

test('a ledger that another process blocks for 5 s is a LedgerError', async () => {
  const file = await usedLedger()
  const ledger = await (await open(file, 'note')).workspace('acme', URL_A)
  const other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  ledger.saveOwned([ownedCap(ADA, 1)])
  const begun = realClock().monotonic()
  expect(await ledgerErrorOf(() => ledger.commit())).toMatchObject({
    code: 'LEDGER_LOCKED',
    message: expect.stringContaining('kept busy by another process for more than 5 s'),
  })
  expect(realClock().monotonic() - begun).toBeGreaterThan(4_000)
  other.close()
})

const BROKEN: readonly (readonly [sql: string, says: string])[] = [
  [`UPDATE owned SET data = 'half a' WHERE id = 2`, 'the value is "half a" and should be JSON'],
  [
    `UPDATE owned SET data = '{"scope":[],"cap":"many","owner":"x"}' WHERE id = 2`,
    '.scope is a list and should be an object; .cap is "many" and should be a cap or none; .owner is "x" and should be policy or grant or rule or pool or conflict or copied; and 2 more',
  ],
]

test.each(BROKEN)('a row that cannot be read is reported: %s', async (sql, says) => {
  const file = await usedLedger()
  withSqlite(file, sql)
  const store = await open(file)
  const refused = await ledgerErrorOf(async () => (await store.workspace('acme', URL_A)).owned())
  await store.close()
  expect(refused.code).toBe('LEDGER_CORRUPT')
  expect(refused.message).toContain(`row 2 of table owned cannot be read, because ${says}`)
  expect(refused.message).toContain('capkeeper ledger backup')
})
