import { describe, expect, test } from 'vitest'
import { renderExplainJson, renderExplainText, renderExplainTexts } from '../../src/cli/explain/run.ts'
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

  test('shows the grant, the override and the group with their lines, the winner, and the hold', () => {
    expect(renderExplainText(whole, { key: scopeKey(whole.scope), everyMs: 300_000 })).toBe(
      [
        'ada@example.com: policy asks for 6000',
        '  approved, in group:grp_platform (Platform)',
        '',
        'Declared:',
        '  * wins   6000  user grant, active  acme.yaml:20:12  a grant in force, ends 2026-12-16 00:00 UTC',
        '             release week · OPS-12',
        '    loses  4000  user cap            acme.yaml:14:12  a grant on the same scope is in force',
        '             migration lead',
        '    loses  1500  group cap           acme.yaml:9:12   a user grant is narrower',
        '',
        'Observed:',
        '  ada@example.com     4000      read 2026-11-20 12:00:00Z',
        '  group:grp_platform  unknown   read 2026-11-20 12:00:00Z: HTTP 503',
        '  team                not read',
        '',
        'In force: 4000, set at ada@example.com.',
        'Used beyond the seat in this cycle: 312.5 credits, 3687.5 left. Estimated.',
        '',
        'Now: ~ raise 4000 → 6000, cause policy (held by readQuality, hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b)',
        '  acme: 9 of 20 reads failed',
        'To change it in the policies: capkeeper edit cap ada@example.com 6000',
        '',
        'Last write: none by capkeeper.',
        'By a daemon read with every sweep, every 5 min.',
        '',
      ].join('\n'),
    )
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
      'Now: nothing to write.\nTo change it in the policies: capkeeper edit cap ada@example.com 6000\n\n',
    )
    expect(renderExplainText({ ...whole, desired: { ...desired, waits } }, undefined)).toContain(
      `  acme: 9 of 20 reads failed\n  ${waits}\n`,
    )
  })

  test('as JSON has RFC 3339 instants', () => {
    expect(
      JSON.parse(renderExplainJson([{ workspace: 'acme', explanation: whole, reading: { key: scopeKey(whole.scope), everyMs: 300_000 } }])),
    ).toMatchObject({
      kind: 'Explanation',
      workspace: 'acme',
      cap: 6000,
      reading: { scope: 'ada@example.com', everySeconds: 300, why: 'read with every sweep, every 5 min' },
      observed: [{ reading: { observed: 4000, readAt: '2026-11-20T12:00:00.000Z' } }, {}, {}],
      chain: [{ candidate: { at: { line: 20 } }, wins: true }, {}, {}],
    })
  })

  test('of a group says when no policy sets a cap for it, as for one that was mistyped', () => {
    const { person: _, ...rest } = whole
    const typo = renderExplainText({ ...rest, scope: groupScope('nope'), groups: [] }, undefined)
    expect(typo).toMatch(/^group:nope: policy asks for 6000\n {2}no policy sets a cap for this group\n/)
    expect(renderExplainText({ ...rest, scope: platform, groups: [] }, undefined)).not.toContain('no policy sets')
  })

  test('of several workspaces is one document, or a block under the name of each', () => {
    const all = ['acme', 'beta'].map((workspace) => ({ workspace, explanation: whole, reading: undefined }))
    const { kind, items } = JSON.parse(renderExplainJson(all))
    expect([kind, ...items.map((one: { workspace: string }) => one.workspace)]).toEqual(['ExplanationList', 'acme', 'beta'])
    expect(JSON.parse(renderExplainJson(all.slice(0, 1), 2))).toMatchObject({ kind: 'ExplanationList', items: [{ workspace: 'acme' }] })
    const text = renderExplainText(whole, undefined)
    expect(renderExplainTexts(all)).toBe(`acme\n${text}\nbeta\n${text}`)
    expect(renderExplainTexts(all.slice(0, 1))).toBe(text)
  })
})
