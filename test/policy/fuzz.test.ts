// Whatever stands in a policy file: it is read without a throw, each problem has a place in the text, and no cap becomes another number.
// Texts are near to good ones, so that they get past the first check, and are then spoilt in a few tokens.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatProblems } from '../../src/core/escape/text.ts'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { printPolicy } from '../../src/policy/print.ts'
import { ODD_YAML, runs, spoilt } from '../support/fuzz.ts'
import { folder, hasErrors, policyText } from './support.ts'

const RICH = policyText(`workspace: acme
timezone: Europe/Berlin
onGroupConflict: max
team: {cap: 500}
groups:
- {id: g1, name: One, cap: 700, reason: "builds: all"}
- id: g2
  name: Two
users:
- email: ada@example.com
  cap: 0
  allowZero: true
- {email: bob@example.com, cap: none}
grants:
- user: cyd@example.com
  cap: 6000
  from: 2026-11-20
  until: cycleEnd
  reason: release week
- {group: g1, add: 800, until: 2026-12-15T18:00:00+01:00, reason: r, ticket: OPS-12}
rules:
- {name: quiet, when: {email: "*@x.y", role: member, groups: [g2], inactiveDays: 30, joinedWithinDays: 14}, cap: 5, reason: r}
- {name: rest, when: {activeDays: {below: 5, within: 30}, attributes: {listed: true, costCenter: "", unit: a}}, cap: none}
pools:
- {name: few, members: {emails: [dee@example.com, eve@example.com]}, credits: 500, share: equal, min: 5, max: 90}
- {name: all, members: {when: {role: guest, attributes: {costCenter: "12"}}}, credits: 500}
protected: [oncall@example.com]
approvals: [7d1f0c2a9b347d1f0c2a9b347d1f0c2a]`)
/** What YAML reads as something else unless it is quoted. */
const WORDS = ['plain', 'true', '12', '1e3', ': odd', '# no comment', '"quoted"', 'two\nlines', 'null', '007', "it's", '- item']
const worded = fc
  .constantFrom(...WORDS)
  .map((word) =>
    RICH.replaceAll(/reason: r\b/g, () => `reason: ${JSON.stringify(word)}`).replace('name: One', () => `name: ${JSON.stringify(word)}`),
  )
const SMALL = policyText('team:\n  cap: 500 # all\nusers:\n- &u {email: a@b.c, cap: 7}')
const ODD = [
  ...ODD_YAML,
  ...[
    'cap',
    'email',
    'group',
    'team',
    'add',
    'until',
    'cycleEnd',
    'a@b.c',
    'ada@example.com',
    '2026-02-30',
    '9999-12-31',
    'g1',
    'apiVersion',
  ],
]
const text = fc.oneof(
  { weight: 6, arbitrary: spoilt([RICH, SMALL], ODD) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...ODD)).map((all) => all.join('')) },
)

const PLACE = folder({})
const load = async (...texts: readonly string[]) => {
  for (const [index, one] of texts.entries()) writeFileSync(join(PLACE, `${index}.yaml`), one)
  const paths = texts.map((_, index) => `${index}.yaml`)
  return loadPolicies(paths, { cwd: PLACE, workspace: 'acme', now: Date.UTC(2026, 10, 20) })
}

type Problem = Parameters<typeof hasErrors>[0][number]

/** The place is in the text, and the line shown is that line. */
function expectPlace(source: string, at: Problem['at'], problem: Problem): void {
  const lines = source
    .toWellFormed()
    .replace(/^\ufeff/, '')
    .split('\n')
  expect(at, problem.message).toBeDefined()
  const line = lines[(at?.line ?? 0) - 1]?.replace(/\r$/, '')
  expect(line, `line ${at?.line} of ${lines.length}: ${problem.message}`).toBeDefined()
  expect(at?.column).toBeGreaterThanOrEqual(1)
  expect(at?.column, problem.message).toBeLessThanOrEqual((line?.length ?? 0) + 2)
  if (at !== problem.at || problem.sourceLine === undefined) return
  const from = (problem.sourceColumn ?? 1) - 1
  expect(problem.sourceLine).toBe(line?.slice(from, from + problem.sourceLine.length))
}

