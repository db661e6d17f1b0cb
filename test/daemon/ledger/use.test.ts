// Use in the ledger: whatever the service may answer can be recorded.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scopeKey, TEAM } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { foldUsage, NOTHING_BURNED } from '../../../src/core/use/burn.ts'
import { testClient } from '../../api/world.ts'
import { DAY, NOW, roster } from '../../support/declare.ts'
import { letter } from '../../support/fuzz.ts'
import { newFile, open } from '../../support/ledger.ts'
import { midnight } from '../../support/use.ts'

const URL_A = 'https://a.example/api/v1'

const ASKED = { fromAt: midnight(1), throughAt: midnight(20), readAt: NOW, wideAt: NOW }

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
        let answer: unknown
        const { client, clock } = testClient(() => ({ body: JSON.stringify(answer) }))
        let burned: typeof NOTHING_BURNED = { ...NOTHING_BURNED, highest: new Map() }
        for (const body of bodies) {
          answer = body
          const read = await client.readRoster()
          const step = foldUsage(burned, read, [{ id: 'g', name: 'G', emails: read.people.map((one) => one.email), readAt: NOW }])
          ledger.saveFact('usage', { roster: read, groups: [] })
          await ledger.saveBurn(step)
          burned = step.burned
        }
        expect(ledger.fact('usage')?.roster.readAt).toBe(clock.now())
        expect((await ledger.highestUse()).size).toBeGreaterThanOrEqual(0)
        expect((await ledger.useByPerson({ fromAt: 0, untilAt: NOW + DAY })).every(({ used }) => used <= Number.MAX_SAFE_INTEGER)).toBe(
          true,
        )
        expect((await ledger.useReadings()).length).toBeGreaterThan(-1)
        answer = runs
        const days = { fromAt: midnight(10), untilAt: midnight(28) }
        const { rows } = await madeSense(client.readRuns(days))
        await ledger.saveRuns(TEAM, { ...days, rows, asked: { [scopeKey(TEAM)]: ASKED } })
        expect(await ledger.runs(TEAM, days)).toHaveLength(rows.length)
      }),
      { numRuns: 150 },
    )
  })

  test('sums beyond the exact numbers are cut, and can be recorded', async () => {
    const store = await open(newFile())
    const ledger = await store.workspace('acme', URL_A)
    let burned = NOTHING_BURNED
    for (const used of [0, Number.MAX_SAFE_INTEGER]) {
      const people = roster({ ada: 'approved' }).people.map((one) => ({ ...one, used: credits(used) }))
      const step = foldUsage(burned, { ...roster({}), people }, [])
      await ledger.saveBurn(step)
      burned = step.burned
    }
    const sums = await ledger.useByPerson({ fromAt: 0, untilAt: NOW })
    expect(sums).toEqual([expect.objectContaining({ used: Number.MAX_SAFE_INTEGER / 100 })])
  })
})

/** Runs are malformed when no row makes sense. */
const madeSense = <Reading>(reading: Promise<Reading>): Promise<Reading | { readonly rows: readonly [] }> =>
  reading.catch((error: unknown) => {
    if (error instanceof Error && 'kind' in error && error.kind === 'malformed') return { rows: [] }
    throw error
  })
