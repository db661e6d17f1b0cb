// A command is killed at any instant: the next apply completes the work, writes nothing twice without need, and forgets no cap of ours.
import { expectedEnd } from '../checks/end.ts'
import { checkNeed, checkWay } from '../checks/steps.ts'
import { drawCompany } from '../company.ts'
import { declaredBy, drawPolicy, noPolicy } from '../policy.ts'
import { noGuards } from '../world.ts'
import { applyKilledAt, checkDone, checkQuiet, drawSwitches, type Kind } from './kind.ts'

export const killed: Kind = async (random, open) => {
  const company = drawCompany(random, false)
  const world = await open(company, drawSwitches(random))
  world.configure({ guards: noGuards, concurrency: random.pick([1, 4]) })
  const policy = { ...drawPolicy(random, company, Date.now()), grants: [] }
  const declared = declaredBy(policy, company, Date.now())
  const start = world.service.state()
  const expected = expectedEnd(start, declared)
  world.write(policy)
  for (let times = random.int(1, 2); times > 0; times -= 1) {
    const write = random.int(1, 12)
    const landing = random.chance(0.6)
    const ended = await applyKilledAt(world, write, landing)
    world.story.push(`ended with ${ended.code} (-1: killed), the write in flight ${landing ? 'landed' : 'was lost'}`)
  }
  const left = world.service.state()
  const run = await world.run('apply', '--yes', '--output', 'json')
  checkDone(world, run, left, expected, declared.loose)
  checkWay(world, world.service.seen, start, world.service.state())
  checkNeed(world, world.service.seen)
  if (declared.loose.size > 0) return
  await checkQuiet(world)
  world.write({ ...noPolicy, team: 700 })
  const before = world.service.state()
  const conflicts = new Set(
    [...declared.wanted.keys()].filter((s) => !policy.users.some((u) => u.email.trim().toLowerCase() === s) && s.includes('@')),
  )
  const ours = [...declared.wanted].filter(([, cap]) => cap !== 'none').map(([scope]) => scope)
  const rest = await world.run('apply', '--yes', '--output', 'json')
  checkDone(world, rest, before, expectedEnd(before, { wanted: new Map([['team', 700]]), loose: new Set() }, ours), conflicts)
}
