// The gauges per user, off by default. Decides which people have series, so that a large company does not overload Prometheus. An e-mail must go through
// the label function.
import type { WorkspaceView } from '../../../core/model/events.ts'
import type { Instant } from '../../../core/model/units.ts'
import { isShown, type Put } from './gauges.ts'

/** `top`: the people with the highest use; `all`: all people, up to the limit. */
export interface PerUserSettings {
  readonly perUser: 'off' | 'top' | 'all'
  /** An e-mail as it shows in the label `user`: itself, or its hash. */
  readonly userLabel: (email: string) => string
}

/** Users with series, over all workspaces (docs/metrics.md). */
const MAX_USERS = 1000

/** Users of `top`, per workspace. Choice. */
const TOP_USERS = 50

const SERIES_PER_USER = 2

/** Puts the gauges per user of all workspaces; returns how many series the limit left out. */
export function putUserGauges(put: Put, views: readonly WorkspaceView[], settings: PerUserSettings, now: Instant): number {
  if (settings.perUser === 'off') return 0
  let left = MAX_USERS
  let dropped = 0
  for (const view of views) {
    if (!view.roster || !isShown(view.roster, now)) continue
    const used = new Map(view.roster.people.map((person) => [person.email, person.used]))
    const ranked = view.people.toSorted((a, b) => (used.get(b.email) ?? 0) - (used.get(a.email) ?? 0) || (a.email < b.email ? -1 : 1))
    const wanted = settings.perUser === 'top' ? ranked.slice(0, TOP_USERS) : ranked
    for (const { email, cap } of wanted.slice(0, left)) {
      const labels = { workspace: view.workspace, user: settings.userLabel(email) }
      put('capkeeper_user_cap_credits', labels, cap === 'none' ? undefined : cap)
      put('capkeeper_user_credits_used', labels, used.get(email))
    }
    dropped += Math.max(0, wanted.length - left) * SERIES_PER_USER
    left = Math.max(0, left - wanted.length)
  }
  return dropped
}
