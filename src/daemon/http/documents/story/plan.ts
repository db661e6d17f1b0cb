// One plan as far as it is remembered: what it wrote, which holds it showed first, which changes by others it met, and what of it is still to come
// while it is the present one. The same differences make the same plan, so one may have been carried out more than once.

import type { HistoryEntry } from '../../../../core/model/change.ts'
import type { JournalEntry } from '../../../../core/model/journal.ts'
import { DAY_MS, type Instant } from '../../../../core/model/units.ts'
import { DocumentError, type Query } from '../documents.ts'
import { writeEntry } from '../explained.ts'
import type { Records, Showing, WorkspaceFacts } from '../facts.ts'
import { asked, limitOf, PAGE, type Parameter, pageOf } from '../query.ts'
import { headOf, placeOf, rfc3339, scopeText } from '../show.ts'
import type { PlanDocument } from '../types.ts'
import { journalChange } from './changes.ts'

export const PLAN_QUERY: readonly Parameter[] = [
  { name: 'at', about: 'When it wrote something: writes long ago are found by it.', kind: 'instant' },
  PAGE,
  limitOf(50, 500),
]

/** Changes that are still to come, beyond which they are counted. */
const MOST_CHANGES = 100
/** Writes that are looked through for one plan; so many at a time. Choice. */
const MOST_WRITES = 10_000
const AT_A_TIME = 500

export async function planDocument(
  facts: WorkspaceFacts,
  id: string,
  records: Records,
  showing: Showing,
  query: Query,
): Promise<PlanDocument> {
  const question = asked(query, PLAN_QUERY)
  const writes = await writesOf(id, records, showing, question.instant('at'))
  const entries = (facts.journal?.entries ?? []).filter((entry) => 'planId' in entry && entry.planId === id)
  const present = facts.planned?.plan.id === id ? facts.planned.plan : undefined
  if (writes.length === 0 && entries.length === 0 && !present) throw new DocumentError(404, UNKNOWN)
  const [latest] = writes
  const revision = latest?.revision ?? present?.revision
  const digest = latest?.digest ?? present?.policyDigest
  const instants = [...writes, ...entries].map(({ at }) => at)
  return {
    ...headOf('Plan', showing),
    workspace: facts.view.workspace,
    id,
    present: present !== undefined,
    ...(revision !== undefined && { revision }),
    ...(digest !== undefined && { digest }),
    ...(instants.length > 0 && { first: rfc3339(Math.min(...instants)), last: rfc3339(Math.max(...instants)) }),
    applied: writes.filter(({ result }) => result === 'applied').length,
    failed: writes.filter(({ result }) => result !== 'applied').length,
    changes: (present?.changes ?? []).slice(0, MOST_CHANGES).map(({ scope, from, to, effect, cause, disposition, source }) => ({
      scope: scopeText(scope, showing),
      from,
      to,
      effect,
      cause,
      disposition: disposition.kind,
      ...(disposition.kind === 'held' && { hold: disposition.hold }),
      ...('reason' in disposition && { why: showing.people.text(disposition.reason) }),
      ...(source && { source: placeOf(source, showing, present?.revision) }),
    })),
    changesOmitted: Math.max(0, (present?.changes.length ?? 0) - MOST_CHANGES),
    met: met(entries, facts, showing),
    ...pageOf(
      writes.map((entry) => writeEntry(entry, showing)),
      question,
    ),
  }
}

const UNKNOWN = `nothing is remembered of this plan: it is none of the present one, of the last ${MOST_WRITES} writes and of the journal; write the plan's whole id, and "at" for one of long ago`

const met = (entries: readonly JournalEntry[], facts: WorkspaceFacts, showing: Showing): PlanDocument['met'] =>
  entries
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MOST_CHANGES)
    .map((entry) => journalChange(entry, facts, showing))

/** The newest first. */
async function writesOf(id: string, records: Records, { clock }: Showing, at: Instant | undefined): Promise<readonly HistoryEntry[]> {
  const found = new Map<string, HistoryEntry>()
  let untilAt = at === undefined ? undefined : at + DAY_MS
  for (let looked = 0; looked < MOST_WRITES; looked += AT_A_TIME) {
    const batch = await records.history({ limit: AT_A_TIME, ...(untilAt !== undefined && { untilAt }) })
    for (const entry of batch) if (entry.planId === id) found.set(JSON.stringify([entry.at, entry.scope]), entry)
    const oldest = batch.at(-1)
    if (!oldest || batch.length < AT_A_TIME) break
    // Those before a plan that was found are of others, but for one that was carried out again.
    if (at !== undefined && oldest.at < at - DAY_MS) break
    // So many at one instant would never end.
    untilAt = oldest.at === untilAt ? oldest.at - 1 : oldest.at
    await clock.sleep(1)
  }
  return [...found.values()]
}
