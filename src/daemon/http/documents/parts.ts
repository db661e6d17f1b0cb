// The kinds of values in documents, and the objects that many documents have. Instants are RFC 3339 in UTC, people are shown as the reader may see them,
// lists are bounded and say what they leave out, and what was never known is absent.
import { ASPECTS, type Aspect, type Evidence, type ServiceEvidence } from '../../../core/interpret/evidence.ts'
import { APPROVAL_STATES, CAUSES, CHANGE_RESULTS, EFFECTS, GUARD_CODES, type Pause } from '../../../core/model/change.ts'
import { byUrgency, type Condition, kindOf, SEVERITIES } from '../../../core/model/condition.ts'
import {
  BANDS,
  type CycleStatus,
  type HistoryShown,
  MODES,
  type ModelUse,
  type PolicyStatus,
  type PoolStatus,
  RECONCILE_RESULTS,
  SCOPE_STATES,
  type ScopeState,
  type ScopeStatus,
  type WorkspaceView,
} from '../../../core/model/events.ts'
import { type Balance, balanceOf, type Cycle } from '../../../core/model/observed.ts'
import { onceFor } from '../../../core/model/once.ts'
import type { Position, Problem } from '../../../core/model/problem.ts'
import { compareScopes, SCOPE_KINDS, type Scope } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import { ADD_ON_SOURCES } from '../../../core/use/add-on.ts'
import { BURN_WINDOWS, creditsOfCycle, type Projection } from '../../../core/use/burn.ts'
import { DAY_GRADES } from '../../../core/use/history.ts'
import { type Field, fields, from, ifKnown, type Kind, object, optional, type Schema, via } from './field.ts'
import { cents, dayText, keyText, ratio, rfc3339, scopeText } from './show.ts'
import type { Showing, WorkspaceFacts } from './types.ts'

/** Shown as it is. */
export const asIs = <T>(schema: Schema): Kind<T, T> => ({ schema, show: (value) => value })

/** What was shown before, because a list is sorted or searched by it. */
export const made = <Out>({ schema }: Kind<never, Out>): Kind<Out, Out> => asIs(schema)

/** A text in which a person may be named. */
export const text = (description?: string): Kind<string, string> => ({
  schema: { type: 'string', description },
  show: (value, { people }) => people.text(value),
})

/** A text that names nobody, or one that was made of what is shown. */
export const plain = (description?: string) => asIs<string>({ type: 'string', description })

export const person = (description?: string): Kind<string, string> => ({
  schema: { type: 'string', description },
  show: (email, { people }) => people.label(email),
})

/** Of a scope or its key. */
export const scope = (description: string): Kind<Scope | string, string> => ({
  schema: { type: 'string', description },
  show: (value, showing) => (typeof value === 'string' ? keyText(value, showing) : scopeText(value, showing)),
})

export const words = <const T extends string>(all: readonly T[], description?: string) =>
  asIs<T>({ type: 'string', enum: [...all], description })

export const flag = (description?: string) => asIs<boolean>({ type: 'boolean', description })
export const whole = (limits: Schema) => asIs<number>({ type: 'integer', ...limits })
export const number = (limits: Schema) => asIs<number>({ type: 'number', ...limits })
export const count = (description: string) => whole({ minimum: 0, description })
export const figure = (description: string) => number({ description })
/** Beside the first items of a list. */
export const omitted = count('How many more there are.')

/** Rounded to whole cents. */
export const amount = (description: string): Kind<number, number> => ({ ...figure(description), show: (value) => cents(value) })
/** Rounded to four decimals. */
export const share = (description: string): Kind<number, number> => ({ ...figure(description), show: (value) => ratio(value) })

export const instant = (description: string): Kind<Instant, string> => ({
  schema: { type: 'string', format: 'date-time', description: `${description} RFC 3339, UTC.` },
  show: (at) => rfc3339(at),
})

export const day = (description: string): Kind<Instant, string> => ({
  schema: { type: 'string', format: 'date', description: `${description} A day of UTC.` },
  show: (at) => dayText(at),
})

export const list = <In, Out>(items: Kind<In, Out>, description: string): Kind<readonly In[], readonly Out[]> => ({
  schema: { type: 'array', items: items.schema, description },
  show: (all, showing) => all.map((one) => items.show(one, showing)),
})

