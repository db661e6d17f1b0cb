// What conditions on the people file ask of a person, and how that is told. It decides nothing about caps.

import type { Listing, Person } from '../model/observed.ts'
import type { Attributes, When } from '../model/policy.ts'

/** Whether a condition on the people file holds. Who is not listed has no known value, and an empty cell is a known empty text. */
export function attributesHold({ listed, columns = {} }: Attributes, listing: Listing | undefined): boolean | 'unknown' {
  if (!listing) return 'unknown'
  const { values } = listing
  if (listed !== undefined && listed !== (values !== undefined)) return false
  let truth: boolean | 'unknown' = true
  for (const [column, text] of Object.entries(columns)) {
    const value = values?.[column]
    if (value === undefined) truth = 'unknown'
    else if (value !== text) return false
  }
  return truth
}

/** `costCenter is CC-12, was CC-7`. */
export function attributesText({ listed, columns = {} }: Attributes, listing: Listing | undefined): string {
  const { values, was, goneAt } = listing ?? {}
  const parts = Object.keys(columns).map((column) => {
    const before = was?.values[column]
    return `${column} is ${cellText(values?.[column] ?? '')}${before === undefined ? '' : `, was ${cellText(before)}`}`
  })
  if (listed !== undefined && values === undefined) parts.unshift('not in the people file')
  if (listed !== undefined && values !== undefined && goneAt === undefined) parts.unshift('in the people file')
  if (goneAt !== undefined) parts.push('no longer in the people file, the last values count for 7 days')
  return parts.join(', ')
}

/** The last changes of people in the file by e-mail, of the columns that conditions name: `costCenter is CC-12, was CC-7`. */
export function attributeChanges(whens: readonly When[], people: readonly Person[]) {
  const named = new Set(whens.flatMap(({ attributes }) => Object.keys(attributes?.columns ?? {})))
  return new Map(
    people.flatMap(({ email, listing }) => {
      const columns = Object.entries(listing?.was?.values ?? {}).filter(([column]) => named.has(column))
      if (!listing?.was || columns.length === 0) return []
      return [[email, { at: listing.was.at, text: attributesText({ columns: Object.fromEntries(columns) }, listing) }] as const]
    }),
  )
}

const cellText = (text: string): string => (text === '' ? 'empty' : text)

/** Why it is not known whether the condition holds. */
export function attributesMissing({ columns = {} }: Attributes, listing: Listing | undefined): string {
  if (!listing) return 'no people file was read yet'
  if (!listing.values) return 'not in the people file'
  const missing = Object.keys(columns).filter((column) => listing.values?.[column] === undefined)
  return `the people file that was read last has no column ${missing.join(', ')}`
}

/** Why nobody meets the condition, with the nearest value there is. */
export function nobodyHas(
  { listed, columns = {} }: Attributes,
  people: readonly Person[],
  nearest: (word: string, known: readonly string[]) => string | undefined,
): string {
  for (const [column, text] of Object.entries(columns)) {
    const values = [...new Set(people.flatMap(({ listing }) => listing?.values?.[column] ?? []))].sort()
    if (values.includes(text)) continue
    const near = nearest(text, values)
    return `nobody has the ${column} ${cellText(text)}${near === undefined ? '' : `; did you mean ${cellText(near)}?`}`
  }
  return listed === false ? 'everybody is in the people file' : 'nobody in the people file meets all of it'
}
