// HTML without injection: the template escapes every value that it did not make itself. Pages have no other way to put a value into markup.
import { printable } from './terminal.ts'

declare const brand: unique symbol

/** Markup that is safe to send. */
export interface Html {
  readonly markup: string
  readonly [brand]?: never
}

/** A value in a template; `undefined` and `false` render nothing. */
export type Value = Html | string | number | undefined | false | readonly Value[]

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text for an element or a double-quoted attribute, where the template cannot be used. */
export const htmlText = (text: string): string => printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

function render(value: Value): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string') return htmlText(value)
  if (typeof value === 'number') return String(value)
  return 'markup' in value ? value.markup : value.map(render).join('')
}

/** The template. Attributes must be in double quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  markup: parts.reduce((markup, part, index) => markup + render(values[index - 1]) + part),
})
