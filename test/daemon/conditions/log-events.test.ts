import { describe, expect, test } from 'vitest'
import type { Plan } from '../../../src/core/model/change.ts'
import type { Finding } from '../../../src/core/model/condition.ts'
import type { CycleEvent, PolicyStatus } from '../../../src/core/model/events.ts'
import { credits } from '../../../src/core/model/units.ts'
import { foreignFinding, pauseFindings, policyFindings, unread } from '../../../src/daemon/conditions/findings.ts'
import type { LogFields, Logger } from '../../../src/daemon/conditions/log.ts'
import { eventLog, logEvent } from '../../../src/daemon/conditions/log-events.ts'
import { ADA, raise, TEAM } from '../../support/ledger.ts'

interface Line {
  readonly level: string
  readonly fields: LogFields
  readonly message: string
}

function recorder(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = []
  const at = (level: string) => (fields: LogFields, message: string) => void lines.push({ level, fields, message })
  return { logger: { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }, lines }
}

type Bare<T> = T extends unknown ? Omit<T, 'workspace' | 'at'> : never
const event = (bare: Bare<CycleEvent>): CycleEvent => ({ ...bare, workspace: 'acme', at: 0 }) as CycleEvent

const HOLD_ID = '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b'
const zero = { set: 0, raise: 1, lower: 0, block: 0, clear: 0, held: 0, inSync: 0, unknown: 0, skipped: 0, rejected: 0 }
const plan: Plan = {
  apiVersion: 'capkeeper/v1',
  kind: 'Plan',
  id: '0123456789abcdef',
  workspace: 'acme',
  createdAt: 0,
  policyDigest: 'd1gest',
  revision: 'abc1234',
  counts: zero,
  changes: [],
  holds: [],
  unknown: [],
  problems: [],
  approvals: [],
}
const policy: PolicyStatus = { valid: true, digest: 'd1gest', revision: 'abc1234', loadedAt: 0, problems: [] }
const pause = { untilAt: Date.UTC(2026, 10, 20), reason: 'migration', pausedAt: 0 }
const change = raise(ADA, 500, 4000, { reason: 'lead' })
const condition = (found: Finding, change: 'begun' | 'changed' | 'ended' = 'begun'): CycleEvent =>
  event({ kind: 'condition', change, condition: { since: 0, ...found } })
const held: Finding = {
  type: 'Held',
  subject: `hold ${HOLD_ID}`,
  reason: 'HELD',
  message: '41 of 120',
  fields: { hold: HOLD_ID, guards: ['maxLowered'], people: 41, changes: 1 },
}
const rejected: Finding = { type: 'Quarantined', subject: 'ada@example.com', reason: 'CAP_REFUSED', message: 'no', scope: ADA }
const noBalance: Finding = { type: 'BalanceUnavailable', subject: 'x', reason: 'BALANCE_UNAVAILABLE', message: 'no balance' }
const away: Finding = { type: 'ServiceUnreachable', subject: 'acme', reason: 'SERVICE_UNREACHABLE', message: 'refused' }
const unreadGroup: Finding = { ...unread('GROUP_UNREAD', 'group:g', 'group:g (G): no answer'), scope: { kind: 'group', id: 'g' } }
const foreign = foreignFinding(TEAM, credits(5), 'none')
const paused = (of = pause): Finding => pauseFindings(of, 'acme')[0] ?? held
const broken = (problems: PolicyStatus['problems'] = []): Finding =>
  policyFindings({ ...policy, valid: false, problems }, 'acme')[0] ?? held
const times = { observeMs: 1.4, applyMs: 0, totalMs: 2.6 }

