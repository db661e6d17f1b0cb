// Known cases that the contract states literally: single guards, zero, copying, stale saved plans, pauses, the ledger's binding.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { changesOf, holdsOf } from '../checks/shape.ts'
import { plainCompany } from '../company.ts'
import { outcome } from '../kinds/kind.ts'
import { noPolicy } from '../policy.ts'
import { writesOf } from '../service.ts'
import { noGuards, type Run } from '../world.ts'
import { apply, type Known, must, mustExit, mustWrite, plan, told } from './known.ts'

const email = (n: number): string => `p${n}@adv.example`
const users = (from: number, to: number, cap: number | 'none'): { email: string; cap: number | 'none' }[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ email: email(from + i), cap }))
const guardsOf = (run: Run): readonly string[] => holdsOf(run.json).flatMap((h) => h.guards)

const emptied: Known = {
  name: 'an emptied policy clears nothing without an approval',
  run: async (open) => {
    const world = await open(plainCompany(12, {}))
    world.configure({})
    world.write({ ...noPolicy, team: 1000, users: users(1, 8, 500) })
    mustExit(world, await apply(world), 0)
    world.write(noPolicy)
    const run = await apply(world)
    mustExit(world, run, 3)
    mustWrite(world, 'emptyPolicy holds clears (section 5)', run.seen, [])
    must(
      world,
      'no policy at all, or declared scopes fell by more than half and by more than 5 (section 5)',
      guardsOf(run).includes('emptyPolicy'),
      () => told(run),
    )
  },
}

const tooMuchRaised: Known = {
  name: 'raises beyond the credits remaining are held, raises within them are not',
  run: async (open) => {
    const world = await open(plainCompany(10, { team: 100 }, { addOnAvailable: 1000 }))
    world.configure({})
    world.write({ ...noPolicy, team: 190 })
    const within = await apply(world)
    mustExit(world, within, 0)
    mustWrite(world, '10 × 90 = 900 of 1000 credits (section 5)', within.seen, ['team → 190'])
    world.write({ ...noPolicy, team: 300 })
    const beyond = await apply(world)
    mustExit(world, beyond, 3)
    mustWrite(world, 'maxRaise: 10 × 110 = 1100 of 1000 credits (section 5)', beyond.seen, [])
    must(world, 'maxRaise holds (section 5)', guardsOf(beyond).includes('maxRaise'), () => told(beyond))
  },
}

