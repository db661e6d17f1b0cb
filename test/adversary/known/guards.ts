// Known cases: guards, holds and approvals (docs/guards-and-approvals.md).
import { changesOf, holdsOf } from '../checks/shape.ts'
import { person, plainCompany } from '../company.ts'
import { noPolicy } from '../policy.ts'
import { apply, holdOf, type Known, must, mustExit, mustWrite, plan, told } from './known.ts'

const emails = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => `p${from + i}@adv.example`)
const users = (from: number, to: number, cap: number | 'none'): { email: string; cap: number | 'none' }[] =>
  emails(from, to).map((email) => ({ email, cap }))
const exactly = 'releases exactly its own changes; releasing one hold never lets another through (section 5)'

const oneReleasesOne: Known = {
  name: 'approving one hold never releases another, neither then nor later',
  run: async (open) => {
    const world = await open(plainCompany(20, { team: 1000 }))
    world.configure({})
    world.write({ ...noPolicy, team: 1000, users: [...users(1, 5, 900), { email: 'p6@adv.example', cap: 0 }] })
    const first = await apply(world)
    mustExit(world, first, 3)
    mustWrite(world, 'held changes are not written (section 5)', first.seen, [])
    const lowering = holdOf(first, 'p1@adv.example')
    const blocking = holdOf(first, 'p6@adv.example')
    must(
      world,
      'Changes kept back by the same guards form one hold (section 5)',
      lowering !== '' && blocking !== '' && lowering !== blocking,
      () => told(first),
    )
    const second = await apply(world, '--approve', lowering)
    mustWrite(
      world,
      exactly,
      second.seen,
      emails(1, 5).map((e) => `${e} → 900`),
    )
    mustExit(world, second, 3)
    const third = await apply(world)
    mustWrite(world, exactly, third.seen, [])
    mustExit(world, third, 3)
    must(
      world,
      'a hold stays, with its id, until its own approval (section 5)',
      holdOf(third, 'p6@adv.example') === blocking,
      () => `${blocking}; ${told(third)}`,
    )
    const last = await apply(world, '--approve', blocking)
    mustWrite(world, exactly, last.seen, ['p6@adv.example → 0'])
    mustExit(world, last, 0)
  },
}

const otherWay: Known = {
  name: 'approving the small hold first never releases the large one',
  run: async (open) => {
    const world = await open(plainCompany(20, { team: 1000 }))
    world.configure({})
    world.write({ ...noPolicy, team: 1000, users: [...users(1, 5, 900), { email: 'p6@adv.example', cap: 0 }] })
    const first = await apply(world)
    const second = await apply(world, '--approve', holdOf(first, 'p6@adv.example'))
    mustWrite(world, exactly, second.seen, ['p6@adv.example → 0'])
    mustExit(world, second, 3)
    const third = await apply(world)
    mustWrite(world, exactly, third.seen, [])
    mustExit(world, third, 3)
  },
}

const undeclaredTeam: Known = {
  name: 'people who fall from an undeclared team cap are counted',
  run: async (open) => {
    const world = await open(plainCompany(20, { team: 5000 }))
    world.configure({})
    world.write({ ...noPolicy, users: users(1, 10, 100) })
    const run = await apply(world)
    mustExit(world, run, 3)
    mustWrite(
      world,
      "The team's cap is read in every cycle, declared or not, so that people who fall from it are counted (section 5)",
      run.seen,
      [],
    )
    const guards = holdsOf(run.json).flatMap((h) => h.guards)
    must(
      world,
      'ten of twenty lowered: maxAffected and maxLowered hold (section 5)',
      guards.includes('maxAffected') && guards.includes('maxLowered'),
      () => told(run),
    )
  },
}

const releasedWaits: Known = {
  name: 'released clears that wait for a held team write name it, in apply and in explain',
  run: async (open) => {
    const people = Array.from({ length: 20 }, (_, i) => person(`p${i + 1}`, i > 1 ? 2000 : 0))
    const caps = { 'p1@adv.example': 500, 'p2@adv.example': 500 }
    const world = await open(plainCompany(20, caps, { people }))
    world.configure({})
    world.write({ ...noPolicy, team: 300, users: users(1, 2, 'none'), protected: emails(1, 2) })
    const first = await apply(world)
    mustExit(world, first, 3)
    mustWrite(world, 'the team is held by maxBlocked, the clears by protected (section 5)', first.seen, [])
    const id = holdOf(first, 'p1@adv.example')
    must(
      world,
      'the clears are one hold of their own (section 5)',
      id !== '' && id === holdOf(first, 'p2@adv.example') && id !== holdOf(first, 'team'),
      () => told(first),
    )
    const second = await apply(world, '--approve', id)
    mustExit(world, second, 3)
    mustWrite(world, 'No person is uncapped on the way to a cap (section 6)', second.seen, [])
    const clears = changesOf(second.json).filter((c) => c.scope !== 'team')
    must(
      world,
      'What waits says for what, in every output (section 6)',
      clears.length === 2 && clears.every((c) => c.released !== '' && c.waitsFor.includes('team')),
      () => told(second),
    )
    const explained = await world.run('explain', 'p1@adv.example')
    must(
      world,
      'What waits says for what, in every output (section 6)',
      /wait/i.test(explained.out) && explained.out.includes('team'),
      () => explained.out,
    )
  },
}

