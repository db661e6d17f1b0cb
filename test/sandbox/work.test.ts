// The seeded rows of every source: complete in their values, similar to real use, the same under the same seed, also across restarts,
// and the origin of every figure in the roster.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/temporary.ts'

const USE_SOURCES = ['agent', 'autocomplete', 'chat', 'command', 'typing'] as const
type Sandbox = ReturnType<typeof createSandbox>

const DAY = 86_400_000
const HOUR = 3_600_000
const NOW = Date.UTC(2026, 10, 20, 12)
const sandboxOf = (options: Partial<Parameters<typeof createSandbox>[0]> = {}): Sandbox =>
  createSandbox({ clock: fakeClock(NOW), ...options })
const everyRow = ({ store }: Sandbox) => USE_SOURCES.map((source) => [...store.use(source)])

const { store } = sandboxOf()
const use = {
  agent: [...store.use('agent')],
  autocomplete: [...store.use('autocomplete')],
  chat: [...store.use('chat')],
  command: [...store.use('command')],
  typing: [...store.use('typing')],
}
const all = Object.values(use).flat()
const values = <Row, Value>(rows: readonly Row[], of: (row: Row) => Value): ReadonlySet<Value> => new Set(rows.map(of))

describe('the rows', () => {
  test('have every value that the interface lists', () => {
    const listed = (prefix: string, names: string) => new Set(names.split(' ').map((name) => `${prefix}_${name}`))
    expect(values(use.chat, (row) => row.intent)).toEqual(
      listed(
        'CHAT_INTENT',
        'GENERIC FUNCTION_EXPLAIN FUNCTION_DOCSTRING FUNCTION_REFACTOR CODE_BLOCK_EXPLAIN CODE_BLOCK_REFACTOR PROBLEM_EXPLAIN FUNCTION_UNIT_TESTS',
      ),
    )
    expect(values(use.command, (row) => row.commandSource)).toEqual(
      listed(
        'COMMAND_REQUEST_SOURCE',
        'LINE_HINT_CODE_LENS DEFAULT RIGHT_CLICK_REFACTOR FUNCTION_CODE_LENS FOLLOWUP CLASS_CODE_LENS PLAN SELECTION_HINT_CODE_LENS',
      ),
    )
    expect(values(use.command, (row) => row.providerSource)).toEqual(listed('PROVIDER_SOURCE', 'COMMAND_GENERATE COMMAND_EDIT'))
    expect(values(use.command, (row) => row.accepted)).toEqual(new Set([true, false]))
    for (const tick of ['accepted', 'insertedAtCursor', 'applied'] as const) expect(values(use.chat, (row) => row[tick]).size).toBe(2)
    expect(values(use.agent, (row) => row.ide)).toEqual(new Set(['editor', 'jetbrains', 'cli']))
    expect(values(use.autocomplete, (row) => row.ide)).toEqual(new Set(['editor', 'jetbrains', 'vscode']))
  })

  test('write languages in upper case, IDEs in lower case, and versions as numbers that rise with time', () => {
    const written = [...use.autocomplete, ...use.command, ...use.typing]
    expect(written.every((row) => /^[A-Z]+$/.test(row.language) && /^[a-z]+$/.test(row.ide) && /^\d\.\d+\.0$/.test(row.version))).toBe(true)
    expect(values(written, (row) => row.language).size).toBeGreaterThan(12)
    const [person] = use.autocomplete
    const versions = use.autocomplete.filter((row) => row.person === person?.person).map((row) => Number(row.version.split('.')[1]))
    expect(versions).toEqual(versions.toSorted((a, b) => a - b))
    expect(new Set(versions).size).toBeGreaterThan(3)
  })

  test('of autocomplete are one for each person, hour, language, IDE and version, some without any acceptance', () => {
    const keys = use.autocomplete.map((row) => [row.person, Math.floor(row.at / HOUR), row.language, row.ide, row.version].join())
    expect(new Set(keys).size).toBe(keys.length)
    const idle = use.autocomplete.filter((row) => row.acceptances === 0)
    expect(idle.length).toBeGreaterThan(0)
    expect(idle.every((row) => row.linesAccepted === 0 && row.bytesAccepted === 0)).toBe(true)
  })

  test('of generations have no selection and remove nothing', () => {
    const generated = use.command.filter((row) => row.providerSource === 'PROVIDER_SOURCE_COMMAND_GENERATE')
    expect(generated.length).toBeGreaterThan(100)
    expect(generated.every((row) => row.selectionLines + row.selectionBytes + row.linesRemoved + row.bytesRemoved === 0)).toBe(true)
  })

  test('of the legacy chat come from plugins only', () => {
    expect([...values(use.chat, (row) => row.ide)].sort()).toEqual(['jetbrains', 'vscode'])
  })

  test('are never in the future or before the requested days, and hold only whole figures', () => {
    expect(all.every((row) => row.at <= NOW && row.at > NOW - 90 * DAY)).toBe(true)
    expect(use.agent[0]?.at).toBeLessThan(NOW - 88 * DAY)
    const figures = all.flatMap((row) => Object.values(row).filter((value) => typeof value === 'number'))
    expect(figures.every((value) => Number.isInteger(value) && value >= 0)).toBe(true)
  })

  test('are on working days, in waking hours, and only of people with access', () => {
    const weekend = all.filter((row) => [0, 6].includes(new Date(row.at).getUTCDay())).length
    expect(weekend / all.length).toBeLessThan(0.06)
    const working = new Set(store.people().flatMap((person) => (person.status === 'APPROVED' && !person.disabled ? [person.id] : [])))
    expect(all.every((row) => working.has(row.person))).toBe(true)
    const hours = Map.groupBy(all, (row) => new Date(row.at).getUTCHours())
    const counts = Array.from({ length: 24 }, (_, hour) => hours.get(hour)?.length ?? 0)
    expect(Math.max(...counts)).toBeGreaterThan(4 * Math.min(...counts))
  })

  test('of a whole cycle range from almost none to a few thousand credits, beyond the seat for a share of people', () => {
    const october = { fromAt: Date.UTC(2026, 9, 1), untilAt: Date.UTC(2026, 10, 1) - 1 }
    const credits = [...store.usedCents(october).values()].map((cents) => cents / 100).sort((a, b) => a - b)
    const beyondSeat = credits.filter((amount) => amount > 500).length / 200
    expect(beyondSeat > 0.1 && beyondSeat < 0.45).toBe(true)
    expect(credits[0]).toBeLessThan(50)
    expect(credits.at(-1)).toBeGreaterThan(1500)
    expect(credits.at(-1)).toBeLessThan(6000)
  })
})

