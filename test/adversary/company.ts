// A company to load into the sandbox: people, overlapping groups, caps in force, use and balance. Knows nothing of policies.
import type { Random } from './random.ts'

interface Person {
  readonly email: string
  readonly status: 'APPROVED' | 'PENDING' | 'REJECTED'
  readonly disabled: boolean
  /** Credits used in this cycle; the first `creditsPerSeat` are included in the seat. */
  readonly used: number
}

interface Group {
  readonly id: string
  readonly name: string
  readonly members: readonly string[]
}

export interface Company {
  readonly people: readonly Person[]
  readonly groups: readonly Group[]
  /** Caps in force by scope: `team`, `group:ID` or an e-mail. */
  readonly caps: ReadonlyMap<string, number>
  readonly creditsPerSeat: number
  readonly addOnAvailable: number
}

export const values = [50, 100, 200, 300, 500, 800, 1000, 1500, 2000, 3000, 5000, 9000]

export const approved = (company: Company): readonly Person[] => company.people.filter((p) => p.status === 'APPROVED')

/** An approved person who has used `used` credits. */
export const person = (name: string, used = 0): Person => ({ email: `${name}@adv.example`, status: 'APPROVED', disabled: false, used })

/** A random company; `wild` also draws people who are not approved or are disabled. */
export function drawCompany(random: Random, wild: boolean): Company {
  const people = Array.from({ length: random.int(5, 40) }, (_, i): Person => {
    const drawn = person(`p${i + 1}`, random.chance(0.4) ? random.int(1, 2500) : 0)
    if (!wild || random.chance(0.85)) return drawn
    return random.chance(0.5) ? { ...drawn, status: random.pick(['PENDING', 'REJECTED']) } : { ...drawn, disabled: true }
  })
  const emails = people.map((p) => p.email)
  const groups = Array.from({ length: random.int(0, 4) }, (_, i): Group => {
    return { id: `grp_${i + 1}`, name: `Group ${i + 1}`, members: random.sample(emails, random.int(1, Math.ceil(people.length / 2))) }
  })
  const caps = new Map<string, number>()
  if (random.chance(0.6)) caps.set('team', random.pick(values))
  for (const group of groups) if (random.chance(0.5)) caps.set(`group:${group.id}`, random.pick(values))
  for (const p of people) if (p.status === 'APPROVED' && random.chance(0.3)) caps.set(p.email, random.pick(values))
  return { people, groups, caps, creditsPerSeat: 500, addOnAvailable: 1_000_000 }
}

/** The fixture file of the sandbox (docs/fixture.md). */
export function fixtureOf(company: Company): string {
  const now = Date.now()
  const cycleStart = Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth(), 1)
  const usedAt = new Date(Math.max(cycleStart + 1000, now - 3_600_000)).toISOString()
  const fixture = {
    apiVersion: 'capkeeper/v1',
    kind: 'SandboxFixture',
    balance: { creditsPerSeat: company.creditsPerSeat, seats: company.people.length, addOnAvailable: company.addOnAvailable },
    people: company.people.map((p) => ({ email: p.email, status: p.status, ...(p.disabled ? { disabled: true } : {}) })),
    groups: company.groups,
    caps: Object.fromEntries(company.caps),
    use: {
      agent: company.people
        .filter((p) => p.used > 0)
        .map((p) => ({ person: p.email, at: usedAt, ide: 'editor', model: 'Large', mode: 'UNKNOWN', cents: p.used * 100 })),
    },
  }
  return JSON.stringify(fixture, null, 1)
}
