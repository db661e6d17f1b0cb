// Regular expressions of the published schemas. They accept the same texts as the parsers, bounds included, and use only what every
// implementation of JSON Schema understands: no look-ahead, no Unicode classes.

/** The whole numbers from 0 to `most`, with any leading zeros. */
function upTo(most: number): string {
  const digits = String(most)
  const shorter = digits.length > 1 ? [`[0-9]{1,${digits.length - 1}}`] : []
  const below = [...digits].flatMap((digit, at) => {
    const rest = digits.length - at - 1
    return digit === '0' ? [] : [`${digits.slice(0, at)}[0-${Number(digit) - 1}]${rest > 0 ? `[0-9]{${rest}}` : ''}`]
  })
  return `0*(${[...shorter, ...below, digits].join('|')})`
}

/** White space around a text is accepted where the parsers trim it. */
const whole = (pattern: string): string => `^\\s*${pattern}\\s*$`

const PORT = upTo(65_535)
const UNIT = '(ms|s|m|h|d)'

export const LISTEN_PATTERN = whole(`(\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]*):${PORT}`)

export const URL_PATTERN = whole(`[Hh][Tt][Tt][Pp][Ss]?://(\\[[0-9A-Fa-f:.]+\\]|[^\\s@?#/:\\[\\]\\\\%<>^|]+)(:(${PORT})?)?(/[^@?#]*)?`)

/** Each part is at most 20 days; their sum is not checked here. */
export const INTERVAL_PATTERN = whole(`([0-9]{1,9}ms|${upTo(1_728_000)}s|${upTo(28_800)}m|${upTo(480)}h|${upTo(20)}d)+`)

/** Durations below 100 ms, except those with several parts above 0. */
export const TOO_SHORT_PATTERN = whole(`(0+${UNIT})*(0*[0-9]{1,2}ms)?(0+${UNIT})*`)

/** `15%` or `2.5 %`, of at most `most`. */
export const percentPattern = (most: number): string => whole(`(${upTo(most - 1)}(\\.[0-9]+)?|0*${most}(\\.0+)?)\\s*%`)

const DATE = '[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
const HOURS = '([01][0-9]|2[0-3])'

/** A date or an RFC 3339 instant; 31 February is accepted here. */
export const TIME_PATTERN = whole(`${DATE}([Tt ]${HOURS}:[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?([Zz]|[+-]${HOURS}:[0-5][0-9]))?`)

export const HOUR_PATTERN = whole(`${HOURS}:[0-5][0-9]`)

/** An e-mail address without a display name. */
export const MAIL_PATTERN = whole('[^\\s@:<>(),;"\\\\\\[\\]]+@[^\\s@:<>(),;"\\\\\\[\\]]+')
