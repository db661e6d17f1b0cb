// The log: one line per event, as JSON with a static message and fields, or as a sentence for a person, with fields only at debug. It is the only
// importer of pino. Every line passes the redactor last, so that no service key leaves in any message or error text.
import { pino } from 'pino'
import { plain, printable } from '../../core/escape/text.ts'
import { type Change, type ChangeResult, DONE, type Plan } from '../../core/model/change.ts'
import { type Condition, type ConditionType, kindOf, type Transition } from '../../core/model/condition.ts'
import type { CycleEvent, Emit, EventOf } from '../../core/model/events.ts'
import { shortRevision } from '../../core/model/policy.ts'
import { formatPosition, type Problem } from '../../core/model/problem.ts'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { Clock } from '../../ports.ts'
import { firstProblem, instant, problemTexts } from './findings.ts'

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Plain values only: an error object could carry a request and its key. Undefined fields are left out. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, number>> | undefined>
>

/** `sentence`: the line for a person; without it one is made from the message and the fields. */
type Log = (fields: LogFields, message: string, sentence?: () => string) => void

/** error: a person must act; warn: held, or a foreign change; info: something was written or changed state; debug: the rest. */
type Level = 'error' | 'warn' | 'info' | 'debug'

/** `forEyes`: lines are sentences for a person at a terminal. */
export type Logger = Readonly<Record<Level, Log>> & { readonly forEyes?: boolean }

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
    (name: Level): Log =>
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
 * Writes the lines of events. It remembers the plan of each workspace, to name it in the lines of its writes, and the names of groups. For eyes,
 * a foreign change waits for the end of its cycle, so that one line tells it with its revert.
 */
export function eventLog(logger: Logger): Emit {
  const plans = new Map<string, Plan>()
  const groups = new Map<string, string>()
  const workspaces = new Set<string>()
  const foreign = new Map<string, EventOf<'condition'>>()
  const tell = (event: CycleEvent, line = lineOf(event, plans.get(event.workspace))): void => {
    if (!line) return
    const { workspace } = event
    const { level, fields, message, about, says } = line
    logger[level]({ workspace, ...fields }, message, () => {
      const name = workspaces.size > 1 ? workspace : undefined
      return plain((about ? subject(nameOf(about, groups), name) : name === undefined ? '' : `${name}: `) + says())
    })
  }
  return (event) => {
    const { workspace } = event
    workspaces.add(workspace)
    if (event.kind === 'planned') plans.set(workspace, event.plan)
    if (event.kind === 'usage-read') for (const { id, name } of event.groups) groups.set(id, name)
    if (logger.forEyes && event.kind === 'condition' && event.condition.type === 'ForeignChange') {
      if (event.change !== 'ended') foreign.set(`${workspace}\n${event.condition.subject}`, event)
      return
    }
    if (event.kind === 'change-finished' && event.result === 'applied') {
      const about = event.change.scope
      const key = `${workspace}\n${scopeKey(about)}`
      const cause = foreign.get(key)
      foreign.delete(key)
      const fields = changeFields(event, plans.get(workspace))
      const says = (): string => `${foreignText(cause?.condition)}; put back`
      return tell(event, cause && { level: 'warn', message: 'somebody else changed a cap', fields, says, about })
    }
    if (event.kind === 'cycle-finished') for (const [key, one] of foreign) if (one.workspace === workspace && foreign.delete(key)) tell(one)
    tell(event)
  }
}

/** One line of the log. */
interface Line {
  readonly level: Level
  readonly message: string
  readonly fields: LogFields
  /** What it says to a person: subject, event, aligned values. JSON or --log-level debug has all fields. */
  readonly says: () => string
  /** The scope with which the sentence begins; absent: it is about the workspace. */
  readonly about?: Scope
}

/** The line of one event; `plan`: the plan that it belongs to. */
function lineOf(event: CycleEvent, plan: Plan | undefined): Line | undefined {
  switch (event.kind) {
    case 'policy-loaded': {
      const { digest, revision, problems, valid } = event.policy
      const fields = { digest, revision, ...problemFields(problems) }
      return valid ? { level: 'info', message: 'policy loaded', fields, says: () => policyText(event) } : undefined
    }
    case 'request-finished': {
      const { operation, outcome } = event
      const fields = { operation, outcome, durationMs: Math.round(event.durationMs) }
      const says = (): string => `${operation} ${outcome} after ${fields.durationMs} ms`
      return { level: 'debug', message: 'request finished', fields, says }
    }
    case 'change-finished': {
      const [level, message] = CHANGE_LINES[event.result]
      return { level, message, fields: changeFields(event, plan), says: () => changeText(event), about: event.change.scope }
    }
    case 'condition':
      return transitionLine(event, plan, BY_SCOPE.has(event.condition.type) ? event.condition.scope : undefined)
    case 'bug':
      return { level: 'error', message: 'a mistake of capkeeper', fields: { code: 'BUG', error: event.message }, says: () => event.message }
    case 'cycle-finished': {
      const { result, message: error } = event
      const [observeMs, applyMs, totalMs] = [event.observeMs, event.applyMs, event.totalMs].map(Math.round)
      const fields = { result, ...planFields(plan), observeMs, applyMs, totalMs }
      const says = (): string => cycleText(event)
      // Conditions tell a failure once, so later cycles with the same failure are quiet.
      if (result === 'error') return { level: 'debug', message: 'cycle failed', fields: { ...fields, error }, says }
      if (result === 'partial') return { level: 'debug', message: 'cycle finished in part', fields: { ...fields, error }, says }
      return { level: 'info', message: 'cycle finished', fields, says }
    }
    default:
      return undefined
  }
}

