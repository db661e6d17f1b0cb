import { describe, expect, test } from 'vitest'
import { renderExplainText } from '../../src/cli/explain.ts'
import { READY } from '../../src/core/model/change.ts'
import { groupScope, scopeKey, TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import type { Explanation } from '../../src/core/plan/explain.ts'

const ada = userScope('ada@example.com')
const platform = groupScope('grp_platform')
const at = (line: number) => ({ file: 'acme.yaml', line, column: 12 })
const readAt = Date.UTC(2026, 10, 20, 12)

const whole: Explanation = {
  scope: ada,
  person: { status: 'approved', disabled: false },
  groups: [{ id: 'grp_platform', name: 'Platform' }],
  cap: credits(6000),
  chain: [
    {
      candidate: { kind: 'grant', scope: ada, cap: credits(6000), at: at(20), reason: 'release week', ticket: 'OPS-12' },
      wins: true,
      why: 'a grant in force, ends 2026-12-16 00:00 UTC',
      state: 'active',
    },
    {
      candidate: { kind: 'cap', scope: ada, cap: credits(4000), at: at(14), reason: 'migration lead' },
      wins: false,
      why: 'a grant on the same scope is in force',
    },
    { candidate: { kind: 'cap', scope: platform, cap: credits(1500), at: at(9) }, wins: false, why: 'a user grant is narrower' },
  ],
  observed: [
    { scope: ada, reading: { scope: ada, observed: credits(4000), readAt } },
    { scope: platform, reading: { scope: platform, observed: 'unknown', readAt, failure: { kind: 'server', message: 'HTTP 503' } } },
    { scope: TEAM },
  ],
  inForce: { cap: credits(4000), from: scopeKey(ada) },
  use: { used: credits(312.5), source: 'estimated', isUpperBound: false, headRoom: credits(3687.5) },
  change: {
    scope: ada,
    action: 'set',
    effect: 'raise',
    from: credits(4000),
    to: credits(6000),
    cause: 'policy',
    people: 1,
    healing: false,
    grantEnd: false,
    disposition: READY,
  },
  hold: { id: '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b', guards: ['readQuality'], people: 1, changes: [], message: 'acme: 9 of 20 reads failed' },
  problems: [],
}

describe('an explanation as text', () => {
  test('says of a cap that no line asks for that it is no longer declared', () => {
    const candidate = { kind: 'restore', scope: platform, cap: credits(777), reason: 'the grant is no longer declared' } as const
    const text = renderExplainText({ ...whole, chain: [{ candidate, wins: true, why: 'it is restored' }] }, undefined)
    expect(text).toContain('  * wins  777  group restore  no longer declared  it is restored\n')
  })

  test('says so when nothing is declared and nothing was read', () => {
    expect(renderExplainText({ scope: TEAM, groups: [], chain: [], observed: [], problems: [] }, undefined)).toBe(
      [
        'team: policy asks for no cap here',
        '',
        'Declared:',
        '  nothing in the policies bears on this scope',
        '',
        'Observed:',
        '  nothing was read',
        '',
        'Now: nothing is asked of this very scope.',
        '',
        'Last write: none by capkeeper.',
        '',
      ].join('\n'),
    )
  })

  test('says of which raise a pool has to wait, whether something is to be written now or not', () => {
    const dealt = { kind: 'pool', scope: ada, cap: credits(500), at: at(30), pool: 'research' } as const
    const waits = 'a raise to 740 waits until use up to 2026-11-20 12:00 UTC shows'
    const desired = {
      scope: ada,
      cap: credits(500),
      owner: 'pool',
      entry: { kind: 'pool', cap: credits(500) },
      origin: dealt,
      losers: [],
    } as const
    const { change: _, hold: _hold, ...still } = whole
    expect(renderExplainText({ ...still, desired: { ...desired, waits } }, undefined)).toContain(`Now: nothing to write.\n  ${waits}\n`)
    expect(renderExplainText({ ...still, desired }, undefined)).toContain(
      'Now: nothing to write.\nTo end its grant in the policies: capkeeper edit remove grant:ada@example.com\n\n',
    )
    expect(renderExplainText({ ...whole, desired: { ...desired, waits } }, undefined)).toContain(
      `  acme: 9 of 20 reads failed\n  ${waits}\n`,
    )
  })
})
