// The kinds of values in schemas: how the text of a scalar becomes a value, and the message about a wrong one, with what to write instead. The
// schema decides whether a value is wrong.

import { isMap, isScalar, isSeq, type Scalar } from 'yaml'
import type { Cap } from '../../core/model/policy.ts'
import type { ProblemCode } from '../../core/model/problem.ts'
import { normaliseEmail } from '../../core/model/scope.ts'
import { credits, MAX_CAP } from '../../core/model/units.ts'
import { CONFIG_KIND } from '../bounds.ts'
import { didYouMean } from '../suggest.ts'
import { type Branch, describe, isNothing, isPlain, nameOf, report, textOf, written } from '../tree.ts'
import { quoted } from '../yaml.ts'
import { type AnnotatedSchema, oddCharacter } from './check.ts'

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

/** The message about a wrong value of one kind. */
interface Kind {
  readonly code: ProblemCode
  /** What the value is not: `not a text`. */
  readonly what: (schema: AnnotatedSchema) => string
  readonly hint?: (text: string, branch: Branch) => string | undefined
  /** The hint when nothing, or no scalar, was written. */
  readonly hintForNothing?: string
  /** A value that is no text at all is reported as such. */
  readonly isText?: true
  /** The whole message about a wrong text. */
  readonly says?: (text: string, branch: Branch) => string | undefined
  /** Where the code depends on the value. */
  readonly codeOf?: (value: unknown) => ProblemCode
}

const WHOLE_NUMBER = /^(0|[1-9][0-9]*)$/
const DECIMAL = /^(0|[1-9][0-9]*)(\.[0-9]+)?$/
const CAPS = new Set(['cap', 'grant-cap', 'add', 'whole'])
const TEXTS = new Set([
  'text',
  'header',
  'approval',
  'timezone',
  'listen',
  'ledger',
  'currency',
  'url',
  'source-url',
  'request-url',
  'from',
  'until',
])

/** The value of a scalar, by the text that was written. 1e3, 0x10 and 010 are no numbers here, and a cap has only digits. */
export function convert(node: Scalar, { 'x-kind': kind = '' }: AnnotatedSchema): unknown {
  const text = textOf(node)
  // No schema accepts an empty address.
  if (kind === 'email' || kind === 'glob') return oddCharacter(normaliseEmail(text)) === undefined ? normaliseEmail(text) : ''
  if (TEXTS.has(kind)) return isPlain(node) && /^\s*(true|false)\s*$/i.test(text) ? true : trimmed(text, kind)
  if (!isPlain(node) || kind === 'attribute') return text
  if (text === 'true' || text === 'false') return text === 'true'
  return (CAPS.has(kind) ? WHOLE_NUMBER : DECIMAL).test(text) ? Number(text) : text
}

const trimmed = (text: string, kind: string): string => (kind === 'approval' ? text.trim().toLowerCase() : text.trim())

/** A cap that the schema has accepted. */
export const capOf = (cap: number | 'none'): Cap => (cap === 'none' ? cap : credits(cap))

/** Reports the wrong value of a branch. */
export function refuse(branch: Branch): undefined {
  const { node, schema } = branch
  const kind = KINDS[schema['x-kind'] ?? '']
  if (isNothing(node)) return refuseNothing(branch, kind)
  if (schema.type === 'array' || schema.items) {
    if (isSeq(node)) return report(branch, 'MISSING', `${nameOf(branch)} is an empty list`, { hint: 'write at least one, or leave it out' })
    const hint = 'write one item per line, each after "- ", or [ ] around them'
    return report(branch, 'NOT_A_LIST', `${nameOf(branch)} is ${describe(node)}, not a list`, { hint })
  }
  if (isMap(node) && node.items.length === 0 && schema.properties)
    return report(branch, 'MISSING', `${nameOf(branch)} is an empty mapping`, { hint: kind?.hintForNothing ?? shapeHint(branch) })
  if (!kind || (isSeq(node) && schema.anyOf?.some(({ properties }) => properties)) || (isSeq(node) && schema.properties)) {
    return report(branch, 'NOT_A_MAPPING', `${nameOf(branch)} is ${describe(node)}, not a mapping of keys`, { hint: shapeHint(branch) })
  }
  const { code, what, hint, says } = kind
  if (!isScalar(node)) {
    if (kind.isText) return report(branch, 'NOT_TEXT', `${nameOf(branch)} is ${describe(node)}, not a text`)
    return report(branch, code, `${nameOf(branch)} is ${describe(node)}, ${what(schema)}`, { hint: kind.hintForNothing })
  }
  const text = textOf(node)
  if (kind.isText && (text.trim() === '' || branch.value === true)) return refuseText(branch, text.trim())
  const message = says?.(text, branch) ?? `${nameOf(branch)} is ${written(node)}, ${what(schema)}`
  return report(branch, kind.codeOf?.(branch.value) ?? code, message, {
    hint: hint?.(text, branch) ?? kind.hintForNothing,
    on: isMappingKind(kind) ? 'key' : undefined,
  })
}

