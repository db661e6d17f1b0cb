import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isLocked, takeLock } from '../../../src/daemon/ledger/sqlite/database.ts'
import { helperProcess, ledgerErrorOf, temporaryFolder } from '../../support/ledger.ts'

test('a second process is refused while the first holds the lock; the message says what to do', async () => {
  const ledger = join(temporaryFolder(), 'capkeeper.db')
  const lock = takeLock(ledger)
  const other = await helperProcess(`try { takeLock('${ledger}'); ready() } catch (error) { console.log(error.code, error.message) }`)
  await other.ended()
  expect(other.output()).toContain('LEDGER_LOCKED')
  expect(other.output()).toContain('is in use by another capkeeper that writes (run or apply)')
  lock.release()
  const third = await helperProcess(`takeLock('${ledger}'); ready()`)
  expect(third.output()).toBe('ready\n')
})

test('kill -9 of the holder frees the lock', async () => {
  const ledger = join(temporaryFolder(), 'capkeeper.db')
  const holder = await helperProcess(`globalThis.lock = takeLock('${ledger}'); ready(); stay()`)
  expect((await ledgerErrorOf(() => takeLock(ledger))).code).toBe('LEDGER_LOCKED')
  await holder.kill()
  takeLock(ledger).release()
})

test('a refused attempt in the same process does not drop the holder’s lock', async () => {
  const ledger = join(temporaryFolder(), 'capkeeper.db')
  const lock = takeLock(ledger)
  expect((await ledgerErrorOf(() => takeLock(ledger))).code).toBe('LEDGER_LOCKED')
  const other = await helperProcess(`try { takeLock('${ledger}'); ready() } catch (error) { console.log(error.code) }`)
  await other.ended()
  expect(other.output()).toBe('LEDGER_LOCKED\n')
  lock.release()
})

test('the lock can be released twice, and taken again', () => {
  const ledger = join(temporaryFolder(), 'capkeeper.db')
  const lock = takeLock(ledger)
  lock.release()
  lock.release()
  takeLock(ledger).release()
})

test('the lock is one file that only its owner can access', () => {
  const folder = temporaryFolder()
  const ledger = join(folder, 'capkeeper.db')
  const lock = takeLock(ledger)
  expect(readdirSync(folder)).toEqual(['capkeeper.db.lock'])
  lock.release()
  expect(statSync(`${ledger}.lock`).mode & 0o777).toBe(0o600)
})

test('a lock file of another program is not changed', async () => {
  const ledger = join(temporaryFolder(), 'capkeeper.db')
  writeFileSync(`${ledger}.lock`, 'pid 4711\n'.repeat(100))
  chmodSync(`${ledger}.lock`, 0o600)
  const refused = await ledgerErrorOf(() => takeLock(ledger))
  expect(refused.code).toBe('LEDGER_UNWRITABLE')
  expect(refused.message).toContain('is not a lock file of capkeeper')
})

test('asking whether the lock is held neither takes nor makes it', async () => {
  const ledger = join(temporaryFolder(), 'capkeeper.db')
  expect(isLocked(ledger)).toBeUndefined()
  writeFileSync(ledger, '')
  expect(isLocked(ledger)).toBe(false)
  const holder = await helperProcess(`globalThis.lock = takeLock('${ledger}'); ready(); stay()`)
  expect(isLocked(ledger)).toBe(true)
  await holder.kill()
  expect(isLocked(ledger)).toBe(false)
  takeLock(ledger).release()
})
