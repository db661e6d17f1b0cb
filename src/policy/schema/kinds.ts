// How the text of a scalar becomes a value, and how a wrong value is told. The schema decides whether a value is wrong, and says what of it and what to
// write instead; here is what depends on the text that was written.

import { isMap, isScalar, isSeq, type Scalar } from 'yaml'
import type { Cap } from '../../core/model/policy.ts'
import type { ProblemCode } from '../../core/model/problem.ts'
import { normaliseEmail } from '../../core/model/scope.ts'
import { credits, MAX_CAP } from '../../core/model/units.ts'
import { CONFIG_KIND } from '../bounds.ts'
import { didYouMean } from '../suggest.ts'
import { type Branch, describe, isNothing, isPlain, nameOf, report, textOf, written } from '../tree.ts'
import { quoted } from '../yaml.ts'
import { type AnnotatedSchema, oddCharacter, type Wrong } from './check.ts'

const TIME_HINT = 'write a date such as 2026-12-15, or an instant such as 2026-12-15T18:00:00Z'

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})(?=$|[Tt ])/
const WITHOUT_OFFSET = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/

/** Undefined where the text is not like a date or an instant. */
function timeSlip(text: string): string | undefined {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? []
  if (year === '') return undefined
  const rest = text.slice(`${year}-${month}-${day}`.length)
  const name = MONTHS[Number(month) - 1]
  if (name === undefined) return `there is no month ${month}; write year, month and day, such as 2026-12-15`
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  if (Number(day) < 1 || Number(day) > last) return `${year} has no ${Number(day)} ${name}: that month has ${last} days`
  const padded = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (month.length + day.length < 4) return `month and day need two digits: write ${padded}${rest}`
  if (!WITHOUT_OFFSET.test(text)) return undefined
  const whole = /:\d{2}:/.test(rest) ? text : `${text}:00`
  return `add Z or an offset, because the time zone of the instant is not said: ${whole}Z, or ${whole}+01:00`
}

const WHOLE_NUMBER = /^(0|[1-9][0-9]*)$/
const DECIMAL = /^(0|[1-9][0-9]*)(\.[0-9]+)?$/
const CAPS = new Set(['cap', 'grant-cap', 'add', 'whole'])

/** The value of a scalar, by the text that was written. 1e3, 0x10 and 010 are no numbers here, and a cap has only digits. */
export function convert(node: Scalar, { 'x-kind': kind = '', 'x-wrong': wrong }: AnnotatedSchema): unknown {
  const text = textOf(node)
  // No schema accepts an empty address.
  if (kind === 'email' || kind === 'glob') return oddCharacter(normaliseEmail(text)) === undefined ? normaliseEmail(text) : ''
  if (kind !== 'history' && (wrong?.text || kind === 'approval')) {
    if (isPlain(node) && /^\s*(true|false)\s*$/i.test(text)) return true
    return kind === 'approval' ? text.trim().toLowerCase() : text.trim()
  }
  if (!isPlain(node) || kind === 'attribute') return text
  if (text === 'true' || text === 'false') return text === 'true'
  return (CAPS.has(kind) ? WHOLE_NUMBER : DECIMAL).test(text) ? Number(text) : text
}

/** A cap that the schema has accepted. */
export const capOf = (cap: number | 'none'): Cap => (cap === 'none' ? cap : credits(cap))

/** Reports the wrong value of a branch. */
export function refuse(branch: Branch): undefined {
  const { node, schema } = branch
  const wrong = schema['x-wrong']
  if (isNothing(node)) return refuseNothing(branch, wrong)
  if (schema.type === 'array' || schema.items) {
    if (isSeq(node)) return report(branch, 'MISSING', `${nameOf(branch)} is an empty list`, { hint: 'write at least one, or leave it out' })
    const hint = 'write one item per line, each after "- ", or [ ] around them'
    return report(branch, 'NOT_A_LIST', `${nameOf(branch)} is ${describe(node)}, not a list`, { hint })
  }
  if (isMap(node) && node.items.length === 0 && schema.properties)
    return report(branch, 'MISSING', `${nameOf(branch)} is an empty mapping`, { hint: wrong?.hint ?? shapeHint(branch) })
  if (!wrong || (isSeq(node) && schema.anyOf?.some(({ properties }) => properties)) || (isSeq(node) && schema.properties)) {
    return report(branch, 'NOT_A_MAPPING', `${nameOf(branch)} is ${describe(node)}, not a mapping of keys`, { hint: shapeHint(branch) })
  }
  if (!isScalar(node)) {
    if (wrong.text) return report(branch, 'NOT_TEXT', `${nameOf(branch)} is ${describe(node)}, not a text`)
    return report(branch, wrong.code, `${nameOf(branch)} is ${describe(node)}, ${wrong.what}`, { hint: wrong.hint })
  }
  const text = textOf(node)
  if (wrong.text && (text.trim() === '' || branch.value === true)) return refuseText(branch, text.trim())
  const slip = slipOf(branch)
  const message = `${nameOf(branch)}${slip.says?.(text, branch) ?? ` is ${shownAs(node, wrong)}${wrong.what}`}`
  return report(branch, slip.codeOf?.(branch.value) ?? wrong.code, message, {
    hint: slip.hint?.(text, branch) ?? wrong.hint,
    on: isReference(wrong) ? 'key' : undefined,
  })
}

