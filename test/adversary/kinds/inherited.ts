// A service whose reads show inherited caps: the declared caps are in force all the same.
import { expectedEnd } from '../checks/end.ts'
import { checkWay } from '../checks/steps.ts'
import { approved, drawCompany } from '../company.ts'
import { effective } from '../model.ts'
import { declaredBy, drawPolicy } from '../policy.ts'
import { writesOf } from '../service.ts'
import { noGuards } from '../world.ts'
import { type Kind, outcome } from './kind.ts'

export const inherited: Kind = async (random, open) => {
  const company = drawCompany(random, false)
  const world = await open(company, ['--cap-reads', 'inherited'])
  const told = random.chance(0.6)
  world.configure({ guards: noGuards, ...(told ? { lines: ['capReads: inherited'] } : {}) })
  const policy = { ...drawPolicy(random, company, Date.now(), true), grants: [] }
  const declared = declaredBy(policy, company, Date.now())
  const start = world.service.state()
  const expected = expectedEnd(start, declared)
  world.write(policy)
  const run = await world.run('apply', '--yes', '--output', 'json')
  checkWay(world, run.seen, start, world.service.state())
  const open4 = run.code === 4 && !told && `${run.out}${run.talk}`.includes('capReads')
  if (open4) return
  if (run.code !== 0)
    return world.breach('One apply on a healthy service ends where the policy says, with 0', `exit ${run.code}: ${outcome(run)}`)
  if (declared.loose.size > 0) return
  for (const { email } of approved(company)) {
    const is = effective(world.service.state(), company, email)
    const should = effective(expected, company, email)
    if (is !== should) world.breach('0 means that the service is as declared', `${email} has ${is}, should have ${should}`)
  }
  const again = await world.run('apply', '--yes', '--output', 'json')
  for (const write of writesOf(again.seen))
    world.breach('A second apply writes nothing (ARCHITECTURE.md, invariant 6)', `${write.scope} → ${write.cap}`)
  if (again.code !== 0) world.breach('A second apply ends with 0', `exit ${again.code}: ${outcome(again)}`)
}
