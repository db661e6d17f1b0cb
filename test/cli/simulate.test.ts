// `simulate` as a user types it, on a ledger that the real adapter wrote.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/ledger.ts'
import type { RecordedCompany } from '../support/recorded.ts'
import { BUSY, COMPANY, PEOPLE, POLICY, recordedPlace } from './recorded-place.ts'

describe('simulate', () => {
  test('shows the simulated cycles, aligned and with a verdict', async () => {
    const { code, stdout, stderr } = await (await recordedPlace()).run('simulate')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^acme: policy [0-9a-f]{12} over 3 cycles, 2026-08-01 to 2026-11-01, beside what was in force$/)
    // Ada: 2,600 - 300 of seats, 3 x 400 let through; the others 650 - 300, let through all of it for Bob, and 3 x 50 for the two in no group.
    expect(lines.slice(1, 3).join(' ')).toBe(
      'Over the last 3 cycles this policy would have kept 1,500 of 3,350 add-on credits, and blocked 3 people on 69 of 260 working days; in force it was 0 people on 0.',
    )
    const rows = lines.filter((line) => /^(CYCLE|20\d\d| {2}Web| {2}in no)/.test(line) && !line.includes('@'))
    expect(new Set(rows.map((line) => line.length)).size).toBe(1)
    expect(rows).toHaveLength(10)
  })

  test.each(['json', 'markdown', 'html'] as const)('prints %s', async (format) => {
    const { code, stdout } = await (await recordedPlace()).run('simulate', '--output', format)
    expect(code).toBe(0)
    expect(stdout).toContain(BUSY)
  })

  test('draws each cycle under both sides as HTML', async () => {
    const { stdout } = await (await recordedPlace()).run('simulate', '--output', 'html')
    expect(stdout).toContain('this policy: 69; in force: 0.')
    expect(stdout.match(/<figure class="chart">/g)).toHaveLength(2)
    expect(stdout).not.toMatch(/\sstyle=|NaN/)
  })

  test('has money where a price is configured', async () => {
    const { stdout } = await (await recordedPlace(COMPANY, { pricePerCredit: 0.5 })).run('simulate', '--cycles', '1', '--output', 'json')
    const [{ cycles }] = JSON.parse(stdout).simulations
    expect(cycles).toHaveLength(1)
    expect(cycles[0].total.keptMoney).toBe(cycles[0].total.kept * 0.5)
  })

  test('takes the credits of a seat from the config where the balance does not tell them', async () => {
    const totals = async (...place: Parameters<typeof recordedPlace>) => {
      const { stdout } = await (await recordedPlace(...place)).run('simulate', '--output', 'json')
      const [{ cycles, notes, creditsPerSeat }] = JSON.parse(stdout).simulations
      return { creditsPerSeat, totals: cycles.map(({ total }: { total: unknown }) => total), isBound: /upper bound/.test(notes.join()) }
    }
    const { creditsPerSeat: _, ...untold } = COMPANY
    expect((await totals(untold)).isBound).toBe(true)
    expect(await totals(untold, { creditsPerSeat: 100 })).toEqual(await totals(COMPANY))
    expect((await totals(COMPANY, { creditsPerSeat: 7 })).creditsPerSeat).toBe(100)
  })

  test.each(['text', 'json', 'markdown', 'html'])('names nobody as %s where people are hashed', async (format) => {
    const at = await recordedPlace(COMPANY, { people: 'hash' })
    at.write('policy.yaml', {
      ...POLICY,
      spec: {
        ...POLICY.spec,
        users: [
          { email: BUSY, cap: 300 },
          { email: PEOPLE[2], cap: 9000 },
        ],
      },
    })
    const { code, stdout, stderr } = await at.run('simulate', '--output', format)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).not.toMatch(/@example|ada\b/)
    expect(stdout).toMatch(/[0-9a-f]{12}/)
  })

  test('compares with another policy', async () => {
    const at = await recordedPlace()
    const other = at.write('other.yaml', { ...POLICY, spec: { workspace: 'acme', team: { cap: 10 } } })
    const { stdout } = await at.run('simulate', '--against', other, '--output', 'json')
    const [{ beside, gains, losses }] = JSON.parse(stdout).simulations
    expect(beside).toMatchObject({ kind: 'policy' })
    expect({ gains: gains.length, losses }).toEqual({ gains: 4, losses: [] })
  })

  test.each(['text', 'markdown', 'html', 'json'])('replays pools beside another policy, as %s', async (format) => {
    const at = await recordedPlace()
    const pools = [{ name: 'web', members: { groups: ['grp_web'] }, credits: 1000 }]
    const pooled = at.write('pooled.yaml', { ...POLICY, spec: { ...POLICY.spec, groups: [{ id: 'grp_web', name: 'Web' }], pools } })
    const { code, stdout, stderr } = await at.run('simulate', pooled, '--against', at.policy, '--cycles', '1', '--output', format)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('pool web')
    if (format !== 'json') return
    const [{ cycles }] = JSON.parse(stdout).simulations
    // Ada wants 22 x 40 - 100 in October, Bob 120: 400 each are too few for her, 1000 for both are enough.
    expect(cycles[0].pools).toMatchObject([
      { key: 'pool:web', credits: 1000, people: 2, policy: { credits: { middle: 900 } }, beside: { credits: { middle: 520 } } },
    ])
  })

  test('says from when a recorded history is long enough for what is asked', async () => {
    const { code, stdout } = await (await recordedPlace()).run('simulate', '--cycles', '6', '--output', 'json')
    const [{ notes, cycles }] = JSON.parse(stdout).simulations
    expect({ code, cycles: cycles.length }).toEqual({ code: 0, cycles: 3 })
    expect(notes[0]).toBe('Days are recorded from 2026-08-03 on, and 3 cycles are recorded as a whole; 6 will be from 2027-02-01 on.')
  })

  test('is refused before a cycle is known, with the share reached and the command to type', async () => {
    expect(await (await recordedPlace({ ...COMPANY, fromAt: Date.UTC(2026, 10, 9) })).run('simulate')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/is known for 0 % of the people; type: capkeeper collect --config /),
    })
  })

  test.each<[string, RecordedCompany | 'empty', number]>([
    ['no day', 'empty', 4],
    ['no whole cycle', { ...COMPANY, fromAt: Date.UTC(2026, 10, 9) }, 4],
    ['as much', COMPANY, 0],
  ])('%s of another workspace is recorded: the first is told of all the same', async (_row, recorded, code) => {
    const at = await recordedPlace()
    await at.beside('beta', recorded)
    const ran = await at.run('simulate')
    expect(ran).toMatchObject({
      code,
      stdout: expect.stringContaining('acme'),
      stderr: code === 0 ? '' : expect.stringContaining('error: beta: '),
    })
    expect(ran.stdout.includes('beta')).toBe(code === 0)
  })

  test.each<[string, (at: Awaited<ReturnType<typeof recordedPlace>>) => readonly string[], number, string]>([
    ['a ledger without days', () => [], 1, 'capkeeper collect'],
    ['a daemon for a ledger', () => ['--ledger', 'http://127.0.0.1:9464'], 64, 'ledger backup'],
    ['a ledger that does not exist', () => ['--ledger', join(temporaryFolder(), 'no.db')], 1, 'has no records'],
    ['a policy that does not parse', (at) => [at.write('bad.yaml', 'spec: [')], 65, 'bad.yaml:1:'],
    ['another policy that does not parse', (at) => ['--against', at.write('bad.yaml', 'kind: CapPolicy')], 65, 'bad.yaml:1:1'],
    ['a path that leads nowhere', () => ['--against', 'nowhere.yaml'], 65, 'nowhere.yaml does not exist'],
    ['no number of cycles', () => ['--cycles', 'many'], 64, 'from 1 to 36'],
    ['a workspace that nobody knows', () => ['--workspace', 'globex'], 64, 'globex'],
  ])('refuses %s', async (_row, argv, code, words) => {
    const at = await recordedPlace('empty')
    expect(await at.run('simulate', ...argv(at))).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) })
  })
})
