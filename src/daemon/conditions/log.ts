// The log: one line per event, as JSON with a static message and fields, or as a sentence for a person, with fields only at debug. It is the only
// importer of pino. Every line passes the redactor last, so that no service key leaves in any message or error text.
import { pino } from 'pino'
import { plain, printable } from '../../core/escape/text.ts'
import type { Change, ChangeResult, Plan } from '../../core/model/change.ts'
import { type Condition, type ConditionType, kindOf, type Transition } from '../../core/model/condition.ts'
import type { CycleEvent, Emit } from '../../core/model/events.ts'
import { shortRevision } from '../../core/model/policy.ts'
import { formatPosition, type Problem } from '../../core/model/problem.ts'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { Clock } from '../../ports.ts'
import { problemTexts } from './findings.ts'

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Plain values only: an error object could carry a request and its key. Undefined fields are left out. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, number>> | undefined>
>

/** `sentence`: the line for a person; without it one is made from the message and the fields. */
type Log = (fields: LogFields, message: string, sentence?: () => string) => void

/** error: a person must act; warn: held, or a foreign change; info: something was written or changed state; debug: the rest. */
export interface Logger {
  readonly error: Log
  readonly warn: Log
  readonly info: Log
  readonly debug: Log
  /** Lines are sentences for a person at a terminal. */
  readonly forEyes?: boolean
}

export interface LoggerOptions {
  readonly level: LogLevel
  readonly format: 'json' | 'pretty'
  readonly clock: Clock
  /** Where lines go, one call a line; stderr of the process. */
  readonly destination: { write(text: string): unknown; readonly isTTY?: boolean }
  /** Removes the service keys from a text. */
  readonly redact: (text: string) => string
  /** Colours in `pretty`. Default: on a terminal. */
  readonly colour?: boolean
}

/** Makes a logger. Lines are `{"level":"info","time":"2026-11-20T12:00:00.000Z",…fields,"msg":"…"}`. Choice. */
export async function createLogger(options: LoggerOptions): Promise<Logger> {
  const { level, clock, destination, redact } = options
  const forEyes = options.format === 'pretty'
  const hidesFields = level !== 'debug' && level !== 'trace'
  const render = forEyes ? await prettyLine(options.colour ?? destination.isTTY === true, hidesFields) : (line: string) => line
  const lines = pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
    },
    { write: (line) => void destination.write(redact(render(line))) },
  )
  const log =
    (name: 'error' | 'warn' | 'info' | 'debug'): Log =>
    (fields, message, sentence) => {
      if (!lines.isLevelEnabled(name)) return
      const said = forEyes ? (sentence?.() ?? sentenceFrom(fields, message, hidesFields)) : message
      // Redacted before the line is made as well, because JSON escapes some characters of a key.
      lines[name](redactFields(fields, redact), redact(said))
    }
  return { error: log('error'), warn: log('warn'), info: log('info'), debug: log('debug'), forEyes }
}

