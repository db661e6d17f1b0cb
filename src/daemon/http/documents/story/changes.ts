// The timeline: writes from the ledger's history and everything else from the journal, the newest first. It pages by instant, so that new entries do not
// move those on later pages.

import { createHash } from 'node:crypto'
import type { HistoryEntry } from '../../../../core/model/change.ts'
import type { JournalEntry } from '../../../../core/model/journal.ts'
import { shortRevision, whileInvalid } from '../../../../core/model/policy.ts'
import { parseScope, type Scope, scopeKey } from '../../../../core/model/scope.ts'
import type { Instant } from '../../../../core/model/units.ts'
import { DocumentError, type Query } from '../documents.ts'
import { writeEntry } from '../explained.ts'
import type { Records, Showing, WorkspaceFacts } from '../facts.ts'
import { type PeopleIndex, personShown } from '../people/roster.ts'
import { asked, limitOf, type Parameter, text, word } from '../query.ts'
import { headOf, keyText, minuteText, rfc3339, scopeText } from '../show.ts'
import type { ChangeEntry, ChangeListDocument } from '../types.ts'

const KINDS = ['write', 'foreign', 'hold', 'release', 'policy', 'pause', 'resume', 'outage', 'recovery'] as const

const MOST_ENTRIES = 200

/** An instant, and how many entries of that instant were seen, 2,000 at most. */
const CURSOR = /^(\d{1,15})-(1?\d{1,3}|2000)$/

export const CHANGES_QUERY: readonly Parameter[] = [
  word('kind', KINDS, 'What happened.'),
  text('scope', '`team`, `group:ID`, or a person as shown.'),
  { name: 'since', about: 'Nothing older than this.', kind: 'instant' },
  { name: 'after', about: '`next` of the previous answer.', kind: 'text', pattern: CURSOR },
  limitOf(50, MOST_ENTRIES),
]

/** The next page: everything up to this instant, without the first `skip` entries at it. */
interface Cursor {
  readonly untilAt: Instant
  readonly skip: number
}

export async function changesDocument(
  facts: WorkspaceFacts,
  index: PeopleIndex | undefined,
  records: Records,
  showing: Showing,
  query: Query,
): Promise<ChangeListDocument> {
  const question = asked(query, CHANGES_QUERY)
  const limit = question.whole('limit')
  const cursor = cursorOf(question.text('after'))
  const scope = scopeOf(question.text('scope'), index)
  const kind = question.word('kind', KINDS)
  const sinceAt = question.instant('since')
  const wanted = cursor.skip + limit + 1
  const writes =
    kind === undefined || kind === 'write'
      ? await records.history({
          limit: wanted,
          untilAt: cursor.untilAt,
          ...(scope && { scope }),
          ...(sinceAt !== undefined && { sinceAt }),
        })
      : []
  const others = (facts.journal?.entries ?? []).filter(
    (entry) =>
      (kind === undefined || entry.kind === kind) &&
      entry.at <= cursor.untilAt &&
      (sinceAt === undefined || entry.at >= sinceAt) &&
      (scope === undefined || (entry.kind === 'foreign' && scopeKey(entry.scope) === scopeKey(scope))),
  )
  const joined = [
    ...writes.map((entry) => ofWrite(entry, showing)),
    ...others.map((entry) => ({ at: entry.at, entry: journalChange(entry, facts, showing) })),
  ]
  joined.sort((a, b) => b.at - a.at || (a.entry.id < b.entry.id ? -1 : 1))
  const atCursor = joined.findIndex(({ at }) => at < cursor.untilAt)
  const skipped = Math.min(cursor.skip, atCursor === -1 ? joined.length : atCursor)
  const listed = joined.slice(skipped, skipped + limit)
  const last = listed.at(-1)
  const isMore = joined.length > skipped + limit
  return {
    ...headOf('ChangeList', showing),
    workspace: facts.view.workspace,
    limit,
    items: listed.map(({ entry }) => entry),
    ...(last && isMore && { next: nextOf(last.at, listed, cursor) }),
  }
}

interface Dated {
  readonly at: Instant
  readonly entry: ChangeEntry
}

/** The greatest instant that a `Date` can be. */
const LATEST: Instant = 8_640_000_000_000_000

function cursorOf(after: string | undefined): Cursor {
  if (after === undefined) return { untilAt: LATEST, skip: 0 }
  const [, at, skip] = CURSOR.exec(after) ?? []
  if (at === undefined || skip === undefined) {
    throw new DocumentError(400, `after cannot be ${JSON.stringify(after)}; give "next" of the previous answer`)
  }
  return { untilAt: Number(at), skip: Number(skip) }
}