/** A mapping with the keys that it needs, or the keys that it may have. An address that was written for it is kept. */
function shapeHint({ node, schema }: Branch): string | undefined {
  const { properties, required = [] } = schema
  if (!properties) return undefined
  const given = isScalar(node) && !isNothing(node) ? normaliseEmail(textOf(node)) : ''
  const example = (key: string): string => {
    switch (properties[key]?.['x-kind']) {
      case 'email':
        return /^[^\s@:]+@[^\s@:]+$/.test(given) ? given : 'name@example.com'
      case 'cap':
        return '500'
      default:
        return '…'
    }
  }
  if (required.length === 0) return `write below it what it has: ${Object.keys(properties).join(', ')}`
  return `write it like {${required.map((key) => `${key}: ${example(key)}`).join(', ')}}`
}

function refuseText(branch: Branch, text: string): undefined {
  if (text === '') return report(branch, 'NOT_TEXT', `${nameOf(branch)} is empty, not a text`)
  return report(branch, 'NOT_TEXT', `${nameOf(branch)} is ${text}, not a text`, { hint: `write "${text}" in quotes if it is meant` })
}

/** Kinds whose required key without a value is reported as missing. */
const EMPTY_IS_MISSING = new Set([undefined, 'text', 'email', 'until'])

function refuseNothing(branch: Branch, kind: Kind | undefined): undefined {
  const { parent, key, schema, node } = branch
  const name = nameOf(branch)
  if (typeof key === 'number') return report(branch, 'MISSING', `${name} is empty`, { hint: 'fill it in or leave it out' })
  if (schema['x-kind'] === 'team') {
    return report(branch, 'MISSING', `${name} is empty`, { on: 'key', hint: 'write cap: 500 below it, or leave it out' })
  }
  const isRequired = parent?.schema.required?.includes(key) === true
  if (isRequired && EMPTY_IS_MISSING.has(schema['x-kind'])) {
    return report(branch, 'MISSING', `${name} is empty`, { on: 'key', hint: shapeHint(branch) })
  }
  if (!kind) {
    const extra = { hint: shapeHint(branch), on: node ? undefined : ('key' as const) }
    return report(branch, 'NOT_A_MAPPING', `${name} is empty, not a mapping of keys`, extra)
  }
  if (isMappingKind(kind))
    return report(branch, kind.code, kind.says?.('', branch) ?? name, { on: 'key', hint: kind.hint?.('', branch) ?? '' })
  if (kind.isText) return report(branch, 'NOT_TEXT', `${name} is empty, not a text`, { on: 'key' })
  return report(branch, kind.code, `${name} is empty, ${kind.what(schema)}`, { on: 'key', hint: kind.hintForNothing })
}

const isMappingKind = ({ code }: Kind): boolean => code === 'KEY_REFERENCE'

const CAP_WORDS = `a whole number from 0 to ${MAX_CAP}`
const CAP_OR_NONE = `${CAP_WORDS}, or none`
const WRITE_A_CAP = 'write the credits per person, such as 500, or none'
const WRITE_A_NUMBER = 'a number is needed here: none is for the caps of the team, a group, a user or a rule'
const cap = (words: string): Kind => ({
  code: 'CAP',
  what: () => `not ${words}`,
  hint: words === CAP_OR_NONE ? capHint : numberHint,
  hintForNothing: words === CAP_OR_NONE ? WRITE_A_CAP : withoutNone(WRITE_A_CAP),
})

const numberHint = (text: string, branch: Branch): string =>
  /^none$/i.test(text.trim()) ? WRITE_A_NUMBER : withoutNone(capHint(text, branch))

const withoutNone = (hint: string): string => hint.replace(/, or none$/, '')

function addHint(text: string, branch: Branch): string {
  if (text === '0') return 'leave the grant out'
  return /^\s*-/.test(text) ? 'a grant only adds: write cap: and the cap while it lasts' : numberHint(text, branch)
}

function capHint(text: string, { node }: Branch): string {
  const digits = text.trim()
  if (isScalar(node) && !isPlain(node) && WHOLE_NUMBER.test(digits)) return `write ${digits} without quotes`
  if (/^none$/i.test(digits)) return 'write none'
  if (/^-/.test(digits)) return 'a cap is never negative: write 0 with allowZero: true, or none'
  const meant = meantNumber(digits)
  if (typeof meant === 'string') return meant
  if (meant !== undefined) return meant > MAX_CAP ? `${MAX_CAP} is the largest cap` : `write ${meant}`
  return WRITE_A_CAP
}

