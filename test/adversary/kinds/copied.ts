// A service that copies team and group writes to each member, and a config that says so: all declared people have their cap at the end.
import { approved, drawCompany } from '../company.ts'
import { after, effective } from '../model.ts'
import { declaredBy, drawPolicy } from '../policy.ts'
import { writesOf } from '../service.ts'
import { noGuards } from '../world.ts'
import { type Kind, outcome } from './kind.ts'

export const copied: Kind = async (random, open) => {
  const company = { ...drawCompany(random, false), caps: new Map<string, number>() }
  const world = await open(company, ['--cap-semantics', 'fan-out'])
  world.configure({ guards: noGuards, lines: ['capSemantics: copied'] })
  const drawn = drawPolicy(random, company, Date.now(), true)
  const team = typeof drawn.team === 'number' ? drawn.team : 1000
  const groups = drawn.groups.map((g) => ({ ...g, cap: g.cap === 'none' ? 800 : g.cap }))
  const policy = { ...drawn, grants: [], team, groups, users: drawn.users.filter((u) => u.cap !== 'none') }
  world.write(policy)
  const { wanted } = declaredBy(policy, company, Date.now())
  const run = await world.run('apply', '--yes', '--output', 'json')
  if (run.code !== 0) world.breach('One apply on a healthy service ends where the policy says, with 0', `exit ${run.code}: ${outcome(run)}`)
  const should = after(new Map(), wanted)
  for (const { email } of approved(company)) {
    const is = await world.service.truth(email)
    const want = effective(should, company, email)
    if (is !== want && run.code === 0)
      world.breach(
        "copied: every approved person's resolved cap is kept at user scope (docs/configuration.md)",
        `${email} has ${is}, should have ${want}`,
      )
  }
  const again = await world.run('apply', '--yes', '--output', 'json')
  for (const write of writesOf(again.seen))
    world.breach('A second apply writes nothing (ARCHITECTURE.md, invariant 6)', `${write.scope} → ${write.cap}`)
  if (again.code !== 0) world.breach('A second apply ends with 0', `exit ${again.code}: ${outcome(again)}`)
}
