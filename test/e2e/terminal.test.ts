import { describe, expect, test } from 'vitest'
import { capkeeper, hasTerminals, onTerminal } from '../support/process.ts'
import { world, written } from './world.ts'

const QUESTION = "Only 'yes' is taken: "
const ESCAPE = '\u001b'

describe.skipIf(!hasTerminals)('on a terminal', () => {
  test('apply shows the plan, asks, and writes when the answer is yes', async () => {
    const at = await world()
    const { code, screen } = await onTerminal(['apply', ...at.flags], { cwd: at.folder, question: QUESTION, answer: 'yes' })
    expect(screen).toContain(`Write 1 change to acme? ${QUESTION}`)
    expect(screen.indexOf('Plan: 1 to set.')).toBeLessThan(screen.indexOf(QUESTION))
    expect(screen.indexOf('Applied: 1 set.')).toBeGreaterThan(screen.indexOf(QUESTION))
    expect({ code, cap: at.service.capOf('team') }).toEqual({ code: 0, cap: 500 })
    // Nothing goes back to a place above the question, and writes over the plan there.
    const [, after = ''] = screen.split(QUESTION)
    expect(after.split(`${ESCAPE}8`)[0]).toContain(`${ESCAPE}7`)
  })

  test('apply --output json shows the plan before it asks, also where the answer goes to a file', async () => {
    const at = await world()
    const options = { cwd: at.folder, question: QUESTION, answer: 'yes', stdout: 'plan.json' }
    const { code, screen } = await onTerminal(['apply', '--output', 'json', ...at.flags], options)
    const [before = ''] = screen.split(QUESTION)
    expect(before).toMatch(/\+ set.*Plan: 1 to set\./s)
    expect(code).toBe(0)
    expect(at.read('plan.json')).toContain('"result": "applied"')
  })

  // Near to a yes, and Ctrl-C.
  test.each(['YES', '\u0003'])('apply takes %j as a no: it exits 1 and writes nothing', async (answer) => {
    const at = await world()
    const { code, screen } = await onTerminal(['apply', ...at.flags], { cwd: at.folder, question: QUESTION, answer })
    expect({ code, writes: written(at.service) }).toEqual({ code: 1, writes: [] })
    if (answer === 'YES') expect(screen).toContain('acme: nothing was written: declined')
  })

  test('apply does not ask when there is nothing to write', async () => {
    const at = await world()
    const first = await at.run('apply', '--yes')
    const second = await onTerminal(['apply', ...at.flags], { cwd: at.folder })
    expect([first.code, second.code]).toEqual([0, 0])
    expect(second.screen).not.toContain(QUESTION)
  })

  test('plan has colours, none with NO_COLOR, and none where there is no terminal', async () => {
    const at = await world()
    const plan = ['plan', ...at.flags]
    const colourful = await onTerminal(plan, { cwd: at.folder })
    expect(colourful.screen).toContain(`${ESCAPE}[32m+ set`)
    const plain = await onTerminal(plan, { cwd: at.folder, env: { NO_COLOR: '1' } })
    // What is left moves the cursor for the progress bar; no colour among it.
    expect(plain.screen).toContain('+ set')
    expect(plain.screen).not.toMatch(new RegExp(`${ESCAPE}\\[[0-9;]*m`))
    const piped = await capkeeper(plan, { cwd: at.folder, env: { FORCE_COLOR: '1' } })
    expect(piped.stdout + piped.stderr).not.toContain(ESCAPE)
  })

  test('errors have colours too, and a log is pretty', async () => {
    const wrong = await onTerminal(['validate', '/nowhere/at/all.yaml'])
    expect(wrong).toMatchObject({ code: 65, screen: expect.stringContaining(`${ESCAPE}[31merror:`) })
    const at = await world()
    const pretty = await onTerminal(['run', '--once', ...at.flags], { cwd: at.folder })
    expect(pretty.screen).toMatch(/INFO.*team: +set +none → 500/)
  })
})
