// Agent analytics compared with the raw rows: lines, runs and tools, filters, and rows as the service keeps them.
import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'

type Sandbox = ReturnType<typeof createSandbox>

type Body = Readonly<Record<string, unknown>>

const DAY = 86_400_000
const ADA = 'ada.lovelace@example.com'
const sandboxOf = (switches: Parameters<typeof createSandbox>[0]['switches'] = {}) =>
  createSandbox({ clock: fakeClock(), company: { people: 40, days: 30 }, switches })
const everything = { query_requests: [{ cascade_lines: {} }, { cascade_runs: {} }, { cascade_tool_usage: {} }] }

function ask(sandbox: Sandbox, body: Body, key = 'sandbox-teams-read') {
  const { status, body: text } = sandbox.handle('CascadeAnalytics', { service_key: key, ...body })
  return { status, body: JSON.parse(text) }
}

type Rows = readonly Readonly<Record<string, string>>[]

interface Answered {
  readonly lines: Rows
  readonly runs: Rows
  readonly tools: Rows
}

function answerOf(sandbox: Sandbox, body: Body = {}, key?: string): Answered {
  const told = ask(sandbox, { ...everything, ...body }, key)
  expect(told.status, JSON.stringify(told.body)).toBe(200)
  const [lines, runs, tools] = told.body.queryResults
  return { lines: lines.cascadeLines.cascadeLines, runs: runs.cascadeRuns.cascadeRuns, tools: tools.cascadeToolUsage.cascadeToolUsage }
}

const sandbox = sandboxOf()
const rows = [...sandbox.store.use('agent')]
type AgentUse = (typeof rows)[number]
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const midnight = (at: number): string => new Date(at - (at % DAY)).toISOString().replace('.000Z', 'Z')

/** The expected figures of an answer, from the rows. */
function naive(of: readonly AgentUse[]) {
  const reported = of.filter((row) => row.ide !== 'cli')
  const days = Map.groupBy(reported, (row) => midnight(row.at))
  const tools = Map.groupBy(
    reported.flatMap((row) => Object.entries(row.tools)),
    ([tool]) => tool,
  )
  return {
    lines: [...days].map(([day, some]) => ({
      day,
      linesSuggested: String(sum(some.map((row) => row.linesSuggested))),
      linesAccepted: String(sum(some.map((row) => row.linesAccepted))),
    })),
    runs: of.map((row) => [midnight(row.at), row.model, row.mode, String(row.messages), String(row.cents)].join(' ')),
    tools: new Map([...tools].map(([tool, uses]) => [tool, String(sum(uses.map(([, count]) => count)))])),
  }
}

function check(told: Answered, of: readonly AgentUse[]): void {
  const expected = naive(of)
  expect(told.lines).toEqual(expected.lines)
  expect(told.runs.map((run) => [run.day, run.model, run.mode, run.messagesSent, run.promptsUsed].join(' '))).toEqual(expected.runs)
  expect(new Map(told.tools.map(({ tool, count }) => [tool, count]))).toEqual(expected.tools)
}

describe('docs/service.md, CascadeAnalytics', () => {
  test('without filters answers all rows of all people', () => {
    expect(rows.length).toBeGreaterThan(500)
    check(answerOf(sandbox), rows)
  })

  test('restricts to emails, without regard to case and spaces; unknown ones match no row', () => {
    const ada = sandbox.store.person(ADA)?.id
    const mine = rows.filter((row) => row.person === ada)
    expect(mine.length).toBeGreaterThan(0)
    check(answerOf(sandbox, { emails: [` ${ADA.toUpperCase()}`] }), mine)
    check(answerOf(sandbox, { emails: [ADA, 'nobody@example.com'] }), mine)
    check(answerOf(sandbox, { emails: ['nobody@example.com'] }), [])
  })

  test('restricts to a group, and to the group of a limited key', () => {
    const members = sandbox.store.members('grp_data')
    const theirs = rows.filter((row) => members.has(row.person))
    check(answerOf(sandbox, { group_name: 'Data' }), theirs)
    sandbox.store.saveKey({ secret: 'limited', permissions: ['Teams Read-only'], groupId: 'grp_data' })
    check(answerOf(sandbox, {}, 'limited'), theirs)
    check(answerOf(sandbox, { emails: ['edsger.dijkstra@example.com'] }, 'limited'), [])
  })

  test('restricts to a range, both ends included, whatever their offsets', () => {
    const [first, last] = [rows[100]?.at ?? 0, rows[300]?.at ?? 0]
    const within = rows.filter((row) => row.at >= first && row.at <= last)
    expect(within.length).toBeGreaterThanOrEqual(201)
    check(answerOf(sandbox, { start_timestamp: new Date(first).toISOString(), end_timestamp: new Date(last).toISOString() }), within)
    const elsewhere = new Date(last + 9 * 3_600_000).toISOString().replace('Z', '+09:00')
    check(answerOf(sandbox, { start_timestamp: new Date(first).toISOString(), end_timestamp: elsewhere }), within)
  })

  test.each([[['editor']], [['jetbrains']], [['editor', 'jetbrains']], [['jetbrains', 'cli']], [['editor', 'jetbrains', 'cli']]])(
    'restricts to the ide types %j',
    (ides) => {
      check(
        answerOf(sandbox, { ide_types: ides }),
        rows.filter((row) => ides.includes(row.ide)),
      )
    },
  )

  test('the rule of the terminal: with cli only, runs have data, lines and tools have none', () => {
    const told = answerOf(sandbox, { ide_types: ['cli'] })
    expect(told).toEqual({ lines: [], tools: [], runs: expect.any(Array) })
    expect(told.runs).toHaveLength(rows.filter((row) => row.ide === 'cli').length)
    expect(told.runs.length).toBeGreaterThan(0)
  })

  test('the rule of the terminal holds for whatever was recorded there', () => {
    const own = sandboxOf()
    const before = answerOf(own)
    const [row] = rows
    if (row) own.store.addUse({ ...row, ide: 'cli', linesSuggested: 1000, linesAccepted: 900, tools: { MEMORY: 77 } })
    const after = answerOf(own)
    expect([after.lines, after.tools]).toEqual([before.lines, before.tools])
    expect(after.runs).toHaveLength(before.runs.length + 1)
  })

  test('accepts as many queries as it says, and no more', () => {
    const queries = (count: number) => ({ query_requests: Array.from({ length: count }, () => ({ cascade_runs: {} })) })
    expect(ask(sandbox, queries(100)).status).toBe(200)
    expect(ask(sandbox, queries(101)).body.error).toMatch(/101 elements: at most 100/)
  })
})

