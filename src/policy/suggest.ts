// "Did you mean": the known word nearest to what was typed. It only ever suggests; it never decides.

/** The nearest of `known` within two edits (one for words of up to three letters), whatever the case; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 40) return undefined
  let best: string | undefined
  let least = word.length <= 3 ? 2 : 3
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** `did you mean "cap"?`, or the whole list when nothing is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === undefined ? `known here: ${known.join(', ')}` : `did you mean "${near}"?`
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (old[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (older[j - 2] ?? 0) + 1 : replaced
      row.push(Math.min((old[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped))
    }
    ;[older, old] = [old, row]
  }
  return old[b.length] ?? 0
}
