// Another client: edits are drawn from the seed, change caps in force, are reported, and end with the sandbox.
import { describe, expect, test } from 'vitest'
import { groupScope, scopeKey, TEAM, userScope } from '../../src/core/model/scope.ts'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { createSandbox, LEFT_ALONE } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'

const company = { people: 20, groups: 4, days: 0 }
const GRACE = userScope('grace.hopper@example.com')

describe('another client', () => {
  test('edits only user and group caps that are in force, never the team, and always to another value', () => {
    const sandbox = createSandbox({ clock: fakeClock(), company })
    sandbox.writeCap(TEAM, 500)
    for (let turn = 0; turn < 200; turn += 1) {
      sandbox.writeCap(GRACE, 1500)
      sandbox.writeCap(groupScope('grp_data'), 2500)
      const line = sandbox.foreignEdit()
      expect(line).toMatch(
        /^somebody else (cleared (group:grp_data|grace\.hopper@example\.com)|set (group:grp_data|grace\.hopper@example\.com) to \d+)$/,
      )
      expect([sandbox.store.cap(GRACE) !== 1500, sandbox.store.cap(groupScope('grp_data')) !== 2500].filter(Boolean)).toHaveLength(1)
    }
    expect(sandbox.store.cap(TEAM)).toBe(500)
  })

  test('never edits the scopes to leave alone', () => {
    const sandbox = createSandbox({ clock: fakeClock(), company })
    const support = groupScope('grp_support')
    sandbox.writeCap(support, 2500)
    expect(sandbox.foreignEdit(LEFT_ALONE)).not.toContain('grp_support')
    sandbox.writeCap(GRACE, 1500)
    for (let turn = 0; turn < 100; turn += 1) sandbox.foreignEdit(LEFT_ALONE)
    expect(sandbox.store.cap(support)).toBe(2500)
  })

  test('in the quick start never edits a cap of people whom the example policies protect', async () => {
    const { store } = createSandbox({ clock: fakeClock(), company: { days: 0 } })
    const set = (await loadPolicies(['policies'], { now: fakeClock().now() })).sets.get('default')?.set
    const capsOf = (email: string): readonly string[] => {
      const id = store.person(email)?.id ?? -1
      const groups = store.groups().filter((group) => store.members(group.id).has(id))
      const declared = [...(set?.rules ?? []), ...(set?.grants ?? [])].map(({ scope }) => scopeKey(scope))
      return [userScope(email), ...groups.map((group) => groupScope(group.id))].map(scopeKey).filter((key) => declared.includes(key))
    }
    expect(set?.protectedPeople).not.toEqual([])
    expect(set?.protectedPeople.flatMap(({ scope }) => capsOf(scope.email))).toEqual([...LEFT_ALONE])
  })

  test('gives an approved person a cap when there are none', () => {
    const sandbox = createSandbox({ clock: fakeClock(), company })
    expect(sandbox.foreignEdit()).toMatch(/^somebody else set \S+@example\.com to \d+$/)
    expect(sandbox.store.caps()).toHaveLength(1)
  })

  test('makes the same edits under the same seed', () => {
    const lines = (seed: number) => {
      const sandbox = createSandbox({ clock: fakeClock(), company: { ...company, seed } })
      return Array.from({ length: 20 }, () => sandbox.foreignEdit())
    }
    expect(lines(1)).toEqual(lines(1))
    expect(lines(1)).not.toEqual(lines(2))
  })

  test('edits at intervals until stopped', async () => {
    const clock = fakeClock()
    const sandbox = createSandbox({ clock, company, speed: 100 })
    const lines: string[] = []
    const writer = sandbox.foreignWriter({ everySeconds: 20, say: (line) => void lines.push(line) })
    await clock.advance(19_999)
    expect(lines).toHaveLength(0)
    await clock.advance(40_001)
    expect(lines).toHaveLength(3)
    writer.stop()
    await clock.advance(60_000)
    expect([lines.length, clock.sleeping()]).toEqual([3, 0])
    sandbox.foreignWriter({ everySeconds: 20, say: (line) => void lines.push(line) })
    sandbox.close()
    await clock.advance(60_000)
    expect(lines).toHaveLength(3)
  })
})
