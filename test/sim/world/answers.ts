// Reads answers of the service independently of the code under test.
import type { TransportFailure, WireAnswer } from '../../../src/ports.ts'

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

/** The number of approved people in a roster; undefined when it cannot be believed, such as when it is empty. */
export function approvedIn(answer: Answer): number | undefined {
  if ('kind' in answer || answer.status !== 200) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(answer.body)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null || !('userTableStats' in parsed) || !Array.isArray(parsed.userTableStats))
    return undefined
  const { userTableStats: rows } = parsed
  return rows.length === 0 ? undefined : rows.filter((row: unknown) => isApproved(row)).length
}

const isApproved = (row: unknown): boolean =>
  typeof row === 'object' && row !== null && 'teamStatus' in row && row.teamStatus === 'USER_TEAM_STATUS_APPROVED'
