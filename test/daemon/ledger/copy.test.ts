// Copying a ledger between a file and PostgreSQL: every row arrives unchanged, or none does.

import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { groupScope, scopeKey, TEAM } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { foldUsage, NOTHING_BURNED } from '../../../src/core/use/burn.ts'
import { DAY, NOW, roster } from '../../support/declare.ts'
import { inside } from '../../support/inside.ts'
import { ADA, BOB, historyOf, intentFor, newFile, open as openAt, ownedCap, raise } from '../../support/ledger.ts'
import { hasPostgres, postgresForFile } from '../../support/postgres.ts'
import { realClock } from '../../support/real-clock.ts'
import { useOf } from '../../support/use-model.ts'

const server = postgresForFile()
const clock = { ...realClock(), now: () => NOW }

const open = (file: string, mode?: Parameters<typeof openAt>[1]) => openAt(file, mode, clock)

/** Rows in every table, with signs that are difficult for databases. */
async function filled(file: string) {
  const store = await open(file)
  await store.workspace('old', 'https://before.example')
  await store.workspace('old', 'https://after.example', { rebind: true })
  const ledger = await store.workspace('acme', 'https://a.example')
  const change = raise(ADA, 1, 2, { reason: 'naïve “quotes” \\ \0 and 🂡' })
  fillHistory(file, JSON.stringify(historyOf(change, NOW)))
  await ledger.recordIntent(intentFor(change))
  const closed = await ledger.recordIntent(intentFor(change))
  await ledger.recordOutcome(closed, undefined, 'kept')
  ledger.saveOwned([ownedCap(ADA, 5), ownedCap(BOB, 'none'), ownedCap(groupScope('a\\b\0c'), 7)])
  ledger.saveApproval({ id: 'aa', via: 'policy', approvedAt: 1.5, state: 'pending', released: [] })
  ledger.saveQuarantined({ scope: BOB, code: 'CAP_REFUSED', message: 'no', entry: { kind: 'undeclared' }, at: 1 })
  ledger.saveFact('verifiedDeclared', 3)
  await ledger.savePause({ untilAt: NOW + DAY, reason: 'x', pausedAt: 1 })
  const asked = { [scopeKey(TEAM)]: { fromAt: 0, throughAt: 9 * DAY, readAt: NOW, wideAt: NOW } }
  const used = { dayAt: 3 * DAY, mode: '', messages: 1 }
  const rows = [
    { ...used, model: 'ä', used: credits(1.25) },
    { ...used, model: 'a\0\\0' },
  ]
  await ledger.saveRuns(TEAM, { fromAt: 0, untilAt: 9 * DAY, rows, asked })
  const paid = { dayAt: 3 * DAY, email: 'ada@example.com', model: 'a\\\0', used: credits(2), addOn: credits(1.5) }
  const more = { fromAt: 0, throughAt: 0, readAt: 1, wideAt: 1, hasRows: true, emptyDays: 0, isWhole: false }
  await ledger.changeHistory(['ada@example.com'], (before) => ({ history: { ...before, known: [{ fromAt: 0, untilAt: DAY, readAt: 1 }] } }))
  await ledger.saveAddOnUse({ fromAt: 0, untilAt: 9 * DAY, rows: [paid], asked: more })
  let burned = NOTHING_BURNED
  for (const [amount, readAt] of [
    [4, 4 * DAY],
    [9, 5 * DAY],
  ] as const) {
    const people = roster({ ada: 'approved' }).people.map((one) => ({ ...one, used: credits(amount) }))
    const step = foldUsage(burned, { ...roster({}), people, readAt, cycle: { startAt: 0, endAt: 30 * DAY } }, [])
    await ledger.saveBurn(step)
    burned = step.burned
  }
  return store
}

/** The binding of `acme`: two of `old` come before it. */
const ACME = 3

/** More rows than one batch. */
function fillHistory(file: string, data: string): void {
  const sqlite = new DatabaseSync(file)
  sqlite
    .prepare(
      `WITH RECURSIVE turns (turn) AS (SELECT 1 UNION ALL SELECT turn + 1 FROM turns WHERE turn < 2100)
       INSERT INTO history (binding, at, scope, data) SELECT ${ACME}, ${NOW} + turn / 2.0, ?, ? FROM turns`,
    )
    .run(scopeKey(ADA), data)
  sqlite.close()
}

