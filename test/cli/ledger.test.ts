// Commands with a ledger in PostgreSQL: the same words as with a file, and no password anywhere. And what is left in the bytes of a file.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { scopeKey } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { ADA, BOB, ownedCap, TEAM } from '../support/ledger.ts'
import { hasPostgres, postgresForFile } from '../support/postgres.ts'
import { realClock } from '../support/real-clock.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { type Ran, run } from './world.ts'

const server = postgresForFile()
const clock = realClock()
const PASSWORD = 'hunter2-is-long'

let folder = ''
beforeEach(() => {
  folder = temporaryFolder()
})

/** The address of a ledger that a daemon has used, with a password in it that nobody asks for. */
async function used(): Promise<string> {
  const address = (await server().create()).replace('postgres@', `postgres:${PASSWORD}@`)
  const store = await openLedger({ file: address, mode: 'write', clock })
  const ledger = await store.workspace('acme', 'https://acme.example')
  ledger.saveOwned([ownedCap(TEAM, 500)])
  ledger.saveFact('holdsShown', { '7d1f0c2a9b34aaaaaaaaaaaaaaaaaaaa': { people: 3, at: clock.now() } })
  await ledger.commit()
  await store.close()
  return address
}

const cli = (...argv: readonly string[]): Promise<Ran> => run(argv, { clock })
const quiet = ({ stdout, stderr }: Ran): void => expect(`${stdout}${stderr}`).not.toContain(PASSWORD)

describe.skipIf(!hasPostgres)('with a ledger in PostgreSQL', () => {
  test('a pause, an approval and history are as with a file', async () => {
    const address = await used()
    const paused = await cli('pause', '--for', '4h', '--reason', 'move', '--ledger', address)
    expect(paused).toMatchObject({ code: 0, stderr: '' })
    expect(paused.stdout).toMatch(/^acme: paused until .*: move\n$/)
    expect(await cli('resume', '--ledger', address)).toMatchObject({ code: 0, stdout: 'acme: resumed; it was paused for: move\n' })
    expect(await cli('approve', '7d1f0c2a', '--ledger', address)).toMatchObject({ code: 0, stdout: expect.stringContaining('is approved') })
    expect((await cli('approve', '7d1f0c2a', '--ledger', address)).stdout).toContain('already')
    expect(await cli('history', '--ledger', address)).toMatchObject({ code: 0 })
  })

  test('check reads every row; backup refers to pg_dump', async () => {
    const address = await used()
    const checked = await cli('ledger', 'check', '--ledger', address)
    expect(checked).toMatchObject({ code: 0, stderr: '' })
    expect(checked.stdout).toContain(': whole, schema version 7\n')
    expect(checked.stdout).toContain('pg_amcheck')
    const copy = join(folder, 'copy.db')
    const refused = await cli('ledger', 'backup', copy, '--ledger', address)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('pg_dump --schema=capkeeper') })
    expect(existsSync(copy)).toBe(false)
    for (const one of [checked, refused]) quiet(one)
  })

  test('copy moves it to a file and back, unless a replica keeps a workspace of it', async () => {
    const [address, file] = [await used(), join(folder, 'moved.db')]
    const moved = await cli('ledger', 'copy', address, file)
    expect(moved).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/: 3 rows copied to .*, and every one read back as it was\n$/),
    })
    const empty = await server().create()
    expect(await cli('ledger', 'copy', file, empty)).toMatchObject({ code: 0 })
    const copied = await openLedger({ file: empty, mode: 'read', clock })
    expect((await copied.workspace('acme', 'https://acme.example')).owned()).toHaveLength(1)
    await copied.close()
    const again = await cli('ledger', 'copy', file, empty)
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('holds records already') })
    const store = await openLedger({ file: address, mode: 'write', clock })
    const beat = { replica: { id: 'a', name: 'pod-a' }, lastsMs: 60_000, renew: [], release: [], refuses: [], spreads: true }
    await store.leases?.beat({ ...beat, take: [{ workspace: 'acme', config: '' }] })
    const other = join(folder, 'other.db')
    const held = await cli('ledger', 'copy', address, other)
    await store.close()
    expect(held).toMatchObject({ code: 1, stderr: expect.stringContaining('acme is held by pod-a') })
    expect(existsSync(other)).toBe(false)
    for (const one of [moved, again, held]) quiet(one)
  })

  test('copy refuses a ledger without records', async () => {
    const ran = await cli('ledger', 'copy', await server().create(), 'to.db')
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('holds no records') })
  })

  test('a database that cannot be reached, or refuses the login, is named without its password', async () => {
    const away = await cli('history', '--ledger', `postgres://ada:${PASSWORD}@127.0.0.1:1/caps`)
    expect(away).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('postgres://ada@127.0.0.1:1/caps: the database cannot be reached'),
    })
    const refused = await cli('history', '--ledger', `postgres://nobody:${PASSWORD}@127.0.0.1:${server().port}/caps`)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('does not let this user in') })
    const wrong = await cli('history', '--ledgr', `postgres://nobody:${PASSWORD}@127.0.0.1/caps`)
    const odd = await cli('history', '--ledger', `postgres://nobody:${PASSWORD}/x@127.0.0.1/caps`)
    for (const one of [away, refused, wrong, odd]) quiet(one)
  })
})

test('ledger forget leaves nothing of a person in the bytes of the file, also beside a daemon', async () => {
  const file = join(folder, 'capkeeper.db')
  const store = await openLedger({ file, mode: 'write', clock })
  const ledger = await store.workspace('acme', 'https://acme.example')
  ledger.saveFact('driftSince', { [scopeKey(ADA)]: 5, [scopeKey(BOB)]: 6 })
  const used = new Map([['ada@example.com', credits(12)]])
  const burned = { team: credits(12), groups: {}, highest: used }
  await ledger.saveBurn({ burned, readAt: clock.now(), increases: used, isNewCycle: false, raised: [...used.keys()], used: undefined })
  await ledger.commit()
  const ran = await cli('ledger', 'forget', 'Ada@Example.com', '--ledger', file)
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('0 writes, 1 day of use') })
  await ledger.load()
  expect(ledger.fact('driftSince')).toEqual({ 'bob@example.com': 6 })
  await store.close()
  const bytes = readFileSync(file, 'latin1')
  expect([bytes.includes('bob@example.com'), bytes.includes('ada@example.com')]).toEqual([true, false])
})
