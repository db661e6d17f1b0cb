// Known cases: approvals and holds in every output, run --once, the output of validate (docs/words.md, 2, 3 and 5).
import { holdsOf } from '../checks/shape.ts'
import { plainCompany } from '../company.ts'
import { at, listAt } from '../json.ts'
import { outcome } from '../kinds/kind.ts'
import { noPolicy } from '../policy.ts'
import { noGuards } from '../world.ts'
import { apply, type Known, must, mustExit, mustWrite, plan, told } from './known.ts'

const held = { ...noPolicy, team: 500 }
const company = plainCompany(20, { team: 1000 })

const matchesNothing: Known = {
  name: 'an approval that matches nothing is named in every form of a plan',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    const id = '0123456789abcdef0123456789abcdef'
    world.write({ ...noPolicy, team: 1000, approvals: [id] })
    for (const form of ['text', 'json', 'markdown']) {
      const run = await world.run('plan', '--output', form)
      must(
        world,
        'Every plan (text, JSON, Markdown) lists every approval that matches nothing (section 5)',
        run.code === 0 && run.out.includes(id.slice(0, 8)),
        () => `${form}: ${outcome(run)}`,
      )
    }
    const json = await plan(world)
    must(world, 'approvals[] of the plan (section 3)', listAt(json.json, 'approvals').length === 1, () =>
      JSON.stringify(at(json.json, 'approvals')),
    )
  },
}

const releasedTold: Known = {
  name: 'the changes that an approval releases are shown, with who gave it',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write(held)
    const first = await apply(world)
    const id = holdsOf(first.json)[0]?.id ?? ''
    mustExit(world, await world.run('approve', id), 0)
    const shown = await plan(world)
    const text = JSON.stringify(at(shown.json, 'approvals') ?? null)
    must(world, 'Every plan lists what each approval releases (section 5)', text.includes(id), () => `${text}; ${told(shown)}`)
    const change = listAt(shown.json, 'changes')[0]
    must(
      world,
      'released names the approval: id, who or file:line (section 3)',
      JSON.stringify(at(change, 'released') ?? null).includes(id),
      () => told(shown),
    )
    const run = await apply(world)
    mustExit(world, run, 0)
    mustWrite(world, 'approve releases the hold (section 3)', run.seen, ['team → 500'])
  },
}

const whyHeld: Known = {
  name: 'explain says why a change is held, and by which hold',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write(held)
    const id = holdsOf((await apply(world)).json)[0]?.id ?? '-'
    for (const scope of ['team', 'p1@adv.example']) {
      const run = await world.run('explain', scope)
      must(world, 'explain: why held (section 3)', run.code === 0 && run.out.includes(id.slice(0, 8)), () => `${scope}: ${outcome(run)}`)
    }
  },
}

const unknownId: Known = {
  name: 'an approval of a hold that does not exist is refused',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write(held)
    mustExit(world, await apply(world), 3)
    const id = 'ffffffffffffffffffffffffffffffff'
    const run = await world.run('approve', id)
    must(world, 'approve accepts a prefix of an existing hold (section 3)', run.code !== 0, () => outcome(run))
    const tried = await apply(world, '--approve', id)
    must(world, 'apply --approve accepts a prefix of an existing hold (section 3)', tried.code !== 0, () => outcome(tried))
    mustWrite(world, 'nothing is released', tried.seen, [])
  },
}

const once: Known = {
  name: 'run --once uses the codes of apply',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    const words = ['run', '--once', '--listen', '127.0.0.1:0']
    world.write({ ...noPolicy, team: 1500 })
    mustExit(world, await world.run(...words), 0)
    must(world, 'run --once does one cycle (section 3)', world.service.state().get('team') === 1500, () => 'the team was not written')
    world.write(held)
    mustExit(world, await world.run(...words), 3)
    world.configure({ guards: noGuards })
    mustExit(world, await world.run(...words, '--base-url', 'http://127.0.0.1:9', '--ledger', ':memory:'), 1)
  },
}

const onceEnough: Known = {
  name: 'run --once goes through all passes, as apply does',
  run: async (open) => {
    const world = await open(plainCompany(4, { team: 100, 'p1@adv.example': 100 }))
    world.configure({ guards: noGuards })
    world.write({ ...noPolicy, team: 1500, users: [{ email: 'p1@adv.example', cap: 'none' }] })
    mustExit(world, await world.run('run', '--once', '--listen', '127.0.0.1:0'), 0)
    const state = [...world.service.state()].map((entry) => entry.join(' ')).join(', ')
    must(
      world,
      'One apply on a healthy service ends where the policy says; the same for run --once (section 6)',
      state === 'team 1500',
      () => state,
    )
  },
}

const textIds: Known = {
  name: 'approvals that look like numbers are read as text',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write(
      'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec:\n  team: {cap: 1000}\n  approvals: [12345678901234567890123456789012, 00000000000000000000000000000e10]\n',
    )
    mustExit(world, await world.run('validate'), 0)
    const run = await world.run('plan', '--output', 'json')
    must(
      world,
      'approvals ids are read as text (section 2)',
      run.out.includes('12345678901234567890123456789012') || run.out.includes('12345678'),
      () => outcome(run),
    )
  },
}

const uselessNone: Known = {
  name: 'validate warns of a none where an ancestor has a cap',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write({ ...noPolicy, team: 1000, users: [{ email: 'p1@adv.example', cap: 'none' }] })
    const run = await world.run('validate')
    mustExit(world, run, 0)
    must(world, 'validate warns where an ancestor has a cap (section 1)', /warning/i.test(`${run.out}${run.talk}`), () => outcome(run))
  },
}

export const tellingCases: readonly Known[] = [matchesNothing, releasedTold, whyHeld, unknownId, once, onceEnough, textIds, uselessNone]
