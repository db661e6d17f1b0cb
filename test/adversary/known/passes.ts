// Known cases: one apply is enough, the order of writes, deferred and refused changes (docs/operations.md).
import { changesOf } from '../checks/shape.ts'
import { checkShown } from '../checks/shown.ts'
import { checkWay } from '../checks/steps.ts'
import { plainCompany } from '../company.ts'
import { noPolicy, type Policy } from '../policy.ts'
import { passing, writesOf, writtenText } from '../service.ts'
import { noGuards } from '../world.ts'
import { apply, type Known, must, mustExit, mustWrite, plan, told } from './known.ts'

const oneApply = 'One apply on a healthy service ends where the policy says, with 0 (section 6)'
const group = (id: string, ...members: number[]): { id: string; name: string; members: string[] } => ({
  id,
  name: id.toUpperCase(),
  members: members.map((n) => `p${n}@adv.example`),
})

/** A case in which one apply must end with the caps of the policy, however many passes it takes. */
function enough(
  name: string,
  caps: Record<string, number>,
  policy: Partial<Policy>,
  expected: Record<string, number>,
  groups: ReturnType<typeof group>[] = [],
): Known {
  return {
    name,
    run: async (open) => {
      const world = await open(plainCompany(8, caps, { groups }))
      world.configure({ guards: noGuards })
      world.write({ ...noPolicy, ...policy })
      const start = world.service.state()
      const shown = await plan(world)
      const run = await apply(world)
      mustExit(world, run, 0)
      const text = (state: Iterable<readonly [string, number]>): string =>
        [...state]
          .map(([scope, cap]) => `${scope}=${cap}`)
          .sort()
          .join(' ')
      must(
        world,
        oneApply,
        text(world.service.state()) === text(Object.entries(expected)),
        () => `is ${text(world.service.state())}; should be ${text(Object.entries(expected))}`,
      )
      checkWay(world, run.seen, start, world.service.state())
      checkShown(world, changesOf(shown.json), run.seen, true)
      const again = await apply(world)
      mustWrite(world, 'a second apply writes nothing (section 6)', again.seen, [])
      mustExit(world, again, 0)
      mustExit(world, await world.run('plan', '--detailed-exitcode'), 0)
    },
  }
}

const waysThere: readonly Known[] = [
  enough(
    'a person whose own cap equals the old team cap is cleared in the same apply',
    { team: 100, 'p1@adv.example': 100 },
    { team: 1500, users: [{ email: 'p1@adv.example', cap: 'none' }] },
    { team: 1500 },
  ),
  enough(
    'a person whose own cap equals the old group cap is cleared in the same apply',
    { 'group:grp_a': 100, 'p1@adv.example': 100 },
    { groups: [{ id: 'grp_a', name: 'GRP_A', cap: 1500 }], users: [{ email: 'p1@adv.example', cap: 'none' }] },
    { 'group:grp_a': 1500 },
    [group('grp_a', 1, 2)],
  ),
  enough(
    'a team, two groups and a conflict of which one group is none are right after one apply',
    { team: 9000, 'group:grp_a': 4000, 'group:grp_b': 2000 },
    {
      team: 4000,
      onGroupConflict: 'max',
      groups: [
        { id: 'grp_a', name: 'GRP_A', cap: 1500 },
        { id: 'grp_b', name: 'GRP_B', cap: 'none' },
      ],
      users: [{ email: 'p1@adv.example', cap: 4000 }],
    },
    { team: 4000, 'group:grp_a': 1500, 'p1@adv.example': 4000 },
    [group('grp_a', 1, 2), group('grp_b', 1, 3)],
  ),
  enough(
    'lowering the team while raising a person keeps all people above the lesser',
    { team: 5000, 'p1@adv.example': 200 },
    { team: 300, users: [{ email: 'p1@adv.example', cap: 900 }] },
    { team: 300, 'p1@adv.example': 900 },
  ),
  enough(
    'replacing a group cap by a team cap leaves no person without a cap',
    { 'group:grp_a': 500 },
    { team: 300, groups: [{ id: 'grp_a', name: 'GRP_A', cap: 'none' }] },
    { team: 300 },
    [group('grp_a', 1, 2, 3)],
  ),
]

const conflictOfNone: Known = {
  name: 'a healthy service never ends with 4, also with a group of none in a conflict',
  run: async (open) => {
    const world = await open(
      plainCompany(8, { team: 9000, 'group:grp_a': 4000, 'group:grp_b': 2000 }, { groups: [group('grp_a', 1, 2), group('grp_b', 1, 3)] }),
    )
    world.configure({ guards: noGuards })
    world.write({
      ...noPolicy,
      team: 4000,
      onGroupConflict: 'max',
      groups: [
        { id: 'grp_a', name: 'GRP_A', cap: 1500 },
        { id: 'grp_b', name: 'GRP_B', cap: 'none' },
      ],
    })
    const start = world.service.state()
    const run = await apply(world)
    mustExit(world, run, 0)
    checkWay(world, run.seen, start, world.service.state())
    const again = await apply(world)
    mustWrite(world, 'a second apply writes nothing (section 6)', again.seen, [])
    mustExit(world, again, 0)
  },
}

