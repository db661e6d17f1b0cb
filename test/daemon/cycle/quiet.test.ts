// A workspace that another replica held before: scopes with an open write are left alone while that may still land, and are read again afterwards.
// A write that lands later still is reported as late, and reverted once.
import { expect, test } from 'vitest'
import { ADA, intentFor, raise } from '../../support/ledger.ts'
import { later, MINUTE, worldUnder } from '../../support/living.ts'
import type { World } from '../../support/world.ts'

const QUIET_MS = 15_000

/** Another replica has sent ada's new cap, and was heard of no more; this one holds the workspace now. */
async function taken(options: { readonly lands: boolean }): Promise<World> {
  const one = await worldUnder({ caps: { ada: 100, bob: 100 } }, { caps: { ada: 100, bob: 100 } })
  const { entry } = intentFor(raise(ADA, 100, 200))
  await one.ledger.recordIntent(intentFor(raise(ADA, 100, 200), { at: one.clock.now(), entry }))
  const quietUntil = one.clock.now() + QUIET_MS
  one.workspace = {
    ...one.workspace,
    lease: { isReplaced: () => false, quietUntil: () => quietUntil, shown: () => ({ isHere: true, transfers: 1 }) },
  }
  if (options.lands) one.foreign('ada', 200)
  one.forget()
  return one
}

const SECOND = { caps: { ada: 300, bob: 300 } }

test.each([
  ['had not landed', 'failed', false],
  ['had landed', 'applied', true],
] as const)(
  'a scope with an open intent of the holder before is left alone while that may land, others are not; it is read again when that is over, and written then: when it %s the write is recorded as %s',
  async (_row, result, lands) => {
    const one = await taken({ lands })
    await one.cycle(SECOND)
    expect(one.writes()).toEqual(['bob 300'])
    expect(one.ledger.openIntents()).toHaveLength(1)
    const [{ plan } = { plan: undefined }] = one.told('planned')
    expect(plan?.changes.map(({ disposition }) => disposition)).toContainEqual(
      expect.objectContaining({ kind: 'excluded', code: 'lease', reason: expect.stringContaining('may still land') }),
    )

    await later(one, QUIET_MS - 1_000)
    expect(one.writes()).toEqual(['bob 300'])
    expect(one.ledger.openIntents()).toHaveLength(1)

    one.forget()
    await later(one, 1_000)
    // The reading of before tells nothing: one more comes first.
    expect(one.reads()).toContain('ada')
    expect(one.writes()).toEqual(['ada 300'])
    expect(one.ledger.openIntents()).toEqual([])
    const [second, first] = await one.ledger.history({ scope: ADA })
    expect([first?.to, first?.result, second?.to, second?.result]).toEqual([200, result, 300, 'applied'])
    expect(one.begun('ForeignChange', 'LateWrite')).toEqual([])
  },
)

test('a write that lands later than it may is told as LATE_WRITE and not as a foreign change, and put right once', async () => {
  const one = await taken({ lands: false })
  await later(one, QUIET_MS, SECOND)
  await one.clock.pass(MINUTE)
  one.forget()
  one.foreign('ada', 200)
  await one.cycle()
  expect(one.begun('LateWrite')).toMatchObject([
    {
      reason: 'LATE_WRITE',
      subject: 'ada@example.com',
      message: expect.stringContaining('a write of 200 that had not landed'),
      fields: { observed: 200, desired: 300 },
    },
  ])
  expect(one.begun('ForeignChange')).toEqual([])
  expect(one.writes()).toEqual(['ada 300'])
  await later(one, MINUTE)
  expect(one.writes()).toEqual(['ada 300'])
  expect(one.ended('LateWrite')).toHaveLength(1)
})