const LEVELS: readonly (readonly [name: string, level: string, event: CycleEvent])[] = [
  ['a good policy', 'info', event({ kind: 'policy-loaded', policy })],
  ['a broken policy', 'error', condition(broken())],
  ['a policy that is whole again', 'info', condition(broken(), 'ended')],
  ['a request', 'debug', event({ kind: 'request-finished', operation: 'UsageConfig', outcome: 'ok', durationMs: 12.7 })],
  ['a learned rate', 'debug', event({ kind: 'rate-learned', ratePerSecond: 5 })],
  ['use that was read', 'debug', event({ kind: 'usage-read', groups: [] })],
  ['a plan', 'debug', event({ kind: 'planned', plan })],
  ['a cap that was written', 'info', event({ kind: 'change-finished', change, result: 'applied' })],
  ['a cap that could not be written', 'error', event({ kind: 'change-finished', change, result: 'failed', error: 'no' })],
  ['a write whose fate is not known', 'warn', event({ kind: 'change-finished', change, result: 'ambiguous' })],
  ['a write that reads back otherwise', 'warn', event({ kind: 'change-finished', change, result: 'verify_failed' })],
  ['a foreign change', 'warn', condition(foreign)],
  ['a hold', 'warn', condition(held)],
  ['a hold that is gone', 'info', condition(held, 'ended')],
  ['a scope that is rejected', 'error', condition(rejected)],
  ['a plan without a balance', 'info', condition(noBalance)],
  ['a service that is away', 'error', condition(away)],
  ['a service that is there again', 'info', condition(away, 'ended')],
  ['a pause', 'info', condition(paused())],
  ['the end of a pause', 'info', condition(paused(), 'ended')],
  ['a mistake of ours', 'error', event({ kind: 'bug', message: 'x' })],
  ['a quiet cycle', 'info', event({ kind: 'cycle-finished', result: 'noop', ...times })],
  ['a cycle that wrote', 'info', event({ kind: 'cycle-finished', result: 'success', ...times })],
  ['a cycle that did a part, of which a condition tells', 'debug', event({ kind: 'cycle-finished', result: 'partial', ...times })],
  ['a cycle that finds its hold again', 'info', event({ kind: 'cycle-finished', result: 'held', ...times })],
  [
    'a cycle in which nothing worked, of which a condition tells',
    'debug',
    event({ kind: 'cycle-finished', result: 'error', message: 'down', ...times }),
  ],
]

test.each(LEVELS)('%s is one line at %s that names the workspace', (_, level, one) => {
  const { logger, lines } = recorder()
  logEvent(logger, one)
  expect(lines.map((line) => [line.level, line.fields['workspace']])).toEqual([[level, 'acme']])
})

test('a quiet cycle is one line at info', () => {
  const { logger, lines } = recorder()
  const log = eventLog(logger)
  log(event({ kind: 'request-finished', operation: 'GetUsageConfig', outcome: 'ok', durationMs: 12 }))
  log(event({ kind: 'usage-read', groups: [] }))
  log(event({ kind: 'planned', plan }))
  log(event({ kind: 'cycle-finished', result: 'noop', ...times }))
  expect(lines.filter((line) => line.level !== 'debug').map((line) => line.message)).toEqual(['cycle finished'])
})