/** A wrong scalar in messages. That of a reference is not shown, because it may be the secret itself. */
function shownAs(node: Scalar, wrong: Wrong): string {
  if (isReference(wrong)) return ''
  const text = textOf(node).trim()
  return `${wrong.text === 'quoted' ? quoted(text) : wrong.text === 'trimmed' ? text : written(node)}, `
}

const isReference = ({ code }: Wrong): boolean => code === 'KEY_REFERENCE'

/** A mapping with the keys that it needs, or the keys that it may have. */
function shapeHint({ schema: { properties, required = [] } }: Branch): string | undefined {
  if (!properties) return undefined
  if (required.length === 0) return `write below it what it has: ${Object.keys(properties).join(', ')}`
  return `write it like {${required.map((key) => `${key}: ${EXAMPLES[properties[key]?.['x-kind'] ?? ''] ?? '…'}`).join(', ')}}`
}

const EXAMPLES: Readonly<Record<string, string>> = { email: 'name@example.com', cap: '500' }

function refuseText(branch: Branch, text: string): undefined {
  if (text === '') return report(branch, 'NOT_TEXT', `${nameOf(branch)} is empty, not a text`)
  return report(branch, 'NOT_TEXT', `${nameOf(branch)} is ${text}, not a text`, { hint: `write "${text}" in quotes if it is meant` })
}

/** Kinds whose required key, like that of a mapping, without a value is reported as missing. */
const EMPTY_IS_MISSING = new Set(['text', 'email', 'until'])

function refuseNothing(branch: Branch, wrong: Wrong | undefined): undefined {
  const { parent, key, schema, node } = branch
  const name = nameOf(branch)
  if (typeof key === 'number') return report(branch, 'MISSING', `${name} is empty`, { hint: 'fill it in or leave it out' })
  if (schema['x-kind'] === 'team') {
    return report(branch, 'MISSING', `${name} is empty`, { on: 'key', hint: 'write cap: 500 below it, or leave it out' })
  }
  const isRequired = parent?.schema.required?.includes(key) === true
  if (isRequired && (!wrong || EMPTY_IS_MISSING.has(schema['x-kind'] ?? ''))) {
    return report(branch, 'MISSING', `${name} is empty`, { on: 'key', hint: shapeHint(branch) })
  }
  if (!wrong) {
    const extra = { hint: shapeHint(branch), on: node ? undefined : ('key' as const) }
    return report(branch, 'NOT_A_MAPPING', `${name} is empty, not a mapping of keys`, extra)
  }
  if (wrong.text) return report(branch, 'NOT_TEXT', `${name} is empty, not a text`, { on: 'key' })
  const hint = isReference(wrong) ? (slipOf(branch).hint?.('', branch) ?? wrong.hint) : wrong.hint
  return report(branch, wrong.code, `${name} is ${isReference(wrong) ? '' : 'empty, '}${wrong.what}`, { on: 'key', hint })
}

const WRITE_A_NUMBER = 'a number is needed here: none is for the caps of the team, a group, a user or a rule'

const numberHint: Hint = (text, branch) => (/^none$/i.test(text.trim()) ? WRITE_A_NUMBER : capHint(text, branch)?.replace(/, or none$/, ''))

const addHint: Hint = (text, branch) => {
  if (text === '0') return 'leave the grant out'
  return /^\s*-/.test(text) ? 'a grant only adds: write cap: and the cap while it lasts' : numberHint(text, branch)
}

const capHint: Hint = (text, branch) => {
  const digits = text.trim()
  if (/^none$/i.test(digits)) return 'write none'
  if (/^-/.test(digits)) return 'a cap is never negative: write 0 with allowZero: true, or none'
  const meant = meantNumber(digits, branch)
  return typeof meant === 'number' && meant > MAX_CAP ? `${MAX_CAP} is the largest cap` : asHint(meant)
}

const asHint = (meant: number | string | undefined): string | undefined => (typeof meant === 'number' ? `write ${meant}` : meant)

