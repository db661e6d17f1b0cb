// Short ways to write a service's answers.
import { ApiError } from '../../src/core/model/observed.ts'
import { type Scope, userScope } from '../../src/core/model/scope.ts'
import type { Script } from './world.ts'

export const ok = (body: object) => ({ body: JSON.stringify(body) })
export const failing = (status: number, error = 'x', headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: JSON.stringify({ error }),
})

/** One answer after the other; the last one is repeated. */
export const inOrder =
  (...answers: ReturnType<Script>[]): Script =>
  (_sent, count) =>
    answers[Math.min(count, answers.length) - 1] ?? {}

export const people = (count: number): Scope[] => Array.from({ length: count }, (_, index) => userScope(`p${index}@example.com`))

export const rejection = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no rejection',
    (error: unknown) => error,
  )

export const NOON = Date.UTC(2026, 10, 20, 12)

/** The classified failure that a call was rejected with; anything else is a bug. */
export function failureOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  throw error
}

export const messageOf = (error: unknown): string => failureOf(error).message
