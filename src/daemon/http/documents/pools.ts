// Budgets over caps as documents show them: the declaration with its line, and what is known of use and caps. It works out no figure itself.

import type { Showing, WorkspaceFacts } from './facts.ts'
import { cents, placeOf, rfc3339 } from './show.ts'
import type { WorkspaceDocument } from './types.ts'

/** The pools of a workspace in the order of their names. */
export function poolEntries({ view, outlook }: WorkspaceFacts, showing: Showing): WorkspaceDocument['pools'] {
  const { people } = showing
  const standing = new Map((view.pools ?? []).map((one) => [one.name, one]))
  return (outlook?.resolution.pools ?? []).map(({ pool, members }) => {
    const { figures, dealtAt, frozen } = standing.get(pool.name) ?? {}
    return {
      name: people.text(pool.name),
      credits: pool.credits,
      ...(figures && { used: cents(figures.used) }),
      ...(figures?.dealt !== undefined && { dealt: cents(figures.dealt) }),
      people: members.length,
      share: pool.share,
      ...(figures?.exhaustedAt !== undefined && { exhaustion: rfc3339(figures.exhaustedAt) }),
      ...(dealtAt !== undefined && { dealtAt: rfc3339(dealtAt) }),
      ...(frozen !== undefined && { frozen: people.text(frozen) }),
      source: placeOf(pool.at, showing, view.policy?.revision),
    }
  })
}
