// HTML that cannot be injected into: every value in the template is escaped unless it is itself made by this template. A page has no
// other way to put a value into markup.
import { printable } from './terminal.ts'

declare const brand: unique symbol

/** Markup that is safe to send. */
export interface Html {
  readonly markup: string
  readonly [brand]?: never
}

/** What may stand in a template; nothing for `undefined` and `false`. */
export type Value = Html | string | number | undefined | false | readonly Value[]

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text for an element or for an attribute in double quotes, where there is no template. */
export const htmlText = (text: string): string => printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

function render(value: Value): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string') return htmlText(value)
  if (typeof value === 'number') return String(value)
  return 'markup' in value ? value.markup : value.map(render).join('')
}

/** Attributes must stand in double quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  markup: parts.reduce((markup, part, index) => markup + render(values[index - 1]) + part),
})
