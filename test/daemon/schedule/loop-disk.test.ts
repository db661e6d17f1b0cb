// A ledger that cannot be written for hours: the service gets no more requests than otherwise, and the loop goes on soon after there is room.
import { expect, test } from 'vitest'
import { HOUR } from '../../support/declare.ts'
import { failingLedger } from '../../support/faults.ts'
import { living, MINUTE, passUntil, SECOND } from '../../support/living.ts'

const RECORDING = ['commit', 'recordIntent', 'recordOutcome', 'saveBurn', 'saveRuns', 'saveAddOnUse'] as const
const failing = (disk: { isFull: boolean }, methods: readonly string[]) =>
  failingLedger((method) => disk.isFull && methods.includes(method))

/** Of an hour, at most: caps of two scopes, people and one group and the balance each 5 minutes. */
const USUAL = { GetUsageConfig: 24, UserPageAnalytics: 24, GetTeamCreditBalance: 12 } as const

test.each<readonly [string, readonly string[]]>([
  ['with changes that wait', ['load', ...RECORDING]],
  ['at the end of each cycle', RECORDING],
  ['at the figures of use alone', ['saveBurn']],
  ['at intents alone', ['recordIntent']],
])('a full disk %s is met with no more than one look each interval, and all goes on soon after there is room', async (_row, methods) => {
  const disk = { isFull: false }
  const { one, set } = await living({ groups: { a: ['ada'] }, wrapLedger: failing(disk, methods) })
  set({ caps: { team: 500, 'group:a': 900 } })
  await one.clock.pass(MINUTE)
  disk.isFull = true
  set({ caps: { team: 600, 'group:a': 900 } })
  // The first tries come soon after each other.
  await one.clock.pass(15 * MINUTE)
  one.forget()
  await one.clock.pass(4 * HOUR)
  expect(one.caps()).toEqual({ team: methods.includes('recordIntent') ? 500 : 600, 'group:a': 900 })
  for (const [operation, usual] of Object.entries(USUAL))
    expect(one.count(operation as keyof typeof USUAL), operation).toBeLessThanOrEqual(4 * usual + 8)
  disk.isFull = false
  expect(await passUntil(one, () => one.caps()['team'] === 600, HOUR, SECOND)).toBeLessThanOrEqual(30 * SECOND)
})

test('a ledger that has failed once while use was read counts as writable again within minutes, however long the interval is', async () => {
  const disk = { isFull: false }
  const config = { intervalMs: 4 * HOUR, usageIntervalMs: 15 * MINUTE }
  const { one, set } = await living({ people: ['ada'], config, wrapLedger: failing(disk, ['saveBurn']) })
  const isUnwritable = (): boolean => one.workspace.conditions.some(({ type }) => type === 'LedgerUnwritable')
  set({ caps: { ada: 500 } })
  await one.clock.pass(10 * MINUTE)
  disk.isFull = true
  await passUntil(one, isUnwritable, HOUR)
  disk.isFull = false
  expect(await passUntil(one, () => !isUnwritable(), HOUR, SECOND)).toBeLessThanOrEqual(MINUTE)
})
