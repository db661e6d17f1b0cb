// What happened in a workspace: writes from the ledger's history and everything else from the journal, the newest first. The timeline pages by instant,
// so that new entries do not move those on later pages.
import type { HistoryEntry } from '../../../../core/model/change.ts'
import { CHANGE_KINDS, type JournalEntry, type WorkspaceView } from '../../../../core/model/events.ts'
import { shortRevision, whileInvalid } from '../../../../core/model/policy.ts'
import { parseScope, type Scope, scopeKey } from '../../../../core/model/scope.ts'
import { formatInstant, type Instant } from '../../../../core/model/units.ts'
import type { HistoryFilter } from '../../../../ports.ts'
import { asked, DocumentError, limitOf, type Parameter, type Query, type Seen, text, word } from '../documents.ts'
import { optional, record, type SourceOf } from '../field.ts'
import * as t from '../parts.ts'
import { groupShown } from '../people/people.ts'
import { personShown } from '../people/roster.ts'
import { scopeText } from '../show.ts'
import type { Showing } from '../types.ts'

const MOST_ENTRIES = 200

/** Writes that are searched for those of one plan, and how many are read at a time. Choice. */
const MOST_SEARCHED = 10_000
const AT_A_TIME = 500

/** An instant, and how many entries of that instant were seen, 2,000 at most. */
const CURSOR = /^(\d{1,15})-(1?\d{1,3}|2000)$/

export const CHANGES_QUERY: readonly Parameter[] = [
  word('kind', CHANGE_KINDS, 'What happened.'),
  text('scope', '`team`, `group:ID`, or a person as shown.'),
  text('plan', `The id of a plan. Its writes are found among the ${MOST_SEARCHED} before \`after\`.`),
  { name: 'since', about: 'Nothing older than this.', kind: 'instant' },
  { name: 'after', about: '`next` of the previous answer.', kind: 'text', pattern: CURSOR },
  limitOf(50, MOST_ENTRIES),
]

/** The next page: everything up to this instant, without the first `skip` entries at it. */
type Cursor = ReturnType<typeof cursorOf>

const entry = record('An entry of the timeline.')({
  at: t.instant('When.'),
  kind: t.words(CHANGE_KINDS),
  tone: t.tone,
  text: t.plain('One sentence.'),
  scope: optional(t.scopeName),
  effect: optional(t.effect),
  from: optional(t.observed('The cap before.')),
  to: optional(t.observed('The cap after.')),
  cause: optional(t.cause),
  result: optional(t.changeResult),
  error: optional(t.text()),
  hold: optional(t.plain('The id of a hold.')),
  revision: optional(t.plain('The policies in force.')),
  reason: optional(t.text()),
  stands: optional(t.flag('Of a hold: still in force.')),
  planId: optional(t.plain('The plan that wrote it, held it, or found it.')),
  source: optional(t.place),
})
type Entry = SourceOf<typeof entry>

export const CHANGES = record('What happened, the newest first.')({
  ...t.about('ChangeList'),
  limit: t.whole({ minimum: 1, description: 'The most in one answer.' }),
  items: t.list(entry, 'The newest first.'),
  next: optional(t.plain('The value of `after` for older entries; absent at the end.')),
})

export async function changesDocument(seen: Seen, query: Query = {}) {
  const question = asked(query, CHANGES_QUERY)
  const { view, journal } = seen
  const limit = question.whole('limit')
  const cursor = cursorOf(question.text('after'))
  const scope = await scopeOf(question.text('scope'), seen)
  const kind = question.word('kind', CHANGE_KINDS)
  const plan = question.text('plan')
  const sinceAt = question.instant('since')
  const asksWrites = kind === undefined || kind === 'write'
  const range = { limit: cursor.skip + limit + 1, untilAt: cursor.untilAt, scope, sinceAt }
  const writes = asksWrites ? await writesOf(seen, range, plan) : []
  const others = (journal?.entries ?? []).filter(
    (entry) =>
      (kind === undefined || entry.kind === kind) &&
      entry.at <= cursor.untilAt &&
      entry.at >= (sinceAt ?? 0) &&
      (plan === undefined || ('planId' in entry && entry.planId === plan)) &&
      (scope === undefined || (entry.kind === 'foreign' && scopeKey(entry.scope) === scopeKey(scope))),
  )
  const joined = [...writes.map((one) => writeChange(one, seen)), ...others.toReversed().map((one) => journalChange(one, view, seen))]
  // In one instant as they were recorded: by anything else a write beyond this page's limit could belong on an earlier page.
  joined.sort((a, b) => b.at - a.at)
  const atCursor = joined.findIndex(({ at }) => at < cursor.untilAt)
  const skipped = Math.min(cursor.skip, atCursor === -1 ? joined.length : atCursor)
  const listed = joined.slice(skipped, skipped + limit)
  const last = listed.at(-1)
  const isMore = joined.length > skipped + limit
  const next = last && isMore ? nextOf(last.at, listed, cursor) : undefined
  return CHANGES.show({ limit, items: listed, next }, seen)
}

