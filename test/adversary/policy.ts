// A policy as data: drawn, written as YAML, and read by the adversary's own reading of docs/policies.md (the desired cap of each scope now).
import { approved, type Company, values } from './company.ts'
import type { Cap } from './model.ts'
import type { Random } from './random.ts'

interface Grant {
  readonly scope: string
  readonly gives: { readonly cap: number } | { readonly add: number }
  /** As written, and when it begins; absent: at once. */
  readonly from?: { readonly text: string; readonly at: number }
  readonly until: { readonly text: string; readonly at: number }
}

export interface Policy {
  readonly name: string
  readonly team?: Cap
  readonly groups: readonly { readonly id: string; readonly name: string; readonly cap: Cap }[]
  readonly users: readonly { readonly email: string; readonly cap: Cap }[]
  readonly grants: readonly Grant[]
  readonly protected: readonly string[]
  readonly approvals: readonly string[]
  readonly onGroupConflict?: 'min' | 'max'
}

export const noPolicy: Policy = { name: 'acme', groups: [], users: [], grants: [], protected: [], approvals: [] }

/** The policy as a file. */
export function toYaml(policy: Policy): string {
  const lines = ['apiVersion: capkeeper/v1', 'kind: CapPolicy', `metadata: {name: ${policy.name}}`, 'spec:']
  const cap = (value: Cap): string => (value === 0 ? 'cap: 0, allowZero: true' : `cap: ${value}`)
  if (policy.onGroupConflict) lines.push(`  onGroupConflict: ${policy.onGroupConflict}`)
  if (policy.team !== undefined) lines.push(`  team: {${cap(policy.team)}}`)
  if (policy.groups.length > 0) lines.push('  groups:', ...policy.groups.map((g) => `    - {id: ${g.id}, name: ${g.name}, ${cap(g.cap)}}`))
  if (policy.users.length > 0) lines.push('  users:', ...policy.users.map((u) => `    - {email: "${u.email}", ${cap(u.cap)}}`))
  if (policy.grants.length > 0) lines.push('  grants:', ...policy.grants.map(grantLine))
  if (policy.protected.length > 0) lines.push(`  protected: [${policy.protected.join(', ')}]`)
  if (policy.approvals.length > 0) lines.push(`  approvals: [${policy.approvals.join(', ')}]`)
  if (lines.length === 4) lines[3] = 'spec: {}'
  return `${lines.join('\n')}\n`
}

function grantLine(grant: Grant): string {
  const scope =
    grant.scope === 'team' ? 'team: true' : grant.scope.startsWith('group:') ? `group: ${grant.scope.slice(6)}` : `user: ${grant.scope}`
  const gives = 'cap' in grant.gives ? `cap: ${grant.gives.cap}` : `add: ${grant.gives.add}`
  return `    - {${scope}, ${gives}${grant.from ? `, from: ${grant.from.text}` : ''}, until: ${grant.until.text}, reason: trial}`
}

export interface Declared {
  /** The desired cap of each managed scope now. */
  readonly wanted: ReadonlyMap<string, Cap>
  /** Scopes whose desired cap the documents leave open. */
  readonly loose: ReadonlySet<string>
}

/** The desired caps of a policy at an instant, by docs/policies.md. */
export function declaredBy(policy: Policy, company: Company, now: number): Declared {
  const present = new Set(approved(company).map((p) => p.email))
  const active = policy.grants.filter((g) => (g.from === undefined || g.from.at <= now) && now < g.until.at)
  const wanted = new Map<string, Cap>()
  const loose = new Set<string>()
  if (policy.team !== undefined) wanted.set('team', policy.team)
  for (const group of policy.groups) if (company.groups.some((g) => g.name === group.name)) wanted.set(`group:${group.id}`, group.cap)
  for (const grant of active) if (!grant.scope.includes('@')) give(wanted, grant)
  for (const email of present) {
    const caps = company.groups.filter((g) => g.members.includes(email)).flatMap((g) => wanted.get(`group:${g.id}`) ?? [])
    if (new Set(caps).size < 2) continue
    const numbers = caps.filter((cap) => cap !== 'none')
    if (policy.onGroupConflict === undefined || numbers.length < caps.length) loose.add(email)
    else wanted.set(email, policy.onGroupConflict === 'min' ? Math.min(...numbers) : Math.max(...numbers))
  }
  for (const user of policy.users) {
    const email = user.email.trim().toLowerCase()
    if (!present.has(email)) continue
    // `none` leaves a person in several groups to the conflict rule.
    if (user.cap !== 'none' || !wanted.has(email)) wanted.set(email, user.cap)
    if (user.cap !== 'none') loose.delete(email)
  }
  for (const grant of active) {
    if (!present.has(grant.scope)) continue
    give(wanted, grant)
    loose.delete(grant.scope)
  }
  return { wanted, loose }
}

