// How the ledger keeps a policy entry: as a short text, such as `rule|500`. Every text that an earlier version wrote is read; only this file
// knows how they look.
import { type AskedEntry, GIVEN_UP, ORIGIN_KINDS, type PolicyEntry, UNDECLARED } from '../../../core/model/entry.ts'
import { credits } from '../../../core/model/units.ts'

const ASKED: readonly AskedEntry['kind'][] = [...ORIGIN_KINDS, 'kept']

const NOTHING = ''
const GIVEN_UP_TEXT = 'given up'

export function entryText(entry: PolicyEntry): string {
  if (entry.kind === 'undeclared') return NOTHING
  return entry.kind === 'given_up' ? GIVEN_UP_TEXT : `${entry.kind}|${entry.cap}`
}

/** A text that names no kind of declaration known here stands for none that counts any more. */
export function entryFrom(text: string): PolicyEntry {
  if (text === NOTHING) return UNDECLARED
  const [, name, cap] = /^([a-z]+)\|(none|\d+)$/.exec(text) ?? []
  const kind = ASKED.find((one) => one === name)
  return kind ? { kind, cap: cap === 'none' ? cap : credits(Number(cap)) } : GIVEN_UP
}
