// Compares a saved plan with the present state: it is applied as it was reviewed, or refused as a whole, with all workspaces in its file.
import { type Change, type HeldChange, holdOf, type Plan } from '../../core/model/change.ts'
import type { Cap } from '../../core/model/policy.ts'
import { InputError } from '../../core/model/problem.ts'
import { byScope, SCOPE, type ScopeKey, scopeKey, userScope } from '../../core/model/scope.ts'
import { anything, leaf, list, mustFit, oneOf, optional, orWord, shape, text, Undecodable, unlike } from '../../core/model/shape.ts'
import { CLOCKS_APART_MS, type Credits, type Instant, MAX_CAP } from '../../core/model/units.ts'
import { codeIn, readText, whyUnreadAndCode } from '../../files.ts'
import { API_VERSION } from '../../policy/bounds.ts'
import { CommandError } from '../shared/context.ts'
import { jsonIn } from '../shared/text.ts'

// Reads a saved plan for `apply --plan`. What counts of it is checked against its shape, because others may have edited the file: a field that is
// missing or wrong is refused with its place and the way out, and is never filled in. Guards and approvals judge its changes again, so all
// further fields are for people alone.

const INSTANT = 'an RFC 3339 instant'

const AMOUNT = leaf<Credits>(`a whole number from 0 to ${MAX_CAP} or "none"`, { type: 'integer', minimum: 0, maximum: MAX_CAP })
const CAP = orWord('none', AMOUNT)

const SAVED_PLAN = shape({
  apiVersion: oneOf([API_VERSION]),
  kind: oneOf(['Plan']),
  id: leaf<string>('16 hex digits', { type: 'string', pattern: '^[0-9a-f]{16}$' }),
  workspace: text,
  createdAt: leaf<string>(INSTANT, { type: 'string' }),
  policyDigest: text,
  changes: list(shape({ scope: SCOPE, from: CAP, to: CAP, hold: optional(orWord(null, text)) })),
})

/** What counts of a saved plan. */
export type Saved = ReturnType<typeof readPlan>

function readPlan(value: unknown, path: string) {
  mustFit(value, SAVED_PLAN, path)
  const { id, workspace, createdAt, policyDigest, changes } = value
  const savedAt = Date.parse(createdAt)
  if (Number.isNaN(savedAt)) throw new Undecodable(unlike(`${path}.createdAt`, INSTANT, createdAt))
  const found = changes.map(({ scope, from, to, hold }) => ({
    scope: scope.kind === 'user' ? userScope(scope.email) : scope,
    ...{ from, to, wasHeld: typeof hold === 'string' },
  }))
  return { id, workspace, policyDigest, createdAt: savedAt, changes: found }
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
    if (root === undefined) throw new Undecodable('it is not JSON')
    if (Object(root).kind !== 'PlanList') return [readPlan(root, '')]
    mustFit(root, shape({ items: list(anything) }))
    return root.items.map((item, index) => readPlan(item, `.items[${index}]`))
  } catch (error) {
    if (codeIn(error) !== undefined) throw new CommandError(`${file} ${whyUnreadAndCode(error)}`)
    if (!(error instanceof Undecodable)) throw error
    const hint = 'write one with `capkeeper plan --out FILE`'
    throw new InputError([{ severity: 'error', code: 'PLAN_FILE_INVALID', message: `${file} is not a saved plan: ${error.message}`, hint }])
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
