// Settings of the fuzz tests: the same cases in every run, so that no failure depends on luck; CAPKEEPER_FUZZ=N tries N times as many, and
// CAPKEEPER_SEED=N others. A failure prints its seed and the smallest case. Also damages valid texts.
import fc from 'fast-check'

const setting = (name: string): number => Number(process.env[name] ?? 1)

/** For `fc.assert`. */
export const runs = (count: number) => ({ numRuns: Math.ceil(count * setting('CAPKEEPER_FUZZ')) })

/** Code points that are no letter by themselves, and their number. */
const [SURROGATES, SURROGATE_COUNT] = [0xd800, 0x800]

/**
 * Any letter of Unicode, with the same cases as the unit `binary` of fast-check, which makes a table of a million letters in each worker to
 * find the places of a dozen.
 */
export const letter: fc.Arbitrary<string> = fc.nat(0x10ffff - SURROGATE_COUNT).map(
  (place) => String.fromCodePoint(place < SURROGATES ? place : place + SURROGATE_COUNT),
  (value) => {
    const code = typeof value === 'string' ? value.codePointAt(0) : undefined
    if (code === undefined || value !== String.fromCodePoint(code)) throw new Error('is not one letter')
    if (code >= SURROGATES && code < SURROGATES + SURROGATE_COUNT) throw new Error('is half a letter')
    return code < SURROGATES ? code : code - SURROGATE_COUNT
  },
)

interface Edit {
  readonly at: number
  readonly how: 'replace' | 'insert' | 'remove' | 'repeat'
  readonly token: string
}

/** Texts close to valid ones: one of them with up to `most` of its tokens changed, some to a token of `odd`. */
export function spoilt(good: readonly string[], odd: readonly string[], most = 4): fc.Arbitrary<string> {
  const edit: fc.Arbitrary<Edit> = fc.record({
    at: fc.nat(100_000),
    how: fc.constantFrom('replace' as const, 'replace' as const, 'insert' as const, 'remove' as const, 'repeat' as const),
    token: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...odd) }, { weight: 1, arbitrary: fc.string({ unit: letter, maxLength: 6 }) }),
  })
  return fc.tuple(fc.constantFrom(...good), fc.array(edit, { maxLength: most })).map(([text, edits]) => {
    const tokens = text.match(/\n *|\s+|[\w.@-]+|./gsu) ?? []
    for (const one of edits) apply(tokens, one)
    return tokens.join('')
  })
}

function apply(tokens: string[], { at, how, token }: Edit): void {
  const index = at % (tokens.length + 1)
  const old = tokens[index] ?? ''
  if (how === 'replace') tokens.splice(index, 1, token)
  else if (how === 'insert') tokens.splice(index, 0, token)
  else if (how === 'remove') tokens.splice(index, 1)
  else tokens.splice(index, 0, old)
}

/** Tokens that mean something in YAML, or to those who read what is written in it. */
export const ODD_YAML: readonly string[] = [
  ...['\n', '\r\n', '\r', '\t', '\u00a0', '\u2028', '\ufeff', '\u0000', '\u001b[31m', '\ud800', '😀', 'é', '\u202e', '', '""', "''"],
  ...['- ', ': ', ':', '? ', ', ', '#', ' # ', '---\n', '...\n', '%YAML 1.2\n', '{', '}', '[', ']', '[[[[', '"', "'", '|', '>', '|-\n'],
  ...['&a ', '*a', '&u ', '*u', '<<: *u', '!!int ', '!!binary ', '!x ', '!', '~', 'null', 'true', 'none', '__proto__', 'constructor'],
  ...[
    '500',
    '0',
    '-1',
    '0.05',
    '1e3',
    '1e9',
    '0x10',
    '010',
    '500.0',
    '1_000',
    '2147483647',
    '2147483648',
    '.5',
    '5.',
    '+5',
    '.inf',
    '.nan',
  ],
  '9'.repeat(400),
]
