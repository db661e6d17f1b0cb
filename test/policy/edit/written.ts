// Random policy files as people and programs write them: every style of YAML, comments wherever one may be, anchors, several documents. Each
// comment is unique, and the file tells which ones belong to an entry.
import type { Random } from '../../adversary/random.ts'

/** A file, and the comments that belong to each entry: by the name that `edit remove` takes. */
export interface Written {
  readonly text: string
  readonly entries: ReadonlyMap<string, readonly string[]>
  /** Documents and what they declare. */
  readonly documents: number
}

/** How a document is written. */
interface Habits {
  readonly step: number
  readonly dash: number
  readonly gap: string
  readonly inFlow: number
  readonly quote: '' | "'" | '"'
  readonly comments: number
  readonly blanks: number
  readonly padding: string
  readonly colon: string
}

export const IDS = ['7d1f0c2a9b347d1f0c2a9b347d1f0c2a', '12345678123456781234567812345678', '1e345678123456781234567812345678']

const WORDS = ['release week', 'migration', 'über uns', '日本語のテキスト', 'a 😀 b', 'it’s 5 % more', 'C:\\path', 'say "hi"', "o'clock"]

interface Pen {
  readonly random: Random
  readonly habits: Habits
  readonly entries: Map<string, string[]>
  count: number
  anchors: string[]
}

type Field = readonly [key: string, value: string, isText?: boolean]
type Given = readonly (readonly [owner: string, fields: readonly Field[]])[]

/** A file of one to three documents of the workspace `acme`; each scope once. */
export function writtenPolicy(random: Random): Written {
  const entries = new Map<string, string[]>()
  const documents = random.pick([1, 1, 1, 2, 3])
  const parts: string[] = []
  const shared = { count: 0 }
  const ids = random.sample(['g1', 'grp_two', '3', 'grp-four'], random.int(0, 4))
  const people = random
    .sample(['ada', 'bob', 'Cyd', 'dé', 'eve+x', 'f.g', 'hal', 'ivy'], random.int(0, 8))
    .map((name) => `${name}@example.com`)
  for (let index = 0; index < documents; index += 1) {
    const pen: Pen = { random, habits: habitsOf(random), entries, count: shared.count, anchors: [] }
    const mine = <T>(all: readonly T[]): readonly T[] => all.filter((_, at) => at % documents === index)
    parts.push(documentText(pen, { index, groups: mine(ids), people: mine(people) }))
    shared.count = pen.count
  }
  const start = random.pick(['', '', '---\n', '# first\n', '%YAML 1.2\n---\n', '\n\n'])
  let text = start + parts.join(random.pick(['---\n', '--- # next\n', '...\n---\n']))
  if (random.chance(0.2)) text += random.pick(['...\n', '# last\n', '\n\n', '---\n', '   \n'])
  if (random.chance(0.25)) text = text.replace(/\n+$/, '')
  if (random.chance(0.3)) text = text.replaceAll('\n', '\r\n')
  if (random.chance(0.2)) text = `\uFEFF${text}`
  return { text, entries, documents }
}

const habitsOf = (random: Random): Habits => ({
  step: random.pick([2, 2, 2, 3, 4, 8]),
  dash: random.pick([0, 0, 1, 2, 2, 4, 5]),
  gap: random.pick([' ', ' ', '  ', '   ']),
  inFlow: random.pick([0, 0.1, 0.5, 1]),
  quote: random.pick(['', '', "'", '"'] as const),
  comments: random.pick([0, 0.1, 0.5]),
  blanks: random.pick([0, 0.2, 1]),
  padding: random.pick(['', ' ']),
  colon: random.pick([': ', ': ', ':  ']),
})

function numbered(pen: Pen): number {
  pen.count += 1
  return pen.count
}

function comment(pen: Pen, owner: string | undefined): string {
  const text = `#c${numbered(pen)}.`
  if (owner !== undefined) pen.entries.set(owner, [...(pen.entries.get(owner) ?? []), text])
  return `${text}${pen.random.pick(['', ' why: not', ' "quoted', ' - email: old@example.com', ' \u00e4'])}`
}

