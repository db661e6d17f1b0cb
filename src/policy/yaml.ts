// Parses YAML of policies and config to documents with places. Every fault becomes a `Problem` with its place; nothing here throws for bad input.
// Scalars stay the text that was written (`1e3` is not 1000, `7e1` in an id is not 70); `schema/kinds.ts` converts them.
import { Composer, type CST, type Document, isScalar, Lexer, type Node, Parser, type YAMLError } from 'yaml'
import { hasErrors, messageOf, type Position, type Problem, type ProblemCode } from '../core/model/problem.ts'
import { betweenSlip, deeperSlip, type Slip, slipIn } from './suggest.ts'

/** A node of a document; `null` where nothing is written. */
export type YamlNode = Node | null

/** A text with its name and the offsets at which its lines start. */
export interface Source {
  readonly file: string
  readonly text: string
  readonly lineStarts: readonly number[]
}

export interface YamlDocument {
  readonly root: Node
  readonly document: Document.Parsed
  /** Those of the text's problems that lie in this document. */
  readonly problems: readonly Problem[]
}

/** `damaged`: a document was left out because it is not YAML, so its declarations are not known. */
export interface YamlText {
  readonly source: Source
  readonly documents: readonly YamlDocument[]
  readonly problems: readonly Problem[]
  readonly damaged: boolean
}

/** The longest text that is read, in UTF-16 units: the length of the longest file. docs/operations.md, Bounds. */
const MAX_TEXT_LENGTH = 1024 * 1024

/** Mappings and lists within each other. docs/operations.md, Bounds. */
const MAX_NESTING = 64

/** Documents in one text. */
const MAX_DOCUMENTS = 10_000

/** Syntax errors that are kept of one text: an error takes more memory than the text that caused it. */
const MAX_KEPT_ERRORS = 1_000

/** Syntax errors that are shown of one document, because one error causes others. */
const MAX_SYNTAX_PROBLEMS = 10

/**
 * Parses a text of any number of YAML documents. Documents without content are left out; documents that are not YAML are left out and
 * reported, one problem a line. A byte order mark is skipped. With `keepTokens` nodes have their tokens, for an edit of the text.
 */
export function readYaml(file: string, text: string, { keepTokens = false } = {}): YamlText {
  const clean = text.startsWith('\uFEFF') ? text.slice(1) : text
  const source = sourceOf(file, clean)
  if (clean.length > MAX_TEXT_LENGTH)
    return unreadable(source, 'TOO_LARGE', `${clean.length} characters, at most ${MAX_TEXT_LENGTH} are read`)
  try {
    const parsed = compose(clean, keepTokens)
    if (typeof parsed === 'number') {
      const message = `nested too deep: at most ${MAX_NESTING} levels are read`
      const problem = problemAt(source, [parsed, parsed + 1], 'error', 'TOO_LARGE', message, { hint: NEST_LESS })
      return { ...nothing(source), problems: [problem] }
    }
    if (parsed.length > MAX_DOCUMENTS) return unreadable(source, 'TOO_LARGE', `more than the ${MAX_DOCUMENTS} documents that are read`)
    return sortOut(source, parsed)
  } catch (error) {
    return unreadable(source, 'YAML_SYNTAX', `cannot be parsed: ${messageOf(error)}`)
  }
}

/**
 * At most one document more than the bound, or the offset at which the text is nested too deep, which is found before nodes are built. Aliases
 * are not expanded here; `tree.ts` follows and counts them.
 */
function compose(text: string, keepSourceTokens: boolean): readonly Document.Parsed[] | number {
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false, prettyErrors: false, logLevel: 'silent', keepSourceTokens })
  keepFewErrors(composer)
  const documents: Document.Parsed[] = []
  const tooDeep: { offset?: number } = {}
  for (const document of composer.compose(shallowTokens(text, tooDeep))) {
    documents.push(document)
    if (documents.length > MAX_DOCUMENTS) break
  }
  return tooDeep.offset ?? documents
}

/** The document, and at times a scalar, are on the parser's stack beside the collections. */
const isTooDeep = (stack: readonly object[]): boolean =>
  stack.length > MAX_NESTING + 1 && stack.filter((token) => 'items' in token).length > MAX_NESTING

/**
 * The tokens of a text, up to where it is nested too deep or has more faults than are kept. The yaml package does not expose the depth, so its
 * parser's stack is read.
 */
function* shallowTokens(text: string, tooDeep: { offset?: number }): Generator<CST.Token> {
  const parser = new Parser()
  const stack: unknown = Reflect.get(parser, 'stack')
  let faults = 0
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') faults += 1
      yield token
    }
    if (faults > MAX_KEPT_ERRORS) break
    if (Array.isArray(stack) && isTooDeep(stack)) {
      tooDeep.offset = Number(Reflect.get(parser, 'offset')) - 1
      return
    }
  }
  yield* parser.end()
}