const unrelatedGoes: Known = {
  name: 'a clear that falls to a group cap does not wait for a held team cap',
  run: async (open) => {
    const people = Array.from({ length: 20 }, (_, i) => person(`p${i + 1}`, i > 2 ? 2000 : 0))
    const groups = [{ id: 'grp_a', name: 'A', members: emails(1, 2) }]
    const world = await open(plainCompany(20, { team: 5000, 'group:grp_a': 1500, 'p1@adv.example': 1200 }, { people, groups }))
    world.configure({})
    const policy = { ...noPolicy, team: 5000, groups: [{ id: 'grp_a', name: 'A', cap: 1500 }], users: users(1, 1, 1200) }
    world.write(policy)
    mustExit(world, await apply(world), 0)
    world.write({ ...policy, team: 10, users: [] })
    const run = await apply(world)
    mustExit(world, run, 3)
    mustWrite(world, 'A hold keeps back the changes it is about; the rest still goes out (section 5)', run.seen, ['p1@adv.example → none'])
  },
}

const raiseGoes: Known = {
  name: 'a raise of the team is written beside held lowerings of people without a cap of their own',
  run: async (open) => {
    const world = await open(plainCompany(20, { team: 1000 }))
    world.configure({})
    world.write({ ...noPolicy, team: 1100, users: users(1, 10, 500) })
    for (const seen of [['team → 1100'], []]) {
      const run = await apply(world)
      mustExit(world, run, 3)
      mustWrite(world, 'the rest (grants, raises, other scopes) still goes out (section 5)', run.seen, seen)
      must(world, 'a hold counts the people whom its changes lower (section 5)', holdsOf(run.json)[0]?.people === 10, () => told(run))
    }
  },
}

const company50 = plainCompany(50, { team: 1000 })
const base50 = { ...noPolicy, team: 1000 }
const twoSteps = 'an approval counts only for changes that the ledger has shown before, under a revision without it (section 5)'

const selfApproval: Known = {
  name: 'a policy that lowers 43 of 50 people cannot approve itself, and its plan names hold and approval first',
  run: async (open) => {
    const world = await open(company50)
    world.configure({})
    world.write(base50)
    mustExit(world, await apply(world), 0)
    const lowering = { ...base50, users: users(1, 43, 500) }
    world.write(lowering)
    const shown = await world.run('plan', '--output', 'json', '--ledger', ':memory:')
    const id = holdOf(shown, 'p1@adv.example')
    world.write({ ...lowering, approvals: [id] })
    const markdown = await world.run('plan', '--output', 'markdown')
    must(
      world,
      'Every plan lists what each approval releases, with its place, first of all, and its holds (section 5)',
      id !== '' && /hold/i.test(markdown.out) && /approv/i.test(markdown.out),
      () => markdown.out.slice(0, 600),
    )
    const place = /p\.yaml:\d+/.exec(markdown.out.slice(0, Math.max(0, markdown.out.indexOf('p1@'))))
    must(world, 'what each approval releases, with its place, stands first of all (section 5)', place !== null, () =>
      markdown.out.slice(0, 600),
    )
    const run = await apply(world)
    mustWrite(world, twoSteps, run.seen, [])
    mustExit(world, run, 3)
    const again = await apply(world)
    mustWrite(world, twoSteps, again.seen, [])
  },
}

const earlyApproval: Known = {
  name: 'an approval that is merged ahead of its change releases nothing',
  run: async (open) => {
    const world = await open(company50)
    world.configure({})
    world.write(base50)
    mustExit(world, await apply(world), 0)
    const lowering = { ...base50, users: users(1, 43, 500) }
    world.write(lowering)
    const id = holdOf(await world.run('plan', '--output', 'json', '--ledger', ':memory:'), 'p1@adv.example')
    world.write({ ...base50, approvals: [id] })
    mustExit(world, await apply(world), 0)
    world.write({ ...lowering, approvals: [id] })
    const run = await apply(world)
    mustWrite(world, twoSteps, run.seen, [])
    mustExit(world, run, 3)
  },
}