/** Blank lines and comments that belong to nothing: a blank line is before and behind. */
function free(pen: Pen, indent: string): readonly string[] {
  const { random, habits } = pen
  if (!random.chance(habits.comments / 2)) return random.chance(habits.blanks / 3) ? [random.pick(['', '', '  '])] : []
  return ['', `${indent}${comment(pen, undefined)}`, '']
}

const own = (pen: Pen, owner: string, indent: string): readonly string[] =>
  pen.random.chance(pen.habits.comments)
    ? [`${indent}${comment(pen, owner)}`, ...(pen.random.chance(0.2) ? [`${indent}${comment(pen, owner)}`] : [])]
    : []

const trailing = (pen: Pen, owner: string | undefined): string =>
  pen.random.chance(pen.habits.comments)
    ? `${pen.random.pick([' ', '  ', '\t'])}${comment(pen, owner)}`
    : pen.random.chance(0.05)
      ? '  '
      : ''

function scalar(pen: Pen, value: string, isText: boolean, inFlow: boolean): string {
  const { random, habits } = pen
  if (!isText) return value
  if (pen.anchors.length > 0 && WORDS.includes(value) && random.chance(0.3)) return `*${random.pick(pen.anchors)} `
  const anchor = random.chance(0.05) ? `&a${numbered(pen)} ` : ''
  if (anchor !== '' && WORDS.includes(value)) pen.anchors.push(anchor.trim().slice(1))
  const isPlain = /^[\p{L}\d][\p{L}\d .@_+’-]*$/u.test(value) && !(inFlow && value.includes(','))
  const tag = random.chance(0.03) ? '!!str ' : ''
  const quote = habits.quote === '' && !isPlain ? '"' : random.chance(0.1) ? random.pick(['"', "'"]) : habits.quote
  if (quote === '"') return anchor + tag + JSON.stringify(value)
  return anchor + tag + (quote === "'" ? `'${value.replaceAll("'", "''")}'` : value)
}

const flowMap = (pen: Pen, fields: readonly Field[]): string => {
  const { padding, colon } = pen.habits
  const isJson = pen.random.chance(0.1)
  const body = fields.map(
    ([key, value, isText = false]) => `${isJson ? `"${key}"` : key}${isJson ? ': ' : colon}${scalar(pen, value, isText, true)}`,
  )
  const end = pen.random.chance(0.1) ? ',' : ''
  return `{${padding}${body.join(pen.random.pick([', ', ', ', ',  ', ' , ']))}${end}${padding}}`
}

/** An entry in braces over several lines, comments and all. */
function wideFlowMap(pen: Pen, fields: readonly Field[], owner: string, indent: string): readonly string[] {
  const { random, habits } = pen
  const inner = `${indent}    `
  const end = random.pick(['', ','])
  return [
    `${indent}-${habits.gap}{${trailing(pen, owner)}`,
    ...fields.flatMap(([key, value, isText = false], index) => [
      ...own(pen, owner, inner).slice(0, 1),
      `${inner}${key}: ${scalar(pen, value, isText, true)}${index < fields.length - 1 ? ',' : end}${trailing(pen, owner)}`,
    ]),
    `${indent}  }${trailing(pen, owner)}`,
  ]
}

