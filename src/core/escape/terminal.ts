// Text from policies, the service and the ledger made fit for a terminal or a log line: it can neither move the cursor, nor change the
// order in which a reviewer reads, nor hide in characters without a width. Whatever prints such text to a terminal passes it through here.

// Sets of Unicode take a while to make, and almost every text is plain ASCII: they stand where they are needed.

/** Controls, format characters (bidi, zero width, byte order mark, tags), halves of a pair, and letters that are drawn as nothing. */
const hidden = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu, '\uFFFD')

/** What some scripts and emoji need between or behind their signs: there it joins, elsewhere it only hides. */
const joinersIn = (text: string): Iterable<RegExpExecArray> =>
  text.matchAll(
    /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})|(?<=[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Default_Ignorable_Code_Point}]])[\u200c\u200d](?=[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Default_Ignorable_Code_Point}]])|(?<=\p{Extended_Pictographic})\ufe0f/gv,
  )

/** Every character that does not show becomes a visible \uFFFD; line breaks and tabs stay. */
export function printable(text: string): string {
  if (!UNUSUAL.test(text)) return text
  let shown = ''
  let end = 0
  for (const { 0: joiner, index } of joinersIn(text)) {
    shown += lines(text.slice(end, index)) + joiner
    end = index + joiner.length
  }
  return shown + lines(text.slice(end))
}

const UNUSUAL = /[^\n\t\x20-\x7e]/

const lines = (text: string): string => text.replace(/[^\n\t]+/g, (part) => hidden(part))

/** One line of printable text: line breaks and tabs become spaces. */
export const plain = (text: string): string => printable(text.replace(/[\r\n\t\u2028\u2029]+/g, ' '))

/** The same of at most so many signs; one that was longer ends with three dots. */
export function clipped(text: string, most: number): string {
  // Cut before the dear work: a text may be as long as whoever wrote it liked.
  const head = text.slice(0, 2 * most + 2)
  const signs = [...plain(head)]
  return signs.length <= most && head === text ? signs.join('') : `${signs.slice(0, most - 1).join('')}…`
}

/** JSON for a person's screen or a file, ending with a line break: what does not show is written as an escape, and reads back the same. */
export function jsonText(value: unknown, replacer?: (key: string, value: unknown) => unknown): string {
  const text = JSON.stringify(value, replacer, 2)
  return `${text.replace(/[\x7f-\x9f\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu, unicodeEscape)}\n`
}

const unicodeEscape = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
