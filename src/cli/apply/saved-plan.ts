// Compares a saved plan with the present state: it is applied as it was reviewed, or refused as a whole, with all workspaces in its file.
import { type Change, type HeldChange, holdOf, type Plan, READY } from '../../core/model/change.ts'
import type { Cap } from '../../core/model/policy.ts'
import { InputError } from '../../core/model/problem.ts'
import { byScope, groupScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../../core/model/scope.ts'
import { CLOCKS_APART_MS, type Instant } from '../../core/model/units.ts'
import type { LedgerStore } from '../../daemon/ledger/store.ts'
import { readText, whyUnreadAndCode } from '../../files.ts'
import type { AnnotatedSchema, Fault } from '../../policy/schema/check.ts'
import { capOf } from '../../policy/schema/kinds.ts'
import type { Setup, WorkspaceSetup } from '../compose.ts'
import { check, SCHEMA } from '../plan/schema.generated.ts'
import type { SavedChange, SavedPlan, SavedScope } from '../plan/schema-source.ts'
import { type Cli, CommandError } from '../shared/context.ts'
import { ledgerOf } from '../shared/ledger/store.ts'
import { sweepProgress } from '../shared/progress.ts'
import { withReader } from '../shared/reader.ts'
import type { ApplyFlags } from './command.ts'

// Reads a saved plan for `apply --plan`. Every field is checked against the schema, because others may have edited the file. A field that is
// missing or wrong is refused with its place and the way out, and is never filled in.

/**
 * Reads a saved plan: one plan, or the items of a PlanList. `file` is only named in errors. Throws an `InputError` with the code
 * PLAN_FILE_INVALID that says which field is wrong.
 */
function plansFromJson(text: string, file: string): readonly Plan[] {
  try {
    const root = parseJson(text)
    if (!isObject(root) || root['kind'] !== 'PlanList') return [readPlan(root, '')]
    const { items } = root
    if (!Array.isArray(items)) throw mismatch('items', 'a list', items)
    return items.map((item: unknown, index) => readPlan(item, `items[${index}]`))
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error
    const hint = 'write one with `capkeeper plan --out FILE`'
    throw new InputError([{ severity: 'error', code: 'PLAN_FILE_INVALID', message: `${file} is not a saved plan: ${error.message}`, hint }])
  }
}

class Mismatch extends Error {}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Mismatch('it is not JSON')
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

function mismatch(path: string, wanted: string, value: unknown): Mismatch {
  const found = value === undefined ? 'missing' : JSON.stringify(value).slice(0, 40)
  return new Mismatch(`${path === '' ? 'the document' : path} must be ${wanted}, and is ${found}`)
}

/** The first fault of a document in words: what the schema wants at its place, and what is there. */
function mismatchOf(document: unknown, { instancePath, keyword, params }: Fault, path: string): Mismatch {
  const steps = instancePath.split('/').slice(1)
  if (keyword === 'required') steps.push(String(params['missingProperty']))
  let [value, schema, place]: [unknown, AnnotatedSchema | undefined, string] = [document, SCHEMA, path]
  for (const step of steps) {
    const isItem = Array.isArray(value)
    place = isItem ? `${place}[${step}]` : place === '' ? step : `${place}.${step}`
    schema = isItem ? schema?.items : schema?.properties?.[step]
    value = isObject(value) ? value[step] : undefined
  }
  return mismatch(place, schema?.['x-wanted'] ?? 'something else', value)
}

function readPlan(value: unknown, path: string): Plan {
  const fault = check(value).find(({ keyword }) => keyword !== 'if')
  if (fault) throw mismatchOf(value, fault, path)
  // The validator has compared the value with the schema that the type was made of.
  const { apiVersion, kind, id, workspace, createdAt, policyDigest, revision, counts, ...saved } = value as SavedPlan
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  const instant = Date.parse(createdAt)
  if (Number.isNaN(instant)) throw mismatch(at('createdAt'), 'an RFC 3339 instant', createdAt)
  const { set, raise, lower, block, clear, held, inSync, unknown, skipped, rejected } = counts
  return {
    ...{ apiVersion, kind, id, workspace, createdAt: instant, policyDigest, revision },
    counts: { set, raise, lower, block, clear, held, inSync, unknown, skipped, rejected },
    changes: saved.changes.map((one, index) => changeOf(one, at(`changes[${index}]`))),
    holds: saved.holds.map(({ id: holdId, guards, people, changes, message }) => {
      return { id: holdId, guards, people, changes: changes.map(heldChangeOf), message }
    }),
    unknown: saved.unknown.map(({ scope, message }) => ({ scope: scopeOf(scope), message })),
    problems: saved.problems.map(({ severity, code, message, scope, at: place }) => ({
      ...{ severity, code, message },
      scope: scope ? scopeOf(scope) : undefined,
      at: place ? positionOf(place) : undefined,
    })),
    // Approvals, too, are judged again when the plan is applied.
    approvals: [],
  }
}

const scopeOf = ({ kind, id = '', email = '' }: SavedScope): Scope =>
  kind === 'team' ? TEAM : kind === 'group' ? groupScope(id) : userScope(email)

const positionOf = ({ file, line, column }: NonNullable<SavedChange['source']>) => ({ file, line, column })

const heldChangeOf = ({ scope, from, to }: Pick<SavedChange, 'scope' | 'from' | 'to'>): HeldChange => ({
  scope: scopeOf(scope),
  from: capOf(from),
  to: capOf(to),
})

/** A change clears exactly when it goes to `none`. */
function changeOf(change: SavedChange, path: string): Change {
  const { action, effect, cause, people, source, reason, hold, to } = change
  if ((action === 'clear') !== (to === 'none')) throw mismatch(`${path}.to`, action === 'clear' ? '"none"' : 'a number', to)
  return {
    ...heldChangeOf(change),
    ...{ action, effect, cause, people },
    source: source ? positionOf(source) : undefined,
    reason: reason === undefined || reason === null ? undefined : reason,
    // Guards judge the changes again when the plan is applied; here it only matters that a change was held when it was saved.
    disposition: hold === undefined || hold === null ? READY : { kind: 'held', hold },
    healing: change.healing === true,
    grantEnd: change.grantEnd === true,
  }
}

/** A plan older than this is refused. */
const PLAN_LIFE_MS = 24 * 3_600_000

const MAX_PLAN_BYTES = 256 * 1024 * 1024

/** Reads the plans of a file. Throws a `CommandError` when it cannot be read, and an `InputError` when it is no plan. */
export function readPlans(file: string): readonly Plan[] {
  try {
    return plansFromJson(readText(file, MAX_PLAN_BYTES), file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
      throw new CommandError(`${file} ${whyUnreadAndCode(error)}`)
    }
    throw error
  }
}

interface Admitting {
  readonly store: LedgerStore
  readonly flags: Pick<ApplyFlags, 'rebind'>
  readonly cli: Cli
  readonly signal: AbortSignal
}

/**
 * Reads every workspace of a file of several plans before the first of them is written. Throws a `CommandError` that says why none is written.
 * One plan alone is admitted when it is shown.
 */
export async function admitAll(saved: ReadonlyMap<string, Plan>, setup: Setup, { store, flags, cli, signal }: Admitting): Promise<void> {
  if (saved.size < 2) return
  const progress = await sweepProgress('reading caps', cli.stderr, signal)
  const session = { cli, signal, progress, ledgerOf: (one: WorkspaceSetup) => ledgerOf(store, one.config, flags.rebind) }
  try {
    for (const one of setup.workspaces) {
      const plan = saved.get(one.config.name)
      if (plan)
        await withReader(one, session, async ({ preview }) => admit(plan, (await preview()).planned.plan, cli.clock.now())).catch(
          named(one),
        )
    }
  } finally {
    progress.stop()
  }
}

/** Names the workspace in the refusal of one of several plans. */
const named =
  ({ config }: WorkspaceSetup) =>
  (error: unknown): never => {
    throw error instanceof CommandError ? new CommandError(`${config.name}: ${error.message}`) : error
  }

/**
 * The caps of a saved plan that may be written now, by scope. Throws a `CommandError` when the plan is refused: it is too old, the policies are
 * others, or a scope has changed since.
 */
export function admit(saved: Plan, fresh: Plan, now: Instant): ReadonlyMap<ScopeKey, Cap> {
  const refuse = (why: string): never => {
    throw new CommandError(`the saved plan ${saved.id} is refused, and nothing was written: ${why}; plan again`)
  }
  if (now - saved.createdAt > PLAN_LIFE_MS) refuse(`it is ${Math.ceil((now - saved.createdAt) / 3_600_000)} h old, the limit is 24 h`)
  if (saved.createdAt - now > CLOCKS_APART_MS) refuse(`it is from the future (${new Date(saved.createdAt).toISOString()})`)
  if (saved.policyDigest !== fresh.policyDigest)
    refuse(`it was made for policies ${saved.policyDigest}, and these are ${fresh.policyDigest}`)
  const present = byScope(fresh.changes)
  const wanted = saved.changes.filter((change) => holdOf(change) === undefined || !isHeldNow(present.get(scopeKey(change.scope))))
  for (const change of saved.changes) {
    const now = present.get(scopeKey(change.scope))
    if (!now || !isSame(now, change)) refuse(differs(change, now))
  }
  return new Map(wanted.map((change) => [scopeKey(change.scope), change.to]))
}

const isHeldNow = (change: Change | undefined): boolean => change !== undefined && holdOf(change) !== undefined

const isSame = (a: Change, b: Change): boolean => a.from === b.from && a.to === b.to

function differs(saved: Change, now: Change | undefined): string {
  const asked = `${scopeKey(saved.scope)} was to go from ${saved.from} to ${saved.to}`
  return now ? `${asked}, and now it is ${now.from} and would go to ${now.to}` : `${asked}, and that is not so any more`
}
