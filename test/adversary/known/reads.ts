// Known cases of services whose reads show inherited caps: a cap that only looks declared is not taken for declared (docs/operations.md).
import { checkEnd } from '../checks/end.ts'
import { checkNeed, checkWay } from '../checks/steps.ts'
import { plainCompany } from '../company.ts'
import { noPolicy, type Policy } from '../policy.ts'
import { noGuards } from '../world.ts'
import { apply, type Known, mustExit, mustWrite } from './known.ts'

const email = (n: number): string => `p${n}@adv.example`
const group = (id: string, ...members: number[]): { id: string; name: string; members: string[] } => ({
  id,
  name: id.toUpperCase(),
  members: members.map(email),
})

interface Trial {
  readonly name: string
  readonly caps: Readonly<Record<string, number>>
  readonly policy: Partial<Policy>
  /** The expected cap in force by scope. */
  readonly expected: Readonly<Record<string, number>>
}

const groups = [group('grp_a', 1, 2), group('grp_b', 1, 3)]

const trials: readonly Trial[] = [
  {
    name: 'a person with the same declared cap as the team keeps it when the team is lowered',
    caps: { team: 1000 },
    policy: { team: 500, users: [{ email: email(1), cap: 1000 }] },
    expected: { team: 500, [email(1)]: 1000 },
  },
  {
    name: 'a person of two groups keeps the greater cap when the lower one is set',
    caps: { 'group:grp_a': 5000 },
    policy: {
      onGroupConflict: 'max',
      groups: [
        { id: 'grp_a', name: 'GRP_A', cap: 5000 },
        { id: 'grp_b', name: 'GRP_B', cap: 2000 },
      ],
    },
    expected: { 'group:grp_a': 5000, 'group:grp_b': 2000, [email(1)]: 5000 },
  },
  {
    name: "a person with the desired cap none is cleared, and in sync when the ancestor's cap shows",
    caps: { team: 1000, [email(1)]: 300 },
    policy: { team: 1000, users: [{ email: email(1), cap: 'none' }] },
    expected: { team: 1000 },
  },
  {
    name: 'a group with the same declared cap as the team keeps it when the team is lowered',
    caps: { team: 1000 },
    policy: { team: 400, groups: [{ id: 'grp_a', name: 'GRP_A', cap: 1000 }] },
    expected: { team: 400, 'group:grp_a': 1000 },
  },
]

function known(trial: Trial, told: boolean): Known {
  return {
    name: `inherited reads, ${told ? 'declared' : 'not declared'}: ${trial.name}`,
    run: async (open) => {
      const world = await open(plainCompany(8, trial.caps, { groups }), ['--cap-reads', 'inherited'])
      world.configure({ guards: noGuards, ...(told ? { lines: ['capReads: inherited'] } : {}) })
      world.write({ ...noPolicy, ...trial.policy })
      const start = world.service.state()
      const run = await apply(world)
      checkWay(world, run.seen, start, new Map(Object.entries(trial.expected)))
      checkNeed(world, run.seen)
      mustExit(world, run, 0)
      checkEnd(world, new Map(Object.entries(trial.expected)), new Set(), 'after apply with exit 0')
      const again = await apply(world)
      mustWrite(world, 'a second apply writes nothing (section 6)', again.seen, [])
      mustExit(world, again, 0)
    },
  }
}

export const readCases: readonly Known[] = trials.flatMap((trial) => [known(trial, true), known(trial, false)])
