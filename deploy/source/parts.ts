// What the dashboards of capkeeper share: colours of bands and states, the marks in every graph, and selectors.
import type { Band, ScopeState } from '../../src/core/model/events.ts'
import type { LabelVariable, Mark, Threshold } from './panels.ts'

/** Percent of a cap or of the credits there are: the bounds of the bands of capkeeper_people. */
export const BAND_THRESHOLDS: readonly Threshold[] = [
  { from: null, color: 'green' },
  { from: 50, color: 'yellow' },
  { from: 85, color: 'orange' },
  { from: 95, color: 'red' },
  { from: 100, color: 'dark-red' },
]

export const BAND_COLORS: Readonly<Record<Band, string>> = {
  uncapped: 'purple',
  under_50: 'green',
  '50_to_85': 'yellow',
  '85_to_95': 'orange',
  '95_to_100': 'red',
  at_cap: 'dark-red',
}

/** The bounds of the alerts on burn: slow, elevated, fast. */
export const BURN_THRESHOLDS: readonly Threshold[] = [
  { from: null, color: 'green' },
  { from: 1.25, color: 'yellow' },
  { from: 2, color: 'orange' },
  { from: 3, color: 'red' },
]

/** Anything but 0 is worth a look. */
export const NONE_IS_GOOD: readonly Threshold[] = [
  { from: null, color: 'green' },
  { from: 1, color: 'orange' },
]

export const STATE_COLORS: Readonly<Record<ScopeState, string>> = {
  in_sync: 'green',
  drifted: 'red',
  held: 'orange',
  unknown: 'purple',
  rejected: 'dark-red',
  contested: 'dark-orange',
  skipped: 'light-blue',
  undeclared: 'blue',
}

/** The label matcher of the chosen workspaces. */
export const W = 'workspace=~"$workspace"'

export const workspaceVariable = (many: boolean): LabelVariable => ({ name: 'workspace', label: 'Workspace', of: 'capkeeper_mode', many })

export const MARKS: readonly Mark[] = [
  {
    name: 'Caps written',
    expr: `sum by (workspace, effect) (increase(capkeeper_changes_total{${W}, result="applied"}[2m])) > 0`,
    color: 'blue',
    title: 'Caps written',
    text: '{{workspace}}: {{effect}}',
  },
  {
    name: 'Changed outside',
    expr: `sum by (workspace, kind) (increase(capkeeper_external_changes_total{${W}}[2m])) > 0`,
    color: 'red',
    title: 'Caps changed by somebody else',
    text: '{{workspace}}: {{kind}}',
  },
  {
    name: 'Policy changed',
    expr: `count by (workspace, revision, digest) (capkeeper_policy_info{${W}}) unless count by (workspace, revision, digest) (capkeeper_policy_info{${W}} offset 2m)`,
    color: 'green',
    title: 'A policy came into force',
    text: '{{workspace}}: {{revision}} {{digest}}',
  },
]