/** A megabyte of quotes would give a million errors and take half a minute; the yaml package has no bound for it. */
function keepFewErrors(composer: Composer): void {
  const report: unknown = Reflect.get(composer, 'onError')
  if (typeof report !== 'function') return
  let kept = 0
  Reflect.set(composer, 'onError', (...told: readonly unknown[]) => {
    kept += 1
    if (kept <= MAX_KEPT_ERRORS) Reflect.apply(report, composer, told)
  })
}

/** A text with its lines. The parser's own count of them is wrong where it reads a line twice. */
export function sourceOf(file: string, text: string): Source {
  const lineStarts = [0]
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) lineStarts.push(end + 1)
  return { file, text, lineStarts }
}

function unreadable(source: Source, code: ProblemCode, message: string): YamlText {
  const at = { file: source.file, line: 1, column: 1 }
  return { ...nothing(source), problems: [{ severity: 'error', code, message, at }] }
}

/** The result for a text that cannot be read. */
const nothing = (source: Source) => ({ source, documents: [], damaged: true })

function sortOut(source: Source, parsed: readonly Document.Parsed[]): YamlText {
  const documents: YamlDocument[] = []
  const problems: Problem[] = []
  let damaged = false
  for (const document of parsed) {
    const syntax = syntaxProblems(source, document.errors)
    const found = [...document.warnings.map((warning) => warningProblem(source, warning)), ...syntax]
    problems.push(...found)
    const isRead = syntax.length === 0
    if (isRead && document.contents && !isEmpty(document.contents)) documents.push({ root: document.contents, document, problems: found })
    else if (hasErrors(found)) damaged = true
  }
  return { source, documents, problems, damaged }
}

const isEmpty = (node: Node): boolean => isScalar(node) && node.type === 'PLAIN' && NULLS.has(String(node.value))

/** Plain scalars that mean null in YAML. */
export const NULLS: ReadonlySet<string> = new Set(['', '~', 'null', 'Null', 'NULL'])

function warningProblem(source: Source, warning: YAMLError): Problem {
  if (warning.code !== 'TAG_RESOLVE_FAILED') {
    return problemAt(source, warning.pos, 'warning', 'YAML_SYNTAX', firstLine(warning.message))
  }
  const tag = source.text.slice(warning.pos[0], warning.pos[1])
  return problemAt(source, warning.pos, 'error', 'YAML_TAG', `the tag ${quoted(tag)} has no meaning here`, { hint: 'leave the tag out' })
}

/** What follows a slip is wrong only because of it, so of that only other slips are told. */
function syntaxProblems(source: Source, errors: readonly YAMLError[]): readonly Problem[] {
  const byLine = new Map<number, Problem>()
  let isCaused = false
  for (const error of errors) {
    if (byLine.size >= MAX_SYNTAX_PROBLEMS) break
    const position = insideText(source, error.pos)
    const { line } = positionAt(source, position[0])
    const slip = slipNear(source, line, error)
    if (slip) {
      if (!byLine.has(slip.line)) byLine.set(slip.line, slipProblem(source, slip))
      isCaused = true
    } else if (!isCaused && !byLine.has(line)) {
      const message = error.code === 'RESOURCE_EXHAUSTION' ? 'nested too deep to be read' : firstLine(error.message)
      byLine.set(line, problemAt(source, position, 'error', 'YAML_SYNTAX', message, { hint: hintFor(error) }))
    }
  }
  return [...byLine.values()]
}

/** Errors that a key or item in a wrong column gives, and the lines above it of which it is compared with the columns. */
const WRONG_COLUMN = /^(All (mapping|sequence) items must start|Sequence item without|A block sequence) /
const MAX_LINES_ABOVE = 1_000

type PlacedSlip = Slip & { readonly line: number }

/** The slip that causes an error: on its line, or on the next one. */
function slipNear(source: Source, line: number, { code, message }: YAMLError): PlacedSlip | undefined {
  const [own, behind] = [lineAt(source, line), lineAt(source, line + 1)]
  const slip = slipIn(own, false)
  if (slip) return { ...slip, line }
  const next = slipIn(behind, true) ?? (code === 'BLOCK_AS_IMPLICIT_KEY' ? deeperSlip(behind, own) : undefined)
  if (next) return { ...next, line: line + 1 }
  // The error may be at an empty line before it.
  for (const at of WRONG_COLUMN.test(message) ? [line, line + 1] : []) {
    const above = Array.from({ length: Math.min(at - 1, MAX_LINES_ABOVE) }, (_, index) => lineAt(source, at - 1 - index))
    const between = betweenSlip(lineAt(source, at), above)
    if (between) return { ...between, line: at }
  }
  return undefined
}

