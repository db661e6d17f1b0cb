import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admit, ended, probing, retryDelayMs, spendRetry, startBackoff } from '../../../src/core/pace/backoff.ts'

type State = ReturnType<typeof startBackoff<string>>
type Admission = ReturnType<typeof admit<string>>

const READER = { operation: 'GetUsageConfig', keyId: 'key-1' }
const WRITER = { operation: 'UsageConfig', keyId: 'key-1' }

type Step = 'answered' | 'nothing' | 'failed' | 'denied'

/** Sends one request through if it is admitted, and tells how it went. */
function pass(state: State, step: Step, nowMs: number, asker = READER, roll = 1): { state: State; admission: Admission } {
  const admission = admit(state, asker, nowMs)
  if (admission.kind !== 'go' && admission.kind !== 'probe') return { state, admission }
  const underWay = admission.kind === 'probe' ? probing(state, asker) : state
  const ending: Parameters<typeof ended<string>>[3] =
    step === 'failed' || step === 'denied' ? { kind: step, failure: `${step} at ${nowMs}` } : { kind: step }
  return { state: ended(underWay, asker, admission.kind, ending, { nowMs, roll }), admission }
}

const passAll = (steps: readonly Step[], nowMs = 0, asker = READER): State =>
  steps.reduce((state, step) => pass(state, step, nowMs, asker).state, startBackoff<string>())

const outage = (): State => passAll(Array<Step>(10).fill('failed'))

describe('the circuit', () => {
  it('is not opened by the retries of a few bad requests among good ones', () => {
    const retried = { nowMs: 0, roll: 0, again: true }
    let state = passAll(Array<Step>(6).fill('failed'))
    for (let retry = 0; retry < 18; retry += 1) state = ended(state, READER, 'go', { kind: 'failed', failure: 'bad' }, retried)
    expect(admit(state, READER, 0)).toEqual({ kind: 'go' })
  })

  it('is not opened by refusals for the rate', () => {
    const state = passAll([...Array<Step>(9).fill('failed'), ...Array<Step>(50).fill('nothing')])
    expect(admit(state, READER, 0).kind).toBe('go')
    expect(admit(pass(state, 'failed', 0).state, READER, 0).kind).toBe('fail')
  })

  it('lets a single probe through, and makes the others wait for its outcome', () => {
    expect(admit(outage(), READER, 1_000).kind).toBe('probe')
    const during = probing(outage(), READER)
    expect(admit(during, READER, 1_000)).toEqual({ kind: 'wait' })
    expect(admit(during, WRITER, 1_000)).toEqual({ kind: 'wait' })
  })

  it('doubles the pause after each failed probe from 1 s up to 5 min', () => {
    let state = outage()
    const pauses: number[] = []
    let nowMs = 0
    for (let probe = 0; probe < 12; probe += 1) {
      let pauseMs = 0
      while (admit(state, READER, nowMs + pauseMs).kind === 'fail') pauseMs += 500
      pauses.push(pauseMs)
      nowMs += pauseMs
      state = pass(state, 'failed', nowMs).state
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map((seconds) => seconds * 1_000))
  })

  it('admits another probe when one was aborted or refused for the rate', () => {
    expect(admit(pass(outage(), 'nothing', 1_000).state, READER, 1_000).kind).toBe('probe')
  })

  it('is not pushed further away by requests that were under way when it opened', () => {
    const late = { nowMs: 900, roll: 1 }
    const state = ended(outage(), READER, 'go', { kind: 'failed', failure: 'late' }, late)
    expect(admit(state, READER, 1_000).kind).toBe('probe')
  })

  it('spreads probes over half of the pause by chance', () => {
    const nine = Array<Step>(9).fill('failed')
    const early = pass(passAll(nine), 'failed', 0, READER, 0).state
    expect(admit(early, READER, 499).kind).toBe('fail')
    expect(admit(early, READER, 500).kind).toBe('probe')
  })
})

describe('a refused key', () => {
  it('is probed after 30 s, doubling to 10 min', () => {
    let state = passAll(['denied'])
    let nowMs = 0
    for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
      expect(admit(state, READER, nowMs + seconds * 1_000 - 1).kind).toBe('fail')
      nowMs += seconds * 1_000
      expect(admit(state, READER, nowMs).kind).toBe('probe')
      state = pass(state, 'denied', nowMs).state
    }
  })

  it('is not delayed by requests that were under way when it was refused', () => {
    const late = { kind: 'denied', failure: 'late' } as const
    const state = ended(passAll(['denied']), READER, 'go', late, { nowMs: 20_000, roll: 1 })
    expect(admit(state, READER, 29_999)).toEqual({ kind: 'fail', failure: 'denied at 0' })
    expect(admit(state, READER, 30_000).kind).toBe('probe')
  })

  it('is forgotten as soon as the key changes', () => {
    expect(admit(passAll(['denied']), { ...READER, keyId: 'key-2' }, 1)).toEqual({ kind: 'go' })
  })

  it('that has worked is given up only after many refusals in a row, so that a few bad scopes do not stop the rest', () => {
    const most = Array<Step>(9).fill('denied')
    expect(admit(passAll(['answered', ...most, 'answered', ...most]), READER, 1).kind).toBe('go')
    expect(admit(passAll(['answered', ...most, 'denied']), READER, 1).kind).toBe('fail')
  })

  it('works again after one accepted probe', () => {
    expect(admit(pass(passAll(['denied']), 'answered', 30_000).state, READER, 30_001)).toEqual({ kind: 'go' })
  })
})

describe('the retry budget', () => {
  it('gives ten retries before anything has succeeded', () => {
    let state: State | undefined = startBackoff<string>()
    let spent = 0
    while (state) {
      state = spendRetry(state, 1)
      if (state) spent += 1
    }
    expect(spent).toBe(10)
  })

  it('grows by one with each success up to twenty', () => {
    expect(passAll(Array<Step>(5).fill('answered')).retryTokens).toBe(15)
    expect(passAll(Array<Step>(50).fill('answered')).retryTokens).toBe(20)
  })

  it('never gives a request more than its attempts', () => {
    expect(spendRetry(startBackoff(), 3)).toBeDefined()
    expect(spendRetry(startBackoff(), 4)).toBeUndefined()
  })

  it.each([
    ['the first retry waits up to half a second', 1, 500],
    ['the third up to two', 3, 2_000],
    ['no pause exceeds eight seconds', 20, 8_000],
  ])('%s', (_name, attempts, most) => {
    expect(retryDelayMs(attempts, 0)).toBe(most / 2)
    expect(retryDelayMs(attempts, 1)).toBe(most)
  })
})

describe('laws', () => {
  const steps = fc.array(fc.record({ step: fc.constantFrom<Step>('answered', 'nothing', 'failed', 'denied'), gapMs: fc.nat(700_000) }))

  it('some request is admitted ten minutes after anything', () => {
    fc.assert(
      fc.property(steps, (history) => {
        let state = startBackoff<string>()
        let nowMs = 0
        for (const { step, gapMs } of history) {
          nowMs += gapMs
          state = pass(state, step, nowMs).state
        }
        expect(['go', 'probe']).toContain(admit(state, READER, nowMs + 600_000).kind)
      }),
    )
  })

  it('one success opens everything, whatever happened before', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const state = passAll(history.map(({ step }) => step))
        const later = pass(state, 'answered', 700_000).state
        expect(admit(later, READER, 700_000)).toEqual({ kind: 'go' })
      }),
    )
  })
})