/** The whole number that was surely meant, or what to do where it may be a fraction: that is for the person to say, so nothing is rounded. */
function meantNumber(text: string): number | string | undefined {
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

const WRITE_A_GLOB = 'write it as "*@contractor.example": * is any text, ? one character'

/** Every address has an @, so a domain without one and without a wildcard is most likely the end of an address. */
function globHint(text: string): string {
  const word = text.trim()
  return /^[^\s@:*?]+\.[^\s@:*?]+$/.test(word) ? `write "*@${word}"` : WRITE_A_GLOB
}

function wholeHint(text: string, { node, schema: { minimum = 0, maximum = MAX_CAP } }: Branch): string | undefined {
  const digits = text.trim()
  if (isScalar(node) && !isPlain(node) && WHOLE_NUMBER.test(digits)) return `write ${digits} without quotes`
  const meant = meantNumber(digits)
  if (meant === undefined || typeof meant === 'string') return meant
  return meant < minimum ? `${minimum} is the least` : meant > maximum ? `${maximum} is the most` : `write ${meant}`
}

/** The words of a choice, as they are written. */
const wordsOf = ({ enum: words = [], const: only }: AnnotatedSchema): readonly string[] =>
  (only === undefined ? words : [only]).filter((word): word is string => typeof word === 'string' && word !== 'false')

const choice: Kind = {
  code: 'UNKNOWN_VALUE',
  what: (schema) => `not one of ${wordsOf(schema).join(', ')}`,
  hint: (text, { schema }) => didYouMean(text, wordsOf(schema)),
}

const word: Kind = {
  code: 'KIND',
  what: (schema) => `not ${wordsOf(schema).join('')}`,
  hint: (_text, { key, schema }) => `write ${key}: ${wordsOf(schema).join('')}`,
}

const WRITE_A_FLAG = 'write true or false, without quotes'

const time = (forms: string, hint: (text: string) => string): Kind => ({
  code: 'TIME',
  isText: true,
  what: () => `not ${forms}`,
  hint,
  says: (text, branch) => `${nameOf(branch)} is ${text.trim()}, not ${forms}`,
})

function bounds({ type, minimum, maximum }: AnnotatedSchema): string {
  return `not a ${type === 'integer' || [type].flat().includes('integer') ? 'whole ' : ''}number from ${minimum} to ${maximum}`
}

const percentBounds = ({ anyOf = [] }: AnnotatedSchema): string =>
  `not a percentage from 0 to ${anyOf.find(({ maximum }) => maximum !== undefined)?.maximum}`

/** A text that messages show trimmed and in quotes. */
const trimmedText = (code: ProblemCode, what: string, hint: string): Kind => ({
  code,
  isText: true,
  what: () => what,
  says: (text, branch) => `${nameOf(branch)} is ${quoted(text.trim())}, ${what}`,
  hint: () => hint,
})

/** Messages about references never repeat the value, which may be the secret itself. */
const reference = (what: string, hint: Kind['hint']): Kind => ({
  code: 'KEY_REFERENCE',
  what: () => '',
  says: (_text, branch) => `${nameOf(branch)} is not ${what}`,
  hint,
})

const keyHint = (_text: string, { key }: Branch): string => `write ${key}: {file: PATH} or ${key}: {env: NAME}`

const KINDS: Readonly<Record<string, Kind>> = {
  text: { code: 'NOT_TEXT', isText: true, what: () => 'not a text' },
  label: { code: 'NOT_TEXT', what: () => 'not a text' },
  flag: { code: 'NOT_BOOLEAN', what: () => 'not true or false', hintForNothing: WRITE_A_FLAG },
  'team-flag': {
    code: 'NOT_BOOLEAN',
    codeOf: (value) => (value === false ? 'GRANT_SCOPE' : 'NOT_BOOLEAN'),
    what: () => 'not true',
    hint: (text) => (text === 'false' ? 'write team: true, or user or group instead' : WRITE_A_FLAG),
  },
  choice,
  'per-user': choice,
  digest: choice,
  word,
  'policy-kind': {
    ...word,
    hint: (text, branch) =>
      text === CONFIG_KIND ? 'the config is given with --config and lies outside the policy folders' : word.hint?.(text, branch),
  },
  cap: cap(CAP_OR_NONE),
  'grant-cap': cap(CAP_WORDS),
  add: { ...cap(`a whole number from 1 to ${MAX_CAP}`), hint: addHint },
  email: { code: 'EMAIL', what: () => 'not an e-mail address', hint: oddHint, hintForNothing: 'write it as name@example.com' },
  glob: {
    code: 'EMAIL_PATTERN',
    what: () => 'not a pattern for e-mail addresses',
    hint: (text) => oddHint(text) ?? globHint(text),
    hintForNothing: WRITE_A_GLOB,
  },
  whole: { code: 'NUMBER', what: bounds, hint: wholeHint },
  approval: {
    code: 'APPROVAL',
    what: () => 'not a hold id',
    hint: (text) =>
      /^\s*[0-9a-f]{8,}\s*$/i.test(text)
        ? 'the whole id of 32 hex digits is needed, as `capkeeper plan` prints it'
        : 'a hold id has 32 hex digits, as `capkeeper plan` prints it',
  },
  timezone: trimmedText('TIMEZONE', 'not a known time zone', 'write a name of the IANA database such as Europe/Berlin'),
  from: time('a date or an RFC 3339 instant', (text) => timeSlip(text.trim()) ?? TIME_HINT),
  until: time('a date, an RFC 3339 instant or cycleEnd', (text) =>
    /^cycle.?end$/i.test(text.trim()) ? 'write cycleEnd' : (timeSlip(text.trim()) ?? `${TIME_HINT}, or cycleEnd`),
  ),
  hour: { code: 'TIME', what: () => 'not a time of day', hintForNothing: 'write it like 19:00' },
  number: { code: 'NUMBER', what: bounds },
  attribute: { code: 'NOT_TEXT', what: () => 'not a text', hint: () => undefined, hintForNothing: 'write "" for an empty cell' },
  attributes: {
    code: 'RULE_WHEN',
    what: () => 'not a mapping of columns',
    hintForNothing: 'write it like {costCenter: CC-12}, or {listed: false}',
  },
  price: {
    code: 'NUMBER',
    what: ({ maximum }) => `not a number from 0 to ${maximum}`,
    says: (_text, branch) => (branch.value === 0 ? `${nameOf(branch)} is 0` : undefined),
    hint: (_text, { value }) => (value === 0 ? 'leave it out to show no money' : undefined),
  },
  header: trimmedText('AUTH', 'not the name of a header', 'write one name without spaces, such as X-Forwarded-Groups'),
  'source-url': trimmedText('URL', 'not a web address', 'write it like https://git.example/acme/caps/blob/{revision}/{file}#L{line}'),
  'request-url': trimmedText(
    'URL',
    'not an https address with nothing to fill in before its path',
    'write it like https://git.example/acme/caps/issues/new?person={email}&cap={cap}&used={used}',
  ),
  currency: trimmedText('UNKNOWN_VALUE', 'not a currency', 'write the three letters of ISO 4217, such as EUR'),
  history: {
    code: 'DURATION',
    isText: true,
    what: () => 'neither off nor 1d to 400d',
    hint: () => 'write a number of days such as 180d, or off',
  },
  interval: {
    code: 'DURATION',
    what: () => 'not a duration',
    says: (text, branch) =>
      `${nameOf(branch)} is ${describe(branch.node)}, ${/^\s*(\d{1,9}(ms|s|m|h|d))+\s*$/.test(text) ? 'not from 100ms to 20d' : 'not a duration'}`,
    hintForNothing: 'write a duration such as 90s, 5m, 2h or 1d',
  },
  listen: trimmedText('ADDRESS', 'not host:port', 'write 127.0.0.1:9464, or 0.0.0.0:9464 for all addresses'),
  ledger: {
    code: 'ADDRESS',
    isText: true,
    what: () => '',
    // It may hold a password.
    says: (text, branch) => `${nameOf(branch)} begins with ${text.trim().split(':', 1)[0]}: and is neither a file nor in PostgreSQL`,
    hint: () => 'write the path of a file, or an address that begins with postgres://',
  },
  url: {
    code: 'URL',
    isText: true,
    what: () => 'not an address',
    says: (text, branch) => branch.reader.says['url'] && `${nameOf(branch)}: ${branch.reader.says['url'](text)}`,
    hint: () => 'write it like https://service.example/api/v1',
  },
  switch: { code: 'NOT_BOOLEAN', what: () => 'not on or off', hintForNothing: 'write on or off' },
  share: { code: 'NUMBER', what: () => 'not a share of the people', hintForNothing: 'write 15%, {percent: 15, floor: 3}, or off' },
  percent: { code: 'NUMBER', what: percentBounds, hintForNothing: 'write 15%' },
  'percent-or-off': { code: 'NUMBER', what: percentBounds, hintForNothing: 'write 20%, or off' },
  times: { code: 'NUMBER', what: ({ anyOf = [] }) => bounds(anyOf.find(({ type }) => type === 'integer') ?? {}) },
  keys: reference('a mapping of references to keys', () => 'write keys: {default: {file: PATH}} or keys: {default: {env: NAME}}'),
  'secret-reference': reference('a reference to a secret', keyHint),
  'key-reference': reference('a reference to a key', keyHint),
}

/** Whether a value is a mapping where a mapping is allowed. */
export const isMappingOf = ({ node, schema }: Branch): boolean => isMap(node) && schema.properties !== undefined
