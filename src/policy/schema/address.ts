// What no mail address has unless it was pasted or mistyped: quotation marks, brackets, characters that nobody sees, and letters of two scripts that
// look alike. Such an address would match nobody, without a word.

/** `'` is allowed, as in o'brien@; the curly one is not. */
const NEVER = /["\u00ab\u00bb\u2018-\u201f\u2039\u203a\u301d-\u301f\uff02\uff07`<>(){}[\],;\\]|[\p{Cc}\p{Cf}\p{Zs}]/u

/** Letters of these are easily taken for Latin ones. */
const LOOK_ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u
const LATIN = /\p{Script=Latin}/u

/** The first character that is surely not meant, in words; undefined where there is none. Other scripts are allowed, but not mixed in the name or in a part of the domain. */
export function oddCharacter(address: string): string | undefined {
  const never = NEVER.exec(address)?.[0]
  if (never !== undefined) return `${nameOf(never)} is in no mail address`
  const at = address.lastIndexOf('@')
  for (const part of [address.slice(0, Math.max(at, 0)), ...address.slice(at + 1).split('.')]) {
    const foreign = LATIN.test(part) ? LOOK_ALIKE.exec(part)?.[0] : undefined
    if (foreign !== undefined) return `${nameOf(foreign)} looks like a Latin letter and is none`
  }
  return undefined
}

/** A character with its code; one that nobody sees by its code alone. */
export function nameOf(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  const name = NAMES[character]
  if (name !== undefined) return `${name} (${code})`
  return /[\p{C}\p{Z}]/u.test(character) ? `the invisible character ${code}` : `${character} (${code})`
}

const NAMES: Readonly<Record<string, string>> = {
  '\t': 'a tab',
  ' ': 'a space',
  '\u00a0': 'a no-break space',
  '\u202f': 'a narrow no-break space',
  '\u200b': 'a zero-width space',
  '\u200d': 'a zero-width joiner',
  '\ufeff': 'a byte order mark',
}
