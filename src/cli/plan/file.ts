// A saved plan read back, for `apply --plan`. Every field is checked, because a plan file has been in other hands; what is no plan is
// refused with the place and the way out. Never a plan with a field that was not there.
import {
  CAUSES,
  type Change,
  type Disposition,
  EFFECTS,
  GUARD_CODES,
  type HeldChange,
  type Hold,
  type Plan,
  type PlanCounts,
  type PlanProblem,
  READY,
  type UnknownScope,
} from '../../core/model/change.ts'
import type { Cap } from '../../core/model/policy.ts'
import { InputError, type Position } from '../../core/model/problem.ts'
import { groupScope, type Scope, TEAM, userScope } from '../../core/model/scope.ts'
import { credits, MAX_CAP } from '../../core/model/units.ts'
import { HOLD_ID_DIGITS } from '../../core/plan/approval.ts'

/**
 * Reads a saved plan: one plan, or the items of a PlanList. `file` is only named in errors. Throws an `InputError` with the code
 * PLAN_FILE_INVALID that says which field is wrong.
 */
export function plansFromJson(text: string, file: string): readonly Plan[] {
  try {
    const root = object(parseJson(text), '')
    if (root['kind'] === 'PlanList') return array(root['items'], 'items', readPlan)
    return [readPlan(root, '')]
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error
    const hint = 'write one with `capkeeper plan --out FILE`'
    throw new InputError([{ severity: 'error', code: 'PLAN_FILE_INVALID', message: `${file} is not a saved plan: ${error.message}`, hint }])
  }
}

class Mismatch extends Error {}

type Read<T> = (value: unknown, path: string) => T

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Mismatch('it is not JSON')
  }
}

function mismatch(path: string, wanted: string, value: unknown): Mismatch {
  const found = value === undefined ? 'missing' : JSON.stringify(value).slice(0, 40)
  return new Mismatch(`${path === '' ? 'the document' : path} must be ${wanted}, and is ${found}`)
}

function object(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(path, 'an object', value)
  return { ...value }
}

const array = <T>(value: unknown, path: string, read: Read<T>): readonly T[] => {
  if (!Array.isArray(value)) throw mismatch(path, 'a list', value)
  return value.map((item, index) => read(item, `${path}[${index}]`))
}

const string: Read<string> = (value, path) => {
  if (typeof value !== 'string') throw mismatch(path, 'a text', value)
  return value
}

const whole: Read<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw mismatch(path, 'a whole number', value)
  return value
}

const cap: Read<Cap> = (value, path) => {
  if (value === 'none') return value
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_CAP) {
    throw mismatch(path, `a whole number from 0 to ${MAX_CAP} or "none"`, value)
  }
  return credits(value)
}

const hex =
  (digits: number): Read<string> =>
  (value, path) => {
    if (typeof value !== 'string' || value.length !== digits || !/^[0-9a-f]+$/.test(value))
      throw mismatch(path, `${digits} hex digits`, value)
    return value
  }

const oneOf =
  <T extends string>(words: readonly T[]): Read<T> =>
  (value, path) => {
    const word = words.find((one) => one === value)
    if (word === undefined) throw mismatch(path, `one of ${words.join(', ')}`, value)
    return word
  }

const instant: Read<number> = (value, path) => {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isNaN(at)) throw mismatch(path, 'an RFC 3339 instant', value)
  return at
}

/** The field itself, or nothing at all when it is absent. */
function optional<K extends string, T>(
  from: Readonly<Record<string, unknown>>,
  key: K,
  path: string,
  read: Read<T>,
): { readonly [P in K]?: T } {
  const value = from[key]
  if (value === undefined || value === null) return {}
  const result: { [P in K]?: T } = {}
  result[key] = read(value, path === '' ? key : `${path}.${key}`)
  return result
}

const scope: Read<Scope> = (value, path) => {
  const from = object(value, path)
  switch (oneOf(['team', 'group', 'user'])(from['kind'], `${path}.kind`)) {
    case 'team':
      return TEAM
    case 'group':
      return groupScope(string(from['id'], `${path}.id`))
    case 'user':
      return userScope(string(from['email'], `${path}.email`))
  }
}