function slipProblem(source: Source, { line, column, length, message, hint }: PlacedSlip): Problem {
  const start = (source.lineStarts[line - 1] ?? 0) + column
  return problemAt(source, [start, start + length], 'error', 'YAML_SYNTAX', message, { hint })
}

/** An error at the end of the text is shown at its last character, not on an empty line. */
function insideText({ text }: Source, [start, end]: readonly [number, number]): readonly [number, number] {
  const last = text.trimEnd().length - 1
  return start > last && last >= 0 ? [last, last + 1] : [start, end]
}

const firstLine = (message: string): string => message.split('\n')[0] ?? ''

const NEST_LESS = 'nothing here needs so many levels'
const IN_ONE_COLUMN = 'check the indentation: entries of one mapping or list start in the same column'
const IN_QUOTES = 'put a value that holds ": " into quotes, or check the indentation'

const HINTS: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  TAB_AS_INDENT: 'indent with spaces',
  BLOCK_AS_IMPLICIT_KEY: IN_QUOTES,
  MULTILINE_IMPLICIT_KEY: IN_QUOTES,
  BAD_INDENT: IN_ONE_COLUMN,
  UNEXPECTED_TOKEN: IN_ONE_COLUMN,
  MISSING_CHAR: 'close the quote or bracket that is open here or above',
  RESOURCE_EXHAUSTION: NEST_LESS,
}

const hintFor = ({ message, code }: YAMLError): string | undefined =>
  message.startsWith('Flow ') ? 'close the { or [ that is open above, or indent this line more' : HINTS[code]

/** The place of an offset. */
export function positionAt(source: Source, offset: number): Position {
  const { lineStarts } = source
  let low = 0
  let high = lineStarts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lineStarts[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return { file: source.file, line: Math.max(low, 1), column: offset - (lineStarts[low - 1] ?? 0) + 1 }
}

/** The text of a line, counted from 1, without its line end. */
function lineAt(source: Source, line: number): string {
  const text = source.text.slice(source.lineStarts[line - 1] ?? 0, (source.lineStarts[line] ?? source.text.length + 1) - 1)
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

export type ProblemExtra = Pick<Problem, 'hint' | 'other'>

/** A place as problems show it. */
export type Place = Pick<Problem, 'at' | 'sourceLine' | 'sourceColumn' | 'length'>

/** The place of the text from one offset to another; the caret never goes past the end of the first line. */
export function placeAt(source: Source, [start, end]: readonly [number, number]): Place {
  const at = positionAt(source, Math.min(start, source.text.length))
  const sourceLine = lineAt(source, at.line)
  return { at, ...shownLine(sourceLine, at.column), length: Math.max(1, Math.min(end - start, sourceLine.length - at.column + 1)) }
}

/** A problem about the text from one offset to another. */
export function problemAt(
  source: Source,
  range: readonly [number, number],
  severity: Problem['severity'],
  code: ProblemCode,
  message: string,
  extra: ProblemExtra = {},
): Problem {
  return { severity, code, message, ...placeAt(source, range), ...extra }
}

/** A problem about the word at a place; without its line where the text is not at hand. */
export function problemOn(
  source: Source | undefined,
  at: Position,
  severity: Problem['severity'],
  code: ProblemCode,
  message: string,
  extra: ProblemExtra = {},
): Problem {
  if (!source) return { severity, code, message, at, ...extra }
  const sourceLine = lineAt(source, at.line)
  const word = /^("[^"]*"|'[^']*'|[^\s,:\]}#]+)/.exec(sourceLine.slice(at.column - 1))
  return { severity, code, message, at, ...shownLine(sourceLine, at.column), length: Math.max(1, word?.[0].length ?? 1), ...extra }
}

/** Of a longer line only a part is shown, because it is repeated with each of its problems. */
const MAX_SHOWN_LINE = 2_000

/** Characters before and after the place that are shown of such a line. */
const SHOWN_AROUND = 60

/** The part begins and ends between words, so that it has no half of an address. */
function shownLine(line: string, column: number): Pick<Problem, 'sourceLine' | 'sourceColumn'> {
  if (line.length <= MAX_SHOWN_LINE) return { sourceLine: line }
  const [before, after] = [
    line.slice(Math.max(0, column - 1 - SHOWN_AROUND), column - 1),
    line.slice(column - 1, column - 1 + SHOWN_AROUND),
  ]
  const start = column <= SHOWN_AROUND ? before : before.replace(/^[^\s,"']*/, '')
  const end = after.length < SHOWN_AROUND ? after : after.replace(/(?<=[\s,"'])[^\s,"']*$/, '')
  return { sourceLine: `${start}${end}`, sourceColumn: column - start.length }
}

/** A text of the user in messages: in quotes, with control characters escaped, cut when it is long. */
export const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text)
