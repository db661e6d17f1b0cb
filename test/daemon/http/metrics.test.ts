import { describe, expect, test } from 'vitest'
import { TEAM } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { NOTHING_BURNED } from '../../../src/core/use/burn.ts'
import { COUNTERS, GAUGES } from '../../../src/daemon/http/metrics/gauges.ts'
import { SETTINGS } from '../../support/declare.ts'
import { parseExposition } from '../../support/exposition.ts'
import { serviceClock } from '../../support/faults.ts'
import { later, worldUnder } from '../../support/living.ts'
import { event, start } from '../../support/metrics.ts'
import { balanceOf, CHANGE, CYCLE, emptyView, fullView, HOUR, MINUTE, NOW, REFUSED, rosterOf, USE } from '../../support/views.ts'

describe('before anything happened', () => {
  test('counters and enumerated labels start at 0', async () => {
    const page = await start().scrape(emptyView())
    expect(page.series('capkeeper_changes_total')).toHaveLength(3 * 5 * 4)
    expect(page.series('capkeeper_external_changes_total')).toHaveLength(3)
    expect(page.series('capkeeper_reconcile_total')).toHaveLength(5)
    expect(page.series('capkeeper_api_requests_total')).toHaveLength(6 * 9)
    expect(page.series('capkeeper_scopes')).toHaveLength(3 * 8)
    expect(page.series('capkeeper_drift_scopes')).toHaveLength(3 * 4)
    expect(page.series('capkeeper_drift_credits')).toHaveLength(3 * 4)
    expect(page.series('capkeeper_holds')).toHaveLength(Object.keys(SETTINGS.guards).length)
    expect(page.series('capkeeper_approvals')).toHaveLength(3)
    expect(page.series('capkeeper_grants')).toHaveLength(4)
    expect(page.series('capkeeper_reconcile_duration_seconds_count')).toHaveLength(3)
    expect(page.series('capkeeper_api_request_duration_seconds_count')).toHaveLength(6)
    const standing = page.samples.filter(({ name, value }) => name.startsWith('capkeeper_') && value !== 0)
    expect(standing.map(({ name, labels }) => `${name} ${labels['mode'] ?? ''}`.trim())).toEqual([
      'capkeeper_build_info',
      'capkeeper_config_valid',
      'capkeeper_ledger_writable',
      'capkeeper_workspace_held',
      'capkeeper_mode enforce',
    ])
    expect(page.value('capkeeper_metrics_dropped_series_total')).toBe(0)
    const nothing = await start().scrape({ ...emptyView(), use: { burned: NOTHING_BURNED } })
    expect(nothing.value('capkeeper_credits_burned_total', { workspace: 'acme' })).toBe(0)
  })

  test('what was never known is absent', async () => {
    const page = await start().scrape(emptyView())
    const known = [...Object.keys(GAUGES), ...Object.keys(COUNTERS)].filter((name) => page.series(name).length > 0)
    expect(known.map((name) => name.replace('capkeeper_', '')).toSorted()).toEqual([
      ...['api_requests_total', 'approvals', 'build_info', 'changes_total', 'config_valid', 'drift_credits', 'drift_scopes'],
      ...['external_changes_total', 'grants', 'holds', 'lease_transfers_total', 'ledger_writable', 'metrics_dropped_series_total'],
      ...['mode', 'reconcile_total', 'scopes', 'workspace_held'],
    ])
  })
})