const contents = async (store: Awaited<ReturnType<typeof open>>) => {
  const of = async (ledger: Awaited<ReturnType<typeof store.workspace>>) => [
    ledger.owned(),
    ledger.openIntents(),
    ledger.approvals(),
    ledger.quarantined(),
    ledger.fact('verifiedDeclared'),
    ledger.fact('runsAsked'),
    await ledger.history(),
    await ledger.pause(NOW),
    await useOf(ledger),
  ]
  return [await store.workspaces(), await of(await store.workspace('acme', undefined))]
}

/** Rows in every table, in a file that nobody has open. */
async function source() {
  const file = newFile()
  const store = await filled(file)
  const held = await contents(store)
  await store.close()
  return { file, held }
}

describe('a ledger is copied', () => {
  const copy = (from: string, to: string) => inside(['ledger', 'copy', from, to])

  test.skipIf(!hasPostgres)('from a file to PostgreSQL, to another one and back, with every row unchanged', async () => {
    const { file, held } = await source()
    const places = [file, await server().create(), await server().create(), newFile()]
    const counts = new Set<string>()
    for (const [index, place] of places.slice(1).entries()) {
      const { stdout } = await copy(places[index] ?? '', place)
      counts.add(/: (.+) copied to /.exec(stdout)?.[1] ?? stdout)
      const to = await open(place)
      expect(await contents(to)).toEqual(held)
      expect((await to.check()).problems).toEqual([])
      await to.close()
    }
    expect([...counts]).toEqual([expect.stringMatching(/^21\d\d rows$/)])
    // Ids of intents are not used again in the copy either.
    const ids = places.map(async (place) => {
      const ledger = await (await open(place, 'note')).workspace('acme', undefined)
      return (await ledger.recordIntent(intentFor(raise(ADA, 1, 2)))).id
    })
    expect(new Set(await Promise.all(ids)).size).toBe(1)
  })

  test.skipIf(!hasPostgres)('not at all when a row reads back different', async () => {
    const [{ file, held }, address] = [await source(), await server().create()]
    await (await open(address)).close()
    const name = new URL(address).pathname.slice(1)
    await server().sql(
      name,
      `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.data := replace(NEW.data, 'policy', 'polity'); RETURN NEW; END $$;
       CREATE TRIGGER spoil BEFORE INSERT ON capkeeper.history FOR EACH ROW WHEN (NEW.id = 700) EXECUTE FUNCTION spoil()`,
    )
    expect(await copy(file, address)).toMatchObject({ code: 1, stderr: expect.stringContaining('table history read back differs') })
    expect(await (await open(address)).workspaces()).toEqual([])
    expect(await contents(await open(file))).toEqual(held)
  })

  test.skipIf(!hasPostgres)('not at all when a replica starts meanwhile', async () => {
    const [{ file }, from, to] = [await source(), await server().create(), await server().create()]
    await copy(file, from)
    const { leases } = await open(from)
    await (await open(to)).close()
    const [asked, name] = [server().sql, new URL(to).pathname.slice(1)]
    await asked(
      name,
      `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2); RETURN NEW; END $$;
       CREATE TRIGGER wait BEFORE INSERT ON capkeeper.history FOR EACH ROW WHEN (NEW.id = 700) EXECUTE FUNCTION wait()`,
    )
    const copied = copy(from, to)
    await expect.poll(() => asked(name, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'")).toHaveLength(1)
    const take = [{ workspace: 'acme', config: 'c' }]
    await leases?.beat({ replica: { id: 'a', name: 'pod-a' }, lastsMs: 60_000, renew: [], release: [], take, refuses: [], spreads: true })
    expect(await copied).toMatchObject({ code: 1, stderr: expect.stringContaining('pod-a') })
    expect(await (await open(to)).workspaces()).toEqual([])
  })

  test('with all tables', async () => {
    const file = newFile()
    await filled(file)
    const sqlite = new DatabaseSync(file, { readOnly: true })
    const tables = sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    for (const { name } of tables) expect([name, sqlite.prepare(`SELECT 1 FROM ${name}`).get()]).toEqual([name, expect.anything()])
    expect(tables.length).toBeGreaterThan(14)
    sqlite.close()
  })
})
