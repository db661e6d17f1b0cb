import { join } from 'node:path'
import { expect, test } from 'vitest'
import { helperProcess, ledgerErrorOf, open, partOfProgram } from '../../support/ledger.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const URL_A = 'https://a.example/api/v1'

const INTENT = `{
  at: 1, planId: 'p', entry: { kind: 'cap', cap: 5 }, digest: 'd', revision: '',
  change: { scope: { kind: 'team' }, action: 'set', effect: 'raise', from: 1, to: 5, cause: 'policy', people: 1, healing: false, grantEnd: false },
}`

test('after kill -9 the lock is free, and every recorded intent is in the ledger', async () => {
  const file = join(temporaryFolder(), 'capkeeper.db')
  const writer = await helperProcess(`
    // A reference is kept, because garbage collection of the store would free the lock.
    globalThis.store = await openLedger({ file: '${file}', mode: 'write', clock })
    const ledger = await store.workspace('acme', '${URL_A}')
    for (let n = 0; n < 5; n += 1) console.log('intent', (await ledger.recordIntent(${INTENT})).id)
    ready()
    stay()
  `)
  expect((await ledgerErrorOf(() => open(file))).code).toBe('LEDGER_LOCKED')
  await writer.kill()
  const recorded = [...writer.output().matchAll(/intent (\d+)/g)].map((match) => Number(match[1]))
  const store = await open(file)
  expect((await store.workspace('acme', URL_A)).openIntents().map((intent) => intent.id)).toEqual(recorded)
  expect(recorded).toHaveLength(5)
  expect((await store.check()).problems).toEqual([])
})

test('a transaction that was under way at kill -9 is rolled back', async () => {
  const file = join(temporaryFolder(), 'capkeeper.db')
  const writer = await helperProcess(
    `
    import { writeSync } from 'node:fs'
    import { openDatabase } from '${partOfProgram('database', 'daemon/ledger/sqlite/database.ts')}'
    const store = await openLedger({ file: '${file}', mode: 'write', clock })
    const ledger = await store.workspace('acme', '${URL_A}')
    ledger.saveFact('verifiedDeclared', 1)
    await ledger.commit()
    const database = openDatabase('${file}', { readOnly: false })
    database.write(() => {
      database.all("UPDATE fact SET data = '2'")
      writeSync(1, 'ready')
      process.kill(process.pid, 'SIGKILL')
    })
  `,
  )
  await writer.ended()
  expect(writer.output()).toBe('ready')
  const store = await open(file)
  expect((await store.workspace('acme', URL_A)).fact('verifiedDeclared')).toBe(1)
})

test('notes of other processes and a running writer do not lose each other’s records', async () => {
  const file = join(temporaryFolder(), 'capkeeper.db')
  const store = await open(file)
  const ledger = await store.workspace('acme', URL_A)
  const noting = await Promise.all(
    ['a', 'b'].map((who) =>
      helperProcess(`
        const ledger = await (await openLedger({ file: '${file}', mode: 'note', clock })).workspace('acme', undefined)
        ready()
        for (let n = 0; n < 40; n += 1) {
          ledger.saveApproval({ id: '${who}' + n, via: 'command', approvedAt: n, state: 'pending', released: [] })
          await ledger.commit()
        }
      `),
    ),
  )
  for (let n = 0; n < 40; n += 1) {
    ledger.saveFact('verifiedDeclared', n)
    await ledger.commit()
  }
  for (const process of noting) expect(await process.ended()).toBe(0)
  await ledger.load()
  expect(ledger.approvals()).toHaveLength(80)
  expect(ledger.fact('verifiedDeclared')).toBe(39)
})

test('of several processes that make one new ledger at once, one writes and the others get LEDGER_LOCKED; notes all succeed', async () => {
  const file = join(temporaryFolder(), 'capkeeper.db')
  const script = (mode: string) => `
    try {
      globalThis.store = await openLedger({ file: '${file}', mode: '${mode}', clock })
      await store.workspace('acme', ${mode === 'write' ? `'${URL_A}'` : 'undefined'})
      console.log('opened')
      ready()
      stay()
    } catch (error) { console.log(error.code) }
  `
  const all = await Promise.all(['write', 'note', 'write', 'note', 'write'].map((mode) => helperProcess(script(mode))))
  const outputs = all.map((process) => process.output().split('\n')[0])
  expect(outputs.toSorted()).toEqual(['LEDGER_LOCKED', 'LEDGER_LOCKED', 'opened', 'opened', 'opened'])
  expect([outputs[1], outputs[3]]).toEqual(['opened', 'opened'])
  for (const process of all) await process.kill()
  const store = await open(file, 'read')
  expect((await store.workspaces()).map((one) => one.workspace)).toEqual(['acme'])
  expect((await store.check()).problems).toEqual([])
})

test('a full disk fails the record, not the process, and earlier records stay', async () => {
  const file = join(temporaryFolder(), 'capkeeper.db')
  await (await open(file)).close()
  // A limit on the size of files simulates the full disk: the write fails after the transaction has begun.
  const writer = await helperProcess(`
    import { spawnSync } from 'node:child_process'
    if (process.env.LIMITED === undefined) {
      const again = ['--input-type=module', '-e', process._eval]
      const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -f 200; exec "$@"', 'sh', process.execPath, ...again], {
        env: { ...process.env, LIMITED: '1' }, encoding: 'utf8',
      })
      console.log(stdout, stderr)
    } else {
      const store = await openLedger({ file: '${file}', mode: 'write', clock })
      const ledger = await store.workspace('acme', '${URL_A}')
      let recorded = 0
      try {
        for (let n = 0; n < 10_000; n += 1) { await ledger.recordIntent(${INTENT}); recorded += 1 }
      } catch (error) { console.log(error.name, 'after', recorded, 'then', ledger.openIntents().length) }
      process.kill(process.pid, 'SIGKILL')
    }
  `)
  await writer.ended()
  const [, name, before, then] = /(\w+) after (\d+) then (\d+)/.exec(writer.output()) ?? []
  expect(name).toBe('LedgerError')
  expect(Number(before)).toBeGreaterThan(0)
  expect(then).toBe(before)
  const store = await open(file)
  expect((await store.workspace('acme', URL_A)).openIntents()).toHaveLength(Number(before))
})
