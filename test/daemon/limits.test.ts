// Where the limits of what was measured are told: in policies, in the config and in a roster.
import { describe, expect, it } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { folder, policyText } from '../policy/support.ts'
import { loadConfig } from '../support/config.ts'
import { answering } from '../support/faults.ts'
import { testWorld } from '../support/world.ts'

describe('beyond what was measured', () => {
  it('a policy stays valid, with a warning that names its workspace; a grant is no second scope', async () => {
    const groups = Array.from({ length: 501 }, (_, index) => `- {id: g${index}, name: G${index}, cap: 5}`).join('\n')
    const grants = 'grants:\n- {group: g1, cap: 7, until: 2027-06-30, reason: r}'
    const { sets, problems } = await loadPolicies(['.'], { cwd: folder({ 'a.yaml': policyText(`groups:\n${groups}\n${grants}`) }) })
    expect(sets.size).toBe(1)
    expect(problems).toMatchObject([
      { severity: 'warning', code: 'BEYOND_LIMIT', message: expect.stringMatching(/^default: 501 declared groups, .* up to 500; /) },
    ])
  })

  it('a config stays valid, with a warning', () => {
    const workspaces = Array.from({ length: 101 }, (_, index) => `- name: w${index}`).join('\n')
    const text = `apiVersion: capkeeper/v1\nkind: Config\nworkspaces:\n${workspaces}\n`
    const { config, problems } = loadConfig({ env: {}, flags: { config: 'c.yaml' }, cwd: folder({ 'c.yaml': text }) })
    expect(config?.workspaces).toHaveLength(101)
    expect(problems).toMatchObject([
      { severity: 'warning', code: 'BEYOND_LIMIT', message: expect.stringContaining('101 configured workspaces') },
    ])
  })

  it('a roster is read and counted, with a warning', async () => {
    const crowd = JSON.stringify({
      userTableStats: Array.from({ length: 50_001 }, (_, index) => ({
        email: `p${index}@example.com`,
        teamStatus: 'USER_TEAM_STATUS_APPROVED',
      })),
    })
    const one = await testWorld({ wrapTransport: answering((operation) => operation === 'UserPageAnalytics', 200, undefined, crowd) })
    await one.cycle({ caps: { team: 500 } })
    expect(one.state.usage?.roster.people).toHaveLength(50_001)
    expect(one.begun('BeyondLimit').map(({ reason, message }) => `${reason} ${message}`)).toContainEqual(
      expect.stringContaining('BEYOND_LIMIT 50001 people on the roster, and capkeeper is measured with up to 50000'),
    )
  })
})
