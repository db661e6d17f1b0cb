// Rules move somebody after two good readings of the roster that agree, and a roster in doubt moves nobody. What a reading says of a rule is
// worked out here from the rows as they were told; what is not told is not judged.
import type { CycleEvent } from '../../../src/core/model/events.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import type { ModelRule, Truth } from '../lives/policy-model.ts'
import { type Invariant, ownedAt } from '../steps.ts'
import { intentOf } from './looks.ts'
import { isDiskFull } from './people.ts'

type UsageRead = Extract<CycleEvent, { kind: 'usage-read' }>
type Row = NonNullable<UsageRead['roster']>['people'][number]

const DAY_MS = 86_400_000

/** One person's answer over the readings so far: what counts, and what the last reading said. */
interface Memory {
  /** Absent until two readings have agreed: what was read before the rule came may have settled it, the other way. */
  readonly counts?: boolean
  readonly last: boolean
}

const nameOf = (rule: ModelRule): string => JSON.stringify({ ...rule, cap: undefined })

/** `stale`: its group was not listed with this reading, which says nothing of it. */
function truthOf(rule: ModelRule, row: Row, { roster, groups }: UsageRead): Truth | 'stale' {
  const { starts = '', role, group, inactiveDays, joinedWithinDays, activeDays } = rule
  if (!row.email.startsWith(starts)) return false
  if (activeDays || inactiveDays !== undefined) return 'open'
  if (role !== undefined && row.role !== role) return row.role === undefined ? 'open' : false
  const members = groups.find(({ id }) => id === group)
  if (group !== undefined && !members) return 'open'
  if (members && roster && members.readAt < roster.readAt) return 'stale'
  if (members && group !== undefined && ![...members.emails].includes(row.email)) return false
  if (joinedWithinDays === undefined) return true
  return row.signedUpAt === undefined || !roster ? 'open' : (roster.readAt - row.signedUpAt) / DAY_MS <= joinedWithinDays
}

export const rulesAgree: Invariant = {
  name: 'a rule moves people after two good readings that agree',
  watch(scene, checker) {
    if (!scene.scenario.rules) return () => undefined
    // By rule and person; gone where the model cannot say.
    let memory = new Map<string, Map<string, Memory>>()
    let readAt = 0
    let rules = scene.policy().rules
    let sinceReadings = 0
    const learn = (event: UsageRead): void => {
      if (!event.roster || event.roster.readAt <= readAt) return
      readAt = event.roster.readAt
      sinceReadings += 1
      for (const rule of rules) {
        const before = memory.get(nameOf(rule)) ?? new Map<string, Memory>()
        const after = new Map<string, Memory>()
        for (const row of event.roster.people) {
          const truth = truthOf(rule, row, event)
          const was = before.get(row.email)
          if (truth === 'stale' && was) after.set(row.email, was)
          if (typeof truth === 'string') continue
          after.set(row.email, was?.last === truth ? { counts: truth, last: truth } : { ...was, last: truth })
        }
        memory.set(nameOf(rule), after)
      }
    }
    return (step) => {
      // What a process had read when it died, the next one may not know; what is read while the disk is full is not told; and a wall that moves,
      // as it does when things calm down, makes readings older or younger.
      const isJump = step.kind === 'world' && step.what === 'wall-jump'
      const isLost = ['died', 'approved', 'calm'].includes(step.kind) || isDiskFull(step) || isJump
      if (scene.policy().rules !== rules || isLost) {
        rules = scene.policy().rules
        if (isLost || JSON.stringify([...memory.keys()].sort()) !== JSON.stringify(rules.map(nameOf).sort())) {
          memory = new Map()
          sinceReadings = 0
        }
        if (step.kind === 'world' || step.kind === 'calm') readAt = 0
      }
      if (step.kind === 'told' && step.event.kind === 'usage-read') learn(step.event)
      const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
      if (intent?.entry.kind !== 'people' || intent.change.scope.kind !== 'user' || sinceReadings < 3) return
      const { scope, to } = intent.change
      // What a rule gave before is put back, and moves nobody: also while nobody knows of an earlier rule.
      if (ownedAt(scene, scopeKey(scope))?.cap === to) return
      const giving = rules.filter((rule) => rule.cap === to)
      const told = giving.map((rule) => memory.get(nameOf(rule))?.get(scope.email))
      if (giving.length === 0 || told.some((one) => one?.counts === undefined)) return
      checker.checked()
      if (!told.some((one) => one?.counts))
        checker.violated(`${scopeKey(scope)} gets the ${to} of a rule that holds by one reading at most: ${giving.map(nameOf).join()}`)
    }
  },
}
