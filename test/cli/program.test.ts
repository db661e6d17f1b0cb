import { describe, expect, test } from 'vitest'
import { callsIn, commandNames, offenceOf } from '../support/command-lines.ts'
import { run } from './world.ts'

const KEY = 'sk-very-secret-key'

describe('wrong usage exits 64 and says what to do on stderr', () => {
  const rows: readonly (readonly [string, readonly string[], string])[] = [
    ['no command', [], 'Usage: capkeeper <command> [flags]'],
    ['an unknown command', ['valdiate'], "error: unknown command 'valdiate'\n(Did you mean validate?)\nRun `capkeeper --help`"],
    [
      'an unknown flag',
      ['validate', '--confg', 'x'],
      "unknown option '--confg'\n(Did you mean --config?)\nRun `capkeeper validate --help`",
    ],
    ['an output that a command does not have', ['history', '--output', 'markdown'], 'Allowed choices are text, json.'],
    ['a missing argument', ['approve'], "missing required argument 'id'"],
    ['a hold id of the wrong form', ['approve', '7d1f'], 'A hold id has 32 hex digits'],
    ['too many arguments', ['resume', 'acme'], "too many arguments for 'resume'"],
    ['a pause without a reason', ['pause', '--for', '4h'], "required option '--reason <text>' not specified"],
    ['a pause with an empty reason', ['pause', '--for', '4h', '--reason', ' '], 'error: --reason is empty'],
    ['a pause of more than 7 days', ['pause', '--for', '8d', '--reason', 'x'], 'A pause lasts 7 days at most'],
    ['a pause of no length', ['pause', '--for', '0h', '--reason', 'x'], 'longer than nothing'],
    ['a scope that is none', ['history', 'somebody'], 'Write an e-mail, group:ID or team.'],
    ['a since that is none', ['history', '--since', 'yesterday'], 'Write a duration (7d), a date (2026-11-01)'],
    ['a schema of nothing', ['schema', 'plan'], 'Allowed choices are policy, config.'],
    ['a status address that is none', ['status', '--url', 'localhost:9464'], "--url is 'localhost:9464'"],
    [
      'an empty file of a flag',
      ['plan', '--out', ''],
      'error: --out is empty: give it a value, or leave it out\nRun `capkeeper plan --help`',
    ],
    ['an empty value of a flag behind others', ['validate', '--policies', 'p', '--policies='], 'error: --policies is empty'],
    ['an empty flag of a network command', ['audit', '--ledger', ''], 'error: --ledger is empty'],
    ['an empty path', ['validate', 'p', ''], 'error: the argument path is empty: give it a value, or leave it out'],
    ['an empty name of a ledger', ['ledger', 'copy', 'a.db', ''], 'error: the argument to is empty'],
    ['ledger without a command', ['ledger'], 'Usage: capkeeper ledger <command> [flags]'],
  ]
  test.each(rows)('%s', async (_name, argv, message) => {
    const ran = await run(argv)
    expect(ran).toMatchObject({ code: 64, stdout: '' })
    expect(ran.stderr).toContain(message)
  })
})

describe('the service key', () => {
  test.each([
    ['as a flag with its value apart', ['validate', '--service-key', KEY]],
    ['as a flag with its value attached', ['validate', `--service-key=${KEY}`]],
    ['before the command', ['--service-key', KEY, 'validate']],
    ['under another usual name', ['validate', `--token=${KEY}`]],
  ])('%s is refused with a pointer to the file and the variable, and not repeated', async (_name, argv) => {
    const ran = await run(argv)
    expect(ran.code).toBe(64)
    expect(ran.stderr).toContain('--service-key-file FILE, or set CAPKEEPER_SERVICE_KEY')
    expect(ran.stderr + ran.stdout).not.toContain(KEY)
  })

  test('behind a misspelt flag is not repeated', async () => {
    const ran = await run(['validate', `--sevice-key=${KEY}`])
    expect(ran).toMatchObject({ code: 64 })
    expect(ran.stderr).toContain("unknown option '--sevice-key'")
    expect(ran.stderr).not.toContain(KEY)
  })

  test('in the environment is taken out of error messages', async () => {
    const ran = await run(['history', KEY], { env: { CAPKEEPER_SERVICE_KEY: KEY } })
    expect(ran.stderr).toContain('***')
    expect(ran.stderr).not.toContain(KEY)
  })
})

describe('help', () => {
  const commands = commandNames()

  test.each(commands)('of %s goes to stdout with a description and an example, and exits 0', async (name) => {
    const ran = await run([...name.split(' '), '--help'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toMatch(new RegExp(`^Usage: capkeeper ${name} `))
    const lines = (/\nExamples?:\n([\s\S]*)$/.exec(ran.stdout)?.[1] ?? '').split('\n')
    const calls = lines.flatMap((line) => callsIn(line.trim()))
    expect(calls.filter((call) => call.startsWith(`capkeeper ${name}`))).not.toEqual([])
    expect(calls.map(offenceOf).filter((offence) => offence !== undefined)).toEqual([])
  })

  test('names the variable of a flag', async () => {
    const ran = await run(['help', 'history'])
    expect(ran.code).toBe(0)
    expect(ran.stdout.replace(/\s+/g, ' ')).toContain('(env: CAPKEEPER_LEDGER)')
  })

  test('of the program lists every command', async () => {
    const ran = await run(['--help'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    for (const name of commands) expect(ran.stdout).toContain(`\n  ${name.split(' ')[0]} `)
  })

  test('--version prints the version alone', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' })
  })
})

describe('schema', () => {
  test.each(['policy', 'config'])('%s is a JSON Schema on stdout', async (kind) => {
    const ran = await run(['schema', kind])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(ran.stdout)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' })
  })
})
