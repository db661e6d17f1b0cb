import { describe, expect, test } from 'vitest'
import { renderHistoryJson, renderHistoryText } from '../../src/cli/history/render.ts'
import type { HistoryEntry } from '../../src/core/model/change.ts'
import { TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'

const raised: HistoryEntry = {
  at: Date.UTC(2026, 10, 20, 12, 0, 5),
  scope: userScope('ada@example.com'),
  action: 'set',
  effect: 'raise',
  from: credits(500),
  to: credits(4000),
  cause: 'policy',
  result: 'applied',
  reason: 'migration lead',
  source: { file: 'policies/acme.yaml', line: 14, column: 12 },
  planId: '3f9c2a1b7d5e4c08',
  digest: '9a1b2c3d4e5f',
  revision: '1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d',
}
const { reason: _reason, source: _source, ...bare } = raised
const cleared: HistoryEntry = {
  ...bare,
  scope: TEAM,
  action: 'clear',
  effect: 'clear',
  to: 'none',
  cause: 'orphan',
  result: 'failed',
  error: 'HTTP 403: no BILLING_WRITE',
  revision: '',
}

describe('history', () => {
  test('has a line per write and one with why, where from and at which revision', () => {
    expect(renderHistoryText([raised, cleared])).toBe(
      [
        '2026-11-20 12:00:05Z  ~ raise  ada@example.com  500 → 4000  policy  applied',
        '    policies/acme.yaml:14:12 · migration lead · policies 9a1b2c3d4e5f at 1a2b3c4d5e6f · plan 3f9c2a1b7d5e4c08',
        '2026-11-20 12:00:05Z  - clear  team             500 → none  orphan  failed',
        '    no longer declared · policies 9a1b2c3d4e5f · plan 3f9c2a1b7d5e4c08',
        '    HTTP 403: no BILLING_WRITE',
        '',
      ].join('\n'),
    )
  })

  test('says that nothing was written', () => {
    expect(renderHistoryText([])).toBe('Nothing was written.\n')
  })

  test('as JSON has RFC 3339 instants and omits absent values', () => {
    expect(JSON.parse(renderHistoryJson('acme', [cleared]))).toEqual({
      apiVersion: 'capkeeper/v1',
      kind: 'History',
      workspace: 'acme',
      entries: [
        {
          at: '2026-11-20T12:00:05.000Z',
          scope: { kind: 'team' },
          action: 'clear',
          effect: 'clear',
          from: 500,
          to: 'none',
          cause: 'orphan',
          result: 'failed',
          error: 'HTTP 403: no BILLING_WRITE',
          planId: '3f9c2a1b7d5e4c08',
          policyDigest: '9a1b2c3d4e5f',
          revision: '',
        },
      ],
    })
  })
})
