// The values of a policy: caps, e-mails, points in time. Each is judged by the text that was written, and each refusal says what to
// write instead.
import type { Cap } from '../core/model/policy.ts'
import { normaliseEmail } from '../core/model/scope.ts'
import { type Credits, credits, type Instant, MAX_CAP } from '../core/model/units.ts'
import { readDate, readInstant, type Zone } from './dates.ts'
import {
  type Field,
  type Fields,
  isPlain,
  type Read,
  type Reader,
  readFlag,
  readScalar,
  readText,
  report,
  textOf,
  written,
} from './nodes.ts'

const WHOLE_NUMBER = /^(0|[1-9][0-9]*)$/
const CAP_WORDS = `a whole number from 0 to ${MAX_CAP}, or none`

/** `cap` of a rule: credits or `none`, with `allowZero: true` beside a 0. */
export function readCap(reader: Reader, fields: Fields, field: Field): Read<Cap> | undefined {
  const scalar = readScalar(reader, field, 'CAP', `not ${CAP_WORDS}`, WRITE_A_CAP)
  if (!scalar) return undefined
  if (textOf(scalar.value) === 'none') return { ...scalar, value: 'none' }
  return readZeroable(reader, fields, field, CAP_WORDS)
}

/** `cap` of a grant: credits. */
export function readGrantCap(reader: Reader, fields: Fields, field: Field): Read<Credits> | undefined {
  return readZeroable(reader, fields, field, `a whole number from 0 to ${MAX_CAP}`)
}

/** `add` of a grant: credits, at least 1. */
export function readAdd(reader: Reader, field: Field): Read<Credits> | undefined {
  const words = `a whole number from 1 to ${MAX_CAP}`
  const amount = readAmount(reader, field, words)
  if (!amount || amount.value > 0) return amount
  return report(reader, amount.node, 'CAP', `${field.name} is 0, not ${words}`, { hint: 'leave the grant out' })
}

/** `allowZero` must be a boolean, also where it says nothing. */
export function checkAllowZero(reader: Reader, fields: Fields): void {
  const field = fields.get('allowZero')
  if (field) readFlag(reader, field)
}

function readZeroable(reader: Reader, fields: Fields, field: Field, words: string): Read<Credits> | undefined {
  const amount = readAmount(reader, field, words)
  if (!amount || amount.value > 0) return amount
  const allowZero = fields.get('allowZero')
  if (allowZero && readFlag({ ...reader, problems: [] }, allowZero)?.value !== false) return amount
  return report(reader, amount.node, 'CAP_ZERO', `${field.name} is 0, and allowZero: true is not beside it`, {
    hint: 'a service may read a stored 0 back as "no cap": write allowZero: true beside it when 0 is meant, or none to set nothing',
  })
}

function readAmount(reader: Reader, field: Field, words: string): Read<Credits> | undefined {
  const scalar = readScalar(reader, field, 'CAP', `not ${words}`, WRITE_A_CAP)
  if (!scalar) return undefined
  const text = textOf(scalar.value)
  if (isPlain(scalar.value) && WHOLE_NUMBER.test(text) && Number(text) <= MAX_CAP) return { ...scalar, value: credits(Number(text)) }
  const hint = capHint(text, isPlain(scalar.value))
  return report(reader, scalar.node, 'CAP', `${field.name} is ${written(scalar.value)}, not ${words}`, { hint })
}

const WRITE_A_CAP = 'write the credits per person, such as 500, or none'

function capHint(text: string, plain: boolean): string {
  const trimmed = text.trim()
  if (!plain && WHOLE_NUMBER.test(trimmed)) return `write ${trimmed} without quotes`
  if (/^none$/i.test(trimmed)) return 'write none'
  if (/^-/.test(trimmed)) return 'a cap is never negative: write 0 with allowZero: true, or none'
  const meant = meantNumber(trimmed)
  if (meant !== undefined) return meant > MAX_CAP ? `${MAX_CAP} is the largest cap` : `write ${meant}`
  return WRITE_A_CAP
}

/** The whole number that somebody who wrote it so has most likely meant. */
function meantNumber(text: string): number | undefined {
  const digits = text.replace(/(?<=\d)[_ ,'](?=\d)/g, '').replace(/^\+/, '')
  if (/^0[0-9]+$/.test(digits)) return Number(digits)
  const value = digits === '' || /[^0-9a-fxoA-FXO.+-]/.test(digits) ? Number.NaN : Number(digits)
  return Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined
}

const EMAIL = /^[^\s@:]+@[^\s@:]+$/

/** An e-mail, normalised. A colon is refused: it would read as another scope. */
export function readEmail(reader: Reader, field: Field): Read<string> | undefined {
  const read = readScalar(reader, field, 'EMAIL', 'not an e-mail address')
  if (!read) return undefined
  const value = normaliseEmail(textOf(read.value))
  if (EMAIL.test(value)) return { ...read, value }
  return report(reader, read.node, 'EMAIL', `${field.name} is ${written(read.value)}, not an e-mail address`, {
    hint: 'write it as name@example.com',
  })
}

const TIME_HINT = 'write a date such as 2026-12-15, or an instant such as 2026-12-15T18:00:00Z'

/** `from`: a date is its first instant in the zone. */
export function readFrom(reader: Reader, field: Field, zone: Zone): Read<Instant> | undefined {
  const read = readText(reader, field)
  if (!read) return undefined
  const day = readDate(read.value)
  const at = day === undefined ? readInstant(read.value) : zone.startOfDay(day)
  if (at !== undefined) return { ...read, value: at }
  return report(reader, read.node, 'TIME', `${field.name} is ${read.value}, not a date or an RFC 3339 instant`, { hint: TIME_HINT })
}

export type Until = { readonly kind: 'instant'; readonly at: Instant } | { readonly kind: 'cycleEnd' }

/** `until`: a date holds through its end in the zone. */
export function readUntil(reader: Reader, field: Field, zone: Zone): Read<Until> | undefined {
  const read = readText(reader, field)
  if (!read) return undefined
  if (read.value === 'cycleEnd') return { ...read, value: { kind: 'cycleEnd' } }
  const day = readDate(read.value)
  const at = day === undefined ? readInstant(read.value) : zone.endOfDay(day)
  if (at !== undefined) return { ...read, value: { kind: 'instant', at } }
  const hint = /^cycle.?end$/i.test(read.value) ? 'write cycleEnd' : `${TIME_HINT}, or cycleEnd`
  return report(reader, read.node, 'TIME', `${field.name} is ${read.value}, not a date, an RFC 3339 instant or cycleEnd`, { hint })
}
