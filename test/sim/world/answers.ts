// What an answer of the service says, read here and not with the code under test.
import type { TransportFailure, WireAnswer } from '../../../src/ports.ts'

type Answer = WireAnswer | TransportFailure

/** What is wrong with a request, in the words of the interface. */
const NAMED = /\b(invalid|unknown|insufficient|exceeded|must be)\b/

/**
 * Turned down by name: whatever was asked has certainly not happened. An error in the body of a success says so by its words alone, and
 * other words leave open whether it has.
 */
export function isRefusal(answer: Answer): boolean {
  if ('kind' in answer) return false
  return (
    (answer.status >= 400 && answer.status < 500) || (answer.status === 200 && answer.body.includes('"error"') && NAMED.test(answer.body))
  )
}

/** How many approved people a roster lists; undefined when nothing of it can be believed, as when nobody is on it. */
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
