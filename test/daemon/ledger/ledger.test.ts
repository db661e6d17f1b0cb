import { existsSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Approval } from '../../../src/core/model/change.ts'
import { BugError } from '../../../src/core/model/problem.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { LedgerError } from '../../../src/daemon/ledger/error.ts'
import { type LedgerMode, openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { fakeClock } from '../../support/clock.ts'
import { ADA, BOB, historyOf, intentFor, ledgerErrorOf, ownedCap, PLATFORM, raise, TEAM, temporaryFolder } from '../../support/ledger.ts'

const clock = fakeClock()
const URL_A = 'https://a.example/api/v1'
const URL_B = 'https://b.example/api/v1'

const open = (file: string, mode: LedgerMode = 'write') => openLedger({ file, mode, clock })
const newFile = (): string => join(temporaryFolder(), 'capkeeper.db')

describe('what is recorded', () => {
  test('an outcome closes its intent, appends to history and keeps ownership, and all of it survives closing', () => {
    const file = newFile()
    const store = open(file)
    const ledger = store.workspace('acme', URL_A)
    const change = raise(ADA, 500, 4000)
    const intent = ledger.recordIntent(intentFor(change))
    expect(ledger.openIntents()).toEqual([intent])
    ledger.recordOutcome(intent, historyOf(change, 2_000), ownedCap(ADA, 4000))
    store.close()

    const again = open(file)
    const later = again.workspace('acme', URL_A)
    expect(later.openIntents()).toEqual([])
    expect(later.owned()).toEqual([ownedCap(ADA, 4000)])
    expect(later.history()).toEqual([historyOf(change, 2_000)])
    again.close()
  })

  test('an outcome can release or keep what is owned', () => {
    const ledger = open(':memory:').workspace('acme', URL_A)
    ledger.saveOwned([ownedCap(ADA, 500), ownedCap(BOB, 700)])
    const change = raise(ADA, 500, 600)
    ledger.recordOutcome(ledger.recordIntent(intentFor(change)), historyOf(change, 1), 'kept')
    expect(ledger.owned()).toEqual([ownedCap(ADA, 500), ownedCap(BOB, 700)])
    ledger.recordOutcome(ledger.recordIntent(intentFor(change)), historyOf(change, 2), 'released')
    expect(ledger.owned()).toEqual([ownedCap(BOB, 700)])
  })

  test('an intent has one outcome only, and a second one changes nothing', () => {
    const ledger = open(':memory:').workspace('acme', URL_A)
    const change = raise(ADA, 500, 600)
    const intent = ledger.recordIntent(intentFor(change))
    ledger.recordOutcome(intent, historyOf(change, 1), 'kept')
    expect(() => ledger.recordOutcome(intent, historyOf(change, 2), ownedCap(ADA, 600))).toThrow(BugError)
    expect(ledger.history()).toHaveLength(1)
    expect(ledger.owned()).toEqual([])
    ledger.saveOwned([ownedCap(ADA, 500)])
    expect(ledger.owned()).toHaveLength(1)
  })

  test('an outcome that cannot be recorded whole is not recorded at all, and the ledger goes on', () => {
    const ledger = open(newFile()).workspace('acme', URL_A)
    const change = raise(ADA, 500, 600)
    const intent = ledger.recordIntent(intentFor(change))
    expect(() => ledger.recordOutcome(intent, historyOf(change, Number.NaN), 'kept')).toThrow(LedgerError)
    expect(ledger.openIntents()).toEqual([intent])
    ledger.recordOutcome(intent, historyOf(change, 1), 'kept')
    expect(ledger.openIntents()).toEqual([])
  })

  test('ids of intents are never used again', () => {
    const ledger = open(':memory:').workspace('acme', URL_A)
    const change = raise(ADA, 500, 600)
    const first = ledger.recordIntent(intentFor(change))
    ledger.recordOutcome(first, historyOf(change, 1), 'kept')
    expect(ledger.recordIntent(intentFor(change)).id).toBeGreaterThan(first.id)
  })

  test('history is newest first, also when the clock went back, and is filtered by scope, time and number', () => {
    const ledger = open(':memory:').workspace('acme', URL_A)
    for (const [scope, at] of [
      [ADA, 10],
      [BOB, 30],
      [ADA, 20],
      [ADA, 20],
    ] as const) {
      const change = raise(scope, 1, ledger.history().length + 2)
      ledger.recordOutcome(ledger.recordIntent(intentFor(change)), historyOf(change, at), 'kept')
    }
    expect(ledger.history().map((entry) => [scopeKey(entry.scope), entry.at, entry.to])).toEqual([
      ['bob@example.com', 30, 3],
      ['ada@example.com', 20, 5],
      ['ada@example.com', 20, 4],
      ['ada@example.com', 10, 2],
    ])
    expect(ledger.history({ scope: ADA, limit: 1 }).map((entry) => entry.to)).toEqual([5])
    expect(ledger.history({ sinceAt: 20 })).toHaveLength(3)
    expect(ledger.history({ scope: TEAM })).toEqual([])
    expect(ledger.history({ limit: 0 })).toEqual([])
  })

  test('a pause ends by itself, and is over when it is taken back', () => {
    const ledger = open(':memory:').workspace('acme', URL_A)
    const pause = { untilAt: 100, reason: 'migration', pausedAt: 1 }
    ledger.savePause(pause)
    expect(ledger.pause(99)).toEqual(pause)
    expect(ledger.pause(100)).toBeUndefined()
    ledger.savePause(undefined)
    expect(ledger.pause(50)).toBeUndefined()
  })

  test('approvals and quarantined scopes are replaced by id and scope', () => {
    const ledger = open(':memory:').workspace('acme', URL_A)
    const approval: Approval = { id: '7d1f0c2a9b34', via: 'command', approvedAt: 5, state: 'pending', released: [] }
    ledger.saveApproval(approval)
    const spent: Approval = {
      ...approval,
      state: 'spent',
      people: 3,
      released: [{ scope: PLATFORM, from: credits(5), to: 'none', verified: true }],
    }
    ledger.saveApproval(spent)
    expect(ledger.approvals()).toEqual([spent])

    const entry = { scope: ADA, code: 'CAP_REFUSED', message: 'no', entry: 'policy|5', at: 9 }
    ledger.saveQuarantined(entry)
    ledger.saveQuarantined({ ...entry, at: 10 })
    expect(ledger.quarantined()).toEqual([{ ...entry, at: 10 }])
    ledger.releaseQuarantined([scopeKey(ADA), scopeKey(BOB)])
    expect(ledger.quarantined()).toEqual([])
  })

  test('a fact is forgotten when it is saved as undefined', () => {
    const ledger = open(':memory:').workspace('acme', URL_A)
    expect(ledger.fact('verifiedDeclared')).toBeUndefined()
    ledger.saveFact('verifiedDeclared', 12)
    ledger.saveFact('pace', { default: { rate: 5, limited: true } })
    expect(ledger.fact('verifiedDeclared')).toBe(12)
    expect(ledger.fact('pace')).toEqual({ default: { rate: 5, limited: true } })
    ledger.saveFact('verifiedDeclared', undefined)
    expect(ledger.fact('verifiedDeclared')).toBeUndefined()
  })

  test('workspaces share nothing', () => {
    const store = open(':memory:')
    const acme = store.workspace('acme', URL_A)
    const beta = store.workspace('beta', URL_A)
    const change = raise(TEAM, 1, 2)
    acme.saveOwned([ownedCap(ADA, 500)])
    acme.savePause({ untilAt: 100, reason: 'x', pausedAt: 1 })
    acme.saveFact('verifiedDeclared', 3)
    const intent = acme.recordIntent(intentFor(change))
    expect(beta.owned()).toEqual([])
    expect(beta.openIntents()).toEqual([])
    expect(beta.pause(1)).toBeUndefined()
    expect(beta.fact('verifiedDeclared')).toBeUndefined()
    beta.releaseOwned([scopeKey(ADA)])
    expect(() => beta.recordOutcome(intent, historyOf(change, 1), 'kept')).toThrow(BugError)
    expect(acme.owned()).toHaveLength(1)
    expect(acme.openIntents()).toHaveLength(1)
    beta.saveOwned([ownedCap(ADA, 600)])
    acme.releaseOwned([scopeKey(ADA)])
    expect(acme.owned()).toEqual([])
    expect(beta.owned()).toEqual([ownedCap(ADA, 600)])
  })

  test('history is forgotten after 400 days, and nothing else is', () => {
    const store = open(':memory:')
    const ledger = store.workspace('acme', URL_A)
    const day = 86_400_000
    for (const at of [0, day, 2 * day]) {
      const change = raise(ADA, 1, 2)
      ledger.recordOutcome(ledger.recordIntent(intentFor(change)), historyOf(change, at), ownedCap(ADA, 2))
    }
    expect(store.prune(401 * day)).toBe(1)
    expect(ledger.history().map((entry) => entry.at)).toEqual([2 * day, day])
    expect(ledger.owned()).toHaveLength(1)
    expect(store.prune(401 * day)).toBe(0)
  })
})

describe('binding', () => {
  test('another address for the same name is refused with both addresses and the way out', () => {
    const file = newFile()
    const store = open(file)
    store.workspace('acme', URL_A)
    for (const mode of ['write', 'note', 'read'] as const) {
      const one = mode === 'write' ? store : open(file, mode)
      const refused = ledgerErrorOf(() => one.workspace('acme', URL_B))
      expect(refused.code).toBe('LEDGER_BOUND')
      expect(refused.message).toContain(URL_A)
      expect(refused.message).toContain(URL_B)
      expect(refused.message).toContain('--rebind')
      if (one !== store) one.close()
    }
    store.close()
  })

  test('rebinding sets aside what was recorded for the old address, keeps the pause, and binding back brings all back', () => {
    const store = open(newFile())
    const old = store.workspace('acme', URL_A)
    const change = raise(ADA, 1, 2)
    old.saveOwned([ownedCap(ADA, 500)])
    old.recordIntent(intentFor(change))
    old.savePause({ untilAt: 100, reason: 'move', pausedAt: 1 })

    const moved = store.workspace('acme', URL_B, { rebind: true })
    expect(moved.owned()).toEqual([])
    expect(moved.openIntents()).toEqual([])
    expect(moved.pause(1)?.reason).toBe('move')
    expect(store.workspaces().map(({ baseUrl, current }) => [baseUrl, current])).toEqual([
      [URL_B, true],
      [URL_A, false],
    ])
    expect(ledgerErrorOf(() => store.workspace('acme', URL_A)).code).toBe('LEDGER_BOUND')

    const back = store.workspace('acme', URL_A, { rebind: true })
    expect(back.owned()).toEqual([ownedCap(ADA, 500)])
    expect(back.openIntents()).toHaveLength(1)
    store.close()
  })

  test('only a writer rebinds: a note would do it beneath a running daemon', () => {
    const file = newFile()
    open(file).workspace('acme', URL_A)
    const note = open(file, 'note')
    expect(ledgerErrorOf(() => note.workspace('acme', URL_B, { rebind: true })).code).toBe('LEDGER_BOUND')
    expect(note.workspaces().map((one) => one.baseUrl)).toEqual([URL_A])
    note.close()
  })

  test('rebinding to the same address changes nothing', () => {
    const store = open(':memory:')
    store.workspace('acme', URL_A).saveOwned([ownedCap(ADA, 500)])
    expect(store.workspace('acme', URL_A, { rebind: true }).owned()).toHaveLength(1)
    expect(store.workspaces()).toHaveLength(1)
  })

  test('a reader that rebinds sees what the writer would start with, and changes nothing', () => {
    const file = newFile()
    const store = open(file)
    store.workspace('acme', URL_A).saveOwned([ownedCap(ADA, 500)])
    const reader = open(file, 'read')
    expect(reader.workspace('acme', URL_B, { rebind: true }).owned()).toEqual([])
    expect(reader.workspace('acme', undefined).owned()).toHaveLength(1)
    reader.close()
    expect(store.workspaces().map((one) => one.baseUrl)).toEqual([URL_A])
    store.close()
  })

  test('a pause before the first run does not bind the name; the first writer does, and finds the pause', () => {
    const file = newFile()
    const note = open(file, 'note')
    note.workspace('acme', URL_B).savePause({ untilAt: 100, reason: 'wait', pausedAt: 1 })
    note.workspace('acme', undefined).saveApproval({ id: '7d1f0c2a9b34', via: 'command', approvedAt: 5, state: 'pending', released: [] })
    expect(note.workspaces().map((one) => one.baseUrl)).toEqual([''])
    note.close()
    const store = open(file)
    const ledger = store.workspace('acme', URL_A)
    expect(ledger.pause(1)?.reason).toBe('wait')
    expect(ledger.approvals()).toHaveLength(1)
    expect(store.workspaces().map((one) => one.baseUrl)).toEqual([URL_A])
    store.close()
  })

  test('the same address under two names is two workspaces', () => {
    const store = open(':memory:')
    store.workspace('acme', URL_A)
    store.workspace('beta', URL_A)
    expect(store.workspaces().map((one) => one.workspace)).toEqual(['acme', 'beta'])
  })
})

describe('the ways to open', () => {
  test('the ledger and its companions belong to their owner alone', () => {
    const file = newFile()
    const store = open(file)
    store.workspace('acme', URL_A)
    for (const suffix of ['', '-wal', '-shm', '.lock']) expect([suffix, statSync(file + suffix).mode & 0o777]).toEqual([suffix, 0o600])
    store.close()
  })

  test('reading a ledger that does not exist shows an empty one and makes no file', () => {
    const folder = temporaryFolder()
    for (const file of [join(folder, 'capkeeper.db'), join(folder, 'nowhere', 'capkeeper.db')]) {
      const store = open(file, 'read')
      const ledger = store.workspace('acme', URL_A)
      expect(ledger.owned()).toEqual([])
      expect(ledger.history()).toEqual([])
      expect(ledger.pause(0)).toBeUndefined()
      expect(ledger.fact('policy')).toBeUndefined()
      expect(store.workspaces()).toEqual([])
      store.close()
    }
    expect(readdirSync(folder)).toEqual([])
  })

  test.each(['a file', 'memory', 'no file yet'])(
    'writing through a ledger that was opened for reading is a mistake of ours: %s',
    (kind) => {
      const file = kind === 'memory' ? ':memory:' : newFile()
      if (kind === 'a file') open(file).close()
      const store = open(file, 'read')
      const ledger = store.workspace('acme', URL_A)
      expect(() => ledger.saveOwned([ownedCap(ADA, 1)])).toThrow(BugError)
      expect(() => ledger.recordIntent(intentFor(raise(ADA, 1, 2)))).toThrow(BugError)
      expect(() => store.probe()).toThrow(BugError)
      store.close()
    },
  )

  test('a second writer is refused, also under another name of the same file; readers and notes are not', () => {
    const file = newFile()
    const store = open(file)
    store.workspace('acme', URL_A).saveOwned([ownedCap(ADA, 500)])
    symlinkSync(file, `${file}.alias`)
    expect(ledgerErrorOf(() => open(file)).code).toBe('LEDGER_LOCKED')
    expect(ledgerErrorOf(() => open(`${file}.alias`)).code).toBe('LEDGER_LOCKED')
    const reader = open(file, 'read')
    expect(reader.workspace('acme', URL_A).owned()).toHaveLength(1)
    reader.close()
    open(file, 'note').close()
    store.close()
    open(file).close()
  })

  test('a note is seen at once by the writer that is at work', () => {
    const file = newFile()
    const store = open(file)
    const ledger = store.workspace('acme', URL_A)
    const note = open(file, 'note')
    note.workspace('acme', undefined).savePause({ untilAt: 100, reason: 'stop', pausedAt: 1 })
    expect(ledger.pause(1)?.reason).toBe('stop')
    note.workspace('acme', undefined).savePause(undefined)
    expect(ledger.pause(1)).toBeUndefined()
    note.close()
    store.close()
  })

  test('a file in memory is nowhere on the disk', () => {
    const store = open(':memory:')
    store.workspace('acme', URL_A).saveOwned([ownedCap(ADA, 1)])
    store.probe()
    store.close()
    store.close()
    expect(existsSync(':memory:')).toBe(false)
    expect(existsSync(':memory:.lock')).toBe(false)
  })
})
