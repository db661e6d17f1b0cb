// Writing a plan, as seen on the wire: the order of writes, the caps in force between them, changes between plan and write, and a ledger that
// cannot record.
import { type Arbitrary, assert, asyncProperty, constant, constantFrom, dictionary, integer, oneof, record, subarray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_GUARDS, type GuardSettings } from '../../../src/core/model/change.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { LedgerError } from '../../../src/daemon/ledger/error.ts'
import type { Ledger } from '../../../src/ports.ts'
import type { PlainCap } from '../../support/declare.ts'
import { reads, whenAsked, writes } from '../../support/faults.ts'
import { worldUnder } from '../../support/living.ts'
import { createWorld, testWorld, type World } from '../../support/world.ts'

/** Guards that hold nothing back, so that every change goes out. */
const OFF: GuardSettings = {
  ...DEFAULT_GUARDS,
  emptyPolicy: false,
  maxAffected: 'off',
  maxLowered: 'off',
  maxBlocked: 'off',
  maxCleared: 'off',
}

const PEOPLE = ['ada', 'bob', 'cleo', 'dan'] as const
const SCOPES = ['team', 'group:a', 'group:b', ...PEOPLE] as const
// Kinds of scopes never share a value: where reads show inherited caps, a cap that equals its ancestor's cannot be told from none.
const OWN: Readonly<Record<string, number>> = { team: 50, 'group:a': 10, 'group:b': 10 }
const hundreds = oneof(constant(0), integer({ min: 1, max: 9 }))
const caps = dictionary(constantFrom(...SCOPES), hundreds, { maxKeys: 7, noNullPrototype: true }).map((drawn) =>
  Object.fromEntries(Object.entries(drawn).map(([name, n]): [string, PlainCap] => [name, n === 0 ? 'none' : n * 100 + (OWN[name] ?? 0)])),
)
const world = record({
  a: subarray([...PEOPLE]),
  b: subarray([...PEOPLE]),
  before: caps,
  after: caps,
  concurrency: constantFrom(1, 8),
  capReads: constantFrom('explicit' as const, 'inherited' as const),
  prune: constant(true),
})

type Drawn = typeof world extends Arbitrary<infer Value> ? Value : never

const amount = (cap: number | 'none' | undefined): number => (cap === undefined || cap === 'none' ? Number.POSITIVE_INFINITY : cap)

/** A random move of a world from one policy to another, in one cycle, with the caps in force before, after each write, and after all. */
async function moved({ a, b, before, after, concurrency, capReads }: Drawn, capSemantics: 'layered' | 'copied') {
  const one = await createWorld({
    people: PEOPLE,
    groups: { a, b },
    switches: { capReads, ...(capSemantics === 'copied' && { capSemantics: 'fan-out' }) },
    config: { guards: OFF, capSemantics, rate: { concurrency } },
  })
  await one.cycle({ caps: before, onGroupConflict: 'min' })
  if (capSemantics === 'layered') await one.cycle()
  const had = one.inForce()
  const steps: Record<string, number | 'none'>[] = []
  whenAsked(one, writes(), () => steps.push(one.inForce()))
  one.forget()
  await one.cycle({ caps: after, onGroupConflict: 'min' })
  one.onCall = undefined
  return { one, had, steps, got: one.inForce() }
}

/** The next cycles write nothing, and find no foreign change. */
async function expectQuiet(one: World): Promise<void> {
  // A cap of the conflict rule is cleared only after a second reading of the groups.
  await one.cycle()
  one.forget()
  await one.cycle()
  expect(one.writes()).toEqual([])
  expect(one.begun('ForeignChange')).toEqual([])
  await one.close()
}

