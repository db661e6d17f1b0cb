// How problems are printed, and bounds on aliases; what is told of which text is in messages.txt.

import { describe, expect, it } from 'vitest'
import { formatProblems } from '../../src/core/escape/text.ts'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { folder, places, policyText } from './support.ts'

const problemsOf = async (text: string) => (await loadPolicies(['.'], { cwd: folder({ 'a.yaml': text }) })).problems

it('aliases are bounded', async () => {
  const people = Array.from({ length: 10_002 }, () => '*w').join(', ')
  const problems = await problemsOf(policyText(`users: [{email: &w a@b.c, cap: 1}]\nprotected: [${people}]`))
  expect(places(problems)).toEqual([`7:${15 + 4 * 10_000} YAML_ALIAS`])
})

describe('printed problems', () => {
  it('have no control and turning characters, and tabs before the caret', async () => {
    const text = policyText(`team: {reason:\t"\u202e\u001b[31m",\tcap: -5}`)
    expect(
      formatProblems(await problemsOf(text))
        .split('\n')
        .slice(1, 3),
    ).toEqual(['    team: {reason:\t"\uFFFD\uFFFD[31m",\tcap: -5}', '                  \t         \t     ^^'])
    const other = {
      severity: 'error',
      code: 'CAP',
      message: '\u009b31m',
      hint: '\u200b',
      at: { file: '\u0007', line: 1, column: 4 },
    } as const
    expect(formatProblems([other])).toBe('\uFFFD:1:4: error: \uFFFD31m\n  hint: \uFFFD')
  })

  it.each([1_000, 2_100, 20_000, 200_000])('show the part that is meant of a line of %d characters', async (length) => {
    const people = Array.from({ length: Math.ceil(length / 40) }, (_, index) => `{"email":"p${index}@example.com","cap":5}`).join()
    const wrong = `{"email":"ada@example.com","cap":"500"}`
    const head = '{"apiVersion":"capkeeper/v1","kind":"CapPolicy","metadata":{"name":"a"}'
    const found = (await problemsOf(`${head},"spec":{"users":[${people},${wrong}],"protected":[]}}\n`)).filter(({ code }) => code === 'CAP')
    const [, line, caret] = formatProblems(found).split('\n')
    expect(line?.slice(caret?.indexOf('^'), (caret?.lastIndexOf('^') ?? 0) + 1)).toBe('"500"')
    expect(line).toContain(wrong)
    expect(line?.length).toBeLessThan(130)
    expect(found[0]?.sourceLine?.length).toBeLessThanOrEqual(length > 2_000 ? 120 : 2_000)
  })

  it.each([0, 1, 7, 17])('show of a long line no half of an address, the last one %d longer', async (more) => {
    const many = Array.from({ length: 100 }, () => 'p1234567890@example.com')
    const last = `${'x'.repeat(more + 1)}@b.c`
    const text = policyText(`protected: [${[...many, last, 'bad', last, ...many].join(', ')}]`)
    const [problem] = await problemsOf(text)
    const { sourceLine = '', sourceColumn = 0 } = problem ?? {}
    expect(sourceLine.split(/[ ,]+/).filter((word) => ![many[0], last, 'bad', ''].includes(word))).toEqual([])
    expect(sourceLine).toContain(`${last}, bad, ${last}`)
    expect(text.split('\n')[5]?.slice(sourceColumn - 1)).toMatch(new RegExp(`^${sourceLine}`))
  })
})
