import { describe, expect, it } from 'vitest'
import { parsePolicyText } from '../../src/policy/parse.ts'
import { formatProblems, problemOn, readYaml } from '../../src/policy/yaml.ts'
import { places, policyText } from './support.ts'

describe('readYaml', () => {
  it.each([
    ['nothing at all', '', 0],
    ['only comments', '# nothing here yet\n', 0],
    ['only document marks', '---\n---\n', 0],
    ['a lone null', '~\n', 0],
    ['a byte order mark before a document', '\uFEFFa: 1\n', 1],
    ['carriage returns', 'a: 1\r\nb: 2\r\n', 1],
    ['several documents', 'a: 1\n---\nb: 2\n...\n', 2],
  ])('finds the documents of %s', (_name, text, count) => {
    const { documents, problems, damaged } = readYaml('x.yaml', text)
    expect({ count: documents.length, problems, damaged }).toEqual({ count, problems: [], damaged: false })
  })

  it.each([
    ['an unclosed flow mapping, on the line where it is noticed', 'a: {b: 1\nc: 2\n', ['2:1 YAML_SYNTAX']],
    ['a value that holds a colon and a space', 'a: b: c\n', ['1:4 YAML_SYNTAX']],
    [
      'on the right line what comes after an alias that runs on',
      'spec:<<: *u a\n  b: c\nd: !!int 5\n',
      ['3:4 YAML_TAG', '1:10 YAML_SYNTAX'],
    ],
  ])('reports %s', (_name, text, expected) => {
    expect(places(readYaml('x.yaml', text).problems)).toEqual(expected)
  })

  it('keeps the good documents beside a damaged one', () => {
    const { documents, damaged } = readYaml('x.yaml', 'a: 1\n---\nb: "\n---\nc: 3\n')
    expect({ documents: documents.length > 0, damaged }).toEqual({ documents: true, damaged: true })
  })
})

describe('aliases', () => {
  it('stand for what is anchored above them', () => {
    const { documents, problems } = parsePolicyText(
      'x.yaml',
      policyText('team: &t\n  cap: 500\n  reason: &why base\nusers:\n- email: a@b.c\n  cap: 7\n  reason: *why'),
    )
    expect(problems).toEqual([])
    expect(documents[0]?.rules.map(({ value }) => value.reason)).toEqual(['base', 'base'])
  })

  it('do not reach back to an anchor below them', () => {
    expect(places(parsePolicyText('x.yaml', policyText('team:\n  cap: *c\nusers:\n- email: a@b.c\n  cap: &c 7')).problems)).toEqual([
      '7:10 YAML_ALIAS',
    ])
  })

  it('are bounded', () => {
    const people = Array.from({ length: 10_002 }, () => '*w').join(', ')
    const { problems } = parsePolicyText('x.yaml', policyText(`users: [{email: &w a@b.c, cap: 1}]\nprotected: [${people}]`))
    expect(places(problems)).toEqual([`7:${15 + 4 * 10_000} YAML_ALIAS`])
  })
})

describe('formatProblems', () => {
  it('prints the place, the line, a caret, the hint and the other place, sorted by file and line', () => {
    const text = policyText('team:\n  cap: 1_000\n  cap: 5\n  capp: 3')
    expect(formatProblems(parsePolicyText('p/a.yaml', text).problems)).toBe(
      [
        'p/a.yaml:7:10: error: spec.team.cap is 1_000, not a whole number from 0 to 2147483647, or none',
        '      cap: 1_000',
        '           ^^^^^',
        '  hint: write 1000',
        'p/a.yaml:8:5: error: "cap" stands twice in spec.team',
        '      cap: 5',
        '      ^^^',
        '  hint: keep one of the two',
        '  see: p/a.yaml:7:5',
        'p/a.yaml:9:5: error: unknown key "capp" in spec.team',
        '      capp: 3',
        '      ^^^^',
        '  hint: did you mean "cap"?',
      ].join('\n'),
    )
  })

  it('takes control and turning characters out of what it quotes', () => {
    const quoting = {
      severity: 'error',
      code: 'CAP',
      message: 'not \u009b31m\u202e',
      hint: '\u200b',
      at: { file: 'a\u0007', line: 1, column: 4 },
    } as const
    expect(formatProblems([quoting])).toBe('a\uFFFD:1:4: error: not \uFFFD31m\uFFFD\n  hint: \uFFFD')
  })

  it('keeps tabs before the caret and takes control characters out', () => {
    const problem = {
      severity: 'error',
      code: 'CAP',
      message: 'm',
      at: { file: 'f', line: 1, column: 4 },
      sourceLine: '\ta\u001b[31m',
      length: 9,
    } as const
    expect(formatProblems([problem])).toBe('f:1:4: error: m\n  \ta\uFFFD[31m\n  \t  ^^^^')
  })

  it('shows the part of a long line that is meant', () => {
    const text = policyText(`team: {reason: ${'x'.repeat(300)}, cap: -5}`)
    const lines = formatProblems(parsePolicyText('f', text).problems).split('\n')
    const caret = lines[2]?.indexOf('^') ?? -1
    expect(lines[1]?.slice(caret, caret + 2)).toBe('-5')
    expect(lines[1]?.length).toBeLessThan(130)
  })

  it.each([1_000, 2_100, 20_000, 800_000])('shows the part that is meant of a line of %d characters', (length) => {
    const people = (count: number) => Array.from({ length: count }, (_, index) => `{"email":"p${index}@example.com","cap":5}`).join()
    const half = people(Math.ceil(length / 40))
    const wrong = `{"email":"ada@example.com","cap":"500"}`
    const head = '{"apiVersion":"capkeeper/v1","kind":"CapPolicy","metadata":{"name":"a"}'
    const { problems } = parsePolicyText('f', `${head},"spec":{"users":[${half},${wrong}],"protected":[]}}\n`)
    const found = problems.filter(({ code }) => code === 'CAP')
    const [, line, caret] = formatProblems(found).split('\n')
    expect(line?.slice(caret?.indexOf('^'), (caret?.lastIndexOf('^') ?? 0) + 1)).toBe('"500"')
    expect(line).toContain(wrong)
    expect(line?.length).toBeLessThan(130)
    expect(found[0]?.sourceLine?.length).toBeLessThanOrEqual(length > 2_000 ? 120 : 2_000)
  })

  it('shows of a long line no half of an address', () => {
    const long = `${'p1234567890@example.com '.repeat(100)}: x`
    for (const column of [300, 301, 307, 317]) {
      const { sourceLine, sourceColumn } = problemOn(
        { file: 'f', text: long, lineStarts: [0] },
        { file: 'f', line: 1, column },
        'error',
        'CAP',
        'm',
      )
      expect(
        sourceLine
          ?.trim()
          .split(' ')
          .every((word) => word === 'p1234567890@example.com'),
      ).toBe(true)
      expect(long.slice((sourceColumn ?? 0) - 1)).toMatch(new RegExp(`^${sourceLine}`))
    }
  })

  it('is empty without problems', () => expect(formatProblems([])).toBe(''))
})
