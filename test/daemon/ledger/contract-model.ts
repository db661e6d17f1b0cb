// The contract of every ledger for any actions in any order, checked against plain maps.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LedgerFacts } from '../../../src/core/model/facts.ts'
import { scopeKey, TEAM } from '../../../src/core/model/scope.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { FACT_NAMES } from '../../../src/daemon/ledger/values/values.ts'
import type { Ledger } from '../../../src/ports.ts'
import { realClock } from '../../support/real-clock.ts'
import { useOf, useSteps } from '../../support/use-model.ts'
import { modelLedger } from './model-ledger.ts'
import { factsOf, scope, valuesOf } from './values.ts'

const ownedCap = valuesOf('owned')
/** A few ids, so that some are saved twice. */
const approval = fc.tuple(valuesOf('approval'), fc.constantFrom('7d1f0c2a9b34', 'ffffffffffff')).map(([one, id]) => ({ ...one, id }))

/** A call that changes something; the same on both ledgers. */
type Step = (ledger: Ledger) => unknown

const saveFactStep = <K extends keyof LedgerFacts>(name: K): fc.Arbitrary<Step> =>
  fc.option(factsOf(name), { nil: undefined, freq: 4 }).map((value) => (ledger) => ledger.saveFact(name, value))

/** A step with any of some values. */
const doing = <T>(values: fc.Arbitrary<T>, act: (ledger: Ledger, value: T) => unknown): fc.Arbitrary<Step> =>
  values.map((value) => (ledger) => act(ledger, value))

const scopeKeys = fc.array(scope.map(scopeKey), { maxLength: 3 })
const ownership = fc.oneof(fc.constantFrom('released' as const, 'kept' as const), ownedCap)
const action: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: doing(fc.array(ownedCap, { maxLength: 4 }), (ledger, caps) => ledger.saveOwned(caps)), weight: 2 },
  { arbitrary: doing(scopeKeys, (ledger, keys) => ledger.releaseOwned(keys)), weight: 2 },
  doing(valuesOf('intent'), (ledger, one) => ledger.recordIntent(one)),
  doing(fc.tuple(fc.nat(), valuesOf('history'), ownership), async (ledger, [which, line, owned]) => {
    const open = ledger.openIntents()
    const closed = open[which % Math.max(1, open.length)]
    if (closed) await ledger.recordOutcome(closed, line, owned)
  }),
  doing(approval, (ledger, one) => ledger.saveApproval(one)),
  doing(valuesOf('quarantine'), (ledger, one) => ledger.saveQuarantined(one)),
  doing(scopeKeys, (ledger, keys) => ledger.releaseQuarantined(keys)),
  doing(fc.option(valuesOf('pause'), { nil: undefined }), (ledger, one) => ledger.savePause(one)),
  { arbitrary: useSteps, weight: 6 },
  fc.constantFrom(...FACT_NAMES).chain(saveFactStep),
)

/** The history of a ledger, read in several ways. */
const histories = async (ledger: Ledger) => ({
  all: await ledger.history(),
  some: await ledger.history({ sinceAt: 20, limit: 3 }),
  until: await ledger.history({ sinceAt: 5, untilAt: 20 }),
  ofTeam: await ledger.history({ scope: TEAM }),
})

/** Everything that a ledger can be asked. */
const contents = async (ledger: Ledger) => ({
  owned: ledger.owned(),
  intents: ledger.openIntents(),
  history: await histories(ledger),
  approvals: ledger.approvals(),
  quarantined: ledger.quarantined(),
  lately: ledger.writtenLately(TEAM, 20),
  wide: ledger
    .ancestorWrites(20)
    .map((entry) => JSON.stringify(entry))
    .toSorted(),
  paused: await ledger.pause(25),
  use: await useOf(ledger),
  facts: FACT_NAMES.map((name) => [name, ledger.fact(name)]),
})

const URL = 'https://a.example'

/** `place` returns the path or the address of a ledger that does not exist yet. */
export function modelContract(name: string, place: () => string | Promise<string>, numRuns: number): void {
  const steps = fc.array(fc.oneof({ weight: 6, arbitrary: action }, fc.constantFrom('reopen' as const, 'load' as const)), {
    maxLength: 25,
    size: 'max',
  })
  test(`after any actions, closed and opened again at any time, a ledger in ${name} is equal to plain maps`, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const file = await place()
        const clock = { ...realClock(), now: () => 60 }
        const open = () => openLedger({ file, mode: 'write', clock })
        const model = modelLedger()
        let store = await open()
        let ledger = await store.workspace('acme', URL)
        try {
          for (const step of all) {
            if (step === 'reopen') {
              await ledger.commit()
              await store.close()
              store = await open()
              ledger = await store.workspace('acme', URL)
            } else if (step === 'load') await ledger.load()
            else {
              expect(await step(ledger)).toEqual(await step(model))
              expect(await contents(ledger)).toEqual(await contents(model))
            }
          }
          await ledger.commit()
          await store.close()
          store = await open()
          expect(await contents(await store.workspace('acme', URL))).toEqual(await contents(model))
          expect((await store.check()).problems).toEqual([])
        } finally {
          await store.close()
        }
      }),
      { numRuns },
    )
  })
}