const position: Read<Position> = (value, path) => {
  const from = object(value, path)
  return {
    file: string(from['file'], `${path}.file`),
    line: whole(from['line'], `${path}.line`),
    column: whole(from['column'], `${path}.column`),
  }
}

const heldChange: Read<HeldChange> = (value, path) => {
  const from = object(value, path)
  return { scope: scope(from['scope'], `${path}.scope`), from: cap(from['from'], `${path}.from`), to: cap(from['to'], `${path}.to`) }
}

const change: Read<Change> = (value, path) => {
  const from = object(value, path)
  const caps = heldChange(value, path)
  const action = oneOf(['set', 'clear'])(from['action'], `${path}.action`)
  if ((action === 'clear') !== (caps.to === 'none')) throw mismatch(`${path}.to`, action === 'clear' ? '"none"' : 'a number', caps.to)
  return {
    ...caps,
    action,
    effect: oneOf(EFFECTS)(from['effect'], `${path}.effect`),
    cause: oneOf(CAUSES)(from['cause'], `${path}.cause`),
    people: whole(from['people'], `${path}.people`),
    ...optional(from, 'source', path, position),
    ...optional(from, 'reason', path, string),
    healing: from['healing'] === true,
    grantEnd: from['grantEnd'] === true,
    disposition: disposition(from['hold'], `${path}.hold`),
  }
}

/** Guards judge a saved plan afresh; that a change was held when it was saved is all that counts. */
const disposition: Read<Disposition> = (value, path) =>
  value === undefined || value === null ? READY : { kind: 'held', hold: hex(HOLD_ID_DIGITS)(value, path) }

const hold: Read<Hold> = (value, path) => {
  const from = object(value, path)
  return {
    id: hex(HOLD_ID_DIGITS)(from['id'], `${path}.id`),
    guards: array(from['guards'], `${path}.guards`, oneOf(GUARD_CODES)),
    people: whole(from['people'], `${path}.people`),
    changes: array(from['changes'], `${path}.changes`, heldChange),
    message: string(from['message'], `${path}.message`),
  }
}

const unknownScope: Read<UnknownScope> = (value, path) => {
  const from = object(value, path)
  return { scope: scope(from['scope'], `${path}.scope`), message: string(from['message'], `${path}.message`) }
}

const problem: Read<PlanProblem> = (value, path) => {
  const from = object(value, path)
  return {
    severity: oneOf(['error', 'warning'])(from['severity'], `${path}.severity`),
    code: string(from['code'], `${path}.code`),
    message: string(from['message'], `${path}.message`),
    ...optional(from, 'scope', path, scope),
    ...optional(from, 'at', path, position),
  }
}

const counts: Read<PlanCounts> = (value, path) => {
  const from = object(value, path)
  const of = (name: keyof PlanCounts): number => whole(from[name], `${path}.${name}`)
  return {
    set: of('set'),
    raise: of('raise'),
    lower: of('lower'),
    block: of('block'),
    clear: of('clear'),
    held: of('held'),
    inSync: of('inSync'),
    unknown: of('unknown'),
    skipped: of('skipped'),
    rejected: of('rejected'),
  }
}

const readPlan: Read<Plan> = (value, path) => {
  const from = object(value, path)
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  return {
    kind: oneOf(['Plan'])(from['kind'], at('kind')),
    apiVersion: oneOf(['capkeeper/v1'])(from['apiVersion'], at('apiVersion')),
    id: hex(16)(from['id'], at('id')),
    workspace: string(from['workspace'], at('workspace')),
    createdAt: instant(from['createdAt'], at('createdAt')),
    policyDigest: string(from['policyDigest'], at('policyDigest')),
    revision: string(from['revision'], at('revision')),
    counts: counts(from['counts'], at('counts')),
    changes: array(from['changes'], at('changes'), change),
    holds: array(from['holds'], at('holds'), hold),
    unknown: array(from['unknown'], at('unknown'), unknownScope),
    problems: array(from['problems'], at('problems'), problem),
    // What approvals release is judged afresh as well.
    approvals: [],
  }
}