/** The whole number that was surely meant, or what to do where it may be a fraction: that is for the person to say, so nothing is rounded. */
function meantNumber(text: string, { node }: Branch): number | string | undefined {
  if (isScalar(node) && !isPlain(node) && WHOLE_NUMBER.test(text)) return `write ${text} without quotes`
  const written = text.replace(/(?<=\d)[_ '](?=\d)/g, '').replace(/^\+/, '')
  const [, thousands, mark = '', rest] = /^([1-9]\d{0,2})([.,])(\d{3})$/.exec(written) ?? []
  if (thousands !== undefined) {
    const fraction = `${thousands}.${rest}`
    const both = `write ${thousands}${rest} if the "${mark}" separates thousands`
    return Number.isInteger(Number(fraction))
      ? `${both}, or ${thousands} if it is a decimal point`
      : `${both}; if not, ${fraction} is no whole number`
  }
  const isGrouped = /^[1-9]\d{0,2}(\.\d{3}){2,}$|^[1-9]\d{0,2}(,\d{3}){2,}$/.test(written)
  const digits = isGrouped ? written.replace(/[.,]/g, '') : written
  if (/^0[0-9]+$/.test(digits)) return Number(digits)
  const value = digits === '' || /[^0-9a-fxoA-FXO.+-]/.test(digits) ? Number.NaN : Number(digits)
  if (!Number.isFinite(value) || value < 0) return /^\d+,\d+$/.test(digits) ? NO_FRACTION : undefined
  return Number.isInteger(value) ? value : NO_FRACTION
}

const NO_FRACTION = 'write a whole number: there are no fractions here'

/** Such a character is easily overlooked, or not to be seen at all. */
function oddHint(text: string): string | undefined {
  const odd = oddCharacter(normaliseEmail(text))
  return odd === undefined ? undefined : `${odd}: type the address anew`
}

const wholeHint: Hint = (text, branch) => {
  const { minimum = 0, maximum = MAX_CAP } = branch.schema
  const meant = meantNumber(text.trim(), branch)
  if (typeof meant !== 'number') return meant
  return meant < minimum ? `${minimum} is the least` : meant > maximum ? `${maximum} is the most` : asHint(meant)
}

/** The words of a choice, as they are written. */
const wordsOf = ({ enum: words = [], const: only }: AnnotatedSchema): readonly string[] =>
  (only === undefined ? words : [only]).filter((word): word is string => typeof word === 'string' && word !== 'false')

const wordHint: Hint = (_text, { key, schema }) => `write ${key}: ${wordsOf(schema).join('')}`

/** What is said of some wrong values of a kind, in the place of what its schema says. */
interface Slip {
  readonly hint?: Hint
  /** The whole message, behind the name. */
  readonly says?: Hint
  readonly codeOf?: (value: unknown) => ProblemCode | undefined
}

type Hint = (text: string, branch: Branch) => string | undefined

/** By the kind of the value. */
const SLIPS: Readonly<Record<string, Slip>> = {
  'team-flag': {
    codeOf: (value) => (value === false ? 'GRANT_SCOPE' : undefined),
    hint: (text) => (text === 'false' ? 'write team: true, or user or group instead' : 'write true or false, without quotes'),
  },
  choice: { hint: (text, { schema }) => didYouMean(text, wordsOf(schema)) },
  word: { hint: wordHint },
  'policy-kind': {
    hint: (text, branch) =>
      text === CONFIG_KIND ? 'the config is given with --config and lies outside the policy folders' : wordHint(text, branch),
  },
  cap: { hint: capHint },
  'grant-cap': { hint: numberHint },
  add: { hint: addHint },
  email: { hint: oddHint },
  glob: { hint: oddHint },
  whole: { hint: wholeHint },
  approval: {
    hint: (text) =>
      /^\s*[0-9a-f]{8,}\s*$/i.test(text)
        ? 'the whole id of 32 hex digits is needed, as `capkeeper plan` prints it'
        : 'a hold id has 32 hex digits, as `capkeeper plan` prints it',
  },
  from: { hint: (text) => timeSlip(text.trim()) ?? TIME_HINT },
  until: {
    hint: (text) => (/^cycle.?end$/i.test(text.trim()) ? 'write cycleEnd' : (timeSlip(text.trim()) ?? `${TIME_HINT}, or cycleEnd`)),
  },
  price: {
    says: (_text, { value }) => (value === 0 ? ' is 0' : undefined),
    hint: (_text, { value }) => (value === 0 ? 'leave it out to show no money' : undefined),
  },
  interval: {
    says: (text, { node }) => (/^\s*(\d{1,9}(ms|s|m|h|d))+\s*$/.test(text) ? ` is ${describe(node)}, not from 100ms to 20d` : undefined),
  },
  ledger: {
    // It may hold a password.
    says: (text) => ` begins with ${text.trim().split(':', 1)[0]}: and is neither a file nor in PostgreSQL`,
  },
  url: { says: (text, { reader }) => reader.says['url'] && `: ${reader.says['url'](text)}` },
  'key-reference': { hint: (_text, { key }) => `write ${key}: {file: PATH} or ${key}: {env: NAME}` },
}

const slipOf = ({ schema }: Branch): Slip => SLIPS[schema['x-kind'] ?? ''] ?? {}

/** Whether a value is a mapping where a mapping is allowed. */
export const isMappingOf = ({ node, schema }: Branch): boolean => isMap(node) && schema.properties !== undefined
