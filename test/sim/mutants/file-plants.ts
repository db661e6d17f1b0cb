// What a planted bug is, and the bugs of people file, messages and forgotten people.
import type { EventKind } from '../lives/events/kinds.ts'
import type { FaultKind } from '../lives/scenario.ts'

/** Properties that some lives have. */
export type Trait =
  | 'copied'
  | 'zero-lost'
  | 'alert'
  | 'pools'
  | 'rules'
  | 'slow'
  | 'inherited'
  | 'counted'
  | 'envelope'
  | 'directory'
  | 'notify'

/** One planted bug: `find` occurs exactly once in `file`, and is replaced. */
export interface Plant {
  /** Relative to src/. */
  readonly file: string
  readonly find: string
  readonly replace: string
  /** What makes the bug show: seeds with most of it run first. */
  readonly needs?: readonly (EventKind | FaultKind | Trait)[]
  /** Seeds that caught it: they run first, so that another run is quick. */
  readonly caughtBy?: readonly number[]
}

export const FILE_PLANTS: Readonly<Record<string, Plant>> = {
  'a new people file counts at once': {
    file: 'core/resolve/roster.ts',
    find: 'if (now - since < UNCHANGED_MS) return',
    replace: 'if (now - since < 0) return',
    needs: ['directory', 'file-spoilt'],
    caughtBy: [904],
  },
  'a people file that lacks half of the people counts': {
    file: 'core/resolve/roster.ts',
    find: "if (limitPercent !== 'off' && (fell.from",
    replace: "if (limitPercent === 'off' && (fell.from",
    needs: ['directory', 'file-spoilt'],
    caughtBy: [742],
  },
  'a message under way at a crash is sent again': {
    file: 'core/notify/told.ts',
    find: "[key, { ...entry, state: 'unknown', at: now, reason }]",
    replace: "[key, { ...entry, state: 'waiting', at: 0, reason }]",
    needs: ['notify', 'kill-at-message'],
    caughtBy: [22],
  },
  'a message that did not arrive is not tried again': {
    file: 'core/notify/told.ts',
    find: 'return level > (entry.beneath ?? 0) && entry.state',
    replace: 'return level < 0 && entry.state',
    needs: ['notify', 'channel'],
    caughtBy: [22],
  },
  'a lead is told of people in other groups': {
    file: 'core/notify/happened.ts',
    find: ': reach.emails.has(scope.email)',
    replace: ': reach.isKnown',
    needs: ['notify', 'policy-mass'],
    caughtBy: [1],
  },
  'messages are sent in quiet hours': {
    file: 'daemon/notify/outbox.ts',
    find: 'chosen(quiet ? [] : messages, tried)',
    replace: 'chosen(messages, tried)',
    needs: ['notify', 'policy-edit'],
    caughtBy: [14],
  },
  'a running daemon does not learn that somebody was forgotten': {
    file: 'daemon/cycle/observe.ts',
    find: 'if (marks.length === 0) return false',
    replace: 'if (marks.length < 1e9) return false',
    needs: ['directory', 'notify', 'forget'],
    caughtBy: [277],
  },
}
