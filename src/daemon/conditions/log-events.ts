// The one fold from events to log lines. It decides only how loud an event is and which fields it carries: error when a person must act,
// warn when something is held or somebody else changed a cap, info when something was written or changed state, debug for the rest, so
// that a quiet cycle is one line.
import type { Plan, ScopeChange } from '../../core/model/change.ts'
import type { CycleEvent, Emit } from '../../core/model/events.ts'
import { formatPosition, type Problem } from '../../core/model/problem.ts'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { LogFields, Logger } from './log.ts'
import { healedSentence, type Naming, sentenceOf } from './log-sentences.ts'

type Foreign = Extract<CycleEvent, { readonly kind: 'foreign-change' }>

/**
 * Takes events and writes their lines; remembers each workspace's plan, so that a write can be told from which plan it came. For eyes, a
 * foreign change waits for the end of its cycle, to be told in one line with what was done about it.
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
  const foreign = new Map<string, Foreign>()
  const keyOf = ({ workspace }: CycleEvent, scope: Scope): string => `${workspace}\n${scopeKey(scope)}`
  const tell = (event: CycleEvent): void => logEvent(logger, event, plans.get(event.workspace), naming)
  return (event) => {
    workspaces.add(event.workspace)
    if (event.kind === 'planned') plans.set(event.workspace, event.plan)
    if (event.kind === 'usage-read') for (const { id, name } of event.groups) groups.set(id, name)
    if (logger.forEyes && event.kind === 'foreign-change') {
      foreign.set(keyOf(event, event.scope), event)
      return
    }
    if (event.kind === 'change-finished' && event.result === 'applied') {
      const key = keyOf(event, event.change.scope)
      const cause = foreign.get(key)
      foreign.delete(key)
      if (cause) {
        const fields = {
          workspace: event.workspace,
          ...changeFields(event.change),
          result: event.result,
          ...planFields(plans.get(event.workspace)),
        }
        logger.warn(fields, 'somebody else changed a cap', () => healedSentence(cause, naming))
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

/** Writes the line of one event; `plan` is the plan that it belongs to. */
export function logEvent(to: Logger, event: CycleEvent, plan?: Plan, naming: Naming = ALONE): void {
  const logger = saying(to, () => sentenceOf(event, naming))
  const about: LogFields = { workspace: event.workspace }
  switch (event.kind) {
    case 'policy-loaded': {
      const fields = { ...about, digest: event.policy.digest, revision: event.policy.revision, ...problemFields(event.policy.problems) }
      if (event.policy.valid) logger.info(fields, 'policy loaded')
      else logger.error(fields, 'policy is invalid, the last good one stays in force')
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
    case 'foreign-change':
      logger.warn(
        { ...about, scope: scopeKey(event.scope), from: event.verified, to: event.observed, ...planFields(plan) },
        'somebody else changed a cap',
      )
      return
    case 'held':
      logger.warn({ ...about, ...planFields(plan), ...holdFields(event.hold) }, 'changes are held')
      return
    case 'hold-released':
      logger.info({ ...about, hold: event.id }, 'hold is gone')
      return
    case 'rejected':
      logger.error({ ...about, scope: scopeKey(event.scope), code: event.code, error: event.message }, 'scope is rejected and left alone')
      return
    case 'warning':
      logger.warn({ ...about, code: event.code, error: event.message }, 'warning')
      return
    case 'paused':
      logger.info({ ...about, until: instant(event.pause.untilAt), reason: event.pause.reason }, 'paused, nothing is written')
      return
    case 'resumed':
      logger.info({ ...about, reason: event.pause.reason }, 'resumed')
      return
    case 'cycle-finished':
      logCycle(logger, event, plan)
  }
}

/** The same logger, with a sentence for every line. */
const saying = ({ error, warn, info, debug }: Logger, sentence: () => string): Logger => ({
  error: (fields, message) => error(fields, message, sentence),
  warn: (fields, message) => warn(fields, message, sentence),
  info: (fields, message) => info(fields, message, sentence),
  debug: (fields, message) => debug(fields, message, sentence),
})

function logChange(logger: Logger, event: Extract<CycleEvent, { kind: 'change-finished' }>, plan: Plan | undefined): void {
  const { change, result, error } = event
  const fields = { workspace: event.workspace, ...changeFields(change), result, error, ...planFields(plan) }
  switch (result) {
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
  if (result === 'error') logger.error({ ...fields, error: event.message }, 'cycle failed')
  else if (result === 'partial') logger.warn({ ...fields, error: event.message }, 'cycle finished in part')
  // The hold itself was a warning when it appeared; a cycle that finds it again is a quiet one.
  else logger.info(fields, 'cycle finished')
}

const changeFields = (change: ScopeChange): LogFields => ({
  scope: scopeKey(change.scope),
  effect: change.effect,
  from: change.from,
  to: change.to,
  cause: change.cause,
  people: change.people,
  source: change.source && formatPosition(change.source),
  reason: change.reason,
})

const holdFields = (hold: Extract<CycleEvent, { kind: 'held' }>['hold']): LogFields => ({
  hold: hold.id,
  guards: hold.guards,
  people: hold.people,
  changes: hold.changes.length,
  error: hold.message,
})

const planFields = (plan: Plan | undefined): LogFields =>
  plan === undefined ? {} : { plan: plan.id, digest: plan.policyDigest, revision: plan.revision }

/** More than this many problems are counted, not listed: a line must stay readable. */
const MOST_PROBLEMS = 20

function problemFields(problems: readonly Problem[]): LogFields {
  if (problems.length === 0) return {}
  const texts = problems.slice(0, MOST_PROBLEMS).map((one) => (one.at ? `${formatPosition(one.at)}: ${one.message}` : one.message))
  return { problems: texts, problemCount: problems.length }
}

const rounded = (ms: number): number => Math.round(ms)

const instant = (at: number): string => new Date(at).toISOString()
