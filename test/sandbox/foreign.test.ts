// Somebody else: edits are drawn from the seed, aimed at caps in force, said aloud, and end when the sandbox does.
import { describe, expect, test } from 'vitest'
import { groupScope, TEAM, userScope } from '../../src/core/scope.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'

const company = { people: 20, groups: 4, days: 0 }
const GRACE = userScope('grace.hopper@example.com')

describe('somebody else', () => {
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

  test('gives an approved person a cap when there are none', () => {
    const sandbox = createSandbox({ clock: fakeClock(), company })
    expect(sandbox.foreignEdit()).toMatch(/^somebody else set \S+@example\.com to \d+$/)
    expect(sandbox.store.caps()).toHaveLength(1)
  })

  test('does the same under the same seed', () => {
    const lines = (seed: number) => {
      const sandbox = createSandbox({ clock: fakeClock(), company: { ...company, seed } })
      return Array.from({ length: 20 }, () => sandbox.foreignEdit())
    }
    expect(lines(1)).toEqual(lines(1))
    expect(lines(1)).not.toEqual(lines(2))
  })

  test('works every so often until stopped', async () => {
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
