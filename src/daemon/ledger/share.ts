// Shares the ledger of a running daemon, so that a plan in a pull request shows what the daemon would do: ownership, open intents, approvals,
// holds and baselines, and nothing that a plan does not need. People are hashed with a key that is new in every answer: a reader who knows
// an address can find it, but none can be read.
import type { HistoryEntry } from '../../core/model/change.ts'
import type { UsageFacts } from '../../core/model/facts.ts'
import type { Roster } from '../../core/model/observed.ts'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { CONTEST_MS } from '../../core/plan/contested.ts'
import type { Digest, Ledger, RecordsReader } from '../../ports.ts'
import { emailsIn, hashLabels, mapTexts } from '../http/labels.ts'
import { decoded, type LedgerDocument, SHARED_FACTS, type SharedRecords } from './values/values.ts'

/** The records that a plan and its explanation read. */
export type SharedLedger = RecordsReader & Pick<Ledger, 'history' | 'pause'>

/** One workspace whose ledger is shared. */
export interface SharedWorkspace {
  readonly workspace: string
  /** The address that the ledger is bound to. */
  readonly baseUrl: string
  readonly ledger: SharedLedger
}

/** The answer of `GET /ledger`, people as hashes. Throws `Undecodable`. */
export const sharedLedger = (value: unknown): LedgerDocument => decoded('shared', value)

/** A text that is only an address is hashed as a whole, whatever signs it has. */
const isEmail = (text: string): boolean => /^[^\s@|]+@[^\s@|]+$/.test(text)

/** Keys of conditions have `%40` for the @, and must have it again when they are read. */
const withSuffix = (hash: string, raw: string): string => `${hash}${raw.includes('@') ? '@' : '%40'}people.invalid`
const HASHED = /([0-9a-f]{12})(@|%40)people\.invalid/g

interface ShareOptions {
  readonly workspaces: Iterable<SharedWorkspace> | AsyncIterable<SharedWorkspace>
  readonly now: Instant
  /** New for every document, so that hashes cannot be matched with those of another document or of /status. */
  readonly key: string
  readonly digest: Digest
}

/** The text of a `LedgerDocument` of these workspaces, people hashed, in pieces that are made on demand. */
export async function* ledgerPieces({ workspaces, now, key, digest }: ShareOptions): AsyncGenerator<string> {
  const labels = hashLabels(digest, key, withSuffix)
  const mask = (text: string): string => (isEmail(text) ? labels.label(text) : labels.text(text))
  const head: Omit<LedgerDocument, 'workspaces'> = { apiVersion: 'capkeeper/v1', kind: 'Ledger', createdAt: now, key }
  yield `${JSON.stringify(head).slice(0, -1)},"workspaces":[`
  let separator = ''
  for await (const one of workspaces) {
    if (separator !== '') yield separator
    separator = ','
    yield* piecesOf(await recordsOf(one, now), mask)
  }
  yield ']}\n'
}

/** The values of a list in one piece. */
const AT_A_TIME = 200

/** JSON with `mask` applied to every text, names of fields included; long lists come in several pieces. */
function* piecesOf(value: unknown, mask: (text: string) => string): Generator<string> {
  if (Array.isArray(value)) {
    yield '['
    if (value.some(holdsList)) {
      for (const [index, one] of value.entries()) {
        if (index > 0) yield ','
        yield* piecesOf(one, mask)
      }
    } else {
      for (let at = 0; at < value.length; at += AT_A_TIME) {
        if (at > 0) yield ','
        yield JSON.stringify(mapTexts(value.slice(at, at + AT_A_TIME), mask)).slice(1, -1)
      }
    }
    yield ']'
  } else if (typeof value === 'object' && value !== null) {
    let separator = '{'
    for (const [name, one] of Object.entries(value)) {
      if (one === undefined) continue
      yield `${separator}${JSON.stringify(mask(name))}:`
      yield* piecesOf(one, mask)
      separator = ','
    }
    yield separator === '{' ? '{}' : '}'
  } else yield JSON.stringify(mapTexts(value, mask)) ?? 'null'
}