/** The lines of a mapping in block style; comments in it belong to the entry. */
function blockMap(pen: Pen, fields: readonly Field[], owner: string, indent: string): readonly string[] {
  const { random, habits } = pen
  return fields.flatMap(([key, value, isText = false], index) => {
    const shown = random.chance(0.05) ? `"${key}"` : key
    const head = index > 0 ? own(pen, owner, indent).slice(0, 1) : []
    if (key === 'reason' && random.chance(0.2)) {
      const style = random.pick(['|', '>', '|-', '>-', '|+', '>+'])
      return [
        ...head,
        `${indent}${shown}: ${style}${trailing(pen, owner)}`,
        `${indent}  ${value}`,
        `${indent}  # no comment`,
        ...(random.chance(0.3) ? [''] : []),
      ]
    }
    if (random.chance(0.04))
      return [...head, `${indent}? ${shown}`, `${indent}: ${scalar(pen, value, isText, false)}${trailing(pen, owner)}`]
    if (key === 'reason' && random.chance(0.1)) {
      const text = random.pick([`more\n${indent}  lines of text`, `"in\n\n${indent} quotes"`, `'in\n${indent}   quotes # no comment'`])
      return [...head, ...`${indent}${shown}: ${text}${trailing(pen, owner)}`.split('\n')]
    }
    if (key === 'reason' && random.chance(0.05))
      return [...head, `${indent}${shown}: |${habits.step < 3 ? 3 : 4}-${trailing(pen, owner)}`, `${indent}     # indented`]
    if (isText && random.chance(0.05))
      return [...head, `${indent}${shown}:`, `${indent} ${scalar(pen, value, isText, false)}${trailing(pen, owner)}`]
    return [...head, `${indent}${shown}${habits.colon}${scalar(pen, value, isText, false)}${trailing(pen, owner)}`]
  })
}

function listLines(pen: Pen, key: string, given: Given, column: number): readonly string[] {
  const { random, habits } = pen
  const at = ' '.repeat(column)
  if (given.length === 0)
    return random.pick([
      [`${at}${key}: []`],
      [`${at}${key}: [ ]`],
      [`${at}${key}:`],
      [`${at}${key}:${trailing(pen, undefined)}`],
      [`${at}${key}: [ # c`, `${at}${random.pick(['', '  '])}]`],
    ])
  if (random.chance(habits.inFlow / 3)) return flowList(pen, key, given, at)
  const indent = ' '.repeat(column + habits.dash)
  const lines = [`${at}${key}:${random.chance(0.05) ? ` &l${numbered(pen)}` : ''}${trailing(pen, undefined)}`]
  for (const [index, [owner, fields]] of given.entries()) {
    if (index === 0) lines.push(...free(pen, indent))
    else if (random.chance(habits.blanks)) lines.push('')
    else if (random.chance(0.2)) lines.push(...free(pen, indent))
    const head = own(pen, owner, indent)
    lines.push(...head)
    const [only] = fields
    if (fields.length === 1 && only && only[0] === '') {
      lines.push(`${indent}-${habits.gap}${scalar(pen, only[1], true, false)}${trailing(pen, owner)}`)
    } else if (random.chance(habits.inFlow)) {
      if (random.chance(0.2)) lines.push(...wideFlowMap(pen, fields, owner, indent))
      else lines.push(`${indent}-${habits.gap}${flowMap(pen, fields)}${trailing(pen, owner)}`)
    } else {
      const inner = `${indent} ${habits.gap}`
      const body = blockMap(pen, fields, owner, inner)
      const [first = '', ...rest] = body
      if (random.chance(0.1)) lines.push(`${indent}-${trailing(pen, owner)}`, ...body)
      else lines.push(`${indent}-${habits.gap}${first.slice(inner.length)}`, ...rest)
      if (random.chance(habits.comments / 3)) lines.push(`${inner}${comment(pen, owner)}`)
    }
  }
  if (random.chance(habits.comments / 3)) lines.push('', `${indent}${comment(pen, undefined)}`, '')
  return lines
}

function flowList(pen: Pen, key: string, given: Given, at: string): readonly string[] {
  const { random, habits } = pen
  const item = (fields: readonly Field[]): string => (fields[0]?.[0] === '' ? scalar(pen, fields[0][1], true, true) : flowMap(pen, fields))
  if (random.chance(0.5))
    return [
      `${at}${key}: [${habits.padding}${given.map(([, fields]) => item(fields)).join(', ')}${random.pick(['', '', ','])}${habits.padding}]${trailing(pen, undefined)}`,
    ]
  const inner = `${at}  `
  const last = random.pick(['', ','])
  return [
    `${at}${key}: [${trailing(pen, undefined)}`,
    ...given.flatMap(([owner, fields], index) => [
      ...own(pen, owner, inner),
      `${inner}${item(fields)}${index < given.length - 1 ? ',' : last}${trailing(pen, owner)}`,
    ]),
    `${at}${random.pick(['  ', ' '])}]`,
  ]
}

