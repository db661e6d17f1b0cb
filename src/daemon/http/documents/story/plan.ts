// One plan as far as it is recorded: its writes, the holds it showed first, the foreign changes it found, and its remaining changes while it is the
// present plan. The same differences make the same plan id, so one plan may have been applied more than once.

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
  { name: 'at', about: 'An instant at which it wrote; needed to find a plan of long ago.', kind: 'instant' },
  PAGE,
  limitOf(50, 500),
]

/** Remaining changes that are listed. Choice. */
const MOST_CHANGES = 100
/** Writes that are searched for one plan, and how many are read at a time. Choice. */
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

const UNKNOWN = `nothing is recorded of this plan: it is not the present plan, and neither the last ${MOST_WRITES} writes nor the journal have it; give the plan's whole id, and "at" for a plan of long ago`

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
    // With `at`, the writes of one application are within a day of it.
    if (at !== undefined && oldest.at < at - DAY_MS) break
    // A whole batch at one instant would be read again for ever.
    untilAt = oldest.at === untilAt ? oldest.at - 1 : oldest.at
    await clock.sleep(1)
  }
  return [...found.values()]
}