/** The line of a condition that began, changed or ended. Undefined where another line reports its end. */
function transitionLine({ change, condition }: Transition, plan: Plan | undefined, about?: Scope): Line | undefined {
  const { type, subject, reason, message, scope, since } = condition
  const { severity, begun, ended } = kindOf(type)
  const named = { condition: type, subject, code: reason, ...(scope && { scope: scopeKey(scope) }), ...condition.fields }
  const fields = { ...planFields(plan), ...named }
  const says = (): string => (about ? scopeText : conditionText)({ change, condition })
  if (change !== 'ended') return { level: severity, message: begun, fields: { ...fields, error: message }, says, about }
  // What was wrong was told when it began.
  const over = { ...fields, problems: undefined, problemCount: undefined, since: instant(since) }
  return ended === undefined ? undefined : { level: 'info', message: ended, fields: over, says, about }
}

/** Writes the line of a condition of the process as a whole. */
export function logTransition(logger: Logger, transition: Transition): void {
  const line = transitionLine(transition, undefined)
  if (line) logger[line.level](line.fields, line.message)
}

const CHANGE_LINES: Readonly<Record<ChangeResult, readonly [Level, message: string]>> = {
  applied: ['info', 'cap written'],
  ambiguous: ['warn', 'cap written, and not known whether it holds'],
  verify_failed: ['warn', 'cap written, and another value was read back'],
  failed: ['error', 'cap could not be written'],
}

const changeFields = ({ change, result, error }: EventOf<'change-finished'>, plan: Plan | undefined): LogFields => ({
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

/** The least width of a subject, so that values are aligned; the usual line fits into 80 columns. Choice. */
const SUBJECT_WIDTH = 26
const VALUE_WIDTH = 4
const VERB_WIDTH = 9

/** Conditions whose line begins with the scope. */
const BY_SCOPE: ReadonlySet<ConditionType> = new Set(['ForeignChange', 'Rejected', 'Quarantined'])

function scopeText({ change, condition }: Transition): string {
  if (change === 'ended') return `${kindOf(condition.type).ended}`
  if (condition.type === 'ForeignChange') return `${foreignText(condition)}; not put back yet`
  return `left alone: ${condition.message} (${condition.reason})`
}

/** A condition of a workspace, or of a part that is read. */
function conditionText({ change, condition }: Transition): string {
  const { type, subject, reason, message, fields } = condition
  const { guards, reason: pausedFor } = fields ?? {}
  if (type === 'Paused') return change === 'ended' ? `resumed; it was paused for: ${pausedFor}` : message
  if (guards !== undefined) return change === 'ended' ? `${subject} is gone` : `${subject} by ${[guards].flat().join(', ')}: ${message}`
  return change === 'ended' ? `${kindOf(type).ended} (${subject})` : `${message} (${reason})`
}

function subject(name: string, workspace: string | undefined): string {
  const text = `${workspace === undefined ? '' : `${workspace} `}${name}:`
  return `${text.padEnd(SUBJECT_WIDTH - 1)} `
}

function nameOf(scope: Scope, groups: ReadonlyMap<string, string>): string {
  if (scope.kind === 'team') return 'team'
  return scope.kind === 'user' ? scope.email : `group ${groups.get(scope.id) ?? scope.id}`
}

const values = (from: unknown, to: unknown): string => `${String(from).padStart(VALUE_WIDTH)} → ${to}`

const foreignText = ({ fields }: Pick<Condition, 'fields'> = {}): string => `somebody else set ${fields?.['from']} → ${fields?.['to']}`

const WHY: Readonly<Record<Change['cause'], string>> = {
  policy: '',
  external: ', put back',
  expired: ', a grant ended',
  orphan: ', no longer declared',
}

function changeText({ change, result, error }: EventOf<'change-finished'>): string {
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

function policyText({ policy }: EventOf<'policy-loaded'>): string {
  const revision = policy.revision === '' ? '' : ` at ${shortRevision(policy.revision)}`
  const problem = firstProblem(policy.problems)
  return `policies ${policy.digest}${revision} loaded${problem === undefined ? '' : `: ${problem}`}`
}

const ENDINGS: Readonly<Record<EventOf<'cycle-finished'>['result'], string>> = {
  success: 'caps were written',
  noop: 'nothing was written',
  partial: 'done in part',
  held: 'the rest is held',
  error: 'failed',
}

function cycleText({ result, message, totalMs }: EventOf<'cycle-finished'>): string {
  const because = message === undefined ? '' : `: ${message}`
  return `cycle finished in ${(totalMs / 1_000).toFixed(1)} s, ${ENDINGS[result]}${because}`
}
