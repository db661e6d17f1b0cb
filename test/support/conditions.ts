// What a workspace told of its conditions, out of its events.
import { CONDITIONS, type Condition, type ConditionType, kindOf } from '../../src/core/model/condition.ts'
import type { CycleEvent } from '../../src/core/model/events.ts'

/** All since the events were forgotten. */
export interface ToldConditions {
  /** Of these types, those that began or became another. */
  begun(...types: readonly ConditionType[]): readonly Condition[]
  /** Of these types, those that ended. */
  ended(...types: readonly ConditionType[]): readonly Condition[]
  /** The reasons of those that began and show in no plan and no outcome. */
  warned(): readonly string[]
}

const ALL = Object.keys(CONDITIONS) as ConditionType[]
const WARNINGS = ALL.filter((type) => !kindOf(type).hasOwnPlace && !kindOf(type).explains?.includes('CycleFailed'))

export function toldConditions(events: readonly CycleEvent[]): ToldConditions {
  const of = (types: readonly ConditionType[], hasEnded: boolean): readonly Condition[] =>
    events.flatMap((event): readonly Condition[] => {
      const isOne = event.kind === 'condition' && types.includes(event.condition.type) && (event.change === 'ended') === hasEnded
      return isOne ? [event.condition] : []
    })
  return {
    begun: (...types) => of(types, false),
    ended: (...types) => of(types, true),
    warned: () => of(WARNINGS, false).map(({ reason }) => reason),
  }
}