describe('the order of writes', () => {
  test('keeps each person at the lesser of before and after, and never uncaps a person on the way to a cap', async () => {
    await assert(
      asyncProperty(world, async (drawn) => {
        const { one, had, steps, got } = await moved(drawn, 'layered')
        for (const step of steps) {
          for (const name of PEOPLE) {
            expect(amount(step[name])).toBeGreaterThanOrEqual(Math.min(amount(had[name]), amount(got[name])))
            if (had[name] !== 'none' && got[name] !== 'none') expect(step[name]).not.toBe('none')
          }
        }
        await expectQuiet(one)
      }),
      { numRuns: 20 },
    )
  })

  test('where caps are copied, keeps each person at the least of before, after, and the caps of the team and groups', async () => {
    await assert(
      asyncProperty(world, async (drawn) => {
        const { one, had, steps, got } = await moved(drawn, 'copied')
        const ancestors = [drawn.before, drawn.after].flatMap((caps) => [caps['team'], caps['group:a'], caps['group:b']])
        for (const step of steps) {
          for (const name of PEOPLE) {
            const least = Math.min(amount(had[name]), amount(got[name]), ...ancestors.map(amount))
            expect(amount(step[name])).toBeGreaterThanOrEqual(least)
            const isCapped = had[name] !== 'none' && got[name] !== 'none'
            if (isCapped && ancestors.every((cap) => cap !== undefined && cap !== 'none')) expect(step[name]).not.toBe('none')
          }
        }
        await expectQuiet(one)
      }),
      { numRuns: 20 },
    )
  })
})

describe('between the plan and a write', () => {
  test('a foreign change before the write is reported once, planned again and reverted', async () => {
    const one = await worldUnder({ caps: { ada: 4000, bob: 700 } }, { switches: { latency: 100 } })
    one.foreign('ada', 5000)
    whenAsked(one, reads('bob'), () => one.foreign('ada', 6000))
    one.forget()
    const confirm = async () => {
      await one.clock.sleep(60_000)
      return {}
    }
    const { result } = await one.cycle(undefined, { confirm })
    expect({ result, writes: one.writes(), cap: one.caps()['ada'] }).toMatchObject({ writes: ['ada 4000'], cap: 4000 })
    expect(one.begun('ForeignChange').map(({ fields }) => fields?.['to'])).toEqual([5000, 6000])
    one.onCall = undefined
    await one.cycle()
    expect(one.begun('ForeignChange')).toHaveLength(2)
    expect(one.caps()).toEqual({ ada: 4000, bob: 700 })
  })

  test.each([
    ['and nothing is held', []],
    ['also where something else is held', ['p001']],
  ])('what comes up that was not shown is left, which is exit 4, %s', async (_name, protect) => {
    const one = await testWorld({ people: 20 })
    const caps = { team: 900, p001: 700, p005: 800 }
    await one.cycle({ caps, protect })
    whenAsked(one, writes('team'), () => one.foreign('p005', 5))
    const { result, message, after } = await one.cycle(
      { caps: { ...caps, team: 1000, ...(protect.length > 0 && { p001: 600 }) }, protect },
      {
        confirm: async ({ plan }) => {
          const shown = new Map(plan.changes.map(({ scope, to }) => [scopeKey(scope), to]))
          return { mayWrite: ({ key, to }) => shown.get(key) === to }
        },
      },
    )
    expect(after.plan.holds).toHaveLength(protect.length)
    expect({ result, message }).toEqual({
      result: 'partial',
      message: expect.stringMatching(/^p005@.* was not in the plan that was agreed to/),
    })
  })

  test('a scope that is as asked by then is not written', async () => {
    const one = await testWorld()
    const confirm = async () => {
      one.foreign('ada', 4000)
      await one.clock.sleep(60_000)
      return {}
    }
    await one.cycle({ caps: { ada: 4000 } }, { confirm })
    expect(one.writes()).toEqual([])
    expect(one.ledger.owned()).toMatchObject([{ cap: 4000 }])
  })

  test('a third value right after our write is verify_failed, and one foreign change', async () => {
    const one = await worldUnder({ caps: { ada: 4000 } })
    whenAsked(one, writes(), () => one.foreign('ada', 123))
    one.forget()
    const { result } = await one.cycle({ caps: { ada: 4500 } })
    expect(result).toBe('error')
    expect(one.told('change-finished')).toMatchObject([{ result: 'verify_failed', error: '4500 was written and 123 was read back' }])
    expect(one.begun('ForeignChange')).toMatchObject([{ fields: { to: 123 } }])
    one.onCall = undefined
    await one.cycle()
    expect(one.caps()).toEqual({ ada: 4500 })
  })
})

