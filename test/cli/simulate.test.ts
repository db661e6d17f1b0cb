// `simulate` and `recommend` as a user types them, on a ledger that the real adapter wrote: pages and JSON, and that what one recommends
// is taken by the other, which says the same of it. Scenes tell the rest.
import { describe, expect, test } from 'vitest'
import type { RecordedCompany } from '../support/recorded.ts'
import { COMPANY, POLICY, recordedPlace } from './recorded-place.ts'

/** Twelve people whose working days cost 2, 4, ... 24 credits; half of them are in a group, two have caps of their own. */
const MANY = {
  ...COMPANY,
  people: Array.from({ length: 12 }, (_, person) => ({
    email: `p${person}@example.com`,
    uses: ({ weekday }: { readonly weekday: number }) => (weekday > 4 ? 0 : 2 * (person + 1)),
  })),
  groups: [{ id: 'grp_web', name: 'Web', emails: Array.from({ length: 6 }, (_, person) => `p${2 * person}@example.com`) }],
}
const SPEC = {
  ...POLICY.spec,
  users: [
    { email: 'p11@example.com', cap: 100 },
    { email: 'p10@example.com', cap: 150 },
  ],
}
const ASK = ['--blocked', '20%'] as const

describe('simulate', () => {
  test('draws each cycle under both sides as HTML', async () => {
    const { stdout } = await (await recordedPlace()).run('simulate', '--output', 'html')
    expect(stdout).toContain('this policy: 69; in force: 0.')
    expect(stdout.match(/<figure class="chart">/g)).toHaveLength(5)
    expect(stdout).not.toMatch(/\sstyle=|NaN/)
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
})

describe('recommend', () => {
  test.each([
    ['a share of blocked people', ASK],
    ['nobody blocked', ['--blocked', '0%']],
    ['a budget', ['--budget', '900']],
  ])('for %s prints a policy that is valid, and that simulate gives the same figures of', async (_row, ask) => {
    const at = await recordedPlace(MANY)
    at.write('policy.yaml', { ...POLICY, spec: SPEC })
    const printed = await at.run('recommend', ...ask)
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    const file = at.write('proposed.yaml', printed.stdout)
    expect(await at.run('validate', file)).toMatchObject({ code: 0, stderr: '' })
    const [{ caps, dearest, simulation }] = JSON.parse((await at.run('recommend', ...ask, '--output', 'json')).stdout).workspaces
    const [again] = JSON.parse((await at.run('simulate', file, '--output', 'json')).stdout).simulations
    expect(again.cycles).toEqual(simulation.cycles)
    for (const { scope, cap, personCycles, blocked } of caps) {
      expect(again.caps.find((one: { scope: string }) => one.scope === scope)).toMatchObject({ cap, personCycles, blocked })
      expect(printed.stdout).toContain(`${blocked} of ${personCycles} person-cycles blocked`)
      expect(printed.stdout).toContain(`cap: ${cap}\n`)
      if (ask[0] === '--blocked') expect(blocked).toBeLessThanOrEqual((personCycles * Number.parseFloat(ask[1] ?? '')) / 100)
    }
    expect(caps.map(({ scope }: { scope: string }) => scope)).toEqual(['group:grp_web', 'team'])
    if (ask[0] === '--budget') expect(dearest).toBeLessThanOrEqual(900)
  })

  test('takes the least caps that will do', async () => {
    const at = await recordedPlace(MANY)
    at.write('policy.yaml', { ...POLICY, spec: SPEC })
    const [{ caps }] = JSON.parse((await at.run('recommend', ...ASK, '--output', 'json')).stdout).workspaces
    for (const { scope, cap } of caps as readonly { scope: string; cap: number }[]) {
      const lower = at.write('lower.yaml', {
        ...POLICY,
        spec: {
          ...SPEC,
          team: { cap: scope === 'team' ? cap - 10 : 5000 },
          groups: [{ id: 'grp_web', name: 'Web', cap: scope === 'team' ? 5000 : cap - 10 }],
        },
      })
      const [again] = JSON.parse((await at.run('simulate', lower, '--output', 'json')).stdout).simulations
      const found = again.caps.find((one: { scope: string }) => one.scope === scope)
      expect(found.blocked / found.personCycles).toBeGreaterThan(0.2)
    }
  })

  test('is valid where a team gives the cap of a group that platform names, and tells the digest of that policy', async () => {
    const envelope = { name: 'web', workspace: 'acme', policies: ['web.yaml'], groups: ['grp_web'], maxCap: 3000 }
    const at = await recordedPlace(MANY, { envelopes: [envelope] })
    at.write('policy.yaml', { ...POLICY, spec: { team: { cap: 50 }, groups: [{ id: 'grp_web', name: 'Web' }] } })
    at.write('web.yaml', { ...POLICY, metadata: { name: 'web' }, spec: { groups: POLICY.spec.groups } })
    const file = at.write('proposed.yaml', (await at.run('recommend', ...ASK)).stdout)
    expect(await at.run('validate', file)).toMatchObject({ code: 0, stderr: '' })
    const [{ policy }] = JSON.parse((await at.run('simulate', '--output', 'json')).stdout).simulations
    expect((await at.run('validate')).stdout).toContain(policy.digest)
  })

  test('suggests a pool where one budget would block nobody and allow less', async () => {
    const { stdout } = await (await recordedPlace(MANY)).run('recommend', '--blocked', '40%')
    expect(stdout).toMatch(/^# {3}- name: "web"\n# {5}members: \{groups: \["grp_web"\]\}\n# {5}credits: \d+\n# {5}share: need$/m)
  })
})

describe.each(['simulate', 'recommend'])('%s', (command) => {
  test.each<[string, RecordedCompany | 'empty', number]>([
    ['no day', 'empty', 4],
    ['no whole cycle', { ...COMPANY, fromAt: Date.UTC(2026, 10, 9) }, 4],
    ['as much', COMPANY, 0],
  ])('%s of another workspace is recorded: the first is told of all the same', async (_row, recorded, code) => {
    const at = await recordedPlace()
    await at.beside('beta', recorded)
    const ran = await at.run(command)
    expect(ran).toMatchObject({
      code,
      stdout: expect.stringContaining('acme'),
      stderr: code === 0 ? '' : expect.stringContaining('error: beta: '),
    })
    expect(ran.stdout.includes('beta')).toBe(code === 0)
  })
})
