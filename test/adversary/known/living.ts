// Known cases of the running daemon: approvals, a policy that stops parsing, the lock of the ledger.
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsOf } from '../checks/shape.ts'
import { plainCompany } from '../company.ts'
import type { Cap } from '../model.ts'
import { noPolicy } from '../policy.ts'
import type { Running } from '../program.ts'
import { writesOf, writtenText } from '../service.ts'
import { noGuards, type World } from '../world.ts'
import { apply, type Known, must, mustWrite, plan, told } from './known.ts'

const email = (n: number): string => `p${n}@adv.example`
const lines = ['interval: 2s', 'usageInterval: 5s']

async function becomes(world: World, rule: string, scope: string, cap: Cap, running: Running): Promise<void> {
  const end = Date.now() + 20_000
  const is = (): Cap => world.service.state().get(scope) ?? 'none'
  while (is() !== cap && Date.now() < end) await sleep(50)
  must(world, rule, is() === cap, () => `${scope} is ${is()}, should be ${cap}; ${running.talked().slice(-400)}`)
}

async function whileRunning(world: World, act: (running: Running) => Promise<void>): Promise<void> {
  const running = world.begin('run', '--config', 'capkeeper.yaml', '--listen', '127.0.0.1:0')
  try {
    await act(running)
  } finally {
    running.child.kill('SIGKILL')
    await running.ended
  }
}

const takenUp: Known = {
  name: 'a running daemon takes up an approval with SIGHUP and releases exactly that hold',
  run: async (open) => {
    const world = await open(plainCompany(20, { team: 1000 }))
    world.configure({ lines })
    const lowered = Array.from({ length: 5 }, (_, i) => ({ email: email(i + 1), cap: 900 }))
    world.write({ ...noPolicy, team: 1000, users: [...lowered, { email: email(6), cap: 0 }, { email: email(7), cap: 1100 }] })
    await whileRunning(world, async (running) => {
      await becomes(world, 'the rest goes out while some of it is held (section 5)', email(7), 1100, running)
      const shown = await plan(world)
      const hold = holdsOf(shown.json).find((h) => h.changes.includes(`${email(6)} → 0`))
      must(world, 'every reading command works beside a running daemon and shows its holds (section 3)', hold !== undefined, () =>
        told(shown),
      )
      const mark = world.service.seen.length
      await world.run('approve', hold?.id ?? 'none')
      running.child.kill('SIGHUP')
      await becomes(world, 'approve ID: a running daemon takes it up at once with SIGHUP (section 3)', email(6), 0, running)
      await sleep(5000)
      mustWrite(world, 'releases exactly its own changes (section 5)', world.service.seen.slice(mark), [`${email(6)} → 0`])
    })
  },
}

const lastGood: Known = {
  name: 'a file that stops parsing removes nothing and leaves the last good policy in force, also across a restart',
  run: async (open) => {
    const world = await open(plainCompany(6, {}))
    world.configure({ guards: noGuards, lines })
    world.write({ ...noPolicy, team: 1000, users: [{ email: email(1), cap: 300 }] })
    await whileRunning(world, async (running) => {
      await becomes(world, 'the daemon enforces', email(1), 300, running)
      world.write('apiVersion: capkeeper/v1\nkind: CapPolicy\nspec: [\n')
      await sleep(1500)
      await world.service.edit(email(1), 777)
      await becomes(world, 'A file that stops parsing: the last good policy set stays in force (section 2)', email(1), 300, running)
    })
    await whileRunning(world, async (running) => {
      await world.service.edit(email(1), 778)
      await becomes(world, 'the last good set is kept in the ledger, so also across a restart (section 2)', email(1), 300, running)
      const clears = writesOf(world.service.seen).filter((w) => w.cap === 'none')
      must(world, 'A file that stops parsing never removes anything (section 2)', clears.length === 0, () => clears.map(writtenText).join())
    })
  },
}

const locked: Known = {
  name: 'apply beside a running daemon is refused and writes nothing',
  run: async (open) => {
    const world = await open(plainCompany(6, {}))
    world.configure({ guards: noGuards, lines: ['interval: 1h'] })
    world.write({ ...noPolicy, team: 1000 })
    await whileRunning(world, async (running) => {
      await becomes(world, 'the daemon enforces', 'team', 1000, running)
      const run = await apply(world)
      must(
        world,
        "Only run and apply take the ledger's write lock (section 3)",
        run.code === 1 && writesOf(run.seen).length === 0,
        () => `exit ${run.code}: ${run.talk.slice(-300)}`,
      )
    })
  },
}

export const livingCases: readonly Known[] = [takenUp, lastGood, locked]
