// The runbook is read at night: every alert has its section, every section an alert, and every command in the text of an alert is one that the program
// takes.
import { describe, expect, test } from 'vitest'
import { offenceOf, wordsOf } from '../support/command-lines.ts'
import { alertRules, readDeploy } from '../support/rules.ts'

const runbook = readDeploy('RUNBOOK.md')
const sections = runbook.split(/^## /m).slice(1)
const headings = sections.map((section) => section.split('\n', 1)[0] ?? '')
const blocks = [...runbook.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, body = '']) => body.trim().split('\n'))
test('every alert has one section, and every section an alert', () => {
  const alerts = new Set(alertRules().map((rule) => rule.alert))
  expect(headings.toSorted()).toEqual([...alerts].toSorted())
})

test.each(sections.map((section, index) => [headings[index] ?? '', section] as const))(
  'the section %s says how bad it is, how to see it, how to silence it and whom to call',
  (_heading, section) => {
    expect(section).toMatch(/^\w+\n\n(Critical|Warning)\b/)
    expect(section).toMatch(/\nSee:\n\n```sh\n(capkeeper|curl) /)
    expect(section).toMatch(/\nSilence: /)
    expect(section).toMatch(/\nEscalate: /)
  },
)

test('a section names its own alert where it silences', () => {
  const silences = sections.flatMap((section) => /amtool silence add alertname=(\w+)/.exec(section)?.slice(1) ?? [])
  expect(silences.filter((name) => !headings.includes(name))).toEqual([])
  expect(silences.length).toBeGreaterThan(15)
})

describe('a command line', () => {
  // guide.test.ts has those of the runbook; a name in a sentence is no line to type.
  const lines = alertRules().flatMap(({ annotations }) =>
    [...`${annotations['description']}`.matchAll(/`(capkeeper [^\s`]+ [^`]+)`/g)].flatMap(([, line = '']) => line),
  )

  test.each([...new Set(lines)])('%s in the text of an alert is one the program takes', (line) => {
    expect(offenceOf(line)).toBeUndefined()
  })

  test.each([
    ['capkeeper plam', "unknown command 'plam'"],
    ['capkeeper plan --no-such-flag', "unknown option '--no-such-flag'"],
    ['capkeeper approve', "missing required argument 'id'"],
    ['capkeeper explain team group:a', 'too many arguments'],
    ['capkeeper plan --output html', 'html'],
    ['capkeeper ledger', 'outputHelp'],
  ])('%s is refused', (line, why) => {
    expect(offenceOf(line)).toContain(why)
  })

  test('keeps what is in quotes together', () => {
    expect(wordsOf('capkeeper pause --for 4h --reason "a b"')).toEqual(['capkeeper', 'pause', '--for', '4h', '--reason', 'a b'])
  })

  test('in a block is of capkeeper, amtool or curl', () => {
    expect(blocks.filter((line) => !/^(capkeeper|amtool silence add|curl) /.test(line))).toEqual([])
  })
})
