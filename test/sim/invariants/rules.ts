// A rule changes caps after two good readings of the roster that agree, and never while the roster is in doubt. Whether a rule matches is
// computed here from the rows in events; a row that is in no event is not judged.
import type { CycleEvent } from '../../../src/core/model/events.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { isOfFile, type ModelRule, type Truth } from '../lives/policy-model.ts'
import { invariant, ownedAt } from '../steps.ts'
import { isDiskFull } from './people.ts'
import { intentOf } from './readings.ts'

type UsageRead = Extract<CycleEvent, { kind: 'usage-read' }>
type Row = NonNullable<UsageRead['roster']>['people'][number]

const DAY_MS = 86_400_000

/** Whether a rule matches one person, over the readings so far: the agreed answer, and that of the last reading. */
interface Memory {
  /** Absent until two readings have agreed: readings from before the rule existed may have decided the other way. */
  readonly counts?: boolean
  readonly last: boolean
}

const nameOf = (rule: ModelRule): string => JSON.stringify({ ...rule, cap: undefined })

/** `stale`: its group was not listed with this reading, so the answer is unknown. */
function truthOf(rule: ModelRule, row: Row, { roster, groups }: UsageRead): Truth | 'stale' {
  const { starts = '', role, group, inactiveDays, joinedWithinDays, activeDays } = rule
  if (!row.email.startsWith(starts)) return false
  if (activeDays || inactiveDays !== undefined || isOfFile(rule)) return 'open'
  if (role !== undefined && row.role !== role) return row.role === undefined ? 'open' : false
  const members = groups.find(({ id }) => id === group)
  if (group !== undefined && !members) return 'open'
  if (members && roster && members.readAt < roster.readAt) return 'stale'
  if (members && group !== undefined && ![...members.emails].includes(row.email)) return false
  if (joinedWithinDays === undefined) return true
  return row.signedUpAt === undefined || !roster ? 'open' : (roster.readAt - row.signedUpAt) / DAY_MS <= joinedWithinDays
}

export const rulesAgree = invariant('a rule changes caps only after two good readings that agree', (scene, checker) => {
  if (!scene.scenario.rules) return () => undefined
  // By rule and person; without an entry where the model cannot tell.
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
    // The next process may not know the last reading of one that died; with a full disk readings emit no events; and a jump of the wall
    // clock, as at the start of a calm time, makes readings older or younger.
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
    if (intent?.entry.kind !== 'rule' || intent.change.scope.kind !== 'user' || sinceReadings < 3) return
    const { scope, to } = intent.change
    // A restored cap of a rule changes nothing for the person, even if that rule no longer exists.
    if (ownedAt(scene, scopeKey(scope))?.cap === to) return
    const giving = rules.filter((rule) => rule.cap === to)
    const told = giving.map((rule) => memory.get(nameOf(rule))?.get(scope.email))
    if (giving.length === 0 || told.some((one) => one?.counts === undefined)) return
    checker.checked()
    if (!told.some((one) => one?.counts))
      checker.violated(`${scopeKey(scope)} gets the ${to} of a rule that holds by one reading at most: ${giving.map(nameOf).join()}`)
  }
})
