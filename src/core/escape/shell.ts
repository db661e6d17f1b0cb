// Command lines that a person may paste into a shell: whatever is in a word, it stays one word.

/** A word, quoted where a shell needs it. */
export const shellWord = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/** The line that makes an edit of the policies, such as `capkeeper edit approve ID`. */
export const editLine = (...words: readonly string[]): string => ['capkeeper', 'edit', ...words.map(shellWord)].join(' ')