describe('the gauges of a view', () => {
  const expected: readonly [string, Record<string, string>, number | undefined][] = [
    ['capkeeper_policy_valid', {}, 0],
    ['capkeeper_policy_info', { revision: '0123456789abcdef', digest: 'a1b2c3d4e5f6' }, 1],
    ['capkeeper_mode', { mode: 'enforce' }, 1],
    ['capkeeper_mode', { mode: 'audit' }, 0],
    ['capkeeper_clock_skew_seconds', {}, -1.5],
    ['capkeeper_approvals', { state: 'spent' }, 1],
    ['capkeeper_approvals', { state: 'pending' }, 0],
    ['capkeeper_pause_until_timestamp_seconds', {}, (NOW + 4 * HOUR) / 1000],
    ['capkeeper_scopes', { kind: 'group', state: 'in_sync' }, 1],
    ['capkeeper_scopes', { kind: 'user', state: 'drifted' }, 2],
    ['capkeeper_scopes', { kind: 'user', state: 'held' }, 1],
    ['capkeeper_drift_scopes', { kind: 'team', cause: 'external' }, 1],
    ['capkeeper_drift_scopes', { kind: 'user', cause: 'policy' }, 2],
    ['capkeeper_drift_scopes', { kind: 'user', cause: 'orphan' }, 1],
    ['capkeeper_drift_credits', { kind: 'team', direction: 'above' }, 300],
    ['capkeeper_drift_credits', { kind: 'group', direction: 'missing' }, 700],
    ['capkeeper_drift_credits', { kind: 'user', direction: 'below' }, 1500],
    ['capkeeper_drift_credits', { kind: 'user', direction: 'above' }, 800],
    ['capkeeper_drift_credits', { kind: 'user', direction: 'extra' }, 300],
    ['capkeeper_drift_oldest_seconds', {}, 7200],
    ['capkeeper_holds', { guard: 'maxLowered' }, 1],
    ['capkeeper_holds', { guard: 'protected' }, 1],
    ['capkeeper_holds', { guard: 'maxBlocked' }, 0],
    ['capkeeper_last_reconcile_timestamp_seconds', {}, (NOW - MINUTE) / 1000],
    ['capkeeper_last_success_timestamp_seconds', {}, (NOW - HOUR) / 1000],
    ['capkeeper_api_rate_limit_requests_per_second', {}, 7.5],
    ['capkeeper_team_cap_credits', { side: 'desired' }, 500],
    ['capkeeper_team_cap_credits', { side: 'observed' }, 800],
    ['capkeeper_group_cap_credits', { side: 'desired', group: 'grp_data' }, 700],
    ['capkeeper_group_cap_credits', { side: 'observed', group: 'grp_data' }, undefined],
    ['capkeeper_people', { band: 'under_50' }, 20],
    ['capkeeper_people', { band: 'at_cap' }, 0],
    ['capkeeper_addon_credits_available', {}, 10_000],
    ['capkeeper_addon_credits_used', {}, 400],
    ['capkeeper_prompt_credits_per_seat', {}, 500],
    ['capkeeper_seats', {}, 20],
    ['capkeeper_prompt_credits_used', {}, 1900],
    ['capkeeper_group_prompt_credits_used', { group: 'grp_platform' }, 30],
    ['capkeeper_attribution_gap_ratio', {}, -1],
    ['capkeeper_cycle_start_timestamp_seconds', {}, CYCLE.startAt / 1000],
    ['capkeeper_cycle_end_timestamp_seconds', {}, CYCLE.endAt / 1000],
    ['capkeeper_usage_age_seconds', {}, 600],
    ['capkeeper_grants', { state: 'active' }, 2],
    ['capkeeper_model_credits_used', { model: 'Large', mode: 'MODE_DEFAULT' }, 1500.5],
    ['capkeeper_model_credits_used', { model: 'Small', mode: 'UNKNOWN' }, 300],
    ['capkeeper_burn_ratio', { window: '6h' }, 1.5],
    ['capkeeper_burn_ratio', { window: '24h' }, 1.25],
    ['capkeeper_burn_ratio', { window: '3d' }, undefined],
    ['capkeeper_projected_credits_used', { percentile: '10' }, 2600],
    ['capkeeper_projected_credits_used', { percentile: '50' }, 2850.12],
    ['capkeeper_projected_credits_used', { percentile: '90' }, 3100],
    ['capkeeper_exhaustion_timestamp_seconds', {}, Date.UTC(2026, 10, 27, 6) / 1000],
    ['capkeeper_credits_burned_total', {}, 700],
    ['capkeeper_group_credits_burned_total', { group: 'grp_platform' }, 12.5],
  ]
  test.each(expected)('%s %o holds what the view says', async (name, labels, value) => {
    const page = await start().scrape(fullView())
    expect(page.value(name, { workspace: 'acme', ...labels })).toBe(value)
  })

  test('a cap of none shows no cap, and the drift it makes is extra', async () => {
    const view = {
      ...emptyView(),
      scopes: [{ scope: TEAM, state: 'drifted', desired: 'none', observed: credits(40), cause: 'external' } as const],
    }
    const page = await start().scrape(view)
    expect(page.value('capkeeper_team_cap_credits', { workspace: 'acme', side: 'desired' })).toBeUndefined()
    expect(page.value('capkeeper_drift_credits', { workspace: 'acme', kind: 'team', direction: 'extra' })).toBe(40)
  })

  test('health of configuration and ledger is shown', async () => {
    const page = parseExposition(await start().metrics.render([], { configValid: false, ledgerWritable: false }))
    expect(page.value('capkeeper_config_valid')).toBe(0)
    expect(page.value('capkeeper_ledger_writable')).toBe(0)
    expect(page.value('capkeeper_build_info', { version: '0.1.0', revision: 'abc' })).toBe(1)
  })

  test('series of vanished groups and holds go away, the rest stays', async () => {
    const { scrape } = start()
    await scrape(fullView())
    const page = await scrape({
      ...fullView(),
      groups: [],
      scopes: [],
      holds: [],
      use: { ...USE, models: [] },
      policy: { valid: true, digest: 'new', revision: '', loadedAt: NOW, problems: [] },
    })
    for (const name of ['group_prompt_credits_used', 'group_credits_burned_total', 'model_credits_used'])
      expect(page.series(`capkeeper_${name}`), name).toEqual([])
    expect(page.series('capkeeper_group_cap_credits')).toEqual([])
    expect(page.series('capkeeper_policy_info').map(({ labels }) => labels['digest'])).toEqual(['new'])
    expect(page.value('capkeeper_holds', { workspace: 'acme', guard: 'maxLowered' })).toBe(0)
  })

  test('the age is that of the oldest reading, also while only runs cannot be read', async () => {
    const view = fullView()
    const page = await start().scrape({ ...view, use: { ...USE, runsReadAt: NOW - 25 * HOUR } })
    expect(page.value('capkeeper_usage_age_seconds', { workspace: 'acme' })).toBe(25 * 3600)
    expect(page.series('capkeeper_model_credits_used')).toEqual([])
    expect(page.series('capkeeper_burn_ratio')).toHaveLength(2)
  })

  test('the attribution gap compares the estimate with what the service counted', async () => {
    const roster = rosterOf(100) // people 51 to 99 are above the 500 credits of a seat: 10 + 20 + … + 490
    const page = await start().scrape({ ...fullView(), roster, balance: balanceOf({ addOnUsed: credits(10_000) }) })
    expect(page.value('capkeeper_attribution_gap_ratio', { workspace: 'acme' })).toBeCloseTo(0.225)
    const none = await start().scrape({ ...fullView(), roster, balance: balanceOf({ addOnUsed: credits(0) }) })
    expect(none.series('capkeeper_attribution_gap_ratio')).toEqual([])
  })

  test('the attribution gap counts what people used who have left, and is none where nobody’s use is known', async () => {
    const [roster, balance] = [rosterOf(3), balanceOf({ addOnUsed: credits(100) })]
    const measured = {
      readAt: NOW,
      cycles: [{ startAt: CYCLE.startAt, people: { [roster.people[1]?.email ?? '']: credits(150) }, others: credits(50) }],
      unassignable: [],
    }
    const page = await start().scrape({ ...fullView(), roster, balance, measured })
    expect(page.value('capkeeper_attribution_gap_ratio', { workspace: 'acme' })).toBe(1)
    const people = roster.people.map(({ used: _, ...person }) => person)
    const none = await start().scrape({ ...fullView(), roster: { ...roster, people }, balance })
    expect(none.series('capkeeper_attribution_gap_ratio')).toEqual([])
  })

  test('use that was read before the clock was set back is not shown until it is read again', async () => {
    const view = fullView()
    const roster = rosterOf(100)
    const page = await start().scrape({ ...view, roster: { ...roster, readAt: NOW + 24 * HOUR } })
    expect(page.series('capkeeper_prompt_credits_used')).toEqual([])
    expect(page.value('capkeeper_seats', { workspace: 'acme' })).toBe(20)
    const moment = await start().scrape({ ...view, roster: { ...roster, readAt: NOW + MINUTE } })
    expect(moment.series('capkeeper_prompt_credits_used')).toHaveLength(1)
  })

  test.each([25 * HOUR, -25 * HOUR])(
    'what was read while the wall clock is wrong by %i ms is as old as it is, and shown',
    async (wrongMs) => {
      const skew = { ms: 0 }
      const one = await worldUnder({ caps: { team: 500 } }, { wrapTransport: serviceClock(skew) })
      one.clock.jumpWall(wrongMs)
      skew.ms -= wrongMs
      await later(one, HOUR)
      const page = await start({ clock: one.clock, users: { perUser: 'all', userLabel: String } }).scrape(one.view())
      expect(page.value('capkeeper_usage_age_seconds', { workspace: 'acme' })).toBeLessThan(1)
      for (const name of ['prompt_credits_used', 'seats', 'user_cap_credits'])
        expect(page.series(`capkeeper_${name}`), name).not.toEqual([])
    },
  )

  test('during an outage use and balance stay beside their age for 24 h, then only the age stays', async () => {
    const { clock, scrape } = start()
    await clock.advance(24 * HOUR - 10 * MINUTE)
    const shown = await scrape(fullView())
    expect(shown.value('capkeeper_prompt_credits_used', { workspace: 'acme' })).toBe(1900)
    expect(shown.value('capkeeper_seats', { workspace: 'acme' })).toBe(20)
    await clock.advance(1)
    const gone = await scrape(fullView())
    const names = [
      'capkeeper_prompt_credits_used',
      'capkeeper_group_prompt_credits_used',
      'capkeeper_people',
      'capkeeper_seats',
      'capkeeper_model_credits_used',
      'capkeeper_burn_ratio',
      'capkeeper_projected_credits_used',
      'capkeeper_exhaustion_timestamp_seconds',
    ]
    for (const name of names) expect(gone.series(name), name).toEqual([])
    expect(gone.value('capkeeper_usage_age_seconds', { workspace: 'acme' })).toBeCloseTo(86_400.001)
    expect(gone.value('capkeeper_team_cap_credits', { workspace: 'acme', side: 'observed' })).toBe(800)
  })
})

