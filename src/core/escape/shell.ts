// Words of a command line that a person may paste into a shell: whatever is in them stays one word.

/** A word, quoted where a shell needs it. */
export const shellWord = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
