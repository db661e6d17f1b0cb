// Compares a saved plan with the present state: it is applied as it was reviewed, or refused as a whole, with all workspaces in its file.
import { type Change, type HeldChange, holdOf, type Plan } from '../../core/model/change.ts'
import type { Cap } from '../../core/model/policy.ts'
import { InputError } from '../../core/model/problem.ts'
import { byScope, groupScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../../core/model/scope.ts'
import { CLOCKS_APART_MS, type Instant } from '../../core/model/units.ts'
import type { LedgerStore } from '../../daemon/ledger/store.ts'
import { codeIn, readText, whyUnreadAndCode } from '../../files.ts'
import type { AnnotatedSchema, Fault } from '../../policy/schema/check.ts'
import { capOf } from '../../policy/schema/kinds.ts'
import type { Setup, WorkspaceSetup } from '../compose.ts'
import { check, SCHEMA } from '../plan/schema.generated.ts'
import type { SavedChange, SavedPlan, SavedScope } from '../plan/schema-source.ts'
import { type Cli, CommandError } from '../shared/context.ts'
import { ledgerOf } from '../shared/ledger/store.ts'
import { sweepProgress } from '../shared/progress.ts'
import { withReader } from '../shared/reader.ts'
import { jsonIn } from '../shared/text.ts'

// Reads a saved plan for `apply --plan`. Every field is checked against the schema, because others may have edited the file. A field that is
// missing or wrong is refused with its place and the way out, and is never filled in.

class Mismatch extends Error {}

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

/** What of a saved plan counts when it is applied: guards and approvals judge its changes again. */
export type Saved = ReturnType<typeof readPlan>

function readPlan(value: unknown, path: string) {
  const fault = check(value).find(({ keyword }) => keyword !== 'if')
  if (fault) throw mismatchOf(value, fault, path)
  // The validator has compared the value with the schema that the type was made of.
  const { id, workspace, createdAt, policyDigest, changes } = value as SavedPlan
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  const savedAt = Date.parse(createdAt)
  if (Number.isNaN(savedAt)) throw mismatch(at('createdAt'), 'an RFC 3339 instant', createdAt)
  return { id, workspace, policyDigest, createdAt: savedAt, changes: changes.map((one, index) => changeOf(one, at(`changes[${index}]`))) }
}

const scopeOf = ({ kind, id = '', email = '' }: SavedScope): Scope =>
  kind === 'team' ? TEAM : kind === 'group' ? groupScope(id) : userScope(email)

/** A change clears exactly when it goes to `none`. */
function changeOf({ action, scope, from, to, hold }: SavedChange, path: string) {
  if ((action === 'clear') !== (to === 'none')) throw mismatch(`${path}.to`, action === 'clear' ? '"none"' : 'a number', to)
  return { scope: scopeOf(scope), from: capOf(from), to: capOf(to), wasHeld: typeof hold === 'string' }
}

/** A plan older than this is refused. */
const PLAN_LIFE_MS = 24 * 3_600_000

const MAX_PLAN_BYTES = 256 * 1024 * 1024

/**
 * Reads the plans of a file: one plan, or the items of a PlanList. Throws a `CommandError` when the file cannot be read, and an `InputError`
 * with the code PLAN_FILE_INVALID that says which field is wrong.
 */
export function readPlans(file: string): readonly Saved[] {
  try {
    const root = jsonIn(readText(file, MAX_PLAN_BYTES))
    if (root === undefined) throw new Mismatch('it is not JSON')
    if (!isObject(root) || root['kind'] !== 'PlanList') return [readPlan(root, '')]
    const { items } = root
    if (!Array.isArray(items)) throw mismatch('items', 'a list', items)
    return items.map((item: unknown, index) => readPlan(item, `items[${index}]`))
  } catch (error) {
    if (codeIn(error) !== undefined) throw new CommandError(`${file} ${whyUnreadAndCode(error)}`)
    if (!(error instanceof Mismatch)) throw error
    const hint = 'write one with `capkeeper plan --out FILE`'
    throw new InputError([{ severity: 'error', code: 'PLAN_FILE_INVALID', message: `${file} is not a saved plan: ${error.message}`, hint }])
  }
}

interface Admitting {
  readonly store: LedgerStore
  readonly flags: { readonly rebind?: boolean }
  readonly cli: Cli
  readonly signal: AbortSignal
}

/**
 * Reads every workspace of a file of several plans before the first of them is written. Throws a `CommandError` that says why none is written.
 * One plan alone is admitted when it is shown.
 */
export async function admitAll(saved: ReadonlyMap<string, Saved>, setup: Setup, { store, flags, cli, signal }: Admitting): Promise<void> {
  if (saved.size < 2) return
  const progress = await sweepProgress('reading caps', cli.stderr, signal)
  const session = { cli, signal, progress, ledgerOf: (one: WorkspaceSetup) => ledgerOf(store, one.config, flags.rebind) }
  try {
    for (const one of setup.workspaces) {
      const plan = saved.get(one.config.name)
      if (!plan) continue
      try {
        await withReader(one, session, async ({ preview }) => admit(plan, (await preview()).planned.plan, cli.clock.now()))
      } catch (error) {
        throw error instanceof CommandError ? new CommandError(`${one.config.name}: ${error.message}`) : error
      }
    }
  } finally {
    progress.stop()
  }
}

/**
 * The caps of a saved plan that may be written now, by scope. Throws a `CommandError` when the plan is refused: it is too old, the policies are
 * others, or a scope has changed since.
 */
export function admit(saved: Saved, fresh: Plan, now: Instant): ReadonlyMap<ScopeKey, Cap> {
  const refuse = (why: string): never => {
    throw new CommandError(`the saved plan ${saved.id} is refused, and nothing was written: ${why}; plan again`)
  }
  if (now - saved.createdAt > PLAN_LIFE_MS) refuse(`it is ${Math.ceil((now - saved.createdAt) / 3_600_000)} h old, the limit is 24 h`)
  if (saved.createdAt - now > CLOCKS_APART_MS) refuse(`it is from the future (${new Date(saved.createdAt).toISOString()})`)
  if (saved.policyDigest !== fresh.policyDigest)
    refuse(`it was made for policies ${saved.policyDigest}, and these are ${fresh.policyDigest}`)
  const present = byScope(fresh.changes)
  const wanted = saved.changes.filter(({ scope, wasHeld }) => !wasHeld || !isHeldNow(present.get(scopeKey(scope))))
  for (const change of saved.changes) {
    const now = present.get(scopeKey(change.scope))
    if (now?.from !== change.from || now.to !== change.to) refuse(differs(change, now))
  }
  return new Map(wanted.map((change) => [scopeKey(change.scope), change.to]))
}

const isHeldNow = (change: Change | undefined): boolean => change !== undefined && holdOf(change) !== undefined

function differs(saved: HeldChange, now: Change | undefined): string {
  const asked = `${scopeKey(saved.scope)} was to go from ${saved.from} to ${saved.to}`
  return now ? `${asked}, and now it is ${now.from} and would go to ${now.to}` : `${asked}, and that is not so any more`
}
