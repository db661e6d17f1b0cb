// Answers to writes, by examples.
import { expect, it } from 'vitest'
import { isRefusal } from './answers.ts'

const said = (status: number, error: string) => ({ status, headers: {}, body: JSON.stringify({ error }) })

it.each([
  said(200, 'invalid group id'),
  said(200, 'unknown group: g1'),
  said(200, 'insufficient permissions: UsageConfig needs Billing Write'),
  said(200, 'set_add_on_credit_cap must be greater than 0'),
  said(400, 'this cap cannot be set now'),
])('$status with $body has certainly had no effect', (answer) => {
  expect(isRefusal(answer)).toBe(true)
})

it.each([
  said(200, 'this cap cannot be set now'),
  said(503, 'invalid service key'),
  { status: 200, headers: {}, body: '{}' },
  { kind: 'network', message: 'UsageConfig: the connection was reset' } as const,
])('the effect is unknown after another answer: %o', (answer) => {
  expect(isRefusal(answer)).toBe(false)
})
