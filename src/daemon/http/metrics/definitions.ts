// Names, types, labels and help texts of every metric: docs/metrics.md, to the letter. gauges.ts and metrics.ts decide the values.
import type { Operation } from '../../../core/model/observed.ts'

export interface Definition {
  readonly help: string
  readonly labels: readonly string[]
}

const W = ['workspace'] as const

export const GAUGES = {
  capkeeper_build_info: { help: 'Always 1; the version and the commit of this program.', labels: ['version', 'revision'] },
  capkeeper_config_valid: { help: '1 while the configuration file is valid; 0 while the last good one is in force.', labels: [] },
  capkeeper_ledger_writable: { help: '1 while the ledger can be written; without it no cap is written.', labels: [] },
  capkeeper_policy_valid: { help: '1 while the policy files are valid; 0 while the last good set is in force.', labels: W },
  capkeeper_policy_info: {
    help: 'Always 1; the digest and the commit of the policy set in force.',
    labels: ['workspace', 'revision', 'digest'],
  },
  capkeeper_workspace_held: { help: '1 while this replica holds the workspace, 0 while another one or none does.', labels: W },
  capkeeper_mode: { help: '1 for the mode of the workspace, 0 for the others.', labels: ['workspace', 'mode'] },
  capkeeper_clock_skew_seconds: { help: 'Clock of the service minus ours.', labels: W },
  capkeeper_approvals: { help: 'Approvals of holds by state.', labels: ['workspace', 'state'] },
  capkeeper_pause_until_timestamp_seconds: { help: 'When the pause in force ends; absent when not paused.', labels: W },
  capkeeper_scopes: { help: 'Scopes by state.', labels: ['workspace', 'kind', 'state'] },
  capkeeper_drift_scopes: { help: 'Scopes whose observed cap is not the desired one, by cause.', labels: ['workspace', 'kind', 'cause'] },
  capkeeper_drift_credits: {
    help:
      'Sum of drift in credits per person, not times people: observed above or below the desired cap, a desired cap that is missing, ' +
      'a cap that should not be there (extra).',
    labels: ['workspace', 'kind', 'direction'],
  },
  capkeeper_drift_oldest_seconds: { help: 'For how long the oldest drift has lasted; 0 without drift.', labels: W },
  capkeeper_holds: { help: 'Holds in force by guard; a hold of several guards counts in each.', labels: ['workspace', 'guard'] },
  capkeeper_last_reconcile_timestamp_seconds: { help: 'When the last cycle ended, whatever its result.', labels: W },
  capkeeper_last_success_timestamp_seconds: { help: 'When the last successful cycle ended.', labels: W },
  capkeeper_api_rate_limit_requests_per_second: { help: 'Learned pace of requests.', labels: W },
  capkeeper_team_cap_credits: { help: 'Cap of the team per person; absent when there is none.', labels: ['workspace', 'side'] },
  capkeeper_group_cap_credits: {
    help: 'Cap of a declared group per person; absent when there is none. The label group is the group id.',
    labels: ['workspace', 'side', 'group'],
  },
  capkeeper_people: {
    help: 'People by add-on use in percent of the cap in force; capkeeper_addon_use_measured says where use comes from.',
    labels: ['workspace', 'band'],
  },
  capkeeper_directory_people: {
    help: 'Approved people by what the people file says of them: listed, unlisted, or stale where they vanished within 7 days.',
    labels: ['workspace', 'state'],
  },
  capkeeper_addon_credits_available: { help: 'Add-on credits available in this cycle, as the service says.', labels: W },
  capkeeper_addon_credits_used: { help: 'Add-on credits used in this cycle, as the service says.', labels: W },
  capkeeper_prompt_credits_per_seat: { help: 'Credits that each seat includes in this cycle.', labels: W },
  capkeeper_seats: { help: 'Seats of the team.', labels: W },
  capkeeper_prompt_credits_used: { help: 'Credits that all people of the roster used in this cycle.', labels: W },
  capkeeper_group_prompt_credits_used: {
    help: 'Credits that the members of a declared group used in this cycle. The label group is the group id.',
    labels: ['workspace', 'group'],
  },
  capkeeper_model_credits_used: {
    help: 'Credits used in this cycle by model and mode, from runs of agents; the 100 most used, the rest as other.',
    labels: ['workspace', 'model', 'mode'],
  },
  capkeeper_burn_ratio: {
    help: 'Credits used in the window over what an even pace to the end of the cycle allows; 1 is an even pace.',
    labels: ['workspace', 'window'],
  },
  capkeeper_projected_credits_used: {
    help: 'Credits that will have been used at the end of the cycle, by percentile of the projection.',
    labels: ['workspace', 'percentile'],
  },
  capkeeper_exhaustion_timestamp_seconds: {
    help: 'When the add-on credits are expected to run out; absent when they last to the end of the cycle.',
    labels: W,
  },
  capkeeper_attribution_gap_ratio: {
    help: 'Sum of the add-on use of all people, measured or estimated, minus the add-on credits used, divided by the latter.',
    labels: W,
  },
  capkeeper_addon_use_measured: {
    help: '1 while add-on use by person is measured by the service, 0 while it is estimated from credits used and credits per seat.',
    labels: W,
  },
  capkeeper_history_person_days: {
    help: 'Past days of people by what is known of them; absent while the past is not read.',
    labels: ['workspace', 'state'],
  },
  capkeeper_cycle_start_timestamp_seconds: { help: 'Start of the billing cycle.', labels: W },
  capkeeper_cycle_end_timestamp_seconds: { help: 'End of the billing cycle.', labels: W },
  capkeeper_usage_age_seconds: { help: 'Age of the oldest of the last readings of roster, balance, runs and add-on use.', labels: W },
  capkeeper_grants: { help: 'Grants by state.', labels: ['workspace', 'state'] },
  capkeeper_rule_people: { help: 'People for whom a rule is the first that matches.', labels: ['workspace', 'rule'] },
  capkeeper_pool_credits: { help: 'Add-on credits that a pool has for a billing cycle.', labels: ['workspace', 'pool'] },
  capkeeper_pool_used_credits: {
    help: 'Add-on credits that the members of a pool used of it in this cycle.',
    labels: ['workspace', 'pool'],
  },
  capkeeper_pool_dealt_credits: {
    help: 'Sum over the members of a pool of the greatest of use, cap in force, cap given and any cap lowered too lately for use under it to show; absent while somebody counts at no cap.',
    labels: ['workspace', 'pool'],
  },
  capkeeper_pool_exhaustion_timestamp_seconds: {
    help: 'When the credits of a pool are expected to be used up; absent when they last to the end of the cycle.',
    labels: ['workspace', 'pool'],
  },
  capkeeper_user_cap_credits: { help: 'Cap in force of a person; only with metrics.perUser.', labels: ['workspace', 'user'] },
  capkeeper_user_credits_used: { help: 'Credits a person used in this cycle; only with metrics.perUser.', labels: ['workspace', 'user'] },
} as const satisfies Readonly<Record<string, Definition>>

