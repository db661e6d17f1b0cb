// The daemon enforces, reverts foreign changes, follows edits, reads approvals, and after it was killed an apply has little to do.
import { setTimeout as sleep } from 'node:timers/promises'
import { differences, expectedEnd } from '../checks/end.ts'
import { holdsOf } from '../checks/shape.ts'
import { checkWay } from '../checks/steps.ts'
import { approved, type Company, drawCompany, values } from '../company.ts'
import type { State } from '../model.ts'
import { declaredBy, drawPolicy } from '../policy.ts'
import { noGuards, type World } from '../world.ts'
import { checkDone, checkQuiet, drawSwitches, type Kind, outcome } from './kind.ts'

const present = (company: Company): readonly string[] => approved(company).map((p) => p.email)
const patienceMs = 20_000

export const daemon: Kind = async (random, open) => {
  const company = drawCompany(random, false)
  const world = await open(company, drawSwitches(random))
  const lines = ['interval: 2s', 'usageInterval: 5s']
  world.configure({ guards: noGuards, lines })
  const policy = { ...drawPolicy(random, company, Date.now(), true), grants: [], team: random.pick(values) }
  const declared = declaredBy(policy, company, Date.now())
  const start = world.service.state()
  const expected = expectedEnd(start, declared)
  world.write(policy)
  const running = world.begin('run', '--config', 'capkeeper.yaml', '--listen', '127.0.0.1:0')
  try {
    if (!(await reached(world, expected, declared.loose)))
      return world.breach(
        'run reconciles every workspace (docs/operations.md)',
        `not as declared: ${missing(world, expected)}; ${running.talked().slice(-500)}`,
      )
    checkWay(world, world.service.seen, start, expected)
    const scope = random.pick([...declared.wanted.keys()].filter((s) => declared.wanted.get(s) !== 'none' || s === 'team'))
    await world.service.edit(scope, 4321)
    if (!(await reached(world, expected, declared.loose)))
      world.breach('onDrift: heal (docs/configuration.md)', `${scope} was set to 4321 and stayed: ${running.talked().slice(-300)}`)
    const next = { ...policy, team: policy.team + 111 }
    world.write(next)
    const then = expectedEnd(world.service.state(), declaredBy(next, company, Date.now()))
    if (!(await reached(world, then, declared.loose)))
      world.breach('a policy change reconciles (docs/operations.md)', `team should be ${next.team}; ${running.talked().slice(-300)}`)
    const turn = Date.now() + 5000
    const lent = random.pick([...present(company)])
    const granted = { ...next, grants: [{ scope: lent, gives: { cap: 5432 }, until: { text: new Date(turn).toISOString(), at: turn } }] }
    world.write(granted)
    const lending = new Map(then).set(lent, 5432)
    const rule = 'a grant ends at its instant and gives back what was there (docs/policies.md)'
    if (!(await reached(world, lending, declared.loose)))
      world.breach(rule, `${lent} was not granted 5432; ${running.talked().slice(-300)}`)
    if (!(await reached(world, then, declared.loose))) world.breach(rule, `${lent} kept 5432; ${running.talked().slice(-300)}`)
    const back = Date.now()
    if (back < turn) world.breach(rule, `${lent} was given back ${turn - back} ms early`)
    const beside = await world.run('plan', '--detailed-exitcode', '--output', 'json')
    if (beside.code !== 0 || holdsOf(beside.json).length > 0)
      world.breach('every reading command works beside a running daemon', `exit ${beside.code}: ${outcome(beside)}`)
    running.child.kill('SIGKILL')
    await running.ended
    if (declared.loose.size === 0) {
      checkDone(world, await world.run('apply', '--yes', '--output', 'json'), then, then, declared.loose)
      await checkQuiet(world)
    }
  } finally {
    running.child.kill('SIGKILL')
    await running.ended
  }
}

async function reached(world: World, expected: State, loose: ReadonlySet<string>): Promise<boolean> {
  const end = Date.now() + patienceMs
  while (Date.now() < end) {
    if (differences(world.service.state(), expected).every(([scope]) => loose.has(scope))) return true
    await sleep(50)
  }
  return false
}

const missing = (world: World, expected: State): string =>
  differences(world.service.state(), expected)
    .map(([scope, is, should]) => `${scope} is ${is}, should be ${should}`)
    .join('; ')
