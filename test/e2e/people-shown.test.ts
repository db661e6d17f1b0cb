// `people: hash` governs every output that leaves the machine (docs/operations.md, Bounds); what a terminal shows and JSON holds stays.
import { describe, expect, test } from 'vitest'
import { configText, policyText, type World, workspace, world } from './world.ts'

const POLICY = `team: {cap: 400}
users:
  - {email: ada.lovelace@example.com, cap: 50, reason: asked for by alan.turing@example.com}
rules:
  - {name: team of grace.hopper@example.com, when: {email: "*.hopper@example.com"}, cap: 70}
protected: [ada.lovelace@example.com]`

async function hashing(): Promise<World> {
  const at = await world({ policy: POLICY, sandbox: { people: 9, groups: 4, seed: 2 } })
  at.service.setCap('ada.lovelace@example.com', 9000)
  at.service.setCap('edsger.dijkstra@example.com', 0)
  at.write('config.yaml', configText([workspace('acme', at.service.url)], { people: 'hash' }))
  return at
}

describe('people: hash', () => {
  test.each<readonly string[]>([
    ['plan', '--output', 'markdown'],
    ['apply', '--yes', '--output', 'markdown'],
    ['audit', '--output', 'markdown'],
    ['report', '--by', 'user', '--output', 'markdown'],
    ['report', '--by', 'user', '--output', 'csv'],
    ['report', '--by', 'user', '--output', 'html'],
  ])('%s %s %s names nobody', async (...argv) => {
    const { stdout } = await (await hashing()).run(...argv)
    expect(stdout).toMatch(/[0-9a-f]{12}/)
    expect(stdout).not.toContain('example.com')
    expect(stdout).not.toMatch(/lovelace|turing|dijkstra|hopper/)
  })

  const TWICE = `${POLICY}\ngrants: [{user: alan.turing@example.com, cap: 5, until: 2020-01-01, reason: old}]`.replace(
    'users:',
    'users:\n  - {email: ada.lovelace@example.com, cap: 70}',
  )
  test.each([
    ['a policy that is not valid', TWICE, 'hash'],
    ['one beside a config that is not', TWICE, 'nobody'],
  ])('validate as Markdown names nobody in problems of %s', async (_row, policy, people) => {
    const at = await hashing()
    at.policy(policyText(policy))
    at.write('config.yaml', configText([workspace('acme', at.service.url)], { people }))
    const { code, stdout } = await at.run('validate', '--output', 'markdown', at.path('policies'))
    expect({ code, stdout }).toMatchObject({ code: 65, stdout: expect.stringMatching(/[0-9a-f]{12} is declared twice/) })
    expect(stdout).not.toMatch(/lovelace|turing/)
  })

  test('leaves the plan for a terminal and for `apply --plan` as it is', async () => {
    const at = await hashing()
    expect((await at.run('plan')).stdout).toContain('ada.lovelace@example.com')
    const { changes } = JSON.parse((await at.run('plan', '--output', 'json')).stdout)
    expect(changes).toContainEqual(expect.objectContaining({ scope: { kind: 'user', email: 'ada.lovelace@example.com' } }))
  })
})
