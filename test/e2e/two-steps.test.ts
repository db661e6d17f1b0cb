// Weaker rules by the commands themselves: what arrives with them is held, whatever else was weakened the day before (product.md, section 5).
import { expect, test } from 'vitest'
import { world } from './world.ts'

test('who is protected until this revision stays so, also when somebody else has left the list the same day', async () => {
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
