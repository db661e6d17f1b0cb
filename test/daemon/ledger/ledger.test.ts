import { existsSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ADA, helperProcess, intentFor, kept, ledgerErrorOf, newFile, open, ownedCap, raise } from '../../support/ledger.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { ledgerContract } from './contract.ts'
import { modelContract } from './contract-model.ts'
import { waitingContract } from './contract-waiting.ts'

const URL_A = 'https://a.example/api/v1'

ledgerContract('a file', newFile)
waitingContract('a file', newFile)
modelContract('a file', newFile, 80)

describe('opening a ledger', () => {
  test('only the owner can access the ledger and the files beside it', async () => {
    const file = newFile()
    const store = await open(file)
    await store.workspace('acme', URL_A)
    for (const suffix of ['', '-wal', '-shm', '.lock']) expect([suffix, statSync(file + suffix).mode & 0o777]).toEqual([suffix, 0o600])
  })

  test('a ledger that does not exist reads as empty, and no file is made', async () => {
    const folder = temporaryFolder()
    for (const file of [join(folder, 'capkeeper.db'), join(folder, 'nowhere', 'capkeeper.db')]) {
      const store = await open(file, 'read')
      const ledger = await store.workspace('acme', URL_A)
      expect(ledger.owned()).toEqual([])
      expect(await ledger.history()).toEqual([])
      expect(await ledger.pause(0)).toBeUndefined()
      expect(ledger.fact('policy')).toBeUndefined()
      expect(await store.workspaces()).toEqual([])
      await store.close()
    }
    expect(readdirSync(folder)).toEqual([])
  })

  test.each(['a file', 'memory', 'no file yet'])('writing to a ledger that was opened for reading is told: %s', async (kind) => {
    const file = kind === 'memory' ? ':memory:' : newFile()
    if (kind === 'a file') await (await open(file)).close()
    const store = await open(file, 'read')
    const ledger = await store.workspace('acme', URL_A)
    await expect(kept(ledger, (one) => one.saveOwned([ownedCap(ADA, 1)]))).rejects.toThrow('was opened for reading')
    await expect(ledger.recordIntent(intentFor(raise(ADA, 1, 2)))).rejects.toThrow('was opened for reading')
    await expect(store.probe()).rejects.toThrow('was opened for reading')
  })

  test('a second writer is refused, even under another name of the file; readers and notes are not', async () => {
    const file = newFile()
    const store = await open(file)
    await kept(store.workspace('acme', URL_A), (one) => one.saveOwned([ownedCap(ADA, 500)]))
    symlinkSync(file, `${file}.alias`)
    const says = 'is in use by another capkeeper that writes (run or apply)'
    for (const name of [file, `${file}.alias`])
      expect(await ledgerErrorOf(() => open(name))).toMatchObject({ code: 'LEDGER_LOCKED', message: expect.stringContaining(says) })
    // A refused attempt in the same process does not drop the lock.
    const other = await helperProcess(`await openLedger({ file: '${file}', mode: 'write', clock }).catch(({ code }) => console.log(code))`)
    await other.ended()
    expect(other.output()).toBe('LEDGER_LOCKED\n')
    const reader = await open(file, 'read')
    expect((await reader.workspace('acme', URL_A)).owned()).toHaveLength(1)
    await reader.close()
    await (await open(file, 'note')).close()
    await store.close()
    await (await open(file)).close()
  })

  test('a ledger in memory takes very many caps at once, and makes no file', { timeout: 20_000 }, async () => {
    const store = await open(':memory:')
    const caps = Array.from({ length: 30_000 }, (_, n) => ownedCap({ kind: 'user', email: `p${n}@example.com` }, n))
    await kept(store.workspace('acme', URL_A), (one) => one.saveOwned(caps))
    await store.probe()
    await store.close()
    await store.close()
    expect([':memory:', ':memory:.lock'].filter((file) => existsSync(file))).toEqual([])
  })
})
