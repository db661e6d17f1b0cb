// One entry of `spec.grants`: who it is for, how much, from when until when, and why. Whether it fits the other entries (a base for
// `add`, no other grant at the same time) is checked in `join.ts`.
import { isScalar } from 'yaml'
import type { Grant } from '../core/model/policy.ts'
import { groupScope, type Scope, TEAM, userScope } from '../core/model/scope.ts'
import type { Zone } from './dates.ts'
import {
  type Field,
  type Fields,
  type Item,
  type Placed,
  placeOf,
  type Read,
  type Reader,
  readFlag,
  readMap,
  readText,
  report,
  requireField,
  textOf,
} from './nodes.ts'
import { POLICY_KEYS } from './schema.ts'
import { checkAllowZero, readAdd, readEmail, readFrom, readGrantCap, readUntil } from './values.ts'

export interface GrantInput {
  readonly item: Item
  readonly document: string
  readonly zone: Zone | undefined
}

/** Reads a grant; undefined when something in it is wrong, which is reported. */
export function readGrant(reader: Reader, { item, document, zone }: GrantInput): Placed<Grant> | undefined {
  const fields = readMap(reader, item.value, item.name, POLICY_KEYS.grant)
  if (!fields || !zone) return undefined
  checkAllowZero(reader, fields)
  const subject = readGrantScope(reader, fields, item)
  const amount = readGrantAmount(reader, fields, item)
  const times = readGrantTimes(reader, fields, item, zone)
  const reasonField = requireField(reader, item.value, fields.get('reason'), 'reason', item.name)
  const reason = reasonField && readText(reader, reasonField)
  const ticketField = fields.get('ticket')
  const ticket = ticketField && readText(reader, ticketField)
  if (!subject || !amount || !times || !reason || (ticketField && !ticket)) return undefined
  return {
    value: {
      scope: subject.value,
      amount: { kind: amount.kind, credits: amount.read.value },
      ...times,
      reason: reason.value,
      ...(ticket ? { ticket: ticket.value } : {}),
      at: amount.read.at,
      document,
    },
    at: subject.at,
  }
}

/** The one of two keys that is there; both or neither is reported. */
function onlyField(
  reader: Reader,
  fields: Fields,
  item: Item,
  keys: readonly string[],
  code: 'GRANT_SCOPE' | 'GRANT_AMOUNT',
): Field | undefined {
  const found = keys.flatMap((key) => fields.get(key) ?? [])
  const words = `exactly one of ${keys.join(', ')}`
  if (found.length === 0) return report(reader, item.value, code, `${item.name} has none of ${keys.join(', ')}`, { hint: `write ${words}` })
  const [first, second] = found
  if (!second) return first
  const names = found.map(({ key }) => key).join(' and ')
  const later = found.reduce((last, field) => ((field.keyNode.range?.[0] ?? 0) > (last.keyNode.range?.[0] ?? 0) ? field : last))
  return report(reader, later.keyNode, code, `${item.name} has ${names}`, { hint: `keep ${words}` })
}

function readGrantScope(reader: Reader, fields: Fields, item: Item): Placed<Scope> | undefined {
  const field = onlyField(reader, fields, item, ['user', 'group', 'team'], 'GRANT_SCOPE')
  if (!field) return undefined
  if (field.key === 'user') {
    const email = readEmail(reader, field)
    return email && { value: userScope(email.value), at: email.at }
  }
  if (field.key === 'group') {
    const id = readText(reader, field)
    return id && { value: groupScope(id.value), at: id.at }
  }
  const flag = readFlag(reader, field)
  if (!flag) return undefined
  if (flag.value) return { value: TEAM, at: placeOf(reader, field.keyNode) }
  return report(reader, flag.node, 'GRANT_SCOPE', `${field.name} is false`, { hint: 'write team: true, or user or group instead' })
}

function readGrantAmount(reader: Reader, fields: Fields, item: Item) {
  const field = onlyField(reader, fields, item, ['cap', 'add'], 'GRANT_AMOUNT')
  if (!field) return undefined
  if (field.key === 'add') {
    const read = readAdd(reader, field)
    return read && { kind: 'add' as const, read }
  }
  const read = readGrantCap(reader, fields, field)
  return read && { kind: 'cap' as const, read }
}

function readGrantTimes(reader: Reader, fields: Fields, item: Item, zone: Zone): Pick<Grant, 'fromAt' | 'until'> | undefined {
  const fromField = fields.get('from')
  const untilField = requireField(reader, item.value, fields.get('until'), 'until', item.name)
  const from = fromField && readFrom(reader, fromField, zone)
  const until = untilField && readUntil(reader, untilField, zone)
  if (!until || (fromField && !from)) return undefined
  if (until.value.kind === 'cycleEnd') {
    if (from) return { fromAt: from.value, until: until.value }
    const message = `${untilField.name} is cycleEnd, and there is no from to say which cycle`
    return report(reader, until.node, 'GRANT_TIMES', message, { hint: 'write from: and the day it begins' })
  }
  if (!from || from.value < until.value.at) return { ...(from ? { fromAt: from.value } : {}), until: until.value }
  return report(reader, until.node, 'GRANT_TIMES', `${item.name} ends before it begins: until ${textIn(until)}, from ${textIn(from)}`, {
    hint: 'write an until that is after from',
    other: from.at,
  })
}

const textIn = ({ node }: Read<unknown>): string => (isScalar(node) ? textOf(node) : '')