export type GaugeName = keyof typeof GAUGES

export const COUNTERS = {
  capkeeper_lease_transfers_total: { help: 'How often the workspace came to this replica.', labels: W },
  capkeeper_external_changes_total: { help: 'Foreign changes of caps.', labels: ['workspace', 'kind'] },
  capkeeper_changes_total: { help: 'Changes written, by effect and result.', labels: ['workspace', 'kind', 'effect', 'result'] },
  capkeeper_reconcile_total: { help: 'Cycles by result.', labels: ['workspace', 'result'] },
  capkeeper_api_requests_total: { help: 'Requests to the service by outcome.', labels: ['workspace', 'operation', 'outcome'] },
  capkeeper_credits_burned_total: {
    help: 'Credits that the team used since they were first read; survives cycle resets and restarts.',
    labels: W,
  },
  capkeeper_group_credits_burned_total: {
    help: 'Credits that the members of a declared group used since they were first read. The label group is the group id.',
    labels: ['workspace', 'group'],
  },
  capkeeper_metrics_dropped_series_total: { help: 'Series per user left out because of the limit of 1000 users.', labels: [] },
} as const satisfies Readonly<Record<string, Definition>>

export type CounterName = keyof typeof COUNTERS

/** Bounds in seconds; requests time out after 60 s, and a first sweep of 10,000 scopes at 10 requests/s takes about 1,000 s. */
export const HISTOGRAMS = {
  capkeeper_reconcile_duration_seconds: {
    help: 'Duration of a cycle by phase.',
    labels: ['workspace', 'phase'],
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600],
  },
  capkeeper_drift_detection_seconds: {
    help: 'Time from the last good reading of a scope to the one that found a foreign change.',
    labels: ['workspace', 'kind'],
    buckets: [1, 10, 60, 300, 600, 1200, 1800, 3600, 7200, 21_600, 86_400],
  },
  capkeeper_api_request_duration_seconds: {
    help: 'Duration of a request to the service.',
    labels: ['workspace', 'operation'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
} as const satisfies Readonly<Record<string, Definition & { readonly buckets: readonly number[] }>>

export type HistogramName = keyof typeof HISTOGRAMS

/** docs/service.md, Requests. */
export const OPERATIONS: readonly Operation[] = [
  'Analytics',
  'UserPageAnalytics',
  'CascadeAnalytics',
  'GetUsageConfig',
  'UsageConfig',
  'GetTeamCreditBalance',
]

export const PHASES = ['observe', 'apply', 'total'] as const

export const APPROVAL_STATES = ['pending', 'spent', 'void'] as const

export const DRIFT_DIRECTIONS = ['above', 'below', 'missing', 'extra'] as const
export type DriftDirection = (typeof DRIFT_DIRECTIONS)[number]
