// Weaker rules by the commands themselves: what arrives with them is held, whatever else was weakened the day before (docs/guards-and-approvals.md).
import { expect, test } from 'vitest'
import { world } from './world.ts'

test('a person whom this revision unprotects stays protected for a day, also when another person left the list the same day', async () => {
  const at = await world()
  const [ada, bob] = ['ada.lovelace@example.com', 'alan.turing@example.com']
  const apply = (bobs: number, protectedPeople: readonly string[]) => {
    at.policy(
      JSON.stringify({
        ...{ apiVersion: 'capkeeper/v1', kind: 'CapPolicy', metadata: { name: 'acme' } },
        spec: { users: [{ email: bob, cap: bobs }], protected: protectedPeople },
      }),
    )
    return at.run('apply', '--yes')
  }
  for (const listed of [[ada], [], [bob]]) expect(await apply(900, listed)).toMatchObject({ code: 0 })
  const { code, stdout } = await apply(400, [])
  expect(code).toBe(3)
  expect(stdout).toContain(`policy weakens protected: ${bob} → not listed`)
  expect(at.service.capOf(bob)).toBe(900)
})

test('an approval that came with its change releases nothing, until it is removed and listed again', async () => {
  const at = await world()
  const ada = 'ada.lovelace@example.com'
  const run = async (cap: number, approvals: readonly string[], ...argv: readonly string[]) => {
    const spec = { users: [{ email: ada, cap }], protected: [ada], approvals }
    at.policy(JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'CapPolicy', metadata: { name: 'acme' }, spec }))
    const { code, stdout } = await at.run(...argv, '--output', 'json')
    const { holds } = JSON.parse(stdout) as { readonly holds: readonly { readonly id: string }[] }
    return { code, cap: at.service.capOf(ada), ids: holds.map(({ id }) => id) }
  }
  const apply = ['apply', '--yes'] as const
  expect(await run(900, [], ...apply)).toMatchObject({ code: 0, cap: 900 })
  // A plan leaves nothing in the ledger: it has never seen the hold without its approval.
  const { ids } = await run(400, [], 'plan')
  expect(ids).toHaveLength(1)
  const held = { code: 3, cap: 900, ids }
  expect(await run(400, ids, ...apply)).toEqual(held)
  for (const _again of [1, 2, 3]) expect(await run(400, [], ...apply)).toEqual(held)
  expect(await run(400, ids, ...apply)).toMatchObject({ code: 0, cap: 400 })
})