const refusedTeam: Known = {
  name: 'a refused team cap is tried again after 24 h, not before, and changes that wait for it name it',
  run: async (open) => {
    const world = await open(plainCompany(8, { 'p1@adv.example': 100 }))
    world.configure({ guards: noGuards })
    world.write({
      ...noPolicy,
      team: 1500,
      users: [
        { email: 'p1@adv.example', cap: 'none' },
        { email: 'p2@adv.example', cap: 70 },
      ],
    })
    world.service.tamper = ({ operation, scope }) =>
      operation === 'UsageConfig' && scope === 'team'
        ? { kind: 'answer', status: 400, body: '{"error":"invalid cap for this team"}' }
        : { kind: 'pass' }
    const run = await apply(world)
    mustExit(world, run, 4)
    must(world, 'One bad scope never stops the others (section 6)', world.service.state().get('p2@adv.example') === 70, () => told(run))
    must(world, 'No person is uncapped on the way to a cap (section 6)', world.service.state().get('p1@adv.example') === 100, () =>
      told(run),
    )
    const clear = changesOf(run.json).find((c) => c.scope === 'p1@adv.example')
    must(world, 'A change that waits names what it waits for (section 6)', clear?.waitsFor.includes('team') === true, () => told(run))
    const again = await apply(world)
    mustWrite(world, 'quarantined; it is tried again after 24 h (section 6)', again.seen, [])
    must(world, 'a quarantined change does not end with 0 (section 3)', again.code !== 0, () => `exit ${again.code}`)
    world.service.tamper = passing
    world.write({
      ...noPolicy,
      team: 1600,
      users: [
        { email: 'p1@adv.example', cap: 'none' },
        { email: 'p2@adv.example', cap: 70 },
      ],
    })
    const line = await apply(world)
    mustWrite(world, 'or when its policy line changes (section 6)', line.seen, ['team → 1600', 'p1@adv.example → none'])
    mustExit(world, line, 0)
  },
}

const shownOnly: Known = {
  name: 'apply --plan writes nothing that its plan did not show',
  run: async (open) => {
    const world = await open(plainCompany(8, { team: 100, 'p1@adv.example': 100 }))
    world.configure({ guards: noGuards })
    world.write({ ...noPolicy, team: 1500, users: [{ email: 'p1@adv.example', cap: 'none' }] })
    const shown = await plan(world, '--out', 'plan.json')
    const run = await apply(world, '--plan', 'plan.json')
    const allowed = changesOf(shown.json).map((c) => `${c.scope} → ${c.to}`)
    const other = writesOf(run.seen)
      .map(writtenText)
      .filter((key) => !allowed.includes(key))
    must(world, 'apply --plan writes no (scope, to) that was not shown (section 6)', other.length === 0, () => other.join())
    must(world, 'plan shows the changes of all passes (section 6)', allowed.includes('p1@adv.example → none'), () => allowed.join())
    mustExit(world, run, 0)
  },
}

const orderShown: Known = {
  name: 'the changes of a plan are in the order of writing',
  run: async (open) => {
    const world = await open(
      plainCompany(8, { team: 1000, 'group:grp_a': 500, 'p1@adv.example': 700, 'p2@adv.example': 100 }, { groups: [group('grp_a', 3, 4)] }),
    )
    world.configure({ guards: noGuards })
    world.write({
      ...noPolicy,
      team: 400,
      groups: [{ id: 'grp_a', name: 'GRP_A', cap: 800 }],
      users: [
        { email: 'p1@adv.example', cap: 300 },
        { email: 'p2@adv.example', cap: 900 },
      ],
    })
    const shown = await plan(world)
    const run = await apply(world)
    const order = ['p2@adv.example → 900', 'group:grp_a → 800', 'team → 400', 'p1@adv.example → 300']
    const planned = changesOf(shown.json).map((c) => `${c.scope} → ${c.to}`)
    must(world, 'changes[] in the order of writing (section 3)', planned.join() === order.join(), () => planned.join())
    must(
      world,
      'first raises, users before groups before the team; then lowers, the team before groups before users (section 6)',
      writesOf(run.seen).map(writtenText).join() === order.join(),
      () => writesOf(run.seen).map(writtenText).join(),
    )
  },
}

export const passCases: readonly Known[] = [...waysThere, conflictOfNone, refusedTeam, shownOnly, orderShown]
