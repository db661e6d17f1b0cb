// What an envelope refuses because of who is in a group now: it is found in a cycle, and ends by itself. scenes/envelopes shows where it is told.
import { expect, test } from 'vitest'
import { viewOf } from '../../../src/daemon/conditions/view.ts'
import { loadPolicies } from '../../../src/policy/load/load.ts'
import { folder, policyText } from '../../policy/support.ts'
import { HOUR, NOW } from '../../support/declare.ts'
import { living } from '../../support/living.ts'

test('is a condition until the person is in the group', async () => {
  const root = folder({
    'policies/platform.yaml': policyText('workspace: acme\nteam: {cap: 500}\ngroups: [{id: g, name: G}]', 'platform'),
    'policies/team/caps.yaml': policyText('workspace: acme\nusers:\n- {email: bob@example.com, cap: 900}', 'team'),
  })
  const at = { file: 'capkeeper.yaml', line: 1, column: 1 }
  const envelope = { name: 'team', workspace: 'acme', groups: ['g'], policies: ['policies/team'], maxCap: 3000, sum: 9000, at }
  const loaded = loadPolicies(['policies'], {
    cwd: root,
    now: NOW,
    workspaces: [{ name: 'acme', policies: ['policies'], envelopes: [envelope] }],
  })
  const policy = loaded.sets.get('acme')
  if (!policy) throw new Error(JSON.stringify(loaded.problems))
  const { one, loop } = await living({ people: ['ada', 'bob'], groups: { g: ['ada'] } })
  loop.setPolicy(policy, { valid: true, digest: '', revision: '', loadedAt: NOW, problems: [] })
  await one.clock.pass(HOUR)
  expect(viewOf(one.workspace).conditions).toMatchObject([{ type: 'EnvelopeRefused' }])
  one.setMembers('g', ['ada', 'bob'])
  await one.clock.pass(HOUR)
  expect(viewOf(one.workspace).conditions).toEqual([])
  expect(one.caps()).toMatchObject({ bob: 900 })
})
