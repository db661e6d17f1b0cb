import { describe, expect, test } from 'vitest'
import { callsIn, commandNames, offenceOf } from '../support/command-lines.ts'
import { run } from './world.ts'

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
})

test('secrets are taken out in every spelling, and short words are left alone', async () => {
  const typed = `ab sk/very"secret ${JSON.stringify({ key: 'sk/very"secret' })} ${encodeURIComponent('sk/very"secret')}`
  const ran = await run(['explain', typed], { env: { CAPKEEPER_SERVICE_KEY: 'sk/very"secret\n', PGPASSWORD: 'ab' } })
  expect(ran.stderr).toContain(`error: 'ab *** {"key":"***"} ***' is not a scope`)
})
