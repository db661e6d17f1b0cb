// What is wrong with a date or an instant that looks nearly right, in words. It decides nothing: `dates.ts` and the schema do.

export const TIME_HINT = 'write a date such as 2026-12-15, or an instant such as 2026-12-15T18:00:00Z'

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})(?=$|[Tt ])/
const WITHOUT_OFFSET = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/

/** Undefined where the text is not like a date or an instant. */
export function timeSlip(text: string): string | undefined {
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
