// HTML that cannot be injected into: every value in the template is escaped unless it is itself made by this template. The page has no
// other way to put a value into markup.

declare const brand: unique symbol

/** Markup that is safe to send. */
export interface Html {
  readonly markup: string
  readonly [brand]?: never
}

/** What may stand in a template; nothing for `undefined` and `false`. */
export type Value = Html | string | number | undefined | false | readonly Value[]

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

function render(value: Value): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string') return escapeText(value)
  if (typeof value === 'number') return String(value)
  return 'markup' in value ? value.markup : value.map(render).join('')
}

/** Attributes must stand in double quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  markup: parts.reduce((markup, part, index) => markup + render(values[index - 1]) + part),
})
