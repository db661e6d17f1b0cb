// Saved plans: `plan --out`, then `apply --plan`: the whole plan as shown, or nothing when its basis has changed.
import { differences, expectedEnd } from '../checks/end.ts'
import { changesOf, checkShape } from '../checks/shape.ts'
import { checkShown } from '../checks/shown.ts'
import { checkNeed, checkWay } from '../checks/steps.ts'
import { drawCompany, values } from '../company.ts'
import { declaredBy, drawPolicy } from '../policy.ts'
import { writesOf } from '../service.ts'
import { noGuards } from '../world.ts'
import { drawSwitches, type Kind, outcome } from './kind.ts'

export const saved: Kind = async (random, open) => {
  const company = drawCompany(random, random.chance(0.3))
  const world = await open(company, drawSwitches(random))
  world.configure({ guards: random.chance(0.7) ? noGuards : {} })
  const policy = { ...drawPolicy(random, company, Date.now()), grants: [] }
  const declared = declaredBy(policy, company, Date.now())
  world.write(policy)
  const plan = await world.run('plan', '--out', 'plan.json', '--output', 'json')
  checkShape(world, plan.json, 'plan --out')
  const changes = changesOf(plan.json)
  const stale = random.pick(['', '', 'foreign', 'policy'])
  const touched = changes.length > 0 ? random.pick(changes) : undefined
  if (stale === 'foreign' && touched)
    await world.service.edit(touched.scope, (touched.from === 'none' ? 0 : touched.from) + 7 + random.pick(values))
  if (stale === 'foreign' && touched) world.story.push(`another client changed ${touched.scope}${touched.hold ? ', a held change' : ''}`)
  if (stale === 'policy') world.write({ ...policy, users: [...policy.users.slice(1), { email: 'late@adv.example', cap: 5 }] })
  const start = world.service.state()
  const run = await world.run('apply', '--plan', 'plan.json', '--yes', '--output', 'json')
  const refused = (stale === 'foreign' && touched !== undefined) || stale === 'policy'
  if (refused) {
    const rule = '--plan refuses all of it when one from no longer holds or the policy digest differs'
    if (writesOf(run.seen).length > 0) world.breach(rule, `${stale}: ${writesOf(run.seen).length} writes went out`)
    if (run.code !== 1) world.breach('1 failed, nothing could be done', `${stale}: exit ${run.code}: ${outcome(run)}`)
    return
  }
  checkWay(world, run.seen, start, world.service.state())
  checkNeed(world, run.seen)
  checkShown(world, changes, run.seen, true)
  const held = changes.some((c) => c.hold !== '')
  if (held ? run.code !== 3 : run.code !== 0) world.breach('0 done, 3 held', `exit ${run.code}: ${outcome(run)}`)
  const left = differences(world.service.state(), expectedEnd(start, declared)).filter(([scope]) => !declared.loose.has(scope))
  if (!held && run.code === 0 && left.length > 0)
    world.breach('0 means that the service is as declared', left.map((l) => l.join(' ')).join('; '))
}