const holdsList = (value: unknown): boolean =>
  Array.isArray(value) ||
  (typeof value === 'object' && value !== null && Object.values(value).some((one) => Array.isArray(one) && one.length > AT_A_TIME))

async function recordsOf({ workspace, baseUrl, ledger }: SharedWorkspace, now: Instant): Promise<SharedRecords> {
  const seen = new Set<string>()
  const usage = ledger.fact('usage')
  const history = await ledger.history({ sinceAt: now - SHARED_HISTORY_MS })
  const pause = await ledger.pause(now)
  return {
    ...{ workspace, baseUrl },
    owned: ledger.owned(),
    openIntents: ledger.openIntents(),
    approvals: ledger.approvals(),
    quarantined: ledger.quarantined(),
    pause,
    lastWrites: history.filter((entry) => isFirst(entry, seen) || now - entry.at < CONTEST_MS),
    facts: { ...Object.fromEntries(SHARED_FACTS.map((name) => [name, ledger.fact(name)])), usage: usage && nameless(usage) },
  }
}

/** Bounds the answer, because the page is asked often; older writes explain little. Choice. */
const SHARED_HISTORY_MS = 30 * 24 * 3_600_000

/** The newest write of each scope explains its cap; those of the last day tell whether it is contested. */
const isFirst = ({ scope }: HistoryEntry, seen: Set<string>): boolean => !seen.has(scopeKey(scope)) && seen.add(scopeKey(scope)).size > 0

/** A plan needs no display names. */
const nameless = ({ roster, doubted, ...rest }: UsageFacts): UsageFacts => ({
  ...rest,
  roster: withoutNames(roster),
  doubted: doubted && { ...doubted, roster: withoutNames(doubted.roster) },
})

/** The fields that guards count by. A plan reads the fields of rules from the service. */
const withoutNames = (roster: Roster): Roster => ({
  ...roster,
  people: roster.people.map(({ email, status, disabled, used }) => ({ email, name: '', status, disabled, used })),
})

/**
 * Reads one workspace of an answer. `said` is what the reader knows from its policies and the roster: people, patterns, names. An address that is
 * in none of it stays a hash.
 */
export function readShared(
  { key, workspaces }: LedgerDocument,
  workspace: string,
  said: Iterable<string>,
  digest: Digest,
): SharedLedger | undefined {
  const found = workspaces.find((one) => one.workspace === workspace)
  if (found === undefined) return undefined
  const { label } = hashLabels(digest, key, (hash) => hash)
  const emails = [...said].flatMap((text) => [...(isEmail(text) ? [text] : []), ...emailsIn(text).map(({ email }) => email)])
  const known = new Map(emails.map((email) => [label(email), email]))
  const unmask = (masked: string): string =>
    masked.replace(HASHED, (all, hash: string, at: string) => known.get(hash)?.replace('@', at) ?? all)
  const { owned, openIntents, approvals, quarantined, pause, lastWrites, facts } = mapTexts(found, unmask)
  return {
    owned: () => owned,
    openIntents: () => openIntents,
    approvals: () => approvals,
    quarantined: () => quarantined,
    pause: async (now) => (pause && pause.untilAt > now ? pause : undefined),
    fact: (name) => facts[name],
    writtenLately: (scope, sinceAt) => lastWrites.filter((entry) => entry.at >= sinceAt && isOf(scope, entry)),
    ancestorWrites: (sinceAt) => lastWrites.filter((entry) => entry.at >= sinceAt && entry.scope.kind !== 'user'),
    history: async ({ scope, sinceAt = 0, limit = lastWrites.length } = {}) =>
      lastWrites.filter((entry) => entry.at >= sinceAt && isOf(scope, entry)).slice(0, limit),
  }
}

const isOf = (scope: Scope | undefined, entry: HistoryEntry): boolean => !scope || scopeKey(scope) === scopeKey(entry.scope)
