// What the people file says of people over time: a change counts after ten minutes, who vanishes stays for a week, and a file that lost many is doubted.
import { describe, expect, it } from 'vitest'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import { countListings, listingAt, takeDirectory, withListings } from '../../../src/core/resolve/roster.ts'
import { DAY, desiredInputs, type PolicySketch } from '../../support/declare.ts'

type DirectoryMemory = Parameters<typeof listingAt>[0]

const MINUTE = 60_000
const NOW = Date.UTC(2026, 10, 20)
const names = Array.from({ length: 10 }, (_, index) => `p${index}@example.com`)
const roster = (emails: readonly string[] = names, readAt = NOW): ReturnType<typeof withListings> => ({
  people: emails.map((email) => ({ email, name: email, status: 'approved', disabled: false })),
  readAt,
  statusesAbsent: false,
  duplicates: [],
})

type Rows = Readonly<Record<string, string>>
/** A file with a cost centre for each person. */
const file = (rows: Rows) => ({
  digest: JSON.stringify(rows),
  people: new Map(Object.entries(rows).map(([email, costCenter]) => [email, { costCenter }])),
})
const all = (value: string, emails: readonly string[] = names): Rows => Object.fromEntries(emails.map((email) => [email, value]))

/** Takes files, each at so many milliseconds after the start. */
const taken = (steps: readonly (readonly [number, Rows])[], limit: number | 'off' = 20): DirectoryMemory => {
  const memory = steps.reduce<DirectoryMemory | undefined>(
    (before, [after, rows]) => takeDirectory(file(rows), before, roster(), limit, NOW + after),
    undefined,
  )
  if (!memory) throw new Error('no step')
  return memory
}
const shown = (memory: DirectoryMemory, email = names[0]) =>
  withListings(roster(), memory).people.find((person) => person.email === email)?.listing

describe('a file counts', () => {
  it('at once where it is the first, and after ten unchanged minutes where it replaces another', () => {
    const [old, other] = [all('CC-1'), all('CC-2')]
    expect(shown(taken([[0, old]]))).toEqual({ values: { costCenter: 'CC-1' } })
    const waits = taken([
      [0, old],
      [MINUTE, other],
      [10 * MINUTE, other],
    ])
    expect(shown(waits)).toEqual({ values: { costCenter: 'CC-1' } })
    const counts = takeDirectory(file(other), waits, roster(), 20, NOW + 11 * MINUTE)
    expect(shown(counts)).toEqual({ values: { costCenter: 'CC-2' }, was: { at: NOW + 11 * MINUTE, values: { costCenter: 'CC-1' } } })
  })

  it.each([
    ['people', all('CC-1', names.slice(3)), { from: 10, to: 7 }],
    ['the values of a column', { ...all('CC-1'), ...all('', names.slice(0, 3)) }, { from: 10, to: 7 }],
  ])('not while it lacks more than 20 %% of %s', (_, fewer, fell) => {
    const steps = [[0, all('CC-1')] as const, [MINUTE, fewer] as const, [20 * MINUTE, fewer] as const]
    const doubted = taken(steps)
    expect(doubted.next?.fell).toEqual(fell)
    expect(shown(doubted)).toEqual({ values: { costCenter: 'CC-1' } })
    expect(taken(steps, 30).next).toBeUndefined()
    expect(taken(steps, 'off').next).toBeUndefined()
  })
})

describe('who vanishes', () => {
  const gone = all('CC-1', names.slice(1))
  const steps = [[0, all('CC-1')] as const, [MINUTE, gone] as const, [20 * MINUTE, gone] as const]

  it('keeps the last values for seven days, and is not listed after them', () => {
    const goneAt = NOW + 20 * MINUTE
    const stale = taken([...steps, [20 * MINUTE + 7 * DAY - 1, gone]])
    expect(shown(stale)).toEqual({ values: { costCenter: 'CC-1' }, goneAt })
    expect(countListings(withListings(roster(), stale))).toEqual({ listed: 9, unlisted: 0, stale: 1 })
    const unlisted = taken([...steps, [20 * MINUTE + 7 * DAY, gone]])
    expect(shown(unlisted)).toEqual({})
    expect(countListings(withListings(roster(), unlisted))).toEqual({ listed: 9, unlisted: 1, stale: 0 })
  })

  it('and comes back has the values of the file, without a change where these are the same', () => {
    const back = taken([...steps, [DAY, all('CC-1')], [DAY + 10 * MINUTE, all('CC-1')]])
    expect(shown(back)).toEqual({ values: { costCenter: 'CC-1' } })
  })
})

it('the values of an instant are those of then, and nothing before the first file', () => {
  const memory = taken([
    [0, all('CC-1')],
    [DAY, all('CC-2')],
    [2 * DAY, all('CC-2')],
  ])
  const at = (instant: number) => listingAt(memory, names[0] ?? '', instant)?.values
  expect([NOW - 1, NOW, NOW + 2 * DAY - 1, NOW + 2 * DAY].map(at)).toEqual([
    undefined,
    { costCenter: 'CC-1' },
    { costCenter: 'CC-1' },
    { costCenter: 'CC-2' },
  ])
})

