// The seeded company and its months of use: the same under the same seed, and similar to real use.
import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import type { Span, Store } from '../../src/sandbox/store.ts'
import { fakeClock } from '../support/clock.ts'

type SandboxOptions = Parameters<typeof createSandbox>[0]

const sandboxOf = (options: Partial<SandboxOptions> = {}) => createSandbox({ clock: fakeClock(), ...options })

const agentUse = ({ use }: Store, { fromAt, untilAt }: Span) => [...use('agent')].filter(({ at }) => at >= fromAt && at <= untilAt)

function everythingOf(options: Partial<SandboxOptions>) {
  const { store, close } = sandboxOf(options)
  const span = { fromAt: 0, untilAt: Number.MAX_SAFE_INTEGER }
  const facts = {
    people: store.people(),
    groups: store.groups().map((group) => [group, [...store.members(group.id)]]),
    use: [...store.use('agent')],
    days: [...store.activeDays(span)],
    last: [...store.lastActivity(span.untilAt)],
  }
  close()
  return facts
}

describe('the seed', () => {
  test('gives the same company and the same use again', () => {
    const company = { people: 40, days: 40, seed: 7 }
    expect(everythingOf({ company })).toEqual(everythingOf({ company }))
  })

  test('gives another company for another seed', () => {
    const one = everythingOf({ company: { people: 40, days: 10, seed: 1 } })
    const other = everythingOf({ company: { people: 40, days: 10, seed: 2 } })
    expect(one.people.slice(8).map((person) => person.email)).not.toEqual(other.people.slice(8).map((person) => person.email))
    expect(one.use).not.toEqual(other.use)
  })

  test('gives the same use for the same day, whenever the sandbox was started', () => {
    const dayOf = (startAt: number, days: number) => {
      const { store } = sandboxOf({ clock: fakeClock(startAt), company: { people: 30, days } })
      return agentUse(store, { fromAt: Date.UTC(2026, 10, 18), untilAt: Date.UTC(2026, 10, 18, 23, 59) })
    }
    expect(dayOf(Date.UTC(2026, 10, 19), 10)).toEqual(dayOf(Date.UTC(2026, 10, 20), 4))
    expect(dayOf(Date.UTC(2026, 10, 19), 10).length).toBeGreaterThan(0)
  })
})

describe('the people', () => {
  const { store } = sandboxOf({ company: { days: 0 } })
  const people = store.people()
  const count = (claim: (person: (typeof people)[number]) => boolean): number => people.filter(claim).length

  test('are 200 with distinct e-mails, the named ones first, approved and enabled', () => {
    expect(people).toHaveLength(200)
    expect(new Set(people.map((person) => person.email)).size).toBe(200)
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
    expect(
      store
        .groups()
        .map((group) => group.id)
        .join(' '),
    ).toBe('grp_platform grp_payments grp_mobile grp_data grp_web grp_security grp_research grp_support')
    expect(groupsOf('ada.lovelace')).toEqual(['Platform'])
    expect(groupsOf('grace.hopper')).toEqual(['Platform'])
    expect(groupsOf('alan.turing')).toEqual(['Research'])
    expect(groupsOf('barbara.liskov')).toEqual(['Platform', 'Data'])
    expect(groupsOf('edsger.dijkstra')).toEqual(['Payments'])
    expect(groupsOf('katherine.johnson')).toEqual(['Security'])
    expect(groupsOf('linus.pauling')).toEqual(['Research'])
    const memberships = store.groups().reduce((sum, group) => sum + store.members(group.id).size, 0)
    expect(memberships).toBeGreaterThan(201)
    expect(memberships).toBeLessThan(230)
  })

  test('have distinct names in a company larger than the list of names', () => {
    const many = sandboxOf({ company: { people: 5000, groups: 10, days: 0 } })
    expect(new Set(many.store.people().map((person) => person.email)).size).toBe(5000)
    expect(many.store.groups().slice(8)).toEqual([
      { id: 'grp_9', name: 'Group 9' },
      { id: 'grp_10', name: 'Group 10' },
    ])
  })
})

describe('the use', () => {
  const october = { fromAt: Date.UTC(2026, 9, 1), untilAt: Date.UTC(2026, 10, 1) - 1 }
  const { store } = sandboxOf()
  const credits = [...store.usedCents(october).values()].map((cents) => cents / 100).sort((a, b) => a - b)

  test('of a whole cycle ranges from almost none to a few thousand credits, beyond the seat for a share of people', () => {
    const beyondSeat = credits.filter((amount) => amount > 500).length / 200
    expect(beyondSeat).toBeGreaterThan(0.1)
    expect(beyondSeat).toBeLessThan(0.45)
    expect(credits[0]).toBeLessThan(50)
    expect(credits.at(-1)).toBeGreaterThan(1500)
    expect(credits.at(-1)).toBeLessThan(6000)
  })

  test('is on working days, and only of approved people with access', () => {
    const rows = agentUse(store, october)
    const weekend = rows.filter((row) => [0, 6].includes(new Date(row.at).getUTCDay())).length
    expect(weekend / rows.length).toBeLessThan(0.06)
    const idle = store.people().filter((person) => person.status !== 'APPROVED' || person.disabled)
    expect(idle.length).toBeGreaterThan(0)
    expect(rows.some((row) => idle.some((person) => person.id === row.person))).toBe(false)
  })

  test('begins the requested days ago and is never in the future', () => {
    const now = Date.UTC(2026, 10, 20, 12)
    const rows = [...store.use('agent')]
    expect(rows[0]?.at).toBeGreaterThan(now - 90 * 86_400_000)
    expect(rows[0]?.at).toBeLessThan(now - 88 * 86_400_000)
    expect(rows.at(-1)?.at).toBeLessThanOrEqual(now)
  })
})