const reviewedApproval: Known = {
  name: 'an approval that follows the shown change releases it, and is spent',
  run: async (open) => {
    const world = await open(company50)
    world.configure({ guards: { emptyPolicy: 'off' } })
    world.write(base50)
    mustExit(world, await apply(world), 0)
    const lowering = { ...base50, users: users(1, 43, 500) }
    world.write(lowering)
    const held = await apply(world)
    mustExit(world, held, 3)
    world.write({ ...lowering, approvals: [holdOf(held, 'p1@adv.example')] })
    const run = await apply(world)
    mustExit(world, run, 0)
    mustWrite(
      world,
      exactly,
      run.seen,
      emails(1, 43).map((e) => `${e} → 500`),
    )
    must(
      world,
      'released names the approval: file:line (section 3)',
      changesOf(run.json).every((c) => c.released.includes('p.yaml')),
      () => told(run),
    )
    world.write(base50)
    mustExit(world, await apply(world), 0)
    world.write(lowering)
    must(
      world,
      'the same changes are the same hold (section 5)',
      holdOf(await apply(world), 'p1@adv.example') === holdOf(held, 'p1@adv.example'),
      () => 'another id',
    )
    world.write({ ...lowering, approvals: [holdOf(held, 'p1@adv.example')] })
    const spent = await apply(world)
    mustWrite(world, 'an approval is spent: it never releases anything again (section 5)', spent.seen, [])
    mustExit(world, spent, 3)
  },
}

const freshLedger: Known = {
  name: 'a ledger without history releases only by apply --approve',
  run: async (open) => {
    const world = await open(company50)
    world.configure({})
    const lowering = { ...base50, users: users(1, 43, 500) }
    world.write(lowering)
    const id = holdOf(await plan(world), 'p1@adv.example')
    world.write({ ...lowering, approvals: [id] })
    const run = await apply(world)
    mustWrite(world, 'A ledger without history releases only by apply --approve ID (section 5)', run.seen, [])
    mustExit(world, run, 3)
    const approved = await apply(world, '--approve', holdOf(run, 'p1@adv.example'))
    mustExit(world, approved, 0)
  },
}

const unprotected: Known = {
  name: 'a removal from protected does not count for changes that arrive with it, nor before',
  run: async (open) => {
    const world = await open(company50)
    world.configure({})
    const guarded = { ...base50, users: users(1, 1, 1000), protected: emails(1, 1) }
    world.write(guarded)
    mustExit(world, await apply(world), 0)
    world.write({ ...guarded, users: users(1, 1, 400), protected: [] })
    const shown = await world.run('plan')
    must(world, 'A change of protected itself is a line of the plan (section 5)', /protected/i.test(shown.out), () => shown.out)
    const run = await apply(world)
    mustWrite(world, 'a removal from protected counts only for changes shown before (section 5)', run.seen, [])
    mustExit(world, run, 3)
    must(
      world,
      'protected holds any lowering of a listed person (section 5)',
      holdsOf(run.json).some((h) => h.guards.includes('protected')),
      () => told(run),
    )
  },
}

const weakened: Known = {
  name: 'a weakened guard does not count for changes that arrive with it, and is a line of the plan',
  run: async (open) => {
    const world = await open(company50)
    world.configure({})
    world.write(base50)
    mustExit(world, await apply(world), 0)
    world.configure({ guards: { maxLowered: '90%', maxAffected: '90%' } })
    world.write({ ...base50, users: users(1, 43, 500) })
    const shown = await world.run('plan')
    must(
      world,
      'policy weakens guards.maxLowered: 15 % → 90 % (section 5)',
      /weakens guards\.maxLowered: 15 % → 90 %/.test(shown.out),
      () => shown.out.slice(0, 800),
    )
    const run = await apply(world)
    mustWrite(world, 'a weakened guard counts only for changes shown before (section 5)', run.seen, [])
    mustExit(world, run, 3)
  },
}

const longIds: Known = {
  name: 'hold ids have 32 hex digits, and prefixes of 8 are accepted',
  run: async (open) => {
    const world = await open(plainCompany(20, { team: 1000 }))
    world.configure({})
    world.write({ ...noPolicy, team: 500 })
    const run = await apply(world)
    const id = holdsOf(run.json)[0]?.id ?? ''
    must(world, 'hold ids have 32 hex digits (section 3)', /^[0-9a-f]{32}$/.test(id), () => id)
    mustExit(world, await apply(world, '--approve', id.slice(0, 7)), 64)
    const last = await apply(world, '--approve', id.slice(0, 8))
    mustWrite(world, 'any unambiguous prefix of 8 or more (section 3)', last.seen, ['team → 500'])
    mustExit(world, last, 0)
  },
}

const teamClear: Known = {
  name: 'a team-wide clear is always held',
  run: async (open) => {
    const world = await open(plainCompany(3, { team: 1000 }))
    world.configure({})
    world.write({ ...noPolicy, team: 'none' })
    const run = await apply(world)
    mustExit(world, run, 3)
    mustWrite(world, 'maxCleared: team-wide clears always (section 5)', run.seen, [])
  },
}

export const guardCases: readonly Known[] = [
  oneReleasesOne,
  otherWay,
  undeclaredTeam,
  releasedWaits,
  unrelatedGoes,
  raiseGoes,
  selfApproval,
  earlyApproval,
  reviewedApproval,
  freshLedger,
  unprotected,
  weakened,
  longIds,
  teamClear,
]