function give(wanted: Map<string, Cap>, grant: Grant): void {
  const base = wanted.get(grant.scope)
  if ('cap' in grant.gives) wanted.set(grant.scope, grant.gives.cap)
  else if (typeof base === 'number') wanted.set(grant.scope, base + grant.gives.add)
}

/** A random policy for a company; caps are drawn from few values, so that many are equal to, above or below the caps in force. */
export function drawPolicy(random: Random, company: Company, now: number, gentle = false): Policy {
  const cap = (): Cap =>
    random.chance(gentle ? 0.05 : 0.15) ? 'none' : random.chance(0.03) ? 0 : random.chance(0.02) ? 2147483647 : random.pick(values)
  const groups = company.groups.filter(() => random.chance(0.8)).map((g) => ({ id: g.id, name: g.name, cap: cap() }))
  const users = company.people
    .filter(() => random.chance(0.3))
    .map((p) => ({ email: random.chance(0.1) ? ` ${p.email.toUpperCase()} ` : p.email, cap: cap() }))
  if (random.chance(0.1)) users.push({ email: 'nobody@adv.example', cap: 100 })
  const team = random.chance(0.7) ? cap() : undefined
  const drawn = {
    ...noPolicy,
    groups,
    users,
    ...(team === undefined ? {} : { team }),
    onGroupConflict: random.pick(['min', 'max'] as const),
  }
  return { ...drawn, grants: drawGrants(random, company, drawn, now) }
}

function drawGrants(random: Random, company: Company, policy: Policy, now: number): readonly Grant[] {
  const scopes = ['team', ...policy.groups.map((g) => `group:${g.id}`), ...company.people.map((p) => p.email)]
  const base = new Map<string, Cap>(policy.groups.map((g) => [`group:${g.id}`, g.cap]))
  for (const user of policy.users) base.set(user.email.trim().toLowerCase(), user.cap)
  if (policy.team !== undefined) base.set('team', policy.team)
  return random.sample(scopes, random.int(0, 3)).map((scope): Grant => {
    const declared = base.get(scope)
    const gives =
      typeof declared === 'number' && declared < 1_000_000 && random.chance(0.4)
        ? { add: random.int(1, 900) }
        : { cap: random.pick(values) }
    return { scope, gives, ...drawTimes(random, now) }
  })
}

const day = 86_400_000
const instant = (at: number): { text: string; at: number } => ({ text: new Date(at).toISOString(), at })
/** A date holds through its end, in UTC. */
const date = (at: number): { text: string; at: number } => {
  const text = new Date(at).toISOString().slice(0, 10)
  return { text, at: Date.parse(`${text}T00:00:00Z`) + day }
}

function drawTimes(random: Random, now: number): Pick<Grant, 'from' | 'until'> {
  const start = new Date(now)
  const cycleEnd = (months: number): number => Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1 + months, 1)
  const times: readonly Pick<Grant, 'from' | 'until'>[] = [
    { until: date(now + 3 * day) },
    { until: date(now) },
    { until: date(now - day) },
    { until: instant(now - 60_000) },
    { until: instant(now + day) },
    { from: instant(now - day), until: instant(now + day) },
    { from: instant(now + day), until: instant(now + 2 * day) },
    { from: instant(now - 60_000), until: { text: 'cycleEnd', at: cycleEnd(0) } },
    { from: instant(cycleEnd(-2) + day), until: { text: 'cycleEnd', at: cycleEnd(-1) } },
  ]
  return random.pick(times)
}
