// Reads answers of the service independently of the code under test.
import type { TransportFailure, WireAnswer } from '../../../src/ports.ts'
import type { ModelCap } from '../lives/policy-model.ts'

type Answer = WireAnswer | TransportFailure

/** Faults of a request, in the words of the interface. */
const NAMED = /\b(invalid|unknown|insufficient|exceeded|must be)\b/

/**
 * Whether an answer is a refusal, so that the request surely had no effect. An error in the body of a success is one only with known words;
 * with other words the effect is open.
 */
export function isRefusal(answer: Answer): boolean {
  if ('kind' in answer) return false
  return (
    (answer.status >= 400 && answer.status < 500) || (answer.status === 200 && answer.body.includes('"error"') && NAMED.test(answer.body))
  )
}

/** The object that a body holds. */
export function objectIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : undefined
  } catch {
    return undefined
  }
}

/** The rows of a roster. */
export function rowsIn(body: string): readonly unknown[] | undefined {
  const rows = objectIn(body)?.['userTableStats']
  return Array.isArray(rows) ? rows : undefined
}

/** The number of approved people in a roster; undefined when it cannot be believed, such as when it is empty. */
export function approvedIn(answer: Answer): number | undefined {
  if ('kind' in answer || answer.status !== 200) return undefined
  const rows = rowsIn(answer.body)
  return rows?.length ? rows.filter((row) => Object(row).teamStatus === 'USER_TEAM_STATUS_APPROVED').length : undefined
}

/** The cap in the answer to a read; undefined when there is no credible one. */
export function capIn(body: string): ModelCap | undefined {
  const parsed = objectIn(body)
  if (!parsed || 'error' in parsed) return undefined
  const { addOnCreditCap: camel, add_on_credit_cap: snake } = parsed
  if (camel !== undefined && snake !== undefined && camel !== snake) return undefined
  const cap = camel ?? snake
  if (cap === undefined || cap === null) return 'none'
  return typeof cap === 'number' && Number.isInteger(cap) && cap >= 0 ? cap : undefined
}
