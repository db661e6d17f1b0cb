// Sweeps that take longer than the interval are read in slices: foreign changes are reverted within the interval, and no scope waits too long.

import { expect, test } from 'vitest'
import { EVERYBODY } from '../../../src/daemon/http/auth.ts'
import { libraryOver } from '../../support/documents.ts'
import { capsOf, type Living, live, MINUTE, SECOND } from '../../support/living.ts'
import { createWorld, type World } from '../../support/world.ts'

const PEOPLE = 100
/** 40 readings a slice. */
const SLICE_MS = 50 * SECOND
const SWEEP_MS = 100 * SECOND

async function slowly(body: (one: World, life: Living) => Promise<void>): Promise<void> {
  const one = await createWorld({ people: PEOPLE, rate: 1, config: { intervalMs: SLICE_MS, usageIntervalMs: 30 * MINUTE } })
  one.workspace = { ...one.workspace, ratePerSecond: () => 1 }
  const life = live(one)
  try {
    life.set({ caps: capsOf(PEOPLE) })
    await one.clock.pass(9 * MINUTE)
    expect(one.caps()).toEqual(capsOf(PEOPLE))
    one.forget()
    await body(one, life)
  } finally {
    await life.stop()
    await one.close()
  }
}

test('every scope is read within little more than one plain sweep, and each cycle ends within its interval', () =>
  slowly(async (one) => {
    await one.clock.pass(10 * MINUTE)
    const cycles = one.told('cycle-finished')
    expect(cycles.length).toBeGreaterThanOrEqual(10)
    expect(cycles.every(({ totalMs, result }) => totalMs <= SLICE_MS && result === 'noop')).toBe(true)
    const reads = one.reads()
    expect(new Set(reads).size).toBe(PEOPLE + 1)
    const most = Math.ceil(((1.1 * SWEEP_MS) / 0.8 + SLICE_MS) / SLICE_MS) * 40
    for (const name of new Set(reads)) {
      const places = reads.flatMap((read, at) => (read === name ? [at] : []))
      const gaps = places.slice(1).map((at, index) => at - (places[index] ?? 0))
      expect(Math.max(0, ...gaps), name).toBeLessThanOrEqual(most)
    }
    expect(one.writes()).toEqual([])
  }))

test('a foreign change is put back in the cycle that reads it', () =>
  slowly(async (one) => {
    one.foreign('p050', 9000)
    await one.clock.pass(4 * MINUTE)
    expect(one.caps()).toEqual(capsOf(PEOPLE))
    expect(one.writes()).toEqual(['p050 1000'])
    const [found] = one.begun('ForeignChange')
    const unseen = found?.fields?.['unseenSeconds']
    expect(unseen).toBeGreaterThan(10)
    expect(unseen).toBeLessThan(4 * 60)
  }))

test('a person with a foreign change is read in every slice for a day', () =>
  slowly(async (one) => {
    one.foreign('p050', 9000)
    await one.clock.pass(4 * MINUTE)
    one.forget()
    await one.clock.pass(10 * MINUTE)
    const often = one.reads().filter((name) => name === 'p050').length
    expect(often).toBeGreaterThanOrEqual(10)
    expect(one.reads().filter((name) => name === 'p051').length).toBeLessThanOrEqual(6)
  }))

test('documents say when a scope is read next, which is soon where there is a sign that its cap is wrong', () =>
  slowly(async (one) => {
    one.foreign('p050', 9000)
    await one.clock.pass(4 * MINUTE)
    const library = libraryOver(() => one)
    const inSeconds = async (name: string) => {
      const { at, nextReadingAt = '' } = await library.for(EVERYBODY).person('acme', `${name}@example.com`)
      return (Date.parse(nextReadingAt) - Date.parse(at)) / SECOND
    }
    expect(await inSeconds('p050')).toBeLessThanOrEqual(SLICE_MS / SECOND)
    expect(await inSeconds('p052')).toBeGreaterThan(SLICE_MS / SECOND)
  }))

test('an edit in the middle of a slice is written at once, and the slice goes on', () =>
  slowly(async (one, life) => {
    await one.clock.pass(5 * SECOND)
    life.set({ caps: { ...capsOf(PEOPLE), p077: 1200 } })
    await one.clock.pass(8 * SECOND)
    expect(one.caps()['p077']).toBe(1200)
    await one.clock.pass(5 * MINUTE)
    expect(one.told('cycle-finished').every(({ result }) => result === 'noop' || result === 'success')).toBe(true)
  }))

test('caps that keep people above a lowered team cap are read again first, where their readings are older than the interval', () =>
  slowly(async (one, life) => {
    const caps = { ...capsOf(PEOPLE), team: 1000 }
    life.set({ caps })
    await one.clock.pass(4 * MINUTE)
    one.forget()
    for (let waited = 0; waited < 300 && !one.reads().includes('p050'); waited += 1) await one.clock.pass(SECOND)
    one.foreign('p050', undefined)
    await one.clock.pass(SLICE_MS + 5 * SECOND)
    expect(one.caps()).not.toHaveProperty('p050')
    life.set({ caps: { ...caps, team: 200 } })
    for (let waited = 0; waited < 600 && one.caps()['team'] !== 200; waited += 1) {
      await one.clock.pass(SECOND)
      expect(one.inForce()['p050']).toBe(1000)
    }
    expect(one.caps()).toMatchObject({ team: 200, p050: 1000 })
  }))