/** The first items of a list, and how many more there are. Without a getter, which is asked once for each source, the source has the list by this name. */
export function bounded<const Name extends string, In, Out, Source extends object = { readonly [N in Name]: readonly In[] }>(
  name: Name,
  most: number,
  items: Kind<In, Out>,
  description: string,
  get?: (source: Source) => readonly In[],
) {
  const all = get ? onceFor(get) : (source: Source) => (source as { readonly [N in Name]: readonly In[] })[name]
  return {
    [name]: from(list(items, description), (source: Source) => all(source).slice(0, most)),
    [`${name}Omitted`]: from(omitted, (source: Source) => Math.max(0, all(source).length - most)),
  } as { readonly [N in Name]: Field<Source, readonly Out[]> } & { readonly [N in `${Name}Omitted`]: Field<Source, number> }
}

const counted = { type: 'integer', minimum: 0 }
const perWord = (all: readonly string[], each: Schema) => Object.fromEntries(all.map((word) => [word, each]))

/** One number for each of these words. */
export const counts = <const T extends string>(all: readonly T[], description: string) =>
  asIs<Readonly<Record<T, number>>>({
    ...{ type: 'object', description, additionalProperties: false },
    ...{ required: [...all], properties: perWord(all, counted) },
  })

/** A number for some of these words. */
export const figures = <const T extends string>(all: readonly T[], description: string) =>
  asIs<Readonly<Partial<Record<T, number>>>>({
    ...{ type: 'object', description, additionalProperties: false },
    properties: perWord(all, { type: 'number' }),
  })

export const cap = (description = 'Whole credits, or `none`: no cap is set here, and that of an ancestor applies.') =>
  asIs<number | 'none'>({ oneOf: [counted, { const: 'none' }], description })

export const observed = (description = 'What was read: whole credits, `none`, or `unknown`.') =>
  asIs<number | 'none' | 'unknown'>({ oneOf: [counted, { enum: ['none', 'unknown'] }], description })

const scopeKind = words(SCOPE_KINDS)
export const scopeName = scope('`team`, `group:ID`, or a person as people are shown.')
export const scopeState = words(SCOPE_STATES)
export const band = words(BANDS, 'How near a person is to the cap in force, in percent of it.')
export const bandCounts = (description: string) => counts(BANDS, description)
export const addOnSource = words(ADD_ON_SOURCES, 'Where the figure of add-on use comes from.')
export const mode = words(MODES)
export const cause = words(CAUSES, 'Why desired and observed differ.')
export const effect = words(EFFECTS)
export const guard = words(GUARD_CODES)
export const changeResult = words(CHANGE_RESULTS)
const reconcileResult = words(RECONCILE_RESULTS)
export const disposition = words(['ready', 'held', 'deferred', 'excluded'])
export const tone = words(['good', 'warn', 'bad'], 'Whether it needs a person.')

/** Of the lines of policies; `revision`: default: of the policies in force. */
export const place = object<Position & { readonly revision?: string }>('A line of a policy file.')({
  file: text(),
  line: whole({ minimum: 1 }),
  column: whole({ minimum: 1 }),
  url: ifKnown(plain('The line at the revision in force, where the config has `sourceUrl`.'), urlOf),
})

/** Undefined for a revision that is no commit: uncommitted lines have no address. */
function urlOf({ file, line, revision }: Position & { readonly revision?: string }, showing: Showing): string | undefined {
  const [commit] = /^[0-9a-f]{7,64}$/.exec(revision ?? showing.revision ?? '') ?? []
  if (showing.sourceUrl === undefined || commit === undefined) return undefined
  const path = showing.people.text(file).split('/').map(encodeURIComponent).join('/')
  return showing.sourceUrl.replaceAll('{revision}', commit).replaceAll('{file}', path).replaceAll('{line}', String(line))
}

/** Always this text. */
export const literal = <const T extends string>(value: T) => from(asIs<T>({ type: 'string', const: value }), (_: unknown) => value)

/** The first fields of every document. */
export const head = <const K extends string>(kind: K) => ({
  apiVersion: literal('capkeeper/v1'),
  kind: literal(kind),
  at: from(instant('When this was made.'), (_: unknown, { now }) => now),
  peopleShown: from(words(['hash', 'email'], 'How people are shown.'), (_: unknown, { people }) => people.shown),
})

