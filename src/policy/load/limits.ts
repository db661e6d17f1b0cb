// Bounds on what all policies together say, and on their problems.

import type { Problem } from '../../core/model/problem.ts'
import { compareText } from '../../core/model/scope.ts'
import { MAX_PROBLEMS_TOGETHER, MAX_SET_TEXT } from '../bounds.ts'

/** Sets are kept in memory and in the ledger, once for each workspace, even when aliases make the files short. */
export function beyondText(said: readonly (readonly string[])[]): Problem | undefined {
  let length = 0
  for (const lines of said) for (const line of lines) length += line.length
  if (length <= MAX_SET_TEXT) return undefined
  const message = `the policies of all workspaces say ${length} characters together, at most ${MAX_SET_TEXT} are kept`
  return { severity: 'error', code: 'TOO_LARGE', message, hint: 'spread the workspaces over several daemons, or shorten the reasons' }
}

/** When not all problems are kept, errors come before warnings, so that invalid policies never look valid. */
export function bounded(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= MAX_PROBLEMS_TOGETHER) return problems
  const kept = problems.toSorted((a, b) => compareText(a.severity, b.severity)).slice(0, MAX_PROBLEMS_TOGETHER)
  const message = `${problems.length} problems in all files together; the first ${MAX_PROBLEMS_TOGETHER} are shown`
  return [...kept, { severity: 'error', code: 'TOO_LARGE', message }]
}
