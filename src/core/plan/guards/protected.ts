// Holds every change that would lower, block or clear a person on the policy's list of protected people.
import { editLine } from '../../escape/shell.ts'
import type { CountedPerson } from '../../interpret/effective.ts'
import { type ScopeKey, scopeKey, userScope } from '../../model/scope.ts'
import { type Impact, impactOn, isFree } from '../impact.ts'
import { type Guard, mayHold, type Round } from './round.ts'

/** People whom the message names. */
const NAMED = 3

export const protectedGuard: Guard = (round) => {
  const { facts, settings } = round.inputs
  if (!settings.protected || facts.protectedPeople.size === 0) return undefined
  const isHeld = (key: ScopeKey): boolean => mayHold(key, round, 'protected')
  const judged = impactOnProtected(round).filter(({ effect, changes }) => !isFree(effect) && changes.some(isHeld))
  if (judged.length === 0) return undefined
  const held = new Set(judged.flatMap((one) => one.changes).filter(isHeld))
  const who = judged.map((one) => one.person.email)
  const named = who.length > NAMED ? `${who.slice(0, NAMED).join(', ')} and ${who.length - NAMED} more` : who.join(', ')
  const why = `${named} ${who.length === 1 ? 'is' : 'are'} protected and would be ${judged.map((one) => one.effect)[0]}`
  return { guard: 'protected', held: [...held], why, edits: who.slice(0, NAMED).map((email) => editLine('remove', `protect:${email}`)) }
}

/**
 * Protected people are compared with their present cap, not with the start of an interrupted plan, and also while their access is disabled.
 * Only a person whose cap we have overwritten ourselves is compared with the start.
 */
function impactOnProtected({ inputs, active }: Round): readonly Impact[] {
  const { baseline: _, ...present } = inputs.impact
  const emails = [...inputs.facts.protectedPeople].sort()
  const listed = emails.flatMap((email) => present.people.byKey.get(scopeKey(userScope(email))) ?? [])
  const isOverwritten = ({ key }: CountedPerson): boolean => present.isOverwritten?.(key) === true
  const untouched = listed.filter((one) => !isOverwritten(one))
  return [...impactOn(listed.filter(isOverwritten), active, inputs.impact), ...impactOn(untouched, active, present)]
}
