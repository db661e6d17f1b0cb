// The dashboard for whoever runs capkeeper: what differs, what was written, what others wrote, what is held, and how the service answers.
import type { Dashboard } from './panels.ts'
import { MARKS, STATE_COLORS, W, workspaceVariable } from './parts.ts'

export const DRIFT: Dashboard = {
  uid: 'capkeeper-drift',
  title: 'capkeeper / Drift and changes',
  description: 'What differs from the policy, what was written and by whom, what is held, and how the service answers.',
  variables: [workspaceVariable(true)],
  marks: MARKS,
  from: 'now-24h',
  rows: [
    {
      title: 'Drift',
      panels: [
        {
          kind: 'graph',
          title: 'Scopes by state',
          description: 'Every managed scope once: team, groups and people together.',
          queries: [{ expr: `sum by (state) (max by (workspace, kind, state) (capkeeper_scopes{${W}}))`, legend: '{{state}}' }],
          stack: true,
          min: 0,
          colors: STATE_COLORS,
          axis: 'scopes',
          width: 12,
        },
        {
          kind: 'graph',
          title: 'Drift by cause',
          description: 'policy: it changed. external: somebody else wrote. expired: a grant ended. orphan: no longer declared.',
          queries: [
            {
              expr: `sum by (cause) (max by (workspace, kind, cause) (capkeeper_drift_scopes{${W}}))`,
              legend: '{{cause}}',
            },
          ],
          min: 0,
          axis: 'scopes',
          width: 12,
        },
        {
          kind: 'graph',
          title: 'Drift in credits',
          description: 'Per person, not times people: observed above or below the desired cap, missing, or too much (extra).',
          queries: [
            {
              expr: `sum by (direction) (max by (workspace, kind, direction) (capkeeper_drift_credits{${W}}))`,
              legend: '{{direction}}',
            },
          ],
          min: 0,
          axis: 'credits',
          width: 12,
        },
        {
          kind: 'graph',
          title: 'Oldest drift',
          description: 'For how long the oldest difference has lasted; an alert from half an hour on.',
          queries: [{ expr: `max by (workspace) (capkeeper_drift_oldest_seconds{${W}})`, legend: '{{workspace}}' }],
          unit: 's',
          min: 0,
          thresholds: [
            { from: null, color: 'green' },
            { from: 1800, color: 'orange' },
          ],
          width: 12,
        },
      ],
    },
    {
      title: 'Changes',
      panels: [
        {
          kind: 'graph',
          title: 'Caps written',
          description: 'By effect: a first cap, more, less, to 0 or below use, nothing left.',
          queries: [
            {
              expr: `sum by (effect) (increase(capkeeper_changes_total{${W}, result="applied"}[$__rate_interval]))`,
              legend: '{{effect}}',
            },
          ],
          bars: true,
          stack: true,
          min: 0,
          axis: 'caps',
          width: 12,
        },
        {
          kind: 'graph',
          title: 'Writes that went wrong',
          description: 'Failed after all tries, of unknown outcome, or read back as something else.',
          queries: [
            {
              expr: `sum by (result) (increase(capkeeper_changes_total{${W}, result!="applied"}[$__rate_interval]))`,
              legend: '{{result}}',
            },
          ],
          bars: true,
          stack: true,
          min: 0,
          axis: 'caps',
          width: 12,
        },
        {
          kind: 'graph',
          title: 'Changed by others',
          description: 'Caps that somebody else changed past the policy.',
          queries: [
            {
              expr: `sum by (kind) (increase(capkeeper_external_changes_total{${W}}[$__rate_interval]))`,
              legend: '{{kind}}',
            },
          ],
          bars: true,
          stack: true,
          min: 0,
          axis: 'caps',
          width: 12,
        },
        {
          kind: 'graph',
          title: 'Foreign changes unseen for (95th percentile)',
          description: 'Time from the last good reading of a scope to the one that found the change.',
          queries: [
            {
              expr: `histogram_quantile(0.95, sum by (kind, le) (rate(capkeeper_drift_detection_seconds_bucket{${W}}[$__rate_interval])))`,
              legend: '{{kind}}',
            },
          ],
          min: 0,
          unit: 's',
          width: 12,
        },
        {
          kind: 'graph',
          title: 'Holds by guard',
          description: 'A hold of several guards counts in each. `capkeeper plan` shows what is held and its id.',
          queries: [
            {
              expr: `sum by (guard) (max by (workspace, guard) (capkeeper_holds{${W}}))`,
              legend: '{{guard}}',
            },
          ],
          min: 0,
          axis: 'holds',
          width: 12,
        },
      ],
    },
    {
      title: 'State',
      panels: [
        {
          kind: 'table',
          title: 'Policy in force',
          description: 'Commit and digest of the last good policy set; valid 0 means that the files have errors since.',
          queries: [
            {
              expr: `max by (workspace, revision, digest) (capkeeper_policy_info{${W}}) * on (workspace) group_left () max by (workspace) (capkeeper_policy_valid{${W}})`,
              legend: 'valid',
            },
          ],
          labels: ['workspace', 'revision', 'digest'],
          width: 12,
          height: 6,
        },
        {
          kind: 'stat',
          title: 'Approvals',
          description: 'Releases of holds: waiting for their hold, spent, void. Spent and void ones can be removed from the policy.',
          queries: [{ expr: `sum by (state) (max by (workspace, state) (capkeeper_approvals{${W}}))`, legend: '{{state}}' }],
          width: 6,
          height: 6,
        },
        {
          kind: 'stat',
          title: 'Daemon',
          description: 'Whether config and ledger are good, and the largest difference between the clock of the service and ours.',
          queries: [
            { expr: 'min(capkeeper_config_valid)', legend: 'config valid' },
            { expr: 'min(capkeeper_ledger_writable)', legend: 'ledger writable' },
            { expr: `max(abs(capkeeper_clock_skew_seconds{${W}}))`, legend: 'clock skew, s' },
          ],
          width: 6,
          height: 6,
        },
      ],
    },
    {
      title: 'Cycles and the service',
      panels: [
        {
          kind: 'graph',
          title: 'Cycles by result',
          description: 'noop: nothing to do. success: something was written. partial, held, error: see `capkeeper status`.',
          queries: [{ expr: `sum by (result) (increase(capkeeper_reconcile_total{${W}}[$__rate_interval]))`, legend: '{{result}}' }],
          bars: true,
          stack: true,
          min: 0,
          colors: { noop: 'light-green', success: 'green', partial: 'orange', held: 'yellow', error: 'red' },
          axis: 'cycles',
          width: 8,
        },
        {
          kind: 'graph',
          title: 'Since the last cycle',
          description: 'Time since the last cycle of any result, and since the last good one; an alert from half an hour on.',
          queries: [
            { expr: `time() - max by (workspace) (capkeeper_last_reconcile_timestamp_seconds{${W}})`, legend: '{{workspace}}, any' },
            { expr: `time() - max by (workspace) (capkeeper_last_success_timestamp_seconds{${W}})`, legend: '{{workspace}}, good' },
          ],
          unit: 's',
          min: 0,
          thresholds: [
            { from: null, color: 'green' },
            { from: 1800, color: 'orange' },
          ],
          width: 8,
        },
        {
          kind: 'graph',
          title: 'Replicas that keep it',
          description: 'One keeps each workspace; 0 for longer than half a minute is a gap. Beside it, how often it changed hands.',
          queries: [
            { expr: `sum by (workspace) (capkeeper_workspace_held{${W}})`, legend: '{{workspace}}' },
            {
              expr: `sum by (workspace) (increase(capkeeper_lease_transfers_total{${W}}[$__rate_interval]))`,
              legend: '{{workspace}}, taken over',
            },
          ],
          min: 0,
          width: 24,
        },
        {
          kind: 'graph',
          title: 'Duration of a cycle',
          description: 'The 95th percentile by phase.',
          queries: [
            {
              expr: `histogram_quantile(0.95, sum by (phase, le) (rate(capkeeper_reconcile_duration_seconds_bucket{${W}}[$__rate_interval])))`,
              legend: '{{phase}}',
            },
          ],
          unit: 's',
          min: 0,
          width: 8,
        },
        {
          kind: 'graph',
          title: 'Requests by outcome',
          description: 'Requests to the service; rate_limited ones are answered by a slower pace.',
          queries: [{ expr: `sum by (outcome) (rate(capkeeper_api_requests_total{${W}}[$__rate_interval]))`, legend: '{{outcome}}' }],
          unit: 'reqps',
          stack: true,
          min: 0,
          colors: { ok: 'green', rate_limited: 'yellow', auth: 'red' },
          width: 8,
        },
        {
          kind: 'graph',
          title: 'Answer times',
          description: 'The 95th percentile by operation.',
          queries: [
            {
              expr: `histogram_quantile(0.95, sum by (operation, le) (rate(capkeeper_api_request_duration_seconds_bucket{${W}}[$__rate_interval])))`,
              legend: '{{operation}}',
            },
          ],
          unit: 's',
          min: 0,
          width: 8,
        },
        {
          kind: 'graph',
          title: 'Learned pace',
          description: 'Requests per second that capkeeper allows itself.',
          queries: [{ expr: `max by (workspace) (capkeeper_api_rate_limit_requests_per_second{${W}})`, legend: '{{workspace}}' }],
          unit: 'reqps',
          min: 0,
          width: 8,
        },
        {
          kind: 'graph',
          title: 'Memory',
          description: 'Resident memory of the daemon.',
          queries: [{ expr: 'process_resident_memory_bytes and on (job, instance) capkeeper_build_info', legend: '{{instance}}' }],
          unit: 'bytes',
          min: 0,
          width: 12,
        },
        {
          kind: 'graph',
          title: 'CPU',
          description: 'Cores that the daemon uses.',
          queries: [
            {
              expr: 'rate(process_cpu_seconds_total[$__rate_interval]) and on (job, instance) capkeeper_build_info',
              legend: '{{instance}}',
            },
          ],
          unit: 'none',
          decimals: 3,
          min: 0,
          width: 12,
        },
      ],
    },
  ],
}