describe('the same seed', () => {
  const company = { people: 30, days: 8, seed: 5 }

  test('gives the same people and rows of every source again, and another seed gives others', () => {
    const everything = (seed: number) => {
      const made = sandboxOf({ company: { ...company, seed } })
      return { people: made.store.people(), groups: made.store.groups(), rows: everyRow(made) }
    }
    const [one, other] = [everything(5), everything(6)]
    expect(everything(5)).toEqual(one)
    expect(one.people.slice(8).map(({ email }) => email)).not.toEqual(other.people.slice(8).map(({ email }) => email))
    expect(one.rows).not.toEqual(other.rows)
  })

  test('gives the same use for the same day, whenever the sandbox was started', () => {
    const dayOf = (startAt: number, days: number) => {
      const made = sandboxOf({ clock: fakeClock(startAt), company: { people: 30, days } })
      return [...made.store.use('agent')].filter(({ at }) => Math.floor(at / DAY) === Date.UTC(2026, 10, 18) / DAY)
    }
    const early = dayOf(NOW - DAY, 10)
    expect(early).toEqual(dayOf(NOW, 4))
    expect(early.length).toBeGreaterThan(0)
  })
})

test('docs/service.md, A person: active days are the days with an acceptance, agent use or a command, and follow from the rows', () => {
  const days = new Map<number, Set<number>>()
  for (const row of [...use.agent, ...use.command, ...use.autocomplete.filter((one) => one.acceptances > 0)]) {
    const own = days.get(row.person) ?? new Set<number>()
    days.set(row.person, own.add(Math.floor(row.at / DAY)))
  }
  const counted = store.activeDays({ fromAt: 0, untilAt: NOW })
  expect([...counted].sort(([a], [b]) => a - b)).toEqual([...days].map(([id, own]) => [id, own.size] as const).sort(([a], [b]) => a - b))
})

test('a data file of another version is refused', () => {
  const data = join(temporaryFolder(), 'company.db')
  const old = sandboxOf({ data, company: { people: 3, groups: 1, days: 0 } })
  old.store.select('PRAGMA user_version = 1', [])
  old.close()
  expect(() => sandboxOf({ data })).toThrow(/^sandbox data .*company\.db cannot be used: another version.*--data/)
})
