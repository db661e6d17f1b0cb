// Pools of simulated policies: the first one or two, and edits of them. Mistakes that would make the whole policy invalid, such as a member
// with the cap none or a min above the credits, are removed before it is published: no later edit would ever count.
import { between, type Draw, pick } from '../../../src/sandbox/company/company.ts'
import type { Life } from './life.ts'
import type { ModelPool, PolicyModel } from './policy-model.ts'

const SHARES = ['need', 'equal'] as const

/** A pool of a group, or of some people; in some lives both. */
export function drawPools({ company, scenario }: Life, model: PolicyModel, draw: Draw): readonly ModelPool[] {
  const emails = [...company.people.keys()]
  const ids = [...model.groups.keys()]
  const terms = () => ({
    credits: between(draw, 500, 9000),
    share: pick(draw, SHARES),
    min: pick(draw, [0, 0, 20]),
    ...(draw() < 0.3 && { max: between(draw, 300, 3000) }),
  })
  const some = emails.filter(() => draw() < 0.3).slice(0, 8)
  const [id] = ids
  return [
    ...(id !== undefined && draw() < 0.5 ? [{ name: 'group', groups: [id], ...terms() }] : []),
    ...(scenario.directory ? [{ name: 'unit', unit: 'C', ...terms() }] : []),
    ...(some.length > 0 ? [{ name: 'listed', emails: some, ...terms() }] : []),
  ]
}

/** Edits: credits cut and raised, other terms, members who join and leave, a pool that ends or begins. */
export function editPools(life: Life, draw: Draw): void {
  const { model, company } = life
  const roll = draw()
  if (model.pools.length === 0 || roll < 0.08) {
    model.pools = roll < 0.04 ? [] : drawPools(life, model, draw)
    return
  }
  const at = between(draw, 0, model.pools.length - 1)
  const email = [...company.people.keys()][between(draw, 0, company.people.size - 1)] ?? ''
  model.pools = model.pools.map((pool, index): ModelPool => {
    if (index !== at) return pool
    if (roll < 0.55) return { ...pool, credits: Math.max(50, Math.round(pool.credits * pick(draw, [0.5, 0.9, 1.02, 1.2, 2]))) }
    if (roll < 0.7) return { ...pool, share: pick(draw, SHARES), min: pick(draw, [0, 10, 50]) }
    if (!pool.emails) return pool
    const others = pool.emails.filter((one) => one !== email)
    return { ...pool, emails: others.length < pool.emails.length ? others : [...others, email] }
  })
}

/** Multiplies the credits of all pools. */
export function scalePools(model: PolicyModel, share: number): void {
  model.pools = model.pools.map((pool) => ({ ...pool, credits: Math.max(50, Math.round(pool.credits * share)) }))
}

/** A member gets most of a pool as a cap of their own, which is dealt first. Returns the member. */
export function favour(model: PolicyModel, draw: Draw): string | undefined {
  const [first, ...rest] = model.pools.filter(({ emails = [] }) => emails.length > 1)
  if (!first) return undefined
  const { emails = [], credits } = pick(draw, [first, ...rest])
  const email = emails[between(draw, 0, emails.length - 1)]
  if (email !== undefined) model.users.set(email, Math.round(credits * 0.7))
  return email
}

/** The person with the highest cap among people whom a pool lists beside others. */
export function richestMember({ model, company }: Life): string | undefined {
  const caps = company.inForce()
  const listed = model.pools.flatMap(({ emails = [] }) => (emails.length > 2 ? emails : []))
  const capped = listed.flatMap((email) => {
    const cap = caps.get(email)
    return typeof cap === 'number' ? [{ email, cap }] : []
  })
  return capped.toSorted((a, b) => b.cap - a.cap)[0]?.email
}

/** Removes a person from all pools. */
export function dismiss(model: PolicyModel, email: string): void {
  model.pools = model.pools.map(({ emails, ...pool }) => ({ ...pool, ...(emails && { emails: emails.filter((one) => one !== email) }) }))
}

/** Removes what the parser would refuse. */
export function tidyPools(model: PolicyModel): void {
  model.rules = model.rules.filter(({ group }) => group === undefined || model.groups.has(group))
  model.pools = model.pools.flatMap((pool): ModelPool[] => {
    const { emails, groups, min, ...rest } = pool
    const left = emails?.filter((email) => model.users.get(email) !== 'none')
    const known = groups?.filter((id) => model.groups.has(id))
    if (pool.unit === undefined && (left ?? known ?? []).length === 0) return []
    const isPayable = min * (left?.length ?? 0) <= pool.credits
    const isWithin = pool.max === undefined || min <= pool.max
    return [{ ...rest, ...(left && { emails: left }), ...(known && { groups: known }), min: isPayable && isWithin ? min : 0 }]
  })
}