describe('a ledger that cannot record', () => {
  const full = () => {
    throw new LedgerError('LEDGER_FULL', 'capkeeper.db: the disk is full, so nothing was recorded; make room on the volume of the ledger')
  }
  /** A ledger of which some methods fail while `broken` says so. */
  const failing =
    (disk: { broken: boolean }, methods: readonly (keyof Ledger)[]) =>
    (real: Ledger): Ledger =>
      new Proxy(real, {
        get: (ledger, name, self) => (disk.broken && methods.includes(name as keyof Ledger) ? full : Reflect.get(ledger, name, self)),
      })

  test('an intent keeps the write from happening, says so, and recovers', async () => {
    const disk = { broken: true }
    const one = await testWorld({ wrapLedger: failing(disk, ['recordIntent']) })
    const { result, message, applied } = await one.cycle({ caps: { team: 500, ada: 4000 } })
    expect({ result, message, interrupted: applied?.interrupted }).toMatchObject({ result: 'error', interrupted: 'ledger' })
    expect(message).toContain('the disk is full')
    expect(one.count('UsageConfig')).toBe(0)
    expect(one.begun('LedgerUnwritable')).toHaveLength(1)
    disk.broken = false
    expect((await one.cycle()).result).toBe('success')
    expect(one.ended('LedgerUnwritable')).toHaveLength(1)
    expect(one.caps()).toEqual({ team: 500, ada: 4000 })
  })

  test('an outcome stops the writes and keeps the intent, which the next cycle closes', async () => {
    const disk = { broken: true }
    const one = await testWorld({ config: { rate: { concurrency: 1 } }, wrapLedger: failing(disk, ['recordOutcome']) })
    const { applied } = await one.cycle({ caps: { ada: 1, bob: 2, cleo: 3 } })
    expect(applied?.interrupted).toBe('ledger')
    expect(one.count('UsageConfig')).toBe(1)
    expect(one.ledger.openIntents()).toHaveLength(1)
    disk.broken = false
    one.restart()
    one.forget()
    await one.cycle()
    expect(one.writes()).toEqual(['bob 2', 'cleo 3'])
    expect(one.ledger.openIntents()).toEqual([])
    expect((await one.ledger.history()).map((entry) => entry.result)).toEqual(['applied', 'applied', 'applied'])
  })

  test('a pause that cannot be read stops the writes as well, with none left in flight', async () => {
    const disk = { broken: false }
    const one = await testWorld({ people: 20, wrapLedger: failing(disk, ['pause']) })
    const names = Array.from({ length: 20 }, (_, index) => `p0${String(index + 1).padStart(2, '0')}`)
    one.onCall = ({ operation }) => {
      if (operation === 'UsageConfig') disk.broken = true
    }
    const { applied } = await one.cycle({ caps: Object.fromEntries(names.map((name) => [name, 100])) })
    expect(applied?.interrupted).toBe('ledger')
    const sent = one.count('UsageConfig')
    expect(sent).toBeLessThanOrEqual(8)
    await one.clock.pass(60_000)
    expect(one.count('UsageConfig')).toBe(sent)
    expect(one.ledger.openIntents()).toEqual([])
  })
})

test('scopes that the plan depends on are read again when the person took a while to agree', async () => {
  const one = await worldUnder({ caps: { team: 500, ada: 200 } }, { people: ['ada', 'bob'], config: { guards: OFF } })
  const { after } = await one.cycle(
    { caps: { team: 500 } },
    {
      confirm: async ({ plan }) => {
        one.foreign('team', 5000)
        await one.clock.sleep(75_000)
        const shown = new Set(plan.changes.map((change) => scopeKey(change.scope)))
        return { mayWrite: ({ key }) => shown.has(key) }
      },
    },
  )
  expect(one.caps()).toEqual({ team: 5000, ada: 200 })
  expect(after.plan.changes.map(({ disposition }) => disposition.kind)).toEqual(['deferred', 'excluded'])
})
