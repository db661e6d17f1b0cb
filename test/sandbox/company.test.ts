// The people and groups of the seeded company. Their use is in work.test.ts.
import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'

const sandboxOf = (company: object) => createSandbox({ clock: fakeClock(), company })

describe('the people', () => {
  const { store } = sandboxOf({ days: 0 })
  const people = store.people()
  const named = [
    'ada.lovelace',
    'grace.hopper',
    'alan.turing',
    'barbara.liskov',
    'edsger.dijkstra',
    'katherine.johnson',
    'linus.pauling',
    'oncall',
  ]
  const count = (claim: (person: (typeof people)[number]) => boolean): number => people.filter(claim).length

  test('are 200 with distinct e-mails, the named ones first, approved and enabled', () => {
    expect(people).toHaveLength(200)
    expect(new Set(people.map((person) => person.email)).size).toBe(200)
    expect(people.slice(0, 8).map((person) => person.email)).toEqual(named.map((name) => `${name}@example.com`))
    expect(people.slice(0, 8).every((person) => person.status === 'APPROVED' && !person.disabled)).toBe(true)
    expect(people.every((person) => /^[a-z]+(\.[a-z]+\d*)?@example\.com$/.test(person.email))).toBe(true)
  })

  test('are about 3 % pending, 1 % rejected, 2 % disabled, and mostly members', () => {
    expect(count((person) => person.status === 'PENDING')).toBe(6)
    expect(count((person) => person.status === 'REJECTED')).toBe(2)
    expect(count((person) => person.disabled)).toBe(4)
    expect(count((person) => person.role === 'admin')).toBeGreaterThan(0)
    expect(count((person) => person.role === 'member')).toBeGreaterThan(150)
  })

  test('are in groups as the names say, some in two', () => {
    const groupsOf = (name: string) => {
      const id = store.person(`${name}@example.com`)?.id ?? -1
      return store.groups().flatMap((group) => (store.members(group.id).has(id) ? [group.name] : []))
    }
    const ids = ['platform', 'payments', 'mobile', 'data', 'web', 'security', 'research', 'support'].map((name) => `grp_${name}`)
    expect(store.groups().map((group) => group.id)).toEqual(ids)
    expect(named.slice(0, 7).map(groupsOf)).toEqual([
      ...[['Platform'], ['Platform'], ['Research'], ['Platform', 'Data'], ['Payments'], ['Security'], ['Research']],
    ])
    const memberships = store.groups().reduce((sum, group) => sum + store.members(group.id).size, 0)
    expect(memberships).toBeGreaterThan(201)
    expect(memberships).toBeLessThan(230)
  })

  test('have distinct names in a company larger than the list of names', () => {
    const many = sandboxOf({ people: 5000, groups: 10, days: 0 })
    expect(new Set(many.store.people().map((person) => person.email)).size).toBe(5000)
    expect(many.store.groups().slice(8)).toEqual([
      { id: 'grp_9', name: 'Group 9' },
      { id: 'grp_10', name: 'Group 10' },
    ])
  })
})
