// Use in the ledger: what the service may answer, and sums over restarts and cycles.
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeRuns } from '../../../src/api/client.ts'
import { decodeRoster } from '../../../src/api/decode.ts'
import { ApiError } from '../../../src/core/model/observed.ts'
import { scopeKey, TEAM } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { foldUsage, NOTHING_BURNED } from '../../../src/core/use/burn.ts'
import { learnBurned, showUsageSummary } from '../../../src/daemon/collect/usage-summary.ts'
import { viewOf } from '../../../src/daemon/conditions/view.ts'
import type { LedgerMode } from '../../../src/daemon/ledger/adapter.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import type { Ledger } from '../../../src/ports.ts'
import { fakeClock } from '../../support/clock.ts'
import { CYCLE, DAY, email, HOUR, NOW, roster } from '../../support/declare.ts'
import { letter } from '../../support/fuzz.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { midnight } from '../../support/use.ts'
import { testWorld } from '../../support/world.ts'

const URL_A = 'https://a.example/api/v1'
const newFile = (): string => join(temporaryFolder(), 'capkeeper.db')
const open = (file: string, mode: LedgerMode = 'write') => openLedger({ file, mode, clock: fakeClock() })

const ASKED = { fromAt: midnight(1), throughAt: midnight(20), readAt: NOW, wideAt: NOW }

/** A reading of one person, day after day. */
async function burn(ledger: Ledger, figures: readonly { readonly at: number; readonly used: number }[]): Promise<void> {
  let burned = NOTHING_BURNED
  for (const { at, used } of figures) {
    const people = roster({ ada: 'approved' }).people.map((one) => ({ ...one, used: credits(used) }))
    const step = foldUsage(burned, { ...roster({}), people, readAt: at, cycle: { startAt: 0, endAt: at + DAY } }, [])
    await ledger.saveBurn(step)
    burned = step.burned
  }
}

const figure = fc.oneof(
  fc.constantFrom(
    '1e19',
    1e300,
    -1e300,
    '9007199254740993',
    214_748_364_700,
    '214748364700',
    -5,
    '0.5',
    'many',
    null,
    {},
    2 ** 53,
    1.5,
    '\u0000',
  ),
  fc.double(),
  fc.integer(),
  fc.bigInt().map(String),
)
const word = fc.oneof(fc.string({ unit: letter }), fc.constantFrom('a', 'a\ud800', 'a\ud801', 'a\0', '<nil>', undefined, 7))
const ROSTERS = fc.array(
  fc.record({
    userTableStats: fc.array(fc.record({ email: word.map((text) => `${text}@x.y`), name: word, promptCreditsUsed: figure }), {
      maxLength: 5,
    }),
    billingCycleStart: fc.constantFrom('2026-11-01', '2026-10-01', '0001-01-01', undefined),
    billingCycleEnd: fc.constantFrom('2026-12-01', '9999-12-31', undefined),
  }),
  { minLength: 1, maxLength: 5 },
)
const RUNS = fc.record({
  queryResults: fc.tuple(
    fc.record({
      cascadeRuns: fc.array(
        fc.record(
          {
            day: fc.constantFrom('2026-11-18', '2026-11-19T00:00:00Z', 'soon', '9999-12-31'),
            model: word,
            mode: word,
            messagesSent: figure,
            promptsUsed: figure,
          },
          { requiredKeys: ['day'] },
        ),
        { maxLength: 6 },
      ),
    }),
  ),
})

describe('any answer of the service', () => {
  test('that the decoder accepts can be recorded and read back', async () => {
    const store = await open(newFile())
    const ledger = await store.workspace('acme', URL_A)
    await fc.assert(
      fc.asyncProperty(ROSTERS, RUNS, async (bodies, runs) => {
        let burned: typeof NOTHING_BURNED = { ...NOTHING_BURNED, highest: new Map() }
        for (const [index, body] of bodies.entries()) {
          const read = decodeRoster(body, NOW + index)
          const step = foldUsage(burned, read, [{ id: 'g', name: 'G', emails: read.people.map((one) => one.email), readAt: NOW }])
          ledger.saveFact('usage', { roster: read, groups: [] })
          await ledger.saveBurn(step)
          burned = step.burned
        }
        expect((await ledger.highestUse()).size).toBeGreaterThanOrEqual(0)
        expect((await ledger.useByPerson({ fromAt: 0, untilAt: NOW + DAY })).every(({ used }) => used <= Number.MAX_SAFE_INTEGER)).toBe(
          true,
        )
        expect((await ledger.useReadings()).length).toBeGreaterThan(-1)
        expect(ledger.fact('usage')?.roster.readAt).toBe(NOW + bodies.length - 1)
        const days = { fromAt: midnight(10), untilAt: midnight(28) }
        const { rows } = madeSense(() => decodeRuns(runs, days, NOW + DAY))
        await ledger.saveRuns(TEAM, { ...days, rows, asked: { [scopeKey(TEAM)]: ASKED } })
        expect(await ledger.runs(TEAM, days)).toHaveLength(rows.length)
      }),
      { numRuns: 150 },
    )
    await store.close()
  })

  test('sums beyond the exact numbers are cut, and can be recorded', async () => {
    const store = await open(newFile())
    const ledger = await store.workspace('acme', URL_A)
    const huge = Number.MAX_SAFE_INTEGER
    await burn(ledger, [
      { at: midnight(18), used: 0 },
      { at: midnight(19), used: huge },
    ])
    expect(await ledger.useByPerson({ fromAt: 0, untilAt: NOW })).toEqual([expect.objectContaining({ used: huge / 100 })])
    await store.close()
  })
})

