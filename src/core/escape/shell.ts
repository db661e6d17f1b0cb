// Command lines that a person may paste into a shell: whatever is in a word, it stays one word.

/** A word, quoted where a shell needs it. An address with an apostrophe stays whole, so that it can be told to be one. */
export function shellWord(text: string): string {
  if (/^[\w./:@%+=,-]+$/.test(text)) return text
  return text.includes("'") && !/[$`"\\!]/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`
}

/** The line that makes an edit of the policies, such as `capkeeper edit approve ID`. */
export const editLine = (...words: readonly string[]): string => ['capkeeper', 'edit', ...words.map(shellWord)].join(' ')
