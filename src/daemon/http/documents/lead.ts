// What a lead wants to know of the people they see: who is near the cap, grants that end within a week, and what changed this week. It names no plan, no
// file and no revision, and its lists are cut only after they were filtered, so that people out of sight move nothing.
import type { HistoryEntry } from '../../../core/model/change.ts'
import { DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { GrantStatus } from '../../../core/resolve/candidate.ts'
import type { Showing, WorkspaceFacts } from './facts.ts'
import { cents, headOf, rfc3339, scopeText } from './show.ts'
import type { LeadDocument } from './types.ts'

const WEEK_MS = 7 * DAY_MS

/** Bound of each list. Choice. */
const MOST = 50

/** Since when changes are listed. */
export const changedSince = (now: Instant): Instant => now - WEEK_MS

interface LeadInputs {
  readonly grants: readonly GrantStatus[]
  /** Writes since `changedSince`, the newest first. */
  readonly writes: readonly HistoryEntry[]
}

export function leadDocument({ view }: WorkspaceFacts, showing: Showing, { grants, writes }: LeadInputs): LeadDocument {
  const { people: labels, now } = showing
  const near = view.people.flatMap(({ email, cap, used, source, band }) =>
    typeof cap === 'number' && used !== undefined && band !== undefined && NEAR.has(band)
      ? [{ person: labels.label(email), cap, used: cents(used), ...(source && { source }), band, share: cap === 0 ? 1 : used / cap }]
      : [],
  )
  near.sort((a, b) => b.share - a.share || (a.person < b.person ? -1 : 1))
  const ending = grants.flatMap(({ grant: { scope, amount, reason }, state, untilAt }) =>
    (state === 'active' || state === 'expiring') && untilAt !== undefined && untilAt - now <= WEEK_MS
      ? [
          {
            scope: scopeText(scope, showing),
            ...(amount.kind === 'cap' ? { cap: amount.credits } : { add: amount.credits }),
            until: rfc3339(untilAt),
            reason: labels.text(reason),
          },
        ]
      : [],
  )
  ending.sort((a, b) => (a.until === b.until ? (a.scope < b.scope ? -1 : 1) : a.until < b.until ? -1 : 1))
  const changes = writes.flatMap(({ at, scope, from, to, effect, cause, result }) =>
    result === 'applied' ? [{ at: rfc3339(at), scope: scopeText(scope, showing), from, to, effect, cause }] : [],
  )
  return {
    ...headOf('Lead', showing),
    workspace: view.workspace,
    near: near.slice(0, MOST).map(({ share: _, ...one }) => one),
    nearOmitted: Math.max(0, near.length - MOST),
    grants: ending.slice(0, MOST),
    grantsOmitted: Math.max(0, ending.length - MOST),
    changes: changes.slice(0, MOST),
    changesOmitted: Math.max(0, changes.length - MOST),
  }
}

const NEAR: ReadonlySet<string> = new Set(['85_to_95', '95_to_100', 'at_cap'])
