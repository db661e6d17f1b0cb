// Reads a saved plan for `apply --plan`. Every field is checked against the schema, because others may have edited the file. A field that is
// missing or wrong is refused with its place and the way out, and is never filled in.
import { type Change, type HeldChange, type Plan, READY } from '../../core/model/change.ts'
import { InputError } from '../../core/model/problem.ts'
import { groupScope, type Scope, TEAM, userScope } from '../../core/model/scope.ts'
import type { AnnotatedSchema, Fault } from '../../policy/schema/check.ts'
import { capOf } from '../../policy/schema/kinds.ts'
import { check, SCHEMA } from './schema.generated.ts'
import type { SavedChange, SavedPlan, SavedScope } from './schema-source.ts'

/**
 * Reads a saved plan: one plan, or the items of a PlanList. `file` is only named in errors. Throws an `InputError` with the code
 * PLAN_FILE_INVALID that says which field is wrong.
 */
export function plansFromJson(text: string, file: string): readonly Plan[] {
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