function nextOf(at: Instant, listed: readonly Dated[], cursor: Cursor): string {
  const seen = listed.filter((one) => one.at === at).length + (at === cursor.untilAt ? cursor.skip : 0)
  return `${at}-${seen}`
}

function scopeOf(given: string | undefined, index: PeopleIndex | undefined): Scope | undefined {
  if (given === undefined) return undefined
  const row = index && personShown(index, given)
  if (row) return { kind: 'user', email: row.email }
  const scope = parseScope(given)
  // An e-mail that people are not shown by must not be accepted.
  if (!scope || scope.kind === 'user') throw new DocumentError(404, 'there is no such scope: write team, group:ID, or a person as shown')
  return scope
}

/** Stays the same as long as the entry is kept. */
const idOf = (at: Instant, ...about: readonly (string | number)[]): string =>
  `${at}-${createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 12)}`

function ofWrite(entry: HistoryEntry, showing: Showing): Dated {
  const { at, scope, from, to, planId, digest, result } = entry
  const written = writeEntry(entry, showing)
  const shown = scopeText(scope, showing)
  const verb = result === 'applied' ? WRITTEN[entry.effect] : `could not be ${WRITTEN[entry.effect]}`
  return {
    at,
    entry: {
      ...written,
      id: idOf(at, 'write', planId, scopeKey(scope), to),
      kind: 'write',
      tone: result === 'applied' ? 'good' : 'bad',
      text: `${shown} ${verb}: ${from} → ${to}`,
      digest,
    },
  }
}

const WRITTEN: Readonly<Record<HistoryEntry['effect'], string>> = {
  set: 'set',
  raise: 'raised',
  lower: 'lowered',
  block: 'lowered to what is used or less',
  clear: 'cleared',
}

/** An entry of the journal in the timeline. */
export function journalChange(one: JournalEntry, { view }: WorkspaceFacts, showing: Showing): ChangeEntry {
  const { at, kind } = one
  const { people } = showing
  const base = { at: rfc3339(at), kind }
  const plan = 'planId' in one && one.planId !== undefined ? { planId: one.planId } : {}
  switch (one.kind) {
    case 'foreign': {
      const { verified, observed, more = 0 } = one
      const shown = keyText(scopeKey(one.scope), showing)
      const others = more > 0 ? `, and ${more} more` : ''
      const text = `${shown} was changed by another client: ${verified} → ${observed}${others}`
      const id = idOf(at, kind, scopeKey(one.scope), observed)
      const count = more > 0 ? { count: more + 1 } : {}
      return { ...base, id, tone: 'warn', text, scope: shown, from: verified, to: observed, ...count, ...plan }
    }
    case 'hold': {
      const text = `held by ${one.guards.join(', ')}: ${one.people} ${one.people === 1 ? 'person' : 'people'} affected`
      const stands = view.holds.some(({ id }) => id === one.id)
      return {
        ...base,
        id: idOf(at, kind, one.id),
        tone: 'warn',
        text,
        hold: one.id,
        stands,
        guards: one.guards,
        people: one.people,
        ...plan,
      }
    }
    case 'release':
      return { ...base, id: idOf(at, kind, one.id), tone: 'good', text: `hold ${one.id} is over`, hold: one.id, stands: false }
    case 'policy': {
      const { digest, revision, valid } = one
      const name = revision === '' ? digest : shortRevision(revision)
      const text = valid ? `policies ${name} are in force` : `the policy files are not valid; ${whileInvalid(digest)}`
      const stands = view.policy?.digest === digest && view.policy.valid === valid
      return { ...base, id: idOf(at, kind, digest, String(valid)), tone: valid ? 'good' : 'bad', text, digest, revision, stands }
    }
    case 'pause': {
      const text = `paused until ${minuteText(one.untilAt)}`
      const stands = view.pause?.pausedAt === at
      return { ...base, id: idOf(at, kind), tone: 'warn', text, reason: people.text(one.reason), stands }
    }
    case 'resume':
      return { ...base, id: idOf(at, kind), tone: 'good', text: 'writing goes on' }
    case 'outage': {
      const text = `cycles fail${one.message === undefined ? '' : `: ${people.text(one.message)}`}`
      return { ...base, id: idOf(at, kind), tone: 'bad', text }
    }
    case 'recovery':
      return { ...base, id: idOf(at, kind), tone: 'good', text: 'cycles work again' }
  }
}
