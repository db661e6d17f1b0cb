// Stores a policy entry as a short text, such as `rule|500`, and reads every text that an earlier version wrote.
import { type AskedEntry, GIVEN_UP, ORIGIN_KINDS, type PolicyEntry, UNDECLARED } from '../../../core/model/entry.ts'
import { credits } from '../../../core/model/units.ts'

const ASKED: readonly AskedEntry['kind'][] = [...ORIGIN_KINDS, 'kept']

const NOTHING = ''
const GIVEN_UP_TEXT = 'given up'

export function entryText(entry: PolicyEntry): string {
  if (entry.kind === 'undeclared') return NOTHING
  return entry.kind === 'given_up' ? GIVEN_UP_TEXT : `${entry.kind}|${entry.cap}`
}

/** A text of an unknown kind is an entry that no longer counts. */
export function entryFrom(text: string): PolicyEntry {
  if (text === NOTHING) return UNDECLARED
  const [, name, cap] = /^([a-z]+)\|(none|\d+)$/.exec(text) ?? []
  const kind = ASKED.find((one) => one === name)
  return kind ? { kind, cap: cap === 'none' ? cap : credits(Number(cap)) } : GIVEN_UP
}
