// Groups of `viewers` that show nobody are told, as long as it is so.
import { describe, expect, it } from 'vitest'
import { groupsShownOf } from '../../../src/daemon/http/auth.ts'
import { HOUR } from '../../support/declare.ts'
import { loopUnder } from '../../support/living.ts'

async function told(groupsShown: () => readonly string[]) {
  const config = { intervalMs: HOUR / 4, usageIntervalMs: HOUR / 4 }
  const declared = { caps: { team: 1000, 'group:grp_r': 1000, 'group:grp_e': 1000 } }
  const { one } = await loopUnder(declared, { groups: { grp_r: ['ada'], grp_e: [] }, config, parts: { groupsShown } })
  await one.clock.pass(HOUR)
  const found = () => one.workspace.conditions.flatMap(({ type, message }) => (type === 'ViewersNobody' ? [message] : []))
  return { one, found }
}

describe('a group that viewers name', () => {
  it.each([
    ['with people is nothing to tell', 'grp_r', undefined],
    ['in which nobody is, is told', 'grp_e', 'and nobody is in it'],
    ['that no policy declares is told', 'grp_x', 'and no policy declares it'],
  ])('%s', async (_case, id, why) => {
    const { found } = await told(() => [id])
    expect(found()).toEqual(why === undefined ? [] : [expect.stringContaining(`viewers show the people of group:${id} of `)])
    if (why !== undefined) expect(found()[0]).toContain(why)
  })

  it('is told no longer once the entry is corrected', async () => {
    let ids = ['grp_x']
    const { one, found } = await told(() => ids)
    expect(found()).toHaveLength(1)
    ids = ['grp_r']
    await one.clock.pass(HOUR)
    expect(found()).toEqual([])
  })

  it('is one of the entries for the workspace, or for all', () => {
    const rules = [
      { workspaces: ['*'], only: ['a'] },
      { workspaces: ['acme'], only: ['b'] },
      { workspaces: ['beta'], only: ['c'] },
      { workspaces: ['acme'] },
    ]
    expect(groupsShownOf(rules, 'acme')).toEqual(['a', 'b'])
    expect(groupsShownOf(undefined, 'acme')).toEqual([])
  })
})
