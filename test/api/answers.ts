// Answers of a service in few words, and what became of a promise.
import { type Scope, userScope } from '../../src/core/model/scope.ts'

export const ok = (body: object) => ({ body: JSON.stringify(body) })
export const failing = (status: number, error = 'x', headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: JSON.stringify({ error }),
})

export const people = (count: number): Scope[] => Array.from({ length: count }, (_, index) => userScope(`p${index}@example.com`))

export const rejection = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no rejection',
    (error: unknown) => error,
  )