test('bands are absent, not empty, where no use or no cap is known', async () => {
  const view = fullView()
  const page = await start().scrape({ ...view, people: view.people.map(({ email }) => ({ email })) })
  expect(page.series('capkeeper_people')).toEqual([])
})

describe('the counters', () => {
  test('count each event once under its labels', async () => {
    const { metrics, scrape } = start()
    metrics.onEvent(event({ kind: 'change-finished', change: CHANGE, result: 'applied' }))
    metrics.onEvent(event({ kind: 'change-finished', change: CHANGE, result: 'verify_failed', error: 'a third value' }))
    const found = { type: 'ForeignChange', subject: 'team', reason: 'FOREIGN_CHANGE', message: 'team: 500 → 800' } as const
    const condition = { ...found, scope: TEAM, fields: { unseenSeconds: 1.4 }, since: NOW }
    metrics.onEvent(event({ kind: 'condition', change: 'begun', condition }))
    metrics.onEvent(event({ kind: 'condition', change: 'ended', condition }))
    metrics.onEvent(event({ kind: 'request-finished', operation: 'GetUsageConfig', outcome: 'ok', durationMs: 30 }))
    metrics.onEvent(event({ kind: 'request-finished', operation: 'GetUsageConfig', outcome: 'rate_limited', durationMs: 4 }))
    metrics.onEvent(event({ kind: 'cycle-finished', result: 'held', observeMs: 800, applyMs: 50, totalMs: 900 }))
    metrics.onEvent(event({ kind: 'condition', change: 'begun', condition: REFUSED }))
    const page = await scrape(emptyView())
    const workspace = 'acme'
    const change = { workspace, kind: 'team', effect: 'lower' }
    expect(page.value('capkeeper_changes_total', { ...change, result: 'applied' })).toBe(1)
    expect(page.value('capkeeper_changes_total', { ...change, result: 'verify_failed' })).toBe(1)
    expect(page.value('capkeeper_external_changes_total', { workspace, kind: 'team' })).toBe(1)
    expect(page.value('capkeeper_drift_detection_seconds_sum', { workspace, kind: 'team' })).toBe(1.4)
    expect(page.value('capkeeper_drift_detection_seconds_bucket', { workspace, kind: 'team', le: '1' })).toBe(0)
    const operation = 'GetUsageConfig'
    expect(page.value('capkeeper_api_requests_total', { workspace, operation, outcome: 'ok' })).toBe(1)
    expect(page.value('capkeeper_api_requests_total', { workspace, operation, outcome: 'rate_limited' })).toBe(1)
    expect(page.value('capkeeper_api_request_duration_seconds_count', { workspace, operation })).toBe(2)
    expect(page.value('capkeeper_api_request_duration_seconds_sum', { workspace, operation })).toBeCloseTo(0.034)
    expect(page.value('capkeeper_reconcile_total', { workspace, result: 'held' })).toBe(1)
    expect(page.value('capkeeper_reconcile_duration_seconds_sum', { workspace, phase: 'total' })).toBeCloseTo(0.9)
    expect(page.value('capkeeper_reconcile_duration_seconds_sum', { workspace, phase: 'observe' })).toBeCloseTo(0.8)
  })

  test('of a removed workspace go away, also when a late event arrives; the others stay', async () => {
    const { metrics, scrape } = start({}, ['acme', 'beta'])
    metrics.removeWorkspace('acme')
    metrics.onEvent(event({ kind: 'change-finished', change: CHANGE, result: 'applied' }))
    metrics.onEvent(event({ kind: 'cycle-finished', result: 'noop', observeMs: 1, applyMs: 0, totalMs: 1 }))
    const page = await scrape(emptyView('beta'))
    expect(page.samples.filter(({ labels }) => labels['workspace'] === 'acme')).toEqual([])
    expect(page.series('capkeeper_reconcile_total', { workspace: 'beta' })).toHaveLength(5)
  })

  test('registering a workspace again does not reset them', async () => {
    const { metrics, scrape } = start()
    metrics.onEvent(event({ kind: 'change-finished', change: CHANGE, result: 'applied' }))
    metrics.registerWorkspace('acme')
    const labels = { workspace: 'acme', kind: 'team', effect: 'lower', result: 'applied' }
    expect((await scrape(emptyView())).value('capkeeper_changes_total', labels)).toBe(1)
  })
})
