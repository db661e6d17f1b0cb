// Grants begin and end at their instants, and their end restores the base, or the cap before the grant.
import { setTimeout as sleep } from 'node:timers/promises'
import { expectedEnd } from '../checks/end.ts'
import { drawCompany, values } from '../company.ts'
import { declaredBy, drawPolicy, type Grant, type Policy } from '../policy.ts'
import { noGuards } from '../world.ts'
import { checkDone, checkQuiet, drawSwitches, type Kind } from './kind.ts'

const instant = (at: number): { text: string; at: number } => ({ text: new Date(at).toISOString(), at })
const leadMs = 12_000

export const grants: Kind = async (random, open) => {
  const company = drawCompany(random, false)
  const world = await open(company, drawSwitches(random))
  world.configure({ guards: noGuards })
  const base = { ...drawPolicy(random, company, Date.now(), true), grants: [] }
  const scopes = ['team', ...base.groups.map((g) => `group:${g.id}`), ...company.people.map((p) => p.email)]
  const turn = Date.now() + leadMs
  const chosen = random.sample(scopes, random.int(1, 4)).map((scope): Grant => {
    const gives = { cap: random.pick(values) + 3 }
    return random.chance(0.6)
      ? { scope, gives, until: instant(turn) }
      : { scope, gives, from: instant(turn), until: instant(turn + 3_600_000) }
  })
  const policy: Policy = { ...base, grants: chosen }
  const original = world.service.state()
  world.write(policy)
  const early = declaredBy(policy, company, Date.now())
  const first = await world.run('apply', '--yes', '--output', 'json')
  if (Date.now() > turn - 500) return
  checkDone(world, first, original, expectedEnd(original, early), early.loose)
  await sleep(turn - Date.now() + 300)
  const late = declaredBy(policy, company, turn + 100)
  // The cap that a grant without a base had replaced is restored.
  const given = new Map(late.wanted)
  for (const [scope] of early.wanted) if (!late.wanted.has(scope)) given.set(scope, original.get(scope) ?? 'none')
  const start = world.service.state()
  const second = await world.run('apply', '--yes', '--output', 'json')
  const conflicts = [...given.keys()].filter((s) => s.includes('@') && !late.wanted.has(s) && !chosen.some((g) => g.scope === s))
  const loose = new Set([...early.loose, ...late.loose, ...conflicts])
  checkDone(world, second, start, expectedEnd(start, { wanted: given, loose }), loose)
  if (loose.size === 0) await checkQuiet(world)
}