/** The newest first. */
async function writesOf(
  { records, clock }: Seen,
  range: HistoryFilter & { readonly limit: number },
  plan: string | undefined,
): Promise<readonly HistoryEntry[]> {
  if (plan === undefined) return records.history(range)
  const found = new Map<string, HistoryEntry>()
  let { untilAt } = range
  for (let searched = 0; searched < MOST_SEARCHED && found.size < range.limit; searched += AT_A_TIME) {
    const batch = await records.history({ ...range, untilAt, limit: AT_A_TIME })
    for (const one of batch) if (one.planId === plan) found.set(JSON.stringify(one), one)
    const oldest = batch.at(-1)
    if (!oldest || batch.length < AT_A_TIME) break
    // A whole batch at one instant would be read again for ever.
    untilAt = oldest.at === untilAt ? oldest.at - 1 : oldest.at
    await clock.sleep(1)
  }
  return [...found.values()]
}

/** The greatest instant that a `Date` can be. */
const LATEST: Instant = 8_640_000_000_000_000

function cursorOf(after: string | undefined) {
  if (after === undefined) return { untilAt: LATEST, skip: 0 }
  const [, at, skip] = CURSOR.exec(after) ?? []
  if (at === undefined || skip === undefined) {
    throw new DocumentError(400, `after cannot be ${JSON.stringify(after)}; give "next" of the previous answer`)
  }
  return { untilAt: Number(at), skip: Number(skip) }
}

function nextOf(at: Instant, listed: readonly Entry[], cursor: Cursor): string {
  const seen = listed.filter((one) => one.at === at).length + (at === cursor.untilAt ? cursor.skip : 0)
  return `${at}-${seen}`
}

async function scopeOf(given: string | undefined, seen: Seen): Promise<Scope | undefined> {
  if (given === undefined) return undefined
  const row = personShown(await seen.index(), given)
  if (row) return { kind: 'user', email: row.email }
  const scope = parseScope(given)
  const group = scope?.kind === 'group' ? groupShown(seen, scope.id) : undefined
  if (group) return group
  // An e-mail that people are not shown by must not be accepted.
  if (!scope || scope.kind === 'user' || seen.people.text(given) !== given)
    throw new DocumentError(404, 'there is no such scope: write team, group:ID, or a person as shown')
  return scope
}

const isApplied = ({ result }: HistoryEntry): boolean => result === 'applied'

function writeChange(one: HistoryEntry, showing: Showing): Entry {
  const { scope, from, to, revision } = one
  const verb = isApplied(one) ? WRITTEN[one.effect] : `could not be ${WRITTEN[one.effect]}`
  const text = `${scopeText(scope, showing)} ${verb}: ${from} → ${to}`
  const tone = isApplied(one) ? 'good' : 'bad'
  return { ...one, kind: 'write', tone, text, source: one.source && { ...one.source, revision } }
}

const WRITTEN: Readonly<Record<HistoryEntry['effect'], string>> = {
  set: 'set',
  raise: 'raised',
  lower: 'lowered',
  block: 'lowered to what is used or less',
  clear: 'cleared',
}

/** An entry of the journal in the timeline. */
function journalChange(one: JournalEntry, view: WorkspaceView, showing: Showing): Entry {
  const { at, kind } = one
  return { at, kind, ...toldOf(one, view, showing), planId: 'planId' in one ? one.planId : undefined }
}

function toldOf(one: JournalEntry, view: WorkspaceView, showing: Showing): Omit<Entry, 'at' | 'kind'> {
  const { people } = showing
  switch (one.kind) {
    case 'foreign': {
      const { scope, verified, observed, more = 0 } = one
      const others = more > 0 ? `, and ${more} more` : ''
      const text = `${scopeText(scope, showing)} was changed by another client: ${verified} → ${observed}${others}`
      return { tone: 'warn', text, scope, from: verified, to: observed }
    }
    case 'hold': {
      const { id, guards, people: reached } = one
      const text = `held by ${guards.join(', ')}: ${reached} ${reached === 1 ? 'person' : 'people'} affected`
      const stands = view.holds.some((hold) => hold.id === id)
      return { tone: 'warn', text, hold: id, stands }
    }
    case 'release':
      return { tone: 'good', text: `hold ${one.id} is over`, hold: one.id, stands: false }
    case 'policy': {
      const { digest, revision, valid } = one
      const name = revision === '' ? digest : shortRevision(revision)
      const text = valid ? `policies ${name} are in force` : `the policy files are not valid; ${whileInvalid(digest)}`
      return { tone: valid ? 'good' : 'bad', text, revision }
    }
    case 'pause':
      return { tone: 'warn', text: `paused until ${formatInstant(one.untilAt)}`, reason: one.reason }
    case 'resume':
      return { tone: 'good', text: 'writing goes on' }
    case 'outage':
      return { tone: 'bad', text: `cycles fail${one.message === undefined ? '' : `: ${people.text(one.message)}`}` }
    case 'recovery':
      return { tone: 'good', text: 'cycles work again' }
  }
}