interface Declared {
  readonly index: number
  readonly groups: readonly string[]
  readonly people: readonly string[]
}

function documentText(pen: Pen, { index, groups, people }: Declared): string {
  const { random, habits } = pen
  const reason = (): readonly Field[] => (random.chance(0.4) ? [['reason', random.pick(WORDS), true]] : [])
  const cap = (): Field => ['cap', String(random.int(1, 9000))]
  const shuffled = (fields: readonly Field[]): readonly Field[] => (random.chance(0.3) ? random.sample(fields, fields.length) : fields)
  const users = people
    .filter(() => random.chance(0.7))
    .map((email) => [email.toLowerCase(), shuffled([['email', email, true], cap(), ...reason()])] as const)
  const named = groups.map((id) => [`group:${id}`, shuffled([['id', id, true], ['name', `Name ${id}`, true], cap(), ...reason()])] as const)
  const grants = people
    .filter(() => random.chance(0.4))
    .map(
      (email) =>
        [
          `grant:${email.toLowerCase()}`,
          shuffled([['user', email, true], cap(), ['until', '2027-01-01'], ['reason', random.pick(WORDS), true]]),
        ] as const,
    )
  const guarded = people.filter(() => random.chance(0.3)).map((email) => [`protect:${email.toLowerCase()}`, [['', email, true]]] as const)
  const column = habits.step
  const at = ' '.repeat(column)
  const sections: (readonly string[])[] = []
  if (random.chance(0.8)) sections.push([`${at}workspace: acme${trailing(pen, undefined)}`])
  if (index === 0 && random.chance(0.6)) {
    const head = own(pen, 'team', at)
    const body = random.chance(habits.inFlow)
      ? [`${at}team: ${flowMap(pen, [cap()])}${trailing(pen, 'team')}`]
      : [`${at}team:${trailing(pen, 'team')}`, ...blockMap(pen, [cap(), ...reason()], 'team', ' '.repeat(column + habits.step))]
    sections.push([...head, ...body])
  }
  const approved = IDS.filter((_, at) => at % 3 === index && random.chance(0.3)).map((id) => [id, [['', id, true]]] as const)
  const lists = { groups: named, users, grants, protected: guarded, approvals: approved }
  for (const [key, given] of Object.entries(lists))
    if (given.length > 0 || random.chance(0.2)) sections.push(listLines(pen, key, given, column))
  const ordered = random.chance(0.3) ? random.sample(sections, sections.length) : sections
  if (random.chance(0.1)) return flowDocument(pen, index, lists)
  const spec = ordered.flatMap((lines, at2) => (at2 === 0 ? lines : [...(random.chance(habits.blanks) ? [''] : free(pen, at)), ...lines]))
  const body = spec.length === 0 ? ['spec: {}'] : [`spec:${trailing(pen, undefined)}`, ...spec]
  const head = [`apiVersion: capkeeper/v1${trailing(pen, undefined)}`, 'kind: CapPolicy', `metadata: {name: d${index}}`]
  const whole = random.chance(0.1) ? [...head.slice(0, 2), ...body, ...head.slice(2)] : [...head, ...body]
  return `${whole.join('\n')}\n`
}

/** A document whose spec stands in brackets, as programs write it. */
function flowDocument(pen: Pen, index: number, lists: Readonly<Record<string, Given>>): string {
  const { random } = pen
  const end = random.pick(['', '', ', '])
  const parts = Object.entries(lists).flatMap(([key, given]) => {
    if (given.length === 0) return random.chance(0.2) ? [`${key}: []`] : []
    const items = given.map(([, fields]) => (fields[0]?.[0] === '' ? scalar(pen, fields[0][1], true, true) : flowMap(pen, fields)))
    return [`${key}: [${items.join(', ')}]`]
  })
  parts.unshift('workspace: acme')
  const spec = random.pick([
    `{${parts.join(', ')}${end}}`,
    `{ ${parts.join(',\n  ')} }`,
    `{\n  ${parts.join(',\n  ')}${random.pick(['', ','])}\n }`,
  ])
  return `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: d${index}}\nspec: ${spec}\n`
}
