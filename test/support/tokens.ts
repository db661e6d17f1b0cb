// Cuts TypeScript source into tokens, so that the house rules read code and never comments or texts. It knows where comments, strings,
// templates and regular expressions begin and end, and nothing else of the language; it refuses a source that it cannot end.

type TokenKind = 'comment' | 'word' | 'number' | 'string' | 'template' | 'regex' | 'punctuation'

export interface Token {
  readonly kind: TokenKind
  /** As in the source; for a template one part between its holes. */
  readonly text: string
  /** Counted from 1. */
  readonly line: number
}

const PIECES: readonly (readonly [TokenKind, RegExp])[] = [
  ['comment', /\/\/[^\n]*|\/\*[\s\S]*?\*\/|^#![^\n]*/y],
  ['word', /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy],
  ['string', /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y],
  ['number', /\.?\d[\w.]*/y],
]
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y
const TEMPLATE = /[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y

/** Words after which a slash begins a regular expression. */
const BEFORE_REGEX = new Set('return typeof case in of void delete instanceof new await yield do else throw'.split(' '))

/** All tokens of a source, comments included. Throws when a text, a template or a bracket has no end: then it has misread the source. */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = []
  const brackets: string[] = []
  let line = 1
  let before: Token | undefined
  for (let at = 0; at < source.length; ) {
    const character = source.charAt(at)
    if (/\s/.test(character)) {
      if (character === '\n') line += 1
      at += 1
      continue
    }
    const token = tokenAt(source, at, line, { before, insideHole: brackets.at(-1) === '${' })
    follow(brackets, token)
    tokens.push(token)
    if (token.kind !== 'comment') before = token
    at += token.text.length
    line += token.text.split('\n').length - 1
  }
  if (brackets.length > 0) throw new Error(`the source ends inside ${brackets.join(' ')}`)
  return tokens
}

function tokenAt(source: string, at: number, line: number, around: { before: Token | undefined; insideHole: boolean }): Token {
  const character = source.charAt(at)
  for (const [kind, pattern] of PIECES) {
    const text = match(pattern, source, at)
    if (text !== undefined) return { kind, text, line }
  }
  if (character === '/' && mayBeginRegex(around.before)) return { kind: 'regex', text: whole(REGEX, source, at, line), line }
  if (character === '`' || (character === '}' && around.insideHole)) {
    return { kind: 'template', text: whole(TEMPLATE, source, at, line), line }
  }
  if (character === "'" || character === '"') throw new Error(`line ${line}: a text without an end`)
  return { kind: 'punctuation', text: character, line }
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

function whole(pattern: RegExp, source: string, at: number, line: number): string {
  const text = match(pattern, source, at)
  if (text === undefined) throw new Error(`line ${line}: no end for what begins with ${source.slice(at, at + 12)}`)
  return text
}

function mayBeginRegex(before: Token | undefined): boolean {
  if (!before) return true
  if (before.kind === 'word') return BEFORE_REGEX.has(before.text)
  return before.kind === 'punctuation' && !')]}'.includes(before.text)
}

const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

/** Tracks the open brackets, including the holes of templates. */
function follow(brackets: string[], token: Token): void {
  if (token.kind === 'template') {
    if (token.text.startsWith('}')) brackets.pop()
    if (token.text.endsWith('${')) brackets.push('${')
  } else if (token.kind === 'punctuation') {
    const opening = CLOSING[token.text]
    if ('([{'.includes(token.text)) brackets.push(token.text)
    else if (opening !== undefined && brackets.pop() !== opening) throw new Error(`line ${token.line}: ${token.text} closes nothing`)
  }
}