/** The first fields of a document about one workspace. */
export const about = <const K extends string>(kind: K) => ({
  ...head(kind),
  workspace: from(plain('The name of the workspace.'), (_: unknown, { workspace = '' }) => workspace),
})

/** One page of a list. */
export const paged = <In, Out>(items: Kind<In, Out>, description: string) => ({
  total: count('Items on all pages.'),
  page: whole({ minimum: 1 }),
  limit: whole({ minimum: 1, description: 'The most on one page.' }),
  items: list(items, description),
})

export const cycle = object<Cycle>('The billing cycle.')({
  start: from(instant('Its first instant.'), ({ startAt }) => startAt),
  end: from(instant('The first instant of the next.'), ({ endAt }) => endAt),
})

export const balance = object<Balance>('Credits of the whole team in this cycle, as the service last said.')({
  readAt: instant('When it was read.'),
  creditsPerSeat: figure('Included in each seat.'),
  seats: count('Paid seats.'),
  addOnAvailable: figure('Add-on credits of this cycle, including those used.'),
  addOnUsed: figure('Add-on credits that are used.'),
})

export const condition = object<Condition>('A condition that is true now.')({
  type: plain(),
  severity: from(words(SEVERITIES), ({ type }) => kindOf(type).severity),
  subject: from(plain('A scope, a hold, the workspace, or a part of what is read.'), (one, showing) =>
    one.scope ? scopeText(one.scope, showing) : showing.people.text(one.subject),
  ),
  reason: text('A code of docs/codes.md.'),
  message: text('A sentence.'),
  since: instant('When it began.'),
})

export const problem = object<Problem>('A problem in a policy file.')({
  severity: words(['error', 'warning']),
  code: plain(),
  message: text(),
  at: optional(place),
  sourceLine: optional(text('The text of the line; of a very long line the part around the place.')),
  sourceColumn: optional(whole({ minimum: 1, description: 'The column at which `sourceLine` begins; absent: 1.' })),
  length: optional(whole({ minimum: 1, description: 'How many characters of the line are wrong, from the column on.' })),
  hint: optional(text('The way out.')),
})

/** Of a pool. */
export const poolExhaustion = ifKnown(
  instant('When it is expected to be used up; absent when not within the cycle.'),
  ({ figures }: PoolStatus) => figures?.exhaustedAt,
)

export const dealt = amount(
  'Sum over the members of the greatest of use, cap in force, cap dealt and any cap lowered too lately for use under it to show; absent while somebody counts at no cap.',
)

export const projection = object<Projection>('Credits that the team will have used at the end of the cycle.')({
  p10: amount('10 % of outcomes are lower.'),
  p50: amount('Half of the outcomes are lower.'),
  p90: amount('90 % of outcomes are lower.'),
})

const pause = object<Pause>('A pause: no cap is written until it ends.')({
  until: from(instant('When it ends.'), ({ untilAt }) => untilAt),
  since: from(instant('When it began.'), ({ pausedAt }) => pausedAt),
  reason: text(),
})

const lastCycle = object<CycleStatus>('The last reconciliation.')({
  startedAt: instant('When it began.'),
  finishedAt: instant('When it ended.'),
  result: reconcileResult,
  message: optional(text('Its summary, or its error.')),
})

/** Conditions that one document lists. Choice. */
const MOST_CONDITIONS = 100

/** The mode, the pause, the last cycle, and the conditions. */
export const STATE = fields<WorkspaceView>()({
  mode: mode,
  pause: optional(pause),
  lastCycle: optional(lastCycle),
  lastSuccessAt: optional(instant('When a cycle last ended well.')),
  ...bounded('conditions', MOST_CONDITIONS, condition, 'The most urgent first.', ({ conditions }: WorkspaceView) => byUrgency(conditions)),
})

/** Conditions that no other field of a document shows. */
export const warningsOf = ({ conditions }: Pick<WorkspaceView, 'conditions'>): readonly Condition[] =>
  byUrgency(conditions).filter(({ type }) => !kindOf(type).hasOwnPlace)

export const warnings = via(list(text(), 'Messages of conditions that no other field shows.'), (view: Pick<WorkspaceView, 'conditions'>) =>
  warningsOf(view).map(({ message }) => message),
)

/** Choice. */
const MOST_PROBLEMS = 50