describe('for eyes', () => {
  const SENTENCES: readonly (readonly [string, CycleEvent, string])[] = [
    [
      'a policy',
      event({ kind: 'policy-loaded', policy: { ...policy, revision: `${'a'.repeat(40)}+dirty` } }),
      'policies d1gest at aaaaaaaaaaaa+dirty loaded',
    ],
    ['a write', event({ kind: 'change-finished', change, result: 'applied' }), 'ada@example.com:          raised    500 → 4000'],
    [
      'a write that failed',
      event({ kind: 'change-finished', change, result: 'failed', error: 'no' }),
      'ada@example.com:          failed    500 → 4000: no',
    ],
    [
      'a hold',
      condition({ ...held, message: '41 of \u001b[31m120' }),
      'hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b by maxLowered: 41 of \uFFFD[31m120',
    ],
    ['a quiet cycle', event({ kind: 'cycle-finished', result: 'noop', ...times }), 'cycle finished in 0.0 s, nothing to do'],
    ['a scope that is left alone', condition(rejected), 'ada@example.com:          left alone: no (CAP_REFUSED)'],
    ['a group that cannot be read', condition(unreadGroup), 'group:g (G): no answer (GROUP_UNREAD)'],
    ['what is over', condition(away, 'ended'), 'the service answers again (acme)'],
    ['a pause', condition(paused()), 'paused until 2026-11-20 00:00 UTC, nothing is written: migration'],
  ]

  test.each(SENTENCES)('%s is a sentence', (_name, one, expected) => {
    const said: (string | undefined)[] = []
    const say = (_fields: LogFields, _message: string, sentence?: () => string) => void said.push(sentence?.())
    logEvent({ error: say, warn: say, info: say, debug: say, forEyes: true }, one)
    expect(said).toEqual([expected])
  })

  test('a foreign change and its revert are one line, with the name of the group', () => {
    const said: string[] = []
    const say = (level: string) => (_fields: LogFields, _message: string, sentence?: () => string) =>
      void said.push(`${level} ${sentence?.()}`)
    const log = eventLog({ error: say('error'), warn: say('warn'), info: say('info'), debug: () => undefined, forEyes: true })
    const scope = { kind: 'group', id: 'grp_data' } as const
    log(event({ kind: 'usage-read', groups: [{ id: 'grp_data', name: 'Data', emails: [], readAt: 0 }] }))
    log(condition(foreignFinding(scope, credits(1000), credits(2500))))
    log(condition(foreign))
    expect(said).toEqual([])
    log(event({ kind: 'change-finished', change: { ...change, scope, cause: 'external' }, result: 'applied' }))
    log(event({ kind: 'cycle-finished', result: 'partial', message: 'team: no', ...times }))
    expect(said).toEqual([
      'warn group Data:               somebody else set 1000 → 2500; put back',
      'warn team:                     somebody else set 5 → none; not put back yet',
    ])
  })

  test('workspaces are named while there are several', () => {
    const said: string[] = []
    const say = (_fields: LogFields, _message: string, sentence?: () => string) => void said.push(sentence?.() ?? '')
    const log = eventLog({ error: say, warn: say, info: say, debug: () => undefined, forEyes: true })
    log(event({ kind: 'cycle-finished', result: 'noop', ...times }))
    log({ ...condition({ ...held, subject: 'hold x' }, 'ended'), workspace: 'beta' })
    log(event({ kind: 'change-finished', change, result: 'applied' }))
    expect(said).toEqual([
      'cycle finished in 0.0 s, nothing to do',
      'beta: hold x is gone',
      'acme ada@example.com:     raised    500 → 4000',
    ])
  })

  test('as JSON a foreign change is logged at once', () => {
    const { logger, lines } = recorder()
    eventLog(logger)(condition(foreign))
    expect(lines.map(({ message }) => message)).toEqual(['somebody else changed a cap'])
  })
})

describe('fields', () => {
  test('a write tells scope, from, to, cause, the policy line, and the plan, digest and revision it came from', () => {
    const { logger, lines } = recorder()
    const log = eventLog(logger)
    log(event({ kind: 'planned', plan }))
    log({ ...event({ kind: 'planned', plan: { ...plan, id: 'other' } }), workspace: 'beta' })
    log(event({ kind: 'change-finished', change, result: 'applied' }))
    expect(lines.at(-1)?.fields).toMatchObject({
      workspace: 'acme',
      scope: 'ada@example.com',
      effect: 'raise',
      from: 500,
      to: 4000,
      cause: 'policy',
      source: 'acme.yaml:5:14',
      reason: 'lead',
      plan: '0123456789abcdef',
      digest: 'd1gest',
      revision: 'abc1234',
    })
  })

  test('a hold tells its id, its guards, how many people, and why', () => {
    const { logger, lines } = recorder()
    logEvent(logger, condition(held), plan)
    expect(lines[0]?.fields).toMatchObject({
      hold: HOLD_ID,
      guards: ['maxLowered'],
      people: 41,
      changes: 1,
      error: '41 of 120',
      plan: plan.id,
    })
  })

  test('a broken policy lists its problems with their places, twenty at most, and counts them all', () => {
    const problems = Array.from({ length: 25 }, (_, n) => ({
      severity: 'error' as const,
      code: 'X',
      message: `bad ${n}`,
      ...(n > 0 && { at: { file: 'acme.yaml', line: n, column: 3 } }),
    }))
    const { logger, lines } = recorder()
    logEvent(logger, condition(broken(problems)))
    const shown = lines[0]?.fields['problems']
    expect(shown).toHaveLength(20)
    expect(shown).toEqual(expect.arrayContaining(['bad 0', 'acme.yaml:7:3: bad 7']))
    expect(lines[0]?.fields['problemCount']).toBe(25)
  })

  test('a foreign change names the verified and the present value', () => {
    const { logger, lines } = recorder()
    logEvent(logger, condition(foreign))
    expect(lines[0]?.fields).toMatchObject({ scope: 'team', from: 5, to: 'none' })
  })

  test('times are whole milliseconds', () => {
    const { logger, lines } = recorder()
    logEvent(logger, event({ kind: 'cycle-finished', result: 'noop', ...times }))
    expect(lines[0]?.fields).toMatchObject({ observeMs: 1, totalMs: 3 })
  })
})