/** The message with its error, its problems on lines of their own and, where fields are hidden, its other fields. */
function sentenceFrom({ error, problems, ...others }: LogFields, message: string, showsOthers: boolean): string {
  const because = error === undefined ? '' : `: ${plain(String(error))}`
  const rest = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${plain(textOf(value))}`]))
  const named = showsOthers && rest.length > 0 ? ` (${rest.join(', ')})` : ''
  const lines = Array.isArray(problems) ? problems.map((line) => `\n  ${printable(String(line))}`) : []
  return `${plain(message)}${because}${named}${lines.join('')}`
}

const textOf = (value: NonNullable<LogFields[string]>): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

function redactFields(fields: LogFields, redact: (text: string) => string): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value === 'string') return [redact(name), redact(value)]
      return [redact(name), Array.isArray(value) ? value.map((one) => redact(String(one))) : value]
    }),
  )
}

/** Loaded only when needed: in production it would only cost start-up time. */
async function prettyLine(colorize: boolean, hideObject: boolean): Promise<(line: string) => string> {
  const { default: pretty } = await import('pino-pretty')
  return pretty.prettyFactory({
    colorize,
    translateTime: 'SYS:HH:MM:ss',
    // With hidden objects, `singleLine` would leave out the end of the line.
    singleLine: !hideObject,
    hideObject,
    errorLikeObjectKeys: [],
    // Without brackets, to save columns.
    customPrettifiers: { time: (time) => String(time) },
  })
}

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
function logEvent(to: Logger, event: CycleEvent, plan?: Plan, naming: Naming = ALONE): void {
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

// Writes events as sentences for a person at a terminal: subject, event, aligned values. JSON or --log-level debug has all fields.

/** How scopes are named: groups by their last known name; workspaces only where there are several. */
interface Naming {
  readonly groups: ReadonlyMap<string, string>
  readonly showsWorkspace: boolean
}

type ConditionEvent = Of<'condition'>

type Of<Kind extends CycleEvent['kind']> = Extract<CycleEvent, { readonly kind: Kind }>

/** The least width of a subject, so that values are aligned; the usual line fits into 80 columns. Choice. */
const SUBJECT_WIDTH = 26
const VALUE_WIDTH = 4
const VERB_WIDTH = 9

/** `group Data: somebody else set 1000 → 2500; put back`. One line of printable text. */
function sentenceOf(event: CycleEvent, naming: Naming): string {
  const about = (scope: Scope): string => subject(nameOf(scope, naming.groups), event.workspace, naming)
  const here = naming.showsWorkspace ? `${event.workspace}: ` : ''
  switch (event.kind) {
    case 'policy-loaded':
      return plain(here + policyText(event))
    case 'request-finished':
      return plain(`${here}${event.operation} ${event.outcome} after ${Math.round(event.durationMs)} ms`)
    case 'rate-learned':
      return plain(`${here}learned a pace of ${Number(event.ratePerSecond.toFixed(2))} requests a second`)
    case 'usage-read':
      return plain(`${here}read ${event.roster ? `${event.roster.people.length} people, ` : ''}${event.groups.length} groups`)
    case 'planned':
      return plain(`${here}plan ${event.plan.id} has ${event.plan.changes.length} changes`)
    case 'change-finished':
      return plain(about(event.change.scope) + changeText(event))
    case 'condition': {
      const { scope, type } = event.condition
      return plain(scope && BY_SCOPE.has(type) ? about(scope) + scopeText(event) : here + conditionText(event))
    }
    case 'bug':
      return plain(`${here}${event.message}`)
    case 'cycle-finished':
      return plain(here + cycleText(event))
  }
}

/** A foreign change and its revert, as one line. */
const healedSentence = (scope: Scope, foreign: ConditionEvent, naming: Naming): string =>
  plain(`${subject(nameOf(scope, naming.groups), foreign.workspace, naming)}${foreignText(foreign.condition)}; put back`)

/** Conditions whose line begins with the scope. */
const BY_SCOPE: ReadonlySet<ConditionType> = new Set(['ForeignChange', 'Rejected', 'Quarantined'])

function scopeText({ change, condition }: ConditionEvent): string {
  if (change === 'ended') return kindOf(condition.type).ended ?? 'put back'
  if (condition.type === 'ForeignChange') return `${foreignText(condition)}; not put back yet`
  return `left alone: ${condition.message} (${condition.reason})`
}

/** A condition of a workspace, or of a part that is read. */
function conditionText({ change, condition }: ConditionEvent): string {
  const { type, subject, reason, message, fields } = condition
  const { guards, reason: pausedFor } = fields ?? {}
  if (type === 'Paused') return change === 'ended' ? `resumed; it was paused for: ${pausedFor}` : message
  if (guards !== undefined) return change === 'ended' ? `${subject} is gone` : `${subject} by ${[guards].flat().join(', ')}: ${message}`
  return change === 'ended' ? `${kindOf(type).ended} (${subject})` : `${message} (${reason})`
}

function subject(name: string, workspace: string, { showsWorkspace }: Naming): string {
  const text = `${showsWorkspace ? `${workspace} ` : ''}${name}:`
  return `${text.padEnd(SUBJECT_WIDTH - 1)} `
}

function nameOf(scope: Scope, groups: ReadonlyMap<string, string>): string {
  if (scope.kind === 'team') return 'team'
  return scope.kind === 'user' ? scope.email : `group ${groups.get(scope.id) ?? scope.id}`
}

const values = (from: unknown, to: unknown): string => `${String(from).padStart(VALUE_WIDTH)} → ${to}`

const foreignText = ({ fields }: Condition): string => `somebody else set ${fields?.['from']} → ${fields?.['to']}`

const DONE: Readonly<Record<Change['effect'], string>> = {
  set: 'set',
  raise: 'raised',
  lower: 'lowered',
  block: 'blocked',
  clear: 'cleared',
}

const WHY: Readonly<Record<Change['cause'], string>> = {
  policy: '',
  external: ', put back',
  expired: ', a grant ended',
  orphan: ', no longer declared',
}

function changeText({ change, result, error }: Of<'change-finished'>): string {
  const { from, to, effect, cause } = change
  const because = error === undefined ? '' : `: ${error}`
  const texts: Readonly<Record<ChangeResult, string>> = {
    applied: `${DONE[effect].padEnd(VERB_WIDTH)}${values(from, to)}${WHY[cause]}`,
    ambiguous: `${'sent'.padEnd(VERB_WIDTH)}${values(from, to)}, and whether it holds is not known${because}`,
    verify_failed: `${'sent'.padEnd(VERB_WIDTH)}${values(from, to)}, but another value was read back${because}`,
    failed: `${'failed'.padEnd(VERB_WIDTH)}${values(from, to)}${because}`,
  }
  return texts[result]
}

function policyText({ policy }: Of<'policy-loaded'>): string {
  const revision = policy.revision === '' ? '' : ` at ${shortRevision(policy.revision)}`
  const [first, ...more] = policy.problems
  const problems = first ? `: ${problemText(first)}${more.length > 0 ? ` (and ${more.length} more)` : ''}` : ''
  return `policies ${policy.digest}${revision} loaded${problems}`
}

const problemText = ({ at, message }: Problem): string => (at ? `${formatPosition(at)}: ${message}` : message)

const ENDINGS: Readonly<Record<Of<'cycle-finished'>['result'], string>> = {
  success: 'caps are as declared',
  noop: 'nothing to do',
  partial: 'done in part',
  held: 'the rest is held',
  error: 'failed',
}

function cycleText({ result, message, totalMs }: Of<'cycle-finished'>): string {
  const because = message === undefined ? '' : `: ${message}`
  return `cycle finished in ${(totalMs / 1_000).toFixed(1)} s, ${ENDINGS[result]}${because}`
}