export const problems = (description: string) =>
  bounded('problems', MOST_PROBLEMS, problem, description, ({ view }: Pick<WorkspaceFacts, 'view'>) => view.policy?.problems ?? [])

export const policyState = object<PolicyStatus>('The policies in force.')({
  valid: flag('The files are valid; otherwise the last known good policies stay in force.'),
  digest: plain('Of the meaning of the policies; empty while there are none.'),
  revision: plain('The commit of the files; empty outside a worktree.'),
  loadedAt: instant('When the files were last read.'),
})

export const ratios = figures(BURN_WINDOWS, 'Pace of use by window; 1 is an even pace to the end of the cycle.')

export const cycleOf = ({ roster, balance }: WorkspaceView) => roster?.cycle ?? balance?.cycle

export const balanceNow = (view: WorkspaceView) => balanceOf(cycleOf(view), view.balance)

/** Those of the cycle, while they are known. */
export function creditsNow(view: WorkspaceView): number | undefined {
  const present = balanceNow(view)
  return present && creditsOfCycle(present)
}

/** Models that one document lists. Choice. */
const MOST_MODELS = 20

const model = object<ModelUse>('Use of one model in one mode in this cycle.')({
  model: text(),
  mode: text(),
  used: figure('Credits.'),
})

export const models = <Source extends object>(get: (source: Source) => readonly ModelUse[] | undefined) =>
  bounded('models', MOST_MODELS, model, 'The most used first.', (source: Source) => get(source) ?? [])

export const approval = object<WorkspaceView['approvals'][number]>('The release of a hold.')({
  id: plain(),
  state: words(APPROVAL_STATES),
})

/** How much of the past of people is known. */
export const history = object<HistoryShown>('How much of the past of people is known.')({
  from: from(day('The first day.'), ({ fromAt }) => fromAt),
  until: from(day('The last day.'), ({ untilAt }) => untilAt - 1),
  days: counts(DAY_GRADES, 'Days of people by what is known of them.'),
  left: count('Requests for one person and 30 days that are still to be made.'),
  stopped: optional(plain('The code of the reason why no more is read.')),
})

const EVIDENCE = fields<Evidence>()({
  value: plain(),
  at: instant('When it was seen.'),
  evidence: text('What was seen.'),
})

const finding = object<Evidence & { readonly aspect: Aspect }>('Evidence of how this deployment treats caps.')({
  aspect: words(ASPECTS),
  ...EVIDENCE,
  before: optional(object<Evidence>('Earlier evidence that contradicts it.')(EVIDENCE)),
})

/** In the order of `ASPECTS`; what was never seen is absent. */
export const findings = via(list(finding, 'Evidence from answers of the service.'), (seen: ServiceEvidence) =>
  ASPECTS.flatMap((aspect) => {
    const one: Evidence | undefined = seen[aspect]
    return one ? [{ aspect, ...one }] : []
  }),
)

export const clockSkew = via(figure("The service's clock minus ours."), (ms: number) => ms / 1000)

export const scopeStatus = object<ScopeStatus>('The state of one scope.')({
  kind: from(scopeKind, ({ scope }) => scope.kind),
  scope: scopeName,
  state: scopeState,
  desired: optional(cap('The desired cap.')),
  observed: observed(),
  readAt: optional(instant('When it was read.')),
  cause: optional(cause),
  driftSince: optional(instant('Since when they differ.')),
  source: optional(place),
  reason: optional(text('As the policy gives it.')),
  why: optional(text('Why it is held, unknown, rejected or skipped, or why a raise by a pool is deferred.')),
})

export function countStates(scopes: readonly ScopeStatus[]): Readonly<Record<ScopeState, number>> {
  const counts = { in_sync: 0, drifted: 0, held: 0, unknown: 0, rejected: 0, contested: 0, skipped: 0, undeclared: 0 }
  for (const { state } of scopes) counts[state] += 1
  return counts
}

const ATTENTION: readonly ScopeState[] = ['rejected', 'contested', 'held', 'drifted', 'unknown', 'undeclared', 'skipped']

/** Scopes that are not in sync, those that need a person first. */
export const notInSync = (scopes: readonly ScopeStatus[]): readonly ScopeStatus[] =>
  scopes
    .filter(({ state }) => state !== 'in_sync')
    .sort((a, b) => ATTENTION.indexOf(a.state) - ATTENTION.indexOf(b.state) || compareScopes(a.scope, b.scope))
