// Another client edits caps: they are reverted, and the guards against mistakes do not hold the reverts.
import { checkEnd, expectedEnd } from '../checks/end.ts'
import { changesOf } from '../checks/shape.ts'
import { drawCompany, values } from '../company.ts'
import type { Cap } from '../model.ts'
import { type Declared, declaredBy, drawPolicy, type Policy } from '../policy.ts'
import type { Random } from '../random.ts'
import { passing } from '../service.ts'
import { noGuards, type World } from '../world.ts'
import { checkDone, checkQuiet, drawSwitches, type Kind } from './kind.ts'

export const foreign: Kind = async (random, open) => {
  const company = drawCompany(random, false)
  const world = await open(company, drawSwitches(random))
  world.configure({ guards: noGuards })
  const policy = { ...drawPolicy(random, company, Date.now(), true), grants: [] }
  const declared = declaredBy(policy, company, Date.now())
  world.write(policy)
  const expected = expectedEnd(world.service.state(), declared)
  checkDone(world, await world.run('apply', '--yes', '--output', 'json'), new Map(company.caps), expected, declared.loose)
  if (declared.loose.size > 0) return
  if (random.chance(0.4)) return disturbed(world, random, policy, declared)
  world.configure({})
  const edited = random.sample([...declared.wanted.keys()], random.int(1, 12))
  for (const scope of edited) {
    const to: Cap = random.chance(0.25) ? 'none' : random.pick(values) + 1
    if (to === 'none' && world.service.state().get(scope) === undefined) continue
    world.story.push(`another client: ${scope} → ${to}`)
    await world.service.edit(scope, to)
  }
  const start = world.service.state()
  const run = await world.run('apply', '--yes', '--output', 'json')
  for (const change of changesOf(run.json)) {
    if (change.cause !== 'external')
      world.breach('cause is external when another client wrote (docs/words.md)', `${change.scope} says ${change.cause}`)
    if (change.hold !== '' && !changesClears(change.to))
      world.breach('Healing is not held (docs/guards-and-approvals.md)', `${change.scope} ${change.from} → ${change.to} is held`)
  }
  if (run.code === 3 && changesOf(run.json).some((c) => c.to === 'none')) return
  checkDone(world, run, start, expected, declared.loose)
  await checkQuiet(world)
}

/** Another client writes during an apply: whatever its result, the next apply ends with the caps of the policy. */
async function disturbed(world: World, random: Random, policy: Policy, declared: Declared): Promise<void> {
  const cap = (): Cap => random.pick(values) + 2
  const next: Policy = {
    ...policy,
    team: random.pick(values) + 5,
    users: policy.users.map((u) => (u.cap === 'none' || random.chance(0.5) ? u : { ...u, cap: cap() })),
  }
  world.write(next)
  const now = declaredBy(next, world.company, Date.now())
  const scope = random.pick([...now.wanted.keys()])
  let left = random.int(1, 15)
  world.service.tamper = async () => {
    left -= 1
    if (left === 0) await world.service.edit(scope, 6543)
    return { kind: 'pass' }
  }
  const expected = expectedEnd(world.service.state(), now)
  const run = await world.run('apply', '--yes', '--output', 'json')
  world.service.tamper = passing
  world.story.push(`another client: ${scope} → 6543 during that apply`)
  if (run.code === 0 && left > 0) checkEnd(world, expected, declared.loose, 'after apply with exit 0')
  const start = world.service.state()
  const last = await world.run('apply', '--yes', '--output', 'json')
  checkDone(world, last, start, expected, declared.loose)
  await checkQuiet(world)
}

/** Reverts are not exempt from `maxCleared`. */
const changesClears = (to: Cap): boolean => to === 'none'
