import { describe, expect, test } from 'vitest'
import { world } from './world.ts'

const POLICY = `team: {cap: none}
groups:
  - {id: grp_platform, name: Platform, cap: 1500}
users:
  - {email: alan.turing@example.com, cap: 4000}`

async function audited(switches: Parameters<typeof world>[0] = {}) {
  const at = await world({ policy: POLICY, ...switches, sandbox: { people: 9, groups: 4, seed: 2, ...switches.sandbox } })
  at.service.setCap('group:grp_platform', 1500)
  at.service.setCap('alan.turing@example.com', 4000)
  at.service.setCap('edsger.dijkstra@example.com', 0)
  return at
}

describe('audit', () => {
  test('gives everything as JSON, and tables as Markdown', async () => {
    const at = await audited()
    const json = JSON.parse((await at.run('audit', '--output', 'json')).stdout)
    expect(json).toMatchObject({
      apiVersion: 'capkeeper/v1',
      kind: 'Audit',
      workspaces: [
        {
          workspace: 'acme',
          undeclared: [{ email: 'edsger.dijkstra@example.com', cap: 0, ours: false }],
          unread: [],
          useIsUpperBound: false,
        },
      ],
    })
    const markdown = (await at.run('audit', '--output', 'markdown')).stdout
    expect(markdown).toContain('### capkeeper audit: acme\n')
    expect(markdown).toContain('| `edsger.dijkstra@example.com` | 0 | somebody else |')
  })

  test('does not take an inherited value for an explicitly set cap', async () => {
    const at = await world({ policy: 'team: {cap: 500}', sandbox: { people: 6, groups: 1, capReads: 'inherited' } })
    at.service.setCap('team', 500)
    at.service.setCap('alan.turing@example.com', 900)
    const { stdout } = await at.run('audit', '--output', 'json')
    expect(JSON.parse(stdout).workspaces[0]).toMatchObject({
      undeclared: [{ email: 'alan.turing@example.com', cap: 900 }],
      uncapped: [],
      showsInherited: true,
    })
  })

  test('does not list the cap of a member to whom a pool has not dealt yet', async () => {
    const pool = 'pools: [{name: research, members: {emails: [alan.turing@example.com]}, credits: 20000, share: need}]'
    const at = await world({ policy: `team: {cap: 500}\n${pool}`, sandbox: { people: 6, groups: 1, days: 20, plan: 'quota' } })
    at.service.setCap('alan.turing@example.com', 900)
    const { stdout } = await at.run('audit', '--output', 'json')
    expect(JSON.parse(stdout).workspaces[0].undeclared).toEqual([])
  })

  test('says on a plan without a balance that use is an upper bound', async () => {
    const at = await audited({ sandbox: { plan: 'team', days: 20 } })
    const { stdout, code } = await at.run('audit', '--output', 'json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).workspaces[0].useIsUpperBound).toBe(true)
  })

  test('says for how many people use is not known', async () => {
    const at = await world({ policy: 'team: {cap: 500}', sandbox: { people: 6, groups: 1, days: 20, plan: 'quota' } })
    at.service.setCap('team', 500)
    const sentence =
      '6 people looked at, nothing found; the add-on use of 6 people is not known, so nobody can see how near their cap they are'
    expect((await at.run('audit')).stdout).toBe(`acme: ${sentence}\n`)
    expect((await at.run('audit', '--output', 'markdown')).stdout).toContain(`${sentence}.`)
    expect(JSON.parse((await at.run('audit', '--output', 'json')).stdout).workspaces[0]).toMatchObject({ near: [], useUnknown: 6 })
  })

  test('exits 1 when the roster could not be read', async () => {
    const at = await audited()
    at.write('key', 'sandbox-billing-read')
    const { code, stderr } = await at.run('audit')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('acme:') })
  })
})
