// The contract of a ledger in any database; each adapter passes these tests.

import { describe, expect, test } from 'vitest'
import { groupScope, scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { LedgerError } from '../../../src/daemon/ledger/error.ts'
import { marked } from '../../../src/daemon/ledger/forget.ts'
import type { Ledger } from '../../../src/ports.ts'
import { DAY } from '../../support/declare.ts'
import { ADA, BOB, historyOf, intentFor, kept, ledgerErrorOf, open as openAt, ownedCap, raise, TEAM } from '../../support/ledger.ts'
import { realClock } from '../../support/real-clock.ts'
import { useOf } from '../../support/use-model.ts'

const URL_A = 'https://a.example/api/v1'
const URL_B = 'https://b.example/api/v1'

const clock = { ...realClock(), now: () => 60 }

export const open = (file: string, mode?: Parameters<typeof openAt>[1]) => openAt(file, mode, clock)

const GROUP_A = groupScope('a')
const NEVER = { fromAt: 0, throughAt: 0, readAt: 1, wideAt: 1 }

/** Use of every kind on one day. */
async function used(ledger: Ledger, day: number): Promise<void> {
  const range = { fromAt: day * DAY, untilAt: (day + 1) * DAY }
  const run = { dayAt: range.fromAt, model: 'M', mode: 'X', messages: 1, used: credits(1) }
  await ledger.saveRuns(GROUP_A, { ...range, rows: [run], asked: { [scopeKey(GROUP_A)]: NEVER } })
  const [highest, increases] = [new Map([[ADA.email, credits(4)]]), new Map([[ADA.email, credits(3)]])]
  const burned = { team: credits(3), groups: {}, highest }
  await ledger.saveBurn({ burned, readAt: range.fromAt, increases, isNewCycle: false, raised: [ADA.email], used: credits(4) })
  await addOn(ledger, day)
}

/** Add-on use on one day, as so many rows. */
function addOn(ledger: Ledger, day: number, times = 1): Promise<void> {
  const paid = { dayAt: day * DAY, email: ADA.email, model: 'M', used: credits(2), addOn: credits(1) }
  const asked = { ...NEVER, hasRows: true, emptyDays: 0, isWhole: false }
  return ledger.saveAddOnUse({ fromAt: day * DAY, untilAt: (day + 1) * DAY, rows: Array.from({ length: times }, () => paid), asked })
}

/** `place` returns the path or the address of a ledger that does not exist yet. */
export function ledgerContract(name: string, place: () => string | Promise<string>): void {
  describe(`what is recorded in ${name}`, () => {
    test('an intent has one outcome only, and a second one changes nothing', async () => {
      const ledger = await (await open(await place())).workspace('acme', URL_A)
      const change = raise(ADA, 500, 600)
      const intent = await ledger.recordIntent(intentFor(change))
      await ledger.recordOutcome(intent, historyOf(change, 1), 'kept')
      await expect(ledger.recordOutcome(intent, historyOf(change, 2), ownedCap(ADA, 600))).rejects.toThrow('has an outcome already')
      expect(await ledger.history()).toHaveLength(1)
      expect(ledger.owned()).toEqual([])
      ledger.saveOwned([ownedCap(ADA, 500)])
      expect(ledger.owned()).toHaveLength(1)
    })

    test('an outcome is recorded as a whole or not at all, and the ledger can still be used', async () => {
      const ledger = await (await open(await place())).workspace('acme', URL_A)
      const change = raise(ADA, 500, 600)
      const intent = await ledger.recordIntent(intentFor(change))
      await expect(ledger.recordOutcome(intent, historyOf(change, Number.NaN), 'kept')).rejects.toThrow(LedgerError)
      expect(ledger.openIntents()).toEqual([intent])
      await ledger.recordOutcome(intent, historyOf(change, 1), 'kept')
      expect(ledger.openIntents()).toEqual([])
    })

    test('a pause ends by itself, or when it is removed', async () => {
      const store = await open(await place())
      const ledger = await store.workspace('acme', URL_A)
      const pause = { untilAt: 100, reason: 'migration', pausedAt: 1 }
      await ledger.savePause(pause)
      expect(await ledger.pause(99)).toEqual(pause)
      expect(await ledger.pause(100)).toBeUndefined()
      expect([...(await store.pauses(99))]).toEqual([['acme', pause]])
      expect((await store.pauses(100)).size).toBe(0)
      await ledger.savePause(undefined)
      expect(await ledger.pause(50)).toBeUndefined()
    })

    test('learned paces of several workspaces are read at once', async () => {
      const store = await open(await place())
      for (const name of ['acme', 'beta', 'gamma']) {
        const ledger = await store.workspace(name, URL_A)
        ledger.saveFact('pace', { default: { rate: name.length, limited: true } })
        await ledger.commit()
      }
      expect([...(await store.paces(new Set(['gamma', 'acme', 'nobody'])))].toSorted()).toEqual([
        ['acme', { default: { rate: 4, limited: true } }],
        ['gamma', { default: { rate: 5, limited: true } }],
      ])
    })

    test('forgetting a person removes their history, their use, and their address in facts and approvals, and no other person', async () => {
      const file = await place()
      const store = await open(file)
      const ledger = await store.workspace('acme', URL_A)
      for (const scope of [ADA, BOB]) {
        const change = raise(scope, 1, 2)
        await ledger.recordOutcome(await ledger.recordIntent(intentFor(change)), historyOf(change, 50), 'kept')
      }
      const released = [ADA, BOB].map((scope) => ({ scope, from: credits(1), to: credits(2), verified: true }))
      ledger.saveApproval({ id: '7d1f0c2a9b34', via: 'command', approvedAt: 5, state: 'spent', people: 2, released })
      ledger.saveFact('driftSince', { [scopeKey(ADA)]: 5, [scopeKey(BOB)]: 6 })
      ledger.saveFact('conflictsGone', { [BOB.email]: 1 })
      await ledger.commit()
      await ledger.forget(ADA.email)
      const check = async (one: typeof ledger): Promise<void> => {
        expect((await one.history()).map((entry) => scopeKey(entry.scope))).toEqual([scopeKey(BOB)])
        expect(one.writtenLately(ADA, 0)).toEqual([])
        expect(one.writtenLately(BOB, 0)).toHaveLength(1)
        expect(one.approvals().map((approval) => approval.released.map(({ scope }) => scopeKey(scope)))).toEqual([[scopeKey(BOB)]])
        expect(one.fact('driftSince')).toEqual({ [scopeKey(BOB)]: 6 })
        expect(one.fact('conflictsGone')).toEqual({ [BOB.email]: 1 })
      }
      await check(ledger)
      await store.close()
      const again = await open(file)
      await check(await again.workspace('acme', URL_A))
      await again.close()
    })

    test('workspaces share nothing', async () => {
      const store = await open(await place())
      const acme = await store.workspace('acme', URL_A)
      const beta = await store.workspace('beta', URL_A)
      const change = raise(TEAM, 1, 2)
      acme.saveOwned([ownedCap(ADA, 500)])
      await acme.savePause({ untilAt: 100, reason: 'x', pausedAt: 1 })
      acme.saveFact('verifiedDeclared', 3)
      const intent = await acme.recordIntent(intentFor(change))
      expect(beta.owned()).toEqual([])
      expect(beta.openIntents()).toEqual([])
      expect(await beta.pause(1)).toBeUndefined()
      expect(beta.fact('verifiedDeclared')).toBeUndefined()
      beta.releaseOwned([scopeKey(ADA)])
      await expect(beta.recordOutcome(intent, historyOf(change, 1), 'kept')).rejects.toThrow('has an outcome already')
      expect(acme.owned()).toHaveLength(1)
      expect(acme.openIntents()).toHaveLength(1)
      beta.saveOwned([ownedCap(ADA, 600)])
      acme.releaseOwned([scopeKey(ADA)])
      expect(acme.owned()).toEqual([])
      expect(beta.owned()).toEqual([ownedCap(ADA, 600)])
      const none = await useOf(beta)
      await used(acme, 9)
      expect(await useOf(acme)).not.toEqual(none)
      expect(await useOf(beta)).toEqual(none)
    })

    test('a batch that cannot be recorded changes nothing of what is there', async () => {
      const ledger = await (await open(await place())).workspace('acme', URL_A)
      await used(ledger, 9)
      const before = [await useOf(ledger), ledger.fact('addOnAsked')]
      await expect(addOn(ledger, 9, 2)).rejects.toThrow(LedgerError)
      expect([await useOf(ledger), ledger.fact('addOnAsked')]).toEqual(before)
    })

    test('only history and use are deleted after 400 days, and people without use since; sums stay', async () => {
      const store = await open(await place())
      const ledger = await store.workspace('acme', URL_A)
      for (const at of [5, 6, 7]) {
        const change = raise(ADA, 1, 2)
        await ledger.recordOutcome(await ledger.recordIntent(intentFor(change)), historyOf(change, at * DAY), ownedCap(ADA, 2))
      }
      await used(ledger, 5)
      // The write, the runs, the person, and their use and add-on use.
      expect(await store.prune(406 * DAY)).toBe(5)
      expect((await ledger.history()).map((entry) => entry.at)).toEqual([7 * DAY, 6 * DAY])
      expect([ledger.owned().length, ledger.fact('burned')?.team]).toEqual([1, 3])
      expect(await useOf(ledger)).toMatchObject({ group: [], highest: {}, people: [], addOnOf: [[], [], []] })
      await used(ledger, 6)
      // Days that are read again later are older.
      await addOn(ledger, 5)
      expect(await store.prune(406 * DAY)).toBe(1)
      expect(await useOf(ledger)).toMatchObject({ people: [{ used: 3 }], addOnOf: [[{ dayAt: 6 * DAY }], [], []] })
    })
  })

  describe(`binding in ${name}`, () => {
    test('another address for the same name is refused; the message has both addresses and the way out', async () => {
      const file = await place()
      const store = await open(file)
      await store.workspace('acme', URL_A)
      for (const mode of ['write', 'note', 'read'] as const) {
        const one = mode === 'write' ? store : await open(file, mode)
        const refused = await ledgerErrorOf(async () => await one.workspace('acme', URL_B))
        expect(refused.code).toBe('LEDGER_BOUND')
        expect(refused.message).toContain(URL_A)
        expect(refused.message).toContain(URL_B)
        expect(refused.message).toContain('--rebind')
        if (one !== store) one.close()
      }
    })

    test('rebinding sets aside the records of the old address and keeps the pause; binding back restores them', async () => {
      const store = await open(await place())
      const old = await store.workspace('acme', URL_A)
      const change = raise(ADA, 1, 2)
      old.saveOwned([ownedCap(ADA, 500)])
      await old.recordIntent(intentFor(change))
      await old.savePause({ untilAt: 100, reason: 'move', pausedAt: 1 })

      const moved = await store.workspace('acme', URL_B, { rebind: true })
      expect(moved.owned()).toEqual([])
      expect(moved.openIntents()).toEqual([])
      expect((await moved.pause(1))?.reason).toBe('move')
      expect((await store.workspaces()).map(({ baseUrl, current }) => [baseUrl, current])).toEqual([
        [URL_B, true],
        [URL_A, false],
      ])
      expect((await ledgerErrorOf(async () => await store.workspace('acme', URL_A))).code).toBe('LEDGER_BOUND')

      const back = await store.workspace('acme', URL_A, { rebind: true })
      expect(back.owned()).toEqual([ownedCap(ADA, 500)])
      expect(back.openIntents()).toHaveLength(1)
    })

    test('a person is also forgotten in records that a rebinding set aside, and a mark without their name tells the daemon', async () => {
      const file = await place()
      const store = await open(file)
      const old = await store.workspace('acme', URL_A)
      await old.recordIntent(intentFor(raise(ADA, 1, 2)))
      old.saveOwned([ownedCap(ADA, 500), ownedCap(BOB, 500)])
      old.saveFact('driftSince', { [scopeKey(ADA)]: 5, [scopeKey(BOB)]: 6 })
      await old.commit()
      const present = await store.workspace('acme', URL_B, { rebind: true })
      const beside = await open(file, 'note')
      await (await beside.workspace('acme', undefined)).forget(ADA.email)
      await beside.close()
      await present.load()
      const marks = present.fact('forgotten') ?? []
      expect(marked(marks, ['about Ada@Example.com', { [BOB.email]: 1 }])).toEqual([ADA.email])
      expect(JSON.stringify(marks)).not.toContain(ADA.email)
      const back = await store.workspace('acme', URL_A, { rebind: true })
      expect(back.owned()).toEqual([ownedCap(BOB, 500)])
      expect(back.openIntents()).toEqual([])
      expect(back.fact('driftSince')).toEqual({ [scopeKey(BOB)]: 6 })
    })

    test('forgetting a person beside a daemon takes nothing back that the daemon records meanwhile', async () => {
      const file = await place()
      const keeper = await (await open(file)).workspace('acme', URL_A)
      const beside = await (await open(file, 'note')).workspace('acme', undefined)
      for (let turns = 1; turns <= 30; turns += 1) {
        keeper.saveFact('driftSince', { [scopeKey(ADA)]: 5, [scopeKey(BOB)]: -turns })
        await keeper.commit()
        const forgetting = beside.forget(ADA.email)
        for (let left = turns; left > 0; left -= 1) await Promise.resolve()
        keeper.saveFact('driftSince', { [scopeKey(BOB)]: turns })
        await keeper.commit()
        await forgetting
        await keeper.load()
        expect(keeper.fact('driftSince')).toEqual({ [scopeKey(BOB)]: turns })
      }
    })

    test('what a daemon saves of what it knew, while it forgets a person, names them no more', async () => {
      const ledger = await (await open(await place())).workspace('acme', URL_A)
      for (let turns = 1; turns <= 30; turns += 1) {
        ledger.saveFact('driftSince', { [scopeKey(ADA)]: 5, [scopeKey(BOB)]: 0 })
        await ledger.commit()
        const forgetting = ledger.forget(ADA.email)
        for (let left = turns; left > 0; left -= 1) await Promise.resolve()
        ledger.saveFact('driftSince', { ...ledger.fact('driftSince'), [scopeKey(BOB)]: turns })
        await forgetting
        await ledger.commit()
        await ledger.load()
        expect(ledger.fact('driftSince')).toEqual({ [scopeKey(BOB)]: turns })
      }
    })

    test('only a writer rebinds, because a note would do it while a daemon runs', async () => {
      const file = await place()
      await (await open(file)).workspace('acme', URL_A)
      const note = await open(file, 'note')
      expect((await ledgerErrorOf(async () => await note.workspace('acme', URL_B, { rebind: true }))).code).toBe('LEDGER_BOUND')
      expect((await note.workspaces()).map((one) => one.baseUrl)).toEqual([URL_A])
    })

    test('rebinding to the same address changes nothing', async () => {
      const store = await open(await place())
      await kept(store.workspace('acme', URL_A), (one) => one.saveOwned([ownedCap(ADA, 500)]))
      expect((await store.workspace('acme', URL_A, { rebind: true })).owned()).toHaveLength(1)
      expect(await store.workspaces()).toHaveLength(1)
    })

    test('a reader that rebinds sees the records a writer would start with, and changes nothing', async () => {
      const file = await place()
      const store = await open(file)
      await kept(store.workspace('acme', URL_A), (one) => one.saveOwned([ownedCap(ADA, 500)]))
      const reader = await open(file, 'read')
      expect((await reader.workspace('acme', URL_B, { rebind: true })).owned()).toEqual([])
      expect((await reader.workspace('acme', undefined)).owned()).toHaveLength(1)
      await reader.close()
      expect((await store.workspaces()).map((one) => one.baseUrl)).toEqual([URL_A])
    })

    test('a pause before the first run does not bind the name to an address; whoever asks the service does, and finds the pause', async () => {
      const file = await place()
      const note = await open(file, 'note')
      await (await note.workspace('acme', undefined)).savePause({ untilAt: 100, reason: 'wait', pausedAt: 1 })
      await kept(note.workspace('acme', undefined), (one) =>
        one.saveApproval({ id: '7d1f0c2a9b34', via: 'command', approvedAt: 5, state: 'pending', released: [] }),
      )
      expect((await note.workspaces()).map((one) => one.baseUrl)).toEqual([''])
      await note.workspace('acme', URL_A)
      expect((await note.workspaces()).map((one) => one.baseUrl)).toEqual([URL_A])
      await expect(note.workspace('acme', URL_B)).rejects.toMatchObject({ code: 'LEDGER_BOUND' })
      await note.close()
      const store = await open(file)
      const ledger = await store.workspace('acme', URL_A)
      expect((await ledger.pause(1))?.reason).toBe('wait')
      expect(ledger.approvals()).toHaveLength(1)
      expect((await store.workspaces()).map((one) => one.baseUrl)).toEqual([URL_A])
    })
  })
}