type PolicySet = NonNullable<ReturnType<Awaited<ReturnType<typeof load>>['sets']['get']>>['set']

/** What a set means, without places and the names of documents. */
const meaning = (set: PolicySet | undefined): unknown =>
  JSON.parse(
    JSON.stringify(set ?? null, (key, value) =>
      ['at', 'nameAt', 'document', 'documents'].includes(key) && typeof value !== 'number' ? undefined : value,
    ),
  )

describe('a policy text of any kind', () => {
  it('is read without a throw, and each problem has its place in it', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (spoiltText) => {
        const { problems, sets } = await load(spoiltText)
        for (const problem of problems) {
          expectPlace(spoiltText, problem.at, problem)
          if (problem.other) expectPlace(spoiltText, problem.other, problem)
          expect(problem.length ?? 1).toBeGreaterThanOrEqual(1)
        }
        expect(formatProblems(problems)).not.toMatch(/(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/u)
        expect(hasErrors(problems)).toBe(sets.size === 0)
      }),
      runs(250),
    )
  })

  it('means the same after it was printed, when nothing is wrong with it', async () => {
    let whole = 0
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: worded }), async (spoiltText) => {
        const [before] = (await load(spoiltText)).sets.values()
        if (!before) return
        whole += 1
        const again = await load(printPolicy(before.set))
        expect(again.problems.filter(({ severity }) => severity === 'error')).toEqual([])
        const [after] = again.sets.values()
        expect(meaning(after?.set)).toEqual(meaning(before.set))
        expect(after?.digest).toBe(before.digest)
      }),
      runs(300),
    )
    expect(whole).toBeGreaterThan(25)
  })

  it('has the same problems and the same meaning in whatever order its documents are read', async () => {
    const several = fc.array(spoilt([RICH, SMALL, policyText('users: [{email: a@b.c, cap: 7}]', 'two')], ODD, 2), {
      minLength: 2,
      maxLength: 3,
    })
    await fc.assert(
      fc.asyncProperty(several, async (texts) => {
        const [one, two] = [await load(...texts), await load(...texts.toReversed())]
        const told = ({ problems }: typeof one) => problems.map(({ code }) => code).toSorted()
        expect(told(two)).toEqual(told(one))
        expect(meaning(two.sets.get('acme')?.set)).toEqual(meaning(one.sets.get('acme')?.set))
      }),
      runs(80),
    )
  })
})

const digits = fc.string({ unit: fc.constantFrom(..."0123456789_.,+-eExXobn'~ \t"), minLength: 1, maxLength: 12 })
const written = fc.oneof(
  digits,
  fc.nat(3_000_000_000).map(String),
  fc.constantFrom('none', 'None', '"5"', '!!int 5', '1e3', '0o17', '1:30', '５', '٣'),
)

it.each([
  ['of the team', (cap: string) => `team:\n  cap: ${cap}\n  allowZero: true`],
  ['of a group', (cap: string) => `groups:\n- id: g\n  name: G\n  cap: ${cap}\n  allowZero: true`],
  ['of a user', (cap: string) => `users:\n- email: a@b.c\n  allowZero: true\n  cap: ${cap}`],
])('a cap %s is what is written, digit by digit, or refused', async (_row, spec) => {
  await fc.assert(
    fc.asyncProperty(written, async (cap) => {
      const { sets, problems } = await load(policyText(spec(cap)))
      const isGood = cap.trim() === 'none' || (/^(0|[1-9]\d*)$/.test(cap.trim()) && Number(cap) <= 2_147_483_647)
      expect(hasErrors(problems)).toBe(!isGood)
      if (isGood) expect(sets.get('acme')?.set.rules.map((rule) => String(rule.cap))).toEqual([cap.trim()])
    }),
    runs(100),
  )
})
