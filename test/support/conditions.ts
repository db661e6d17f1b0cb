// The conditions of a workspace, from its events.
import { CONDITIONS, type Condition, type ConditionType, kindOf } from '../../src/core/model/condition.ts'
import type { CycleEvent } from '../../src/core/model/events.ts'

/** All conditions since the events were forgotten. */
export interface ToldConditions {
  /** Conditions of these types that began or changed. */
  begun(...types: readonly ConditionType[]): readonly Condition[]
  /** Conditions of these types that ended. */
  ended(...types: readonly ConditionType[]): readonly Condition[]
  /** The reasons of conditions that began and are in no plan and no outcome. */
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
