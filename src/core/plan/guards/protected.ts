// Holds whatever would lower, block or clear somebody on the policy's list of protected people.
import type { CountedPerson } from '../../interpret/effective.ts'
import { scopeKey, userScope } from '../../model/scope.ts'
import { type Impact, impactOn, isFree } from '../impact.ts'
import { type Guard, mayHold, type Round } from './round.ts'

export const protectedGuard: Guard = (round) => {
  const { facts, settings } = round.inputs
  if (!settings.protected || facts.protectedPeople.size === 0) return undefined
  const hit = impactOnProtected(round).filter((one) => !isFree(one.effect))
  const judged = hit.filter((one) => one.changes.some((key) => mayHold(key, round, 'protected')))
  if (judged.length === 0) return undefined
  const held = new Set(judged.flatMap((one) => one.changes).filter((key) => mayHold(key, round, 'protected')))
  const who = judged.map((one) => one.person.email)
  const named = who.length > 3 ? `${who.slice(0, 3).join(', ')} and ${who.length - 3} more` : who.join(', ')
  const why = `${named} ${who.length === 1 ? 'is' : 'are'} protected and would be ${judged.map((one) => one.effect)[0]}`
  return { guard: 'protected', held: [...held], why }
}

/**
 * Protected people count from what is there now, wherever an interrupted plan began, and also while their access is switched off. Only
 * whose cap we have overwritten ourselves counts from before that.
 */
function impactOnProtected({ inputs, active }: Round): readonly Impact[] {
  const { baseline: _, ...present } = inputs.impact
  const emails = [...inputs.facts.protectedPeople].sort()
  const listed = emails.flatMap((email) => present.people.byKey.get(scopeKey(userScope(email))) ?? [])
  const isOverwritten = ({ key }: CountedPerson): boolean => present.isOverwritten?.(key) === true
  return [
    ...impactOn(listed.filter(isOverwritten), active, inputs.impact),
    ...impactOn(
      listed.filter((one) => !isOverwritten(one)),
      active,
      present,
    ),
  ]
}
