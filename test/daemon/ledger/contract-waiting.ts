// The contract of every ledger about waiting changes and two processes; each adapter passes these tests.

import { describe, expect, test } from 'vitest'
import type { Approval, Intent } from '../../../src/core/model/change.ts'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { ADA, BOB, historyOf, intentFor, kept, ownedCap, raise } from '../../support/ledger.ts'
import { open } from './contract.ts'

const URL_A = 'https://a.example/api/v1'

/** `place` returns the path or the address of a ledger that does not exist yet. */
export function waitingContract(name: string, place: () => string | Promise<string>): void {
  describe(`changes that wait in ${name}`, () => {
    test('are visible at once, and are recorded with the next intent, outcome or commit, in one transaction', async () => {
      const file = await place()
      const store = await open(file)
      const ledger = await store.workspace('acme', URL_A)
      const onDisk = () => store.workspace('acme', URL_A)
      const steps = [
        () => ledger.commit(),
        () => ledger.recordIntent(intentFor(raise(ADA, 1, 2))),
        () => ledger.savePause({ untilAt: 100, reason: 'x', pausedAt: 1 }),
        () => ledger.load(),
      ]
      for (const [index, step] of steps.entries()) {
        ledger.saveFact('verifiedDeclared', index)
        expect(ledger.fact('verifiedDeclared')).toBe(index)
        expect((await onDisk()).fact('verifiedDeclared')).toBe(index === 0 ? undefined : index - 1)
        await step()
        expect((await onDisk()).fact('verifiedDeclared')).toBe(index)
      }
      const [intent] = ledger.openIntents()
      if (!intent) throw new Error('the intent is gone')
      ledger.releaseOwned([scopeKey(BOB)])
      ledger.saveQuarantined({ scope: ADA, code: 'CAP_REFUSED', message: 'no', entry: UNDECLARED, at: 1 })
      await ledger.recordOutcome(intent, historyOf(intent.change, 1), ownedCap(ADA, 2))
      const seen = await onDisk()
      expect([seen.quarantined().length, seen.owned().length, seen.openIntents().length]).toEqual([1, 1, 0])
    })

    test('undo nothing of a fact that is recorded with the use of people, or without it', async () => {
      const store = await open(await place())
      const ledger = await store.workspace('acme', URL_A)
      ledger.saveFact('history', undefined)
      await ledger.dropHistories(1)
      await ledger.commit()
      expect((await store.workspace('acme', URL_A)).fact('history')).toEqual({ droppedAt: 1 })
    })

    test('are recorded by the next transaction, also a load, when one fails', async () => {
      const store = await open(await place())
      const ledger = await store.workspace('acme', URL_A)
      const gone: Intent = { ...intentFor(raise(ADA, 1, 2)), id: 4711 }
      ledger.saveFact('verifiedDeclared', 1)
      await expect(ledger.recordOutcome(gone, undefined, 'kept')).rejects.toThrow('has an outcome already')
      expect((await store.workspace('acme', URL_A)).fact('verifiedDeclared')).toBeUndefined()
      await ledger.recordIntent(intentFor(raise(ADA, 1, 2)))
      expect((await store.workspace('acme', URL_A)).fact('verifiedDeclared')).toBe(1)
      ledger.saveFact('verifiedDeclared', 2)
      ledger.saveOwned([ownedCap(ADA, 9)])
      await expect(ledger.recordOutcome(gone, undefined, 'kept')).rejects.toThrow('has an outcome already')
      await ledger.load()
      expect([ledger.fact('verifiedDeclared'), ledger.owned(), ledger.openIntents().length]).toEqual([2, [ownedCap(ADA, 9)], 1])
    })
  })

  describe(`two processes with ${name}`, () => {
    const approval = (id: string, more: Partial<Approval> = {}): Approval => ({
      id,
      via: 'command',
      approvedAt: 5,
      state: 'pending',
      released: [],
      ...more,
    })

    test('the writer reads notes with its next load, and keeps its own changes', async () => {
      const file = await place()
      const writer = await (await open(file)).workspace('acme', URL_A)
      const note = await (await open(file, 'note')).workspace('acme', undefined)
      writer.saveFact('verifiedDeclared', 3)
      await kept(note, (one) => one.saveApproval(approval('aa')))
      expect(writer.approvals()).toEqual([])
      await writer.load()
      expect([writer.approvals().length, writer.fact('verifiedDeclared')]).toEqual([1, 3])
    })

    test('an approval that was noted since the writer read it is not overwritten; other changes are recorded', async () => {
      const file = await place()
      const writer = await (await open(file)).workspace('acme', URL_A)
      await kept(writer, (one) => one.saveApproval(approval('aa', { via: 'policy' })))
      const note = await (await open(file, 'note')).workspace('acme', undefined)
      await kept(note, (one) => {
        one.saveApproval(approval('aa', { approvedAt: 9 }))
        one.saveApproval(approval('bb'))
      })
      await kept(writer, (one) => {
        one.saveApproval(approval('aa', { via: 'policy', state: 'void' }))
        one.saveApproval(approval('bb', { state: 'void' }))
        one.saveApproval(approval('cc'))
      })
      await writer.load()
      expect(writer.approvals().map(({ id, state, approvedAt }) => [id, state, approvedAt])).toEqual([
        ['aa', 'pending', 9],
        ['bb', 'pending', 5],
        ['cc', 'pending', 5],
      ])
      await kept(writer, (one) => one.saveApproval(approval('aa', { state: 'spent' })))
      await note.load()
      expect(note.approvals()[0]?.state).toBe('spent')
    })

    test('concurrent calls are carried out in order', async () => {
      const ledger = await (await open(await place())).workspace('acme', URL_A)
      const intents = await Promise.all(Array.from({ length: 8 }, (_, n) => ledger.recordIntent(intentFor(raise(ADA, n, n + 1)))))
      await Promise.all(intents.map((one) => ledger.recordOutcome(one, historyOf(one.change, 60), 'kept')))
      expect((await ledger.history()).map(({ to }) => to)).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
      expect(ledger.writtenLately(ADA, 0)).toHaveLength(8)
      expect(ledger.openIntents()).toEqual([])
    })

    test('history of the last day is in memory, older history is read from the database', async () => {
      const day = 86_400_000
      const store = await open(await place())
      const ledger = await store.workspace('acme', URL_A)
      for (const at of [60 - 3 * day, 60 - day / 2, 60]) {
        const change = raise(ADA, 1, 2)
        await ledger.recordOutcome(await ledger.recordIntent(intentFor(change)), historyOf(change, at), 'kept')
      }
      const fresh = await store.workspace('acme', URL_A)
      expect(fresh.writtenLately(ADA, 60 - day).map(({ at }) => at)).toEqual([60, 60 - day / 2])
      expect(fresh.writtenLately(BOB, 0)).toEqual([])
      expect(await fresh.history({ scope: ADA })).toHaveLength(3)
    })
  })
}