const stalePlan: Known = {
  name: 'a saved plan that is older than a day or from the future is refused',
  run: async (open) => {
    const world = await open(plainCompany(4, { team: 100 }))
    world.configure({ guards: noGuards })
    world.write({ ...noPolicy, team: 1500 })
    await plan(world, '--out', 'plan.json')
    const file = join(world.folder, 'plan.json')
    const text = readFileSync(file, 'utf8')
    for (const hours of [-25, 3]) {
      const then = new Date(Date.now() + hours * 3_600_000).toISOString()
      writeFileSync(file, text.replace(/("createdAt":\s*")[^"]*"/, `$1${then}"`))
      const run = await apply(world, '--plan', 'plan.json')
      mustExit(world, run, 1)
      mustWrite(world, '--plan refuses a plan that is older than 24 h or from the future (section 3)', run.seen, [])
    }
  },
}

const heldAndStale: Known = {
  name: 'a saved plan is refused when a from no longer holds, also that of a held change',
  run: async (open) => {
    for (const touched of ['team', email(9), email(12)]) {
      const world = await open(plainCompany(20, { team: 1000, [email(9)]: 70, [email(12)]: 2000 }))
      world.configure({})
      world.write({ ...noPolicy, team: 400, users: [...users(9, 9, 80), ...users(10, 10, 2000), ...users(12, 12, 50)] })
      await plan(world, '--out', 'plan.json')
      await world.service.edit(touched, 333)
      const run = await apply(world, '--plan', 'plan.json')
      mustExit(world, run, 1)
      mustWrite(world, '--plan refuses all of it when one from no longer holds (section 3)', run.seen, [])
    }
  },
}

const zeroLost: Known = {
  name: 'a 0 that reads back unset is rejected with ZERO_NOT_STORED and not repeated',
  run: async (open) => {
    const world = await open(plainCompany(4, { team: 1000 }), ['--zero-cap', 'omitted'])
    world.configure({ guards: noGuards })
    world.write({ ...noPolicy, team: 1000, users: users(1, 1, 0) })
    const run = await apply(world)
    must(
      world,
      'A 0 that reads back unset: rejected with ZERO_NOT_STORED (section 6)',
      run.code !== 0 && `${run.out}${run.talk}`.includes('ZERO_NOT_STORED'),
      () => outcome(run),
    )
    const again = await apply(world)
    mustWrite(world, 'not repeated until the policy changes (section 6)', again.seen, [])
    must(world, 'still reported (section 6)', again.code !== 0, () => `exit ${again.code}`)
  },
}

const zeroRefused: Known = {
  name: 'a refused change alone ends with 1, and is not repeated',
  run: async (open) => {
    const world = await open(plainCompany(4, { team: 1000 }), ['--zero-cap', 'rejected'])
    world.configure({ guards: noGuards })
    world.write({ ...noPolicy, team: 1000, users: users(1, 1, 0) })
    const run = await apply(world)
    mustExit(world, run, 1)
    mustWrite(world, 'One bad scope is quarantined and tried again after 24 h (section 6)', (await apply(world)).seen, [])
  },
}

const copyingSeen: Known = {
  name: 'observed copying holds team and group writes with the guard semantics',
  run: async (open) => {
    const world = await open(plainCompany(4, {}), ['--cap-semantics', 'fan-out'])
    world.configure({ guards: noGuards })
    await world.service.edit(email(1), 300)
    world.write({ ...noPolicy, team: 1000, users: users(1, 1, 300) })
    const run = await apply(world)
    must(
      world,
      'copying has been seen: guard semantics, one clear message (section 6)',
      `${run.out}${run.talk}`.includes('semantics') || `${run.out}${run.talk}`.includes('capSemantics'),
      () => outcome(run),
    )
    world.write({ ...noPolicy, team: 1200, users: users(1, 1, 300) })
    const next = await apply(world)
    must(
      world,
      'semantics holds team and group writes (section 5)',
      guardsOf(next).includes('semantics') && next.code === 3,
      () => `exit ${next.code}: ${told(next)}`,
    )
    must(
      world,
      'semantics holds team and group writes (section 5)',
      !writesOf(next.seen).some((w) => w.scope === 'team'),
      () => 'the team was written',
    )
  },
}

const paused: Known = {
  name: 'a pause stops writing at once and resume ends it',
  run: async (open) => {
    const world = await open(plainCompany(4, { team: 100 }))
    world.configure({ guards: noGuards })
    world.write({ ...noPolicy, team: 1500 })
    mustExit(world, await world.run('pause', '--for', '1h', '--reason', 'trial'), 0)
    const run = await apply(world)
    mustWrite(world, 'pause stops writing at once (section 3)', run.seen, [])
    must(world, 'a pause does not end with 0 (section 3)', run.code !== 0, () => `exit ${run.code}`)
    mustExit(world, await world.run('resume'), 0)
    mustWrite(world, 'resume (section 3)', (await apply(world)).seen, ['team → 1500'])
  },
}

const bound: Known = {
  name: 'the same workspace at another address is refused until --rebind',
  run: async (open) => {
    const first = await open(plainCompany(4, { team: 100 }))
    first.configure({ guards: noGuards })
    first.write({ ...noPolicy, team: 1500 })
    mustExit(first, await apply(first), 0)
    const second = await open(plainCompany(4, { team: 100 }))
    const elsewhere = ['--base-url', second.service.url]
    const refused = await apply(first, ...elsewhere)
    must(
      first,
      'the same name with another URL is refused until --rebind (section 3)',
      refused.code !== 0 && writesOf(second.service.seen).length === 0,
      () => `exit ${refused.code}`,
    )
    mustExit(first, await apply(first, ...elsewhere, '--rebind'), 0)
    must(first, '--rebind (section 3)', second.service.state().get('team') === 1500, () => 'the team was not written')
  },
}

const conflict: Known = {
  name: 'without onGroupConflict a person of two groups is rejected and all others are managed',
  run: async (open) => {
    const groups = [
      { id: 'grp_a', name: 'A', members: [email(1), email(2)] },
      { id: 'grp_b', name: 'B', members: [email(1), email(3)] },
    ]
    const world = await open(plainCompany(4, {}, { groups }))
    world.configure({ guards: noGuards })
    world.write({
      ...noPolicy,
      team: 900,
      groups: [
        { id: 'grp_a', name: 'A', cap: 100 },
        { id: 'grp_b', name: 'B', cap: 200 },
      ],
    })
    mustExit(world, await world.run('validate'), 0)
    const run = await apply(world)
    must(world, 'that person is rejected and reported (section 2)', `${run.out}${run.talk}`.includes(email(1)), () => outcome(run))
    mustWrite(world, 'the policy stays valid; nothing is written for the person (section 2)', run.seen, [
      'team → 900',
      'group:grp_a → 100',
      'group:grp_b → 200',
    ])
  },
}

const contested: Known = {
  name: 'a scope that another client changes three times in a day is contested, and no longer reverted',
  run: async (open) => {
    const world = await open(plainCompany(4, { team: 1000 }))
    world.configure({})
    world.write({ ...noPolicy, team: 1000 })
    mustExit(world, await apply(world), 0)
    let healed = 0
    for (let times = 1; times <= 4; times += 1) {
      await world.service.edit('team', 1000 + times)
      const run = await apply(world)
      if (writesOf(run.seen).length > 0) healed = times
      else
        must(
          world,
          'contested: stops being healed for 24 h, and says so (section 5)',
          `${run.out}${run.talk}`.includes('contested') && run.code === 3,
          () => `exit ${run.code}: ${outcome(run)}`,
        )
    }
    must(world, 'contested: 3 in 24 h (section 5)', healed === 2 || healed === 3, () => `healed ${healed} times of 4`)
  },
}

const audited: Known = {
  name: 'the mode audit never writes',
  run: async (open) => {
    const world = await open(plainCompany(4, { team: 100 }))
    world.configure({ guards: noGuards, lines: ['mode: audit'] })
    world.write({ ...noPolicy, team: 1500 })
    const run = await apply(world)
    mustWrite(world, 'audit: plan and measure, never write (section 4)', run.seen, [])
    must(
      world,
      '0 means that the service is as declared (section 3)',
      run.code !== 0,
      () => `exit ${run.code}: ${changesOf(run.json).length} changes shown`,
    )
  },
}

export const ruleCases: readonly Known[] = [
  emptied,
  tooMuchRaised,
  stalePlan,
  heldAndStale,
  zeroLost,
  zeroRefused,
  copyingSeen,
  paused,
  bound,
  conflict,
  contested,
  audited,
]