it('who leaves the roster stays known for 400 days, for reports on past cycles, and who never had a value has none', () => {
  const [left = '', ...rest] = names
  const on = (day: number, before: DirectoryMemory, people = [...rest, 'new@example.com']) =>
    takeDirectory(file(all('CC-1')), before, roster(people), 20, NOW + day * DAY)
  const memory = on(500, taken([[0, all('CC-1')]]))
  const back = on(898, on(700, memory, names))
  const values = { costCenter: 'CC-1' }
  const was = [memory, on(899, memory), on(900, memory), on(900, back)].map((one) => listingAt(one, left, NOW + 499 * DAY)?.values)
  expect(was).toEqual([values, values, undefined, values])
  expect(listingAt(memory, 'new@example.com', NOW + 500 * DAY)).toMatchObject({})
  expect(listingAt(memory, 'toString', NOW + 500 * DAY)).toBeUndefined()
})

it('a column that the file gains or loses is no change of a value; a change is told of for 30 days', () => {
  const cells = (row: Rows) => ({ digest: JSON.stringify(row), people: new Map([[names[0] ?? '', row]]) })
  const steps: readonly Rows[] = [{ unit: 'R' }, { unit: 'R', team: 'A' }, { team: 'A' }, { team: 'B' }]
  const memories: DirectoryMemory[] = []
  for (const [day, row] of steps.entries()) {
    const waits = takeDirectory(cells(row), memories.at(-1), roster(), 'off', NOW + day * DAY)
    memories.push(takeDirectory(cells(row), waits, roster(), 'off', NOW + day * DAY + 10 * MINUTE))
  }
  const was = { at: NOW + 3 * DAY + 10 * MINUTE, values: { team: 'A' } }
  expect(memories.map((memory) => shown(memory))).toEqual([
    ...steps.slice(0, 3).map((values) => ({ values })),
    { values: { team: 'B' }, was },
  ])
  const later = (ms: number) => withListings(roster(names, was.at + ms), memories[3]).people[0]?.listing
  expect([30 * DAY - 1, 30 * DAY].map((ms) => later(ms)?.was)).toEqual([was, undefined])
})

it('a file that says the same adds nothing; of a person the changes of 400 days are kept, 50 at most', () => {
  const counted = (days: readonly number[]) =>
    taken(
      days.flatMap((day, index) => [0, 10 * MINUTE].map((ms): readonly [number, Rows] => [day * DAY + ms, all(`CC-${index}`)])),
      'off',
    )
  const memory = counted([0, 1])
  const again = { ...file(all('CC-1')), digest: 'other bytes' }
  const waits = takeDirectory(again, memory, roster(), 'off', NOW + 2 * DAY)
  expect(takeDirectory(again, waits, roster(), 'off', NOW + 3 * DAY).people).toEqual(memory.people)
  const kept = (days: readonly number[]) => counted(days).people[names[0] ?? '']?.map(({ values }) => values?.['costCenter'])
  expect(kept([0, 1, 300, 401])).toEqual(['CC-1', 'CC-2', 'CC-3'])
  expect(kept(Array.from({ length: 60 }, (_, day) => day))).toEqual(Array.from({ length: 50 }, (_, index) => `CC-${index + 10}`))
})

it('who is not approved, has vanished or was not listed is counted in nothing that a file lacks', () => {
  const listed = (from: number, until: number): Rows => all('CC-1', names.slice(from, until))
  const memory = taken([[0, listed(0, 6)], ...[0, 10 * MINUTE].map((ms): readonly [number, Rows] => [DAY + ms, listed(0, 5)])], 'off')
  const people = roster().people.map((person) => (person.email === names[0] ? { ...person, status: 'pending' as const } : person))
  const now = { ...roster(), people }
  const fewer = file(listed(2, 5))
  const waits = takeDirectory(fewer, memory, now, 20, NOW + 2 * DAY)
  expect(takeDirectory(fewer, waits, now, 24, NOW + 3 * DAY).next?.fell).toEqual({ from: 4, to: 3 })
  expect(takeDirectory(fewer, waits, now, 25, NOW + 3 * DAY).next).toBeUndefined()
  expect(countListings(withListings(now, memory))).toEqual({ listed: 4, unlisted: 4, stale: 1 })
  expect(countListings(roster())).toBeUndefined()
})

it('a change is told of where a condition on the person wants the old or the new value', () => {
  const listing = { values: { costCenter: 'CC-2', unit: '' }, was: { at: NOW, values: { costCenter: 'CC-1', unit: 'R' } } }
  const people = roster(['ada@example.com']).people.map((person) => ({ ...person, listing }))
  const told = (when: NonNullable<PolicySketch['rules']>[number]['when']) =>
    resolveDesired(desiredInputs({ rules: [{ when, cap: 5 }] }, { roster: { ...roster(), people } })).attributeChanges
  const changed = [['ada@example.com', { at: NOW, text: 'costCenter is CC-2, was CC-1' }]]
  for (const costCenter of ['CC-1', 'CC-2']) expect([...told({ attributes: { columns: { costCenter } } })]).toEqual(changed)
  const wanted: readonly Record<string, string>[] = [{ costCenter: 'CC-7' }, { unit: 'CC-1' }, { costCenter: 'CC-2' }]
  const [other, unit, bob] = wanted.map((columns) => ({ attributes: { columns } }))
  expect([{ role: 'admin' }, { ...other }, { ...unit }, { ...bob, email: 'bob@*' }].flatMap((when) => [...told(when)])).toEqual([])
})
