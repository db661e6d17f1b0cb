// Writes events as log lines, and decides only their level and fields: a condition has the level of its severity, writes and ends are info, the
// rest is debug. So a quiet cycle is one line, and a long outage one line at its begin and one at its end.
import type { Plan } from '../../core/model/change.ts'
import { kindOf, type Transition } from '../../core/model/condition.ts'
import type { CycleEvent, Emit } from '../../core/model/events.ts'
import { formatPosition, type Problem } from '../../core/model/problem.ts'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import { problemTexts } from './findings.ts'
import type { LogFields, Logger } from './log.ts'
import { type ConditionEvent, healedSentence, type Naming, sentenceOf } from './log-sentences.ts'

/**
 * Writes the lines of events. It remembers the plan of each workspace, to name it in the lines of its writes. In sentences for a person, a
 * foreign change waits for the end of its cycle, so that one line tells it with its revert.
 */
export function eventLog(logger: Logger): Emit {
  const plans = new Map<string, Plan>()
  const groups = new Map<string, string>()
  const workspaces = new Set<string>()
  const naming: Naming = {
    groups,
    get showsWorkspace() {
      return workspaces.size > 1
    },
  }
  const foreign = new Map<string, ConditionEvent>()
  const keyOf = ({ workspace }: CycleEvent, scope: Scope): string => `${workspace}\n${scopeKey(scope)}`
  const tell = (event: CycleEvent): void => logEvent(logger, event, plans.get(event.workspace), naming)
  return (event) => {
    workspaces.add(event.workspace)
    if (event.kind === 'planned') plans.set(event.workspace, event.plan)
    if (event.kind === 'usage-read') for (const { id, name } of event.groups) groups.set(id, name)
    if (logger.forEyes && event.kind === 'condition' && event.condition.type === 'ForeignChange') {
      const { change, condition } = event
      if (change !== 'ended' && condition.scope) foreign.set(keyOf(event, condition.scope), event)
      return
    }
    if (event.kind === 'change-finished' && event.result === 'applied') {
      const key = keyOf(event, event.change.scope)
      const cause = foreign.get(key)
      foreign.delete(key)
      if (cause) {
        logger.warn(changeFields(event, plans.get(event.workspace)), 'somebody else changed a cap', () =>
          healedSentence(event.change.scope, cause, naming),
        )
        return
      }
    }
    if (event.kind === 'cycle-finished') {
      for (const [key, one] of foreign) {
        if (one.workspace !== event.workspace) continue
        foreign.delete(key)
        tell(one)
      }
    }
    tell(event)
  }
}

const ALONE: Naming = { groups: new Map(), showsWorkspace: false }

/** Writes the line of one event; `plan`: the plan that it belongs to. */
export function logEvent(to: Logger, event: CycleEvent, plan?: Plan, naming: Naming = ALONE): void {
  const logger = saying(to, () => sentenceOf(event, naming))
  const about: LogFields = { workspace: event.workspace }
  switch (event.kind) {
    case 'policy-loaded': {
      const fields = { ...about, digest: event.policy.digest, revision: event.policy.revision, ...problemFields(event.policy.problems) }
      if (event.policy.valid) logger.info(fields, 'policy loaded')
      return
    }
    case 'request-finished':
      logger.debug(
        { ...about, operation: event.operation, outcome: event.outcome, durationMs: rounded(event.durationMs) },
        'request finished',
      )
      return
    case 'rate-learned':
      logger.debug({ ...about, ratePerSecond: event.ratePerSecond }, 'request rate learned')
      return
    case 'usage-read':
      logger.debug(
        { ...about, people: event.roster?.people.length, groups: event.groups.length, balance: event.balance !== undefined },
        'usage read',
      )
      return
    case 'planned':
      logger.debug({ ...about, ...planFields(event.plan), counts: { ...event.plan.counts } }, 'planned')
      return
    case 'change-finished':
      logChange(logger, event, plan)
      return
    case 'condition':
      logTransition(logger, event, { ...about, ...planFields(plan) })
      return
    case 'bug':
      logger.error({ ...about, code: 'BUG', error: event.message }, 'a mistake of capkeeper')
      return
    case 'cycle-finished':
      logCycle(logger, event, plan)
  }
}

/** Writes the line of a condition that began, changed or ended. */
export function logTransition(logger: Logger, { change, condition }: Transition, about: LogFields = {}): void {
  const { type, subject, reason, message, scope, fields, since } = condition
  const { severity, begun, ended } = kindOf(type)
  const named = { ...about, condition: type, subject, code: reason, ...(scope && { scope: scopeKey(scope) }), ...fields }
  if (change !== 'ended') logger[severity]({ ...named, error: message }, begun)
  else if (ended !== undefined) logger.info({ ...named, since: instant(since) }, ended)
}

/** The same logger, with a sentence for every line. */
const saying = ({ error, warn, info, debug }: Logger, sentence: () => string): Logger => ({
  error: (fields, message) => error(fields, message, sentence),
  warn: (fields, message) => warn(fields, message, sentence),
  info: (fields, message) => info(fields, message, sentence),
  debug: (fields, message) => debug(fields, message, sentence),
})

type ChangeFinished = Extract<CycleEvent, { kind: 'change-finished' }>

function logChange(logger: Logger, event: ChangeFinished, plan: Plan | undefined): void {
  const fields = changeFields(event, plan)
  switch (event.result) {
    case 'applied':
      logger.info(fields, 'cap written')
      return
    case 'ambiguous':
      logger.warn(fields, 'cap written, and not known whether it holds')
      return
    case 'verify_failed':
      logger.warn(fields, 'cap written, and another value was read back')
      return
    case 'failed':
      logger.error(fields, 'cap could not be written')
  }
}

function logCycle(logger: Logger, event: Extract<CycleEvent, { kind: 'cycle-finished' }>, plan: Plan | undefined): void {
  const { workspace, result } = event
  const times = { observeMs: rounded(event.observeMs), applyMs: rounded(event.applyMs), totalMs: rounded(event.totalMs) }
  const fields = { workspace, result, ...planFields(plan), ...times }
  // Conditions tell a failure once, so later cycles with the same failure are quiet.
  if (result === 'error') logger.debug({ ...fields, error: event.message }, 'cycle failed')
  else if (result === 'partial') logger.debug({ ...fields, error: event.message }, 'cycle finished in part')
  else logger.info(fields, 'cycle finished')
}

const changeFields = ({ workspace, change, result, error }: ChangeFinished, plan: Plan | undefined): LogFields => ({
  workspace,
  scope: scopeKey(change.scope),
  effect: change.effect,
  from: change.from,
  to: change.to,
  cause: change.cause,
  people: change.people,
  source: change.source && formatPosition(change.source),
  reason: change.reason,
  result,
  error,
  ...planFields(plan),
})

const planFields = (plan: Plan | undefined): LogFields =>
  plan === undefined ? {} : { plan: plan.id, digest: plan.policyDigest, revision: plan.revision }

const problemFields = (problems: readonly Problem[]): LogFields =>
  problems.length === 0 ? {} : { problems: problemTexts(problems), problemCount: problems.length }

const rounded = (ms: number): number => Math.round(ms)

const instant = (at: number): string => new Date(at).toISOString()
