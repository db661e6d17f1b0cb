// The kinds of events in the simulated world: how many a day of storm on average, and in what share of the seeds.

export const EVENT_KINDS = [
  { kind: 'join', perDay: 1.5, share: 0.8 },
  { kind: 'leave', perDay: 1, share: 0.7 },
  { kind: 'status', perDay: 1.5, share: 0.7 },
  { kind: 'regroup', perDay: 2, share: 0.7 },
  { kind: 'group-gone', perDay: 0.3, share: 0.3 },
  { kind: 'foreign-write', perDay: 4, share: 0.8 },
  { kind: 'foreign-mass', perDay: 0.7, share: 0.6 },
  { kind: 'policy-edit', perDay: 5, share: 0.95 },
  { kind: 'policy-mass', perDay: 0.7, share: 0.6 },
  { kind: 'policy-broken', perDay: 0.8, share: 0.5 },
  { kind: 'policy-squeeze', perDay: 1, share: 0.7 },
  { kind: 'race', perDay: 0.7, share: 0.6 },
  { kind: 'exodus', perDay: 0.8, share: 0.5 },
  { kind: 'policy-emptied', perDay: 0.3, share: 0.4 },
  { kind: 'grant', perDay: 2, share: 0.8 },
  { kind: 'protect', perDay: 2, share: 0.5 },
  { kind: 'kill', perDay: 1, share: 0.6 },
  { kind: 'kill-at-ledger', perDay: 2, share: 0.6 },
  { kind: 'kill-at-request', perDay: 2, share: 0.6 },
  { kind: 'stop', perDay: 0.7, share: 0.5 },
  { kind: 'second-process', perDay: 0.7, share: 0.5 },
  { kind: 'wall-jump', perDay: 0.6, share: 0.4 },
  { kind: 'clock-skew', perDay: 0.8, share: 0.5 },
  { kind: 'pause', perDay: 1, share: 0.6 },
  { kind: 'resume', perDay: 0.4, share: 0.4 },
  { kind: 'approve', perDay: 4, share: 0.75 },
  { kind: 'policy-approve', perDay: 0.7, share: 0.4 },
  { kind: 'mode', perDay: 0.4, share: 0.3 },
  { kind: 'config', perDay: 1, share: 0.3 },
  { kind: 'key-rotated', perDay: 0.7, share: 0.3 },
  { kind: 'long-pause', perDay: 0.3, share: 0.15 },
  { kind: 'absence', perDay: 0.3, share: 0.15 },
  { kind: 'sighup', perDay: 0.7, share: 0.4 },
  { kind: 'use', perDay: 3, share: 0.7 },
  { kind: 'work', perDay: 16, share: 1 },
  { kind: 'pool-edit', perDay: 2.5, share: 0.9 },
  { kind: 'role', perDay: 5, share: 1 },
  { kind: 'rule-edit', perDay: 1, share: 0.7 },
  { kind: 'zero', perDay: 1.5, share: 0.7 },
  { kind: 'group-dark', perDay: 1, share: 0.5 },
  { kind: 'handover', perDay: 1, share: 0.3 },
  { kind: 'second-thoughts', perDay: 3, share: 0.15 },
  { kind: 'as-is', perDay: 1, share: 0.3 },
  { kind: 'two-holds', perDay: 1, share: 0.3 },
  { kind: 'pool-turn', perDay: 1.5, share: 0.6 },
  { kind: 'team-edit', perDay: 4, share: 0.9 },
  { kind: 'team-stray', perDay: 2, share: 0.7 },
  { kind: 'team-broken', perDay: 1.5, share: 0.6 },
  { kind: 'team-move', perDay: 0.7, share: 0.4 },
  { kind: 'team-bounds', perDay: 0.8, share: 0.5 },
  { kind: 'file-edit', perDay: 4, share: 0.9 },
  { kind: 'file-spoilt', perDay: 2, share: 0.8 },
  { kind: 'channel', perDay: 4, share: 0.9 },
  { kind: 'kill-at-message', perDay: 2, share: 0.6 },
  { kind: 'lead', perDay: 1, share: 0.5 },
  { kind: 'forget', perDay: 1.5, share: 0.6 },
] as const

export type EventKind = (typeof EVENT_KINDS)[number]['kind']

/** Kinds that occur only in lives with pools. */
export const POOL_EVENTS: ReadonlySet<EventKind> = new Set(['work', 'pool-edit', 'pool-turn'])

/** Kinds that occur only in lives with rules. */
export const RULE_EVENTS: ReadonlySet<EventKind> = new Set(['role', 'rule-edit'])

/** Kinds that occur only in lives with an envelope. */
export const TEAM_EVENTS: ReadonlySet<EventKind> = new Set(['team-edit', 'team-stray', 'team-broken', 'team-move', 'team-bounds'])

/** Kinds that occur only in lives with a people file, and those only in lives with messages. */
export const FILE_EVENTS: ReadonlySet<EventKind> = new Set(['file-edit', 'file-spoilt'])
export const MESSAGE_EVENTS: ReadonlySet<EventKind> = new Set(['channel', 'kill-at-message', 'lead', 'forget'])