describe('docs/service.md, Rows of the agent', () => {
  const { runs, lines, tools } = answerOf(sandbox)

  test('hold texts only', () => {
    for (const item of [...runs, ...lines, ...tools]) expect(Object.values(item).every((value) => typeof value === 'string')).toBe(true)
    expect(runs[0]?.cascadeId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  test('show every mode and every tool, and UNKNOWN among models and modes', () => {
    const modes = ['DEFAULT', 'NO_TOOL', 'READ_ONLY'].map((mode) => `CONVERSATIONAL_PLANNER_MODE_${mode}`)
    expect([...new Set(runs.map((run) => run.mode))].sort()).toEqual([...modes, 'UNKNOWN'])
    expect(runs.some((run) => run.model === 'UNKNOWN')).toBe(true)
    const all =
      'CODE_ACTION DEPLOY_WEB_APP FIND GREP_SEARCH LIST_DIRECTORY MCP_TOOL MEMORY MQUERY PROPOSE_CODE PROXY_WEB_SERVER RUN_COMMAND SEARCH_WEB ' +
      'VIEW_FILE VIEW_FILE_OUTLINE WORKFLOWS_USED'
    expect(tools.map(({ tool }) => tool).sort()).toEqual(all.split(' '))
  })

  test('split some conversations over rows of one day, whose sums are what was used', () => {
    const conversations = Map.groupBy(runs, (run) => run.cascadeId)
    const split = [...conversations.values()].filter((some) => some.length > 1)
    expect(split.length / conversations.size).toBeGreaterThan(0.05)
    expect(split.length / conversations.size).toBeLessThan(0.2)
    for (const some of split) {
      expect(new Set(some.map((run) => run.day)).size).toBe(1)
      expect(some.some((run) => run.mode === 'UNKNOWN' || run.model === 'UNKNOWN')).toBe(true)
    }
    expect(sum(runs.map((run) => Number(run.promptsUsed)))).toBe(sum(rows.map((row) => row.cents)))
  })

  test('accept no more lines than are suggested', () => {
    expect(lines.length).toBeGreaterThan(15)
    expect(lines.every((line) => Number(line.linesAccepted) <= Number(line.linesSuggested))).toBe(true)
  })
})

describe('the switches', () => {
  test('--plan quota shows no credits, and changes nothing else', () => {
    const quota = answerOf(sandboxOf({ plan: 'quota' }))
    const told = answerOf(sandbox)
    expect(quota.runs).toEqual(told.runs.map(({ promptsUsed: _, ...run }) => run))
    expect([quota.lines, quota.tools]).toEqual([told.lines, told.tools])
  })

  test('--zeros omitted leaves out counters of 0 and empty lists, and keeps the wrappers', () => {
    const omitting = sandboxOf({ zeros: 'omitted' })
    const without = <Item extends object>(item: Item) => Object.fromEntries(Object.entries(item).filter(([, value]) => value !== '0'))
    const days = Map.groupBy(
      rows.filter((row) => row.ide !== 'cli'),
      (row) => `${row.person} ${midnight(row.at)}`,
    )
    const fruitless = [...days.values()].find((some) => some.every((row) => row.linesAccepted === 0))?.[0]?.person
    const emails = sandbox.store.people().flatMap((person) => (person.id === fruitless ? [person.email] : []))
    const [told, omitted] = [answerOf(sandbox, { emails }), answerOf(omitting, { emails })]
    expect(omitted).toEqual({ lines: told.lines.map(without), runs: told.runs.map(without), tools: told.tools })
    expect(omitted.lines.some((line) => !('linesAccepted' in line))).toBe(true)
    expect(answerOf(omitting).runs.some((run) => !('messagesSent' in run))).toBe(true)
    const nobody = ask(omitting, { ...everything, emails: ['nobody@example.com'] })
    expect(nobody.body).toEqual({ queryResults: [{ cascadeLines: {} }, { cascadeRuns: {} }, { cascadeToolUsage: {} }] })
  })

  test('--analytics-delay hides later rows', () => {
    const lag = 3 * DAY
    const until = sandbox.now() - lag
    check(
      answerOf(sandboxOf({ analyticsDelay: lag })),
      rows.filter((row) => row.at <= until),
    )
  })

  test('--names and --int64 have no effect', () => {
    const told = answerOf(sandbox)
    for (const switches of [{ names: 'live' }, { int64: 'string' }] as const) {
      expect(answerOf(sandboxOf(switches))).toEqual(told)
    }
  })
})