/** Runs are malformed when no row makes sense. */
function madeSense(read: () => ReturnType<typeof decodeRuns>): ReturnType<typeof decodeRuns> {
  try {
    return read()
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'malformed') return { rows: [] }
    throw error
  }
}

describe('credits burned', () => {
  const DECLARED = { caps: { team: 500, 'group:a': 900 } }
  const cycle = async (one: Awaited<ReturnType<typeof testWorld>>, declared?: Parameters<typeof one.cycle>[0]) => {
    await one.cycle(declared)
    if (one.state.usage) await learnBurned(one.workspace, one.state.usage)
  }
  const burnedBy = async (one: Awaited<ReturnType<typeof testWorld>>) => {
    await showUsageSummary(one.workspace)
    return viewOf(one.workspace).use?.burned
  }

  test('continue over a restart and a reset of the cycle, for the team and its groups, and are recorded by day and person', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], groups: { a: ['ada'] } })
    const use = (who: string, amount: number): void => one.sandbox.recordUse(email(who), amount * 100)
    use('ada', 40)
    await cycle(one, DECLARED)
    expect(await burnedBy(one)).toEqual({ team: 0, groups: { a: 0 } })
    await one.clock.pass(HOUR)
    use('ada', 7)
    use('bob', 2)
    await cycle(one)
    expect(await burnedBy(one)).toEqual({ team: 9, groups: { a: 7 } })
    one.restart()
    expect(await burnedBy(one)).toEqual({ team: 9, groups: { a: 7 } })
    await one.clock.pass(DAY)
    use('bob', 1)
    await cycle(one)
    expect(await burnedBy(one)).toEqual({ team: 10, groups: { a: 7 } })
    await one.clock.pass(CYCLE.endAt - one.clock.now() + HOUR)
    use('ada', 3)
    one.restart()
    await cycle(one)
    expect(await burnedBy(one)).toEqual({ team: 13, groups: { a: 10 } })
    expect(await one.ledger.useByPerson({ fromAt: midnight(1), untilAt: midnight(1, 12) })).toEqual([
      { email: email('ada'), used: 7 },
      { email: email('bob'), used: 3 },
    ])
    expect(await one.ledger.useByPerson({ fromAt: midnight(1, 12), untilAt: midnight(2, 12) })).toEqual([{ email: email('ada'), used: 3 }])
  })

  test('wait while the roster is doubted, and are added afterwards', async () => {
    const one = await testWorld({ people: 20 })
    await cycle(one, { caps: { team: 500 } })
    const gone = Array.from({ length: 9 }, (_, index) => `p${String(index + 12).padStart(3, '0')}`)
    for (const name of gone) one.removePerson(name)
    one.sandbox.recordUse(email('p001'), 500)
    await cycle(one)
    expect((await burnedBy(one))?.team).toBe(0)
    await one.clock.pass(11 * 60_000)
    await cycle(one)
    expect((await burnedBy(one))?.team).toBe(5)
  })
})

test('a hundred models are shown, the most used first, and the others as one', async () => {
  const one = await testWorld()
  const rows = Array.from({ length: 130 }, (_, index) => ({
    dayAt: midnight(3),
    model: `m${index}`,
    mode: 'X',
    messages: 1,
    used: credits(index + 1),
  }))
  await one.ledger.saveRuns(TEAM, { fromAt: midnight(1), untilAt: midnight(20), rows, asked: { [scopeKey(TEAM)]: ASKED } })
  await one.cycle({ caps: { team: 500 } })
  await showUsageSummary(one.workspace)
  const models = viewOf(one.workspace).use?.models ?? []
  expect(models).toHaveLength(101)
  expect(models[0]).toEqual({ model: 'm129', mode: 'X', used: 130 })
  expect(models.at(-1)).toEqual({ model: 'other', mode: 'other', used: 465 })
})
