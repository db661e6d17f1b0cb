// Parts of events: the people that an event concerns, how long it may act (never past the end of the storm), and shared actions.
import { type ScopeKey, scopeKey } from '../../../../src/core/model/scope.ts'
import type { Draw } from '../../../../src/sandbox/company/company.ts'
import { scope as scopeOf } from '../../../support/declare.ts'
import { emailOf } from '../../world/company.ts'
import type { Life } from '../life.ts'
import { drawCap, drawModel, editModel } from '../policy-edits.ts'
import type { ModelCap } from '../policy-model.ts'
import { oneOf } from '../scenario.ts'
import type { EventKind } from './kinds.ts'

/** The effect of some kinds of events. Details are drawn from the event's own stream. */
export type Acts = Readonly<Record<EventKind, (life: Life, draw: Draw) => void>>

export const someone = ({ company }: Life, draw: Draw): string => oneOf(draw, [...company.people.keys()]) ?? emailOf(0)

export const someGroup = ({ company }: Life, draw: Draw): string => oneOf(draw, [...company.groups.keys()]) ?? 'g0'

export function someScope(life: Life, draw: Draw): ScopeKey {
  const roll = draw()
  if (roll < 0.2) return scopeKey({ kind: 'team' })
  if (roll < 0.45) return scopeKey({ kind: 'group', id: someGroup(life, draw) })
  return scopeKey({ kind: 'user', email: someone(life, draw) })
}

/** Acts later, unless the storm is over by then. */
export function later(life: Life, ms: number, act: () => void): void {
  const atMs = life.elapsed() + ms
  if (life.scenario.rounds.some(({ fromMs, calmAtMs }) => fromMs <= atMs && atMs < calmAtMs)) life.clock.later(ms, act)
}

/** The rest of the storm in milliseconds. */
export function stormMs({ elapsed, scenario }: Life): number {
  const now = elapsed()
  return Math.max(0, (scenario.rounds.find(({ calmAtMs }) => now < calmAtMs)?.calmAtMs ?? now) - now - 1)
}

export function foreign(life: Life, scope: ScopeKey, drawn: ModelCap): void {
  const { capReads, zeroCap } = life.scenario.switches
  // A 0 that reads as unset under a set ancestor would prove that reads do not show inherited caps, and the program could not know better.
  const cap = drawn === 0 && capReads === 'inherited' && zeroCap === 'omitted' ? 1 : drawn
  life.service.write(scopeOf(scope), cap)
  life.note(`  another client sets ${scope} to ${cap}`)
}

export function holds(life: Life): readonly string[] {
  return (life.view()?.holds ?? []).map(({ id }) => id)
}

/** `capkeeper approve` for a hold that is shown. */
export function approve(life: Life, id: string): void {
  void life.withNotes(async (ledger) => {
    if (ledger.approvals().find((one) => one.id === id)?.state === 'pending') return
    ledger.saveApproval({ id, via: 'command', approvedAt: Math.floor(life.now() + life.wallOffsetMs), state: 'pending', released: [] })
    await ledger.commit()
    life.emit({ kind: 'approved', id })
    life.note(`  hold ${id} is approved`)
  })
}

/** A change to write, so that a crash may come between its steps. */
export function stir(life: Life, draw: Draw): void {
  if (draw() < 0.5) {
    editModel(life, draw)
    life.published()
  } else {
    const scopes = [someScope(life, draw), someScope(life, draw)]
    for (const scope of scopes) foreign(life, scope, drawCap(draw))
    life.emit({ kind: 'foreign', scopes })
    life.process?.daemon?.hurry()
  }
}

/** Acts as soon as a write is under way, within a minute. */
export function whenWriting(life: Life, act: () => void, tries = 240): void {
  later(life, 250, () => {
    if ((life.process?.ledger?.openIntents() ?? []).length > 0) act()
    else if (tries > 0) whenWriting(life, act, tries - 1)
  })
}

/** `capkeeper pause`. */
export function pause(life: Life, lengthMs: number): void {
  const now = Math.floor(life.now() + life.wallOffsetMs)
  void life.withNotes((ledger) => ledger.savePause({ untilAt: now + lengthMs, reason: 'looking', pausedAt: now }))
  life.note('  paused')
}

/** `capkeeper resume`. */
export function resume(life: Life): void {
  void life.withNotes((ledger) => ledger.savePause(undefined))
}

export function redraw(life: Life, draw: Draw): void {
  const { protectedPeople, approvals } = life.model
  life.model = { ...drawModel(life, draw), protectedPeople, approvals }
  life.published()
}

/** `spec.approvals` for a hold that is shown. */
export function approveInPolicy(life: Life, draw: Draw): void {
  const id = oneOf(draw, holds(life))
  if (id === undefined) return
  life.model.approvals.add(id)
  life.emit({ kind: 'approved', id })
  life.published()
}
