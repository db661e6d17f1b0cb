import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { advance, byUrgency, CONDITIONS, unexplained } from '../../../src/core/model/condition.ts'

type Advanced = ReturnType<typeof advance>
type Condition = Advanced['conditions'][number]
type Finding = Parameters<typeof advance>[1][number]

const found = (type: Finding['type'], subject = 'acme', more: Partial<Finding> = {}): Finding => ({
  ...{ type, subject, reason: 'X', message: `${type} of ${subject}` },
  ...more,
})
const told = ({ transitions }: Advanced): readonly string[] =>
  transitions.map(({ change, condition }) => `${change} ${condition.type} ${condition.subject}`)

/** Looks one after the other, a second apart. */
function advanceAll(...rounds: readonly (readonly Finding[])[]): readonly Advanced[] {
  let conditions: readonly Condition[] = []
  return rounds.map((round, second) => {
    const next = advance(conditions, round, second * 1000)
    conditions = next.conditions
    return next
  })
}

describe('what holds', () => {
  const drawn = fc.array(
    fc.uniqueArray(
      fc.record({ type: fc.constantFrom('Held', 'UsageUnread', 'NoCaps', 'BalanceUnavailable'), subject: fc.constantFrom('a', 'b') }),
      {
        selector: ({ type, subject }) => `${type} ${subject}`,
      },
    ),
    { maxLength: 12 },
  )
  const findings = (round: readonly { readonly type: string; readonly subject: string }[]): readonly Finding[] =>
    round.map(({ type, subject }) => found(type as Finding['type'], subject))

  test('keeps since when it holds for as long as it does, and begins anew after it was gone', () =>
    fc.assert(
      fc.property(drawn, (rounds) => {
        const all = advanceAll(...rounds.map(findings))
        for (const [index, { conditions }] of all.entries()) {
          for (const { type, subject, since } of conditions) {
            const holds = (at: number): boolean => rounds[at]?.some((one) => one.type === type && one.subject === subject) === true
            let begin = index
            while (holds(begin - 1)) begin -= 1
            expect(since).toBe(begin * 1000)
          }
        }
      }),
    ))

  test('is told by one line at its begin and one at its end, as long as nothing explains it', () =>
    fc.assert(
      fc.property(drawn, (rounds) => {
        const shown = new Set<string>()
        for (const advanced of advanceAll(...rounds.map(findings))) {
          for (const { change, condition } of advanced.transitions) {
            const key = `${condition.type} ${condition.subject}`
            expect(change === 'ended').toBe(shown.has(key))
            if (change === 'ended') shown.delete(key)
            else shown.add(key)
          }
          const explained = advanced.conditions.filter((one) => !unexplained(advanced.conditions).includes(one))
          for (const { type, subject } of explained) shown.delete(`${type} ${subject}`)
          expect([...shown].sort()).toEqual(
            unexplained(advanced.conditions)
              .map(({ type, subject }) => `${type} ${subject}`)
              .sort(),
          )
        }
      }),
    ))

  test('is no news for another message, and is for another reason or version', () => {
    const [, same, reason, ...versions] = advanceAll(
      [found('Held')],
      [found('Held', 'acme', { message: 'other words' })],
      [found('Held', 'acme', { reason: 'Y' })],
      [found('Held', 'acme', { reason: 'Y', version: '1' })],
      [found('Held', 'acme', { reason: 'Y', version: '2' })],
    ).map(told)
    const changed = ['changed Held acme']
    expect([same, reason, ...versions]).toEqual([[], changed, changed, changed])
  })

  test('has held since the ledger says so, where it knows', () => {
    const [first, second] = advanceAll([found('Paused', 'acme', { since: 7 })], [found('Paused', 'acme', { since: 7 })])
    expect([first?.conditions[0]?.since, second?.conditions[0]?.since]).toEqual([7, 7])
  })

  test('goes on unasked, and does not begin unasked', () => {
    const unasked = found('UsageUnread', 'group:a', { onlyIfHeld: true })
    expect(advanceAll([unasked])).toEqual([{ conditions: [], transitions: [] }])
    const [, same] = advanceAll([found('UsageUnread', 'group:a')], [{ ...unasked, message: 'not asked', reason: 'Z' }])
    expect(same).toEqual({ conditions: [{ ...found('UsageUnread', 'group:a'), since: 0 }], transitions: [] })
    const [, on, over] = advanceAll([found('UsageUnread', 'group:a')], [unasked], [])
    expect(on?.conditions).toMatchObject([{ subject: 'group:a', since: 0 }])
    expect(over && told(over)).toEqual(['ended UsageUnread group:a'])
  })

  test('counts once for one type and subject', () => {
    const [one] = advanceAll([found('Held', 'acme', { message: 'first' }), found('Held', 'acme', { message: 'second' })])
    expect(one?.conditions.map(({ message }) => message)).toEqual(['first'])
  })
})

test('what follows from something else is not told beside it, neither when it begins nor when it ends', () => {
  const away = [found('ServiceUnreachable'), found('CycleFailed')]
  const rounds = advanceAll([found('UsageUnread', 'the roster')], [...away, found('UsageUnread', 'the roster')], away, [])
  expect(rounds.map(told)).toEqual([
    ['begun UsageUnread the roster'],
    ['begun ServiceUnreachable acme'],
    [],
    ['ended ServiceUnreachable acme'],
  ])
})

test('what goes on when its explanation is over is told then, with its own since', () => {
  const [, second] = advanceAll([found('NoCaps'), found('BalanceUnavailable')], [found('BalanceUnavailable')])
  expect(second && told(second)).toEqual(['ended NoCaps acme', 'begun BalanceUnavailable acme'])
  expect(second?.conditions[0]?.since).toBe(0)
})

test('what needs a person comes first, the oldest of it before the rest', () => {
  const at = (type: Finding['type'], since: number): Condition => ({ ...found(type), since })
  const sorted = byUrgency([at('Paused', 1), at('Held', 5), at('KeyRefused', 9), at('Held', 2)])
  expect(sorted.map(({ type, since }) => `${type} ${since}`)).toEqual(['KeyRefused 9', 'Held 2', 'Held 5', 'Paused 1'])
})

test('whatever a condition explains is a condition', () => {
  for (const kind of Object.values(CONDITIONS)) {
    for (const type of kind.explains ?? []) expect(Object.keys(CONDITIONS)).toContain(type)
  }
})

test('docs/operations.md names every condition under its severity, and no other', () => {
  const [, section = ''] = readFileSync('docs/operations.md', 'utf8').split('## Conditions\n')
  const rows = section.split('\n## ')[0]?.matchAll(/^\| (error|warn|info) \| (.*?) \|/gm) ?? []
  const named = [...rows].flatMap(([, severity, names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, type]) => `${severity} ${type}`))
  expect(named.sort()).toEqual(
    Object.entries(CONDITIONS)
      .map(([type, { severity }]) => `${severity} ${type}`)
      .sort(),
  )
})
