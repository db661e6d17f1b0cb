import { expect, test } from 'vitest'
import { createLogger, logTransition } from '../../../src/daemon/conditions/log.ts'
import { fakeClock } from '../../support/clock.ts'

const KEY = 'sk-very"secret\\key'

/** Knows the key only as it is, not as JSON spells it. */
const redact = (text: string): string => text.replaceAll(KEY, '***')

async function logger(options: Partial<Parameters<typeof createLogger>[0]> = {}) {
  const lines: string[] = []
  const log = await createLogger({
    level: 'info',
    format: 'json',
    clock: fakeClock(),
    destination: { write: (text) => lines.push(text) },
    redact,
    ...options,
  })
  return { log, lines }
}

const LEAKS: readonly (readonly [where: string, fields: Readonly<Record<string, string | number | readonly string[]>>, message: string])[] =
  [
    ['in a field', { error: `POST with ${KEY} failed` }, 'request failed'],
    ['in a list', { problems: ['fine', `key is ${KEY}`] }, 'policy is invalid'],
    ['in the name of a field', { [KEY]: 1 }, 'odd'],
    ['in the message itself', {}, `the key is ${KEY}`],
  ]

for (const format of ['json', 'pretty'] as const) {
  test.each(LEAKS)(`a key %s never appears in ${format}`, async (_, fields, message) => {
    const { log, lines } = await logger({ format, colour: false })
    log.error(fields, message)
    const shown = lines.join('')
    expect(shown).toContain('***')
    expect(shown).not.toContain('secret')
  })
}

test('text from outside cannot forge a line or colour a terminal', async () => {
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines } = await logger({ format, colour: false })
    log.warn({ error: 'first\nlevel: fatal \u001b[31m' }, 'warning')
    expect(lines).toHaveLength(1)
    expect(lines[0]?.trimEnd()).not.toContain('\n')
    expect(lines[0]).not.toContain('\u001b')
  }
})

test('pretty lines are sentences: the one that was handed in, or else the message with its error and its fields', async () => {
  const { log, lines } = await logger({ format: 'pretty', colour: false })
  log.info({ workspace: 'acme', scope: 'team', from: 5, to: 'none' }, 'cap written', () => 'team: cleared 5 → none')
  log.error({ error: 'no\u001b[2J', entries: 3 }, 'old history could not be forgotten')
  log.error({ problems: ['a.yaml:1:2: error: bad', '  cap: x', '       ^'] }, 'policies have errors')
  const told = { type: 'ConfigInvalid', subject: 'x', reason: 'X', message: 'bad', since: 0, fields: { problems: ['bad'] } } as const
  logTransition(log, { change: 'ended', condition: told })
  expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''))).toEqual([
    'INFO: team: cleared 5 → none\n',
    'ERROR: old history could not be forgotten: no\uFFFD[2J (entries 3)\n',
    'ERROR: policies have errors\n  a.yaml:1:2: error: bad\n    cap: x\n         ^\n',
    'INFO: configuration is valid again (condition ConfigInvalid, subject x, code X, since 1970-01-01T00:00:00.000Z)\n',
  ])
})

test('pretty lines have their fields at debug', async () => {
  const { log, lines } = await logger({ format: 'pretty', level: 'debug', colour: false })
  log.info({ workspace: 'acme', from: 5 }, 'cap written', () => 'team: cleared 5 → none')
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d INFO: team: cleared 5 → none \{"workspace":"acme","from":5\}\n$/)
})

test('pretty lines are coloured on a terminal', async () => {
  const lines: string[] = []
  const { log } = await logger({ format: 'pretty', destination: { isTTY: true, write: (text) => lines.push(text) } })
  log.info({}, 'cap written')
  expect(lines[0]).toContain('\u001b[')
})
