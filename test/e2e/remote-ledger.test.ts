import { expect, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { configText, workspace, world } from './world.ts'

const planOf = (text: string) => {
  const { changes, holds } = JSON.parse(text)
  return { changes, holds }
}

test('a plan with the ledger of a running daemon remembers for whom a rule with a pattern of addresses holds, as with the file', async () => {
  const rule = 'rules:\n  - {name: for ceo@example.com, when: {email: "ada*@example.com", role: member}, cap: 700}'
  const at = await world({ policy: `team: {cap: 500}\n${rule}`, settings: { mode: 'enforce', usageInterval: '1h' } })
  const { store } = at.service.sandbox
  const setRole = (role: string): void => {
    const ada = store.person('ada.lovelace@example.com')
    if (ada) store.savePerson({ ...ada, role })
  }
  setRole('member')
  const daemon = await at.daemon()
  await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'user', state: 'in_sync' })
  // One reading that says otherwise changes nothing yet, for whoever remembers what was so before.
  setRole('admin')
  const config = at.write('review.yaml', configText([workspace('acme', at.service.url)]))
  const plan = (ledger: string) => inside(['plan', '--config', config, '--ledger', ledger, '--output', 'json'], { cwd: at.folder })
  const [remote, local] = [await plan(daemon.url), await plan(at.path('ledger.db'))]
  expect(planOf(local.stdout)).toEqual({ changes: [], holds: [] })
  expect(planOf(remote.stdout)).toEqual(planOf(local.stdout))
  expect(await (await fetch(`${daemon.url}/ledger`)).text()).not.toContain('example.com')
})
