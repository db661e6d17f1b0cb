// When a daemon is ready, and when it ceases to be.
import { expect, test } from 'vitest'
import { createReadiness } from '../../../src/daemon/schedule/refresh.ts'

type Tried = Parameters<ReturnType<typeof createReadiness>>[0][number]
const runner = (name: string, attempted: boolean, more: Partial<Tried> = {}): Tried => ({
  ...{ config: { name }, workspace: { attempted }, requestFailed: () => false, startedAt: 0 },
  ...more,
})
const NOW = { canRecord: true, now: 1_000 }

test.each<[string, readonly Tried[], Partial<typeof NOW>, readonly string[]]>([
  ['every workspace was tried', [runner('a', true)], {}, []],
  ['nothing is kept', [], {}, []],
  ['one was not tried yet', [runner('a', true), runner('b', false)], {}, ['b: not attempted yet']],
  ['its request failed', [runner('b', false, { requestFailed: () => true })], {}, []],
  ['nothing can be recorded', [runner('a', true)], { canRecord: false }, ['the ledger cannot be written']],
])('%s', (_row, runners, how, reasons) => {
  const ready = createReadiness({ isSole: true, hasBegun: () => true })
  expect(ready(runners, { ...NOW, ...how })).toEqual({ ready: reasons.length === 0, reasons })
})

test('a replica is not ready before its first beat, nor while it cannot record; a workspace that it takes over later does not take that back', () => {
  const began = { now: false }
  const replica = createReadiness({ isSole: false, hasBegun: () => began.now })
  expect(replica([], NOW).reasons).toEqual(['the ledger was not reached yet'])
  began.now = true
  expect(replica([runner('a', false)], NOW).ready).toBe(false)
  expect(replica([runner('a', true)], NOW).ready).toBe(true)
  expect(replica([runner('a', true), runner('b', false)], NOW).ready).toBe(true)
  expect(replica([runner('a', true)], { ...NOW, canRecord: false }).ready).toBe(false)
  const sole = createReadiness({ isSole: true, hasBegun: () => true })
  expect(sole([runner('a', true)], NOW).ready).toBe(true)
  expect(sole([runner('a', true), runner('b', false)], NOW).ready).toBe(false)
})
