// A running workspace: its loop runs on a clock that the test moves, with a real sandbox.
import { expect, onTestFinished } from 'vitest'
import type { Approval } from '../../src/core/model/change.ts'
import type { PolicyStatus } from '../../src/core/model/events.ts'
import type { CycleReport } from '../../src/daemon/cycle/run.ts'
import { startLoop } from '../../src/daemon/schedule/loop.ts'
import { NOW, type PolicySketch } from './declare.ts'
import { instead, type Match } from './faults.ts'
import { createWorld, revisionOf, testWorld, type World, type WorldOptions } from './world.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND

export type Living = ReturnType<typeof live>

const statusOf = (valid: boolean): PolicyStatus => ({ valid, digest: 'd', revision: '', loadedAt: NOW, problems: [] })

/** A running loop. It stops with the test. */
export function live(one: World) {
  const stopping = new AbortController()
  const cut = new AbortController()
  const loop = startLoop(one.workspace, { stop: stopping.signal, cut: cut.signal })
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('stopped'))
    await one.clock.until(loop.done)
  }
  return {
    one,
    loop,
    stopping,
    cut,
    stop,
    /** A policy set was loaded. */
    set: (declared: PolicySketch, valid = true) => loop.setPolicy(valid ? revisionOf(declared) : undefined, statusOf(valid)),
  }
}

/** A workspace whose clock is ahead until it is corrected, running for a while under a policy. */
export function aheadBy(one: World, aheadMs: number) {
  const skew = { ms: aheadMs }
  one.workspace = { ...one.workspace, clock: { ...one.clock, now: () => one.clock.now() + skew.ms } }
  return {
    async live(declared: PolicySketch, lastsMs: number): Promise<void> {
      const life = live(one)
      life.set(declared)
      await one.clock.pass(lastsMs)
      await life.stop()
    },
    putRight(): void {
      skew.ms = 0
      one.restart()
    },
  }
}

export async function living(options: WorldOptions = {}): Promise<Living> {
  const one = await createWorld(options)
  const life = live(one)
  onTestFinished(async () => {
    life.set({})
    await life.stop()
    await one.close()
  })
  return life
}

/** A cycle after so long. */
export async function later(one: World, ms: number, ...given: Parameters<World['cycle']>): Promise<CycleReport> {
  await one.clock.pass(ms)
  return one.cycle(...given)
}

/** A world in which a first cycle has carried out this policy. */
export async function worldUnder(declared: PolicySketch, options?: WorldOptions): Promise<World> {
  const one = await testWorld(options)
  await one.cycle(declared)
  return one
}

/** A loop over a world under a policy; it stops with the test. */
export function loopOver(one: World, declared: PolicySketch): Living {
  const life = live(one)
  onTestFinished(life.stop)
  life.set(declared)
  return life
}

/** The same over a new world that a test has prepared. */
export async function loopUnder(declared: PolicySketch, options: WorldOptions, prepare: (one: World) => void = () => undefined) {
  const one = await testWorld(options)
  prepare(one)
  return loopOver(one, declared)
}

/** The next cycle, after so long, has nothing to write. */
export async function expectNothing(one: World, afterMs = 0): Promise<void> {
  one.forget()
  expect((await later(one, afterMs)).result).toBe('noop')
  expect(one.writes()).toEqual([])
}

/** p001 … by number. */
export const person = (number: number): string => `p${String(number).padStart(3, '0')}`
export const capsOf = (count: number, cap = 1000, from = 1): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [person(from + index), cap]))

/** As by a command. */
export const approve = (one: World, id = '', more: Partial<Approval> = {}): void =>
  one.ledger.saveApproval({ id, via: 'command', approvedAt: one.clock.now(), state: 'pending', released: [], ...more })

/** Lets time pass until a condition holds; returns how long that took. */
export async function passUntil(one: World, isTrue: () => boolean, mostMs: number, stepMs = 50): Promise<number> {
  const startedAt = one.clock.monotonic()
  while (!isTrue() && one.clock.monotonic() - startedAt < mostMs) await one.clock.pass(stepMs)
  return one.clock.monotonic() - startedAt
}

/** A service that refuses every connection, or those for requests that match, while `away.is`. */
export const outage = (away: { is: boolean; attempts?: number }, match: Match = () => true) =>
  instead((operation, body) => {
    if (!away.is || !match(operation, body)) return undefined
    away.attempts = (away.attempts ?? 0) + 1
    return { kind: 'network', message: 'connection refused' }
  })
