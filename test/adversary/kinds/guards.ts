// Guards with their defaults, holds, and their release one by one: each approval releases exactly its own changes.
import { differences, expectedEnd } from '../checks/end.ts'
import { checkGuards, checkProtected, checkUnapproved } from '../checks/holds.ts'
import { changesOf, checkShape, type Hold, holdsOf, keyOf } from '../checks/shape.ts'
import { checkShown, goesOut } from '../checks/shown.ts'
import { drawCompany } from '../company.ts'
import { defaults, type State } from '../model.ts'
import { declaredBy, drawPolicy, type Policy } from '../policy.ts'
import type { Random } from '../random.ts'
import { landedOf, writesOf, writtenText } from '../service.ts'
import type { Run, World } from '../world.ts'
import { applyKilledAt, checkQuiet, checkWrites, drawSwitches, type Kind, outcome } from './kind.ts'

export const guards: Kind = async (random, open) => {
  const company = drawCompany(random, random.chance(0.4))
  const world = await open(company, drawSwitches(random))
  world.configure({ guards: { maxRaise: 'off' } })
  const drawn = drawPolicy(random, company, Date.now(), true)
  const groups = company.groups.map((g) => drawn.groups.find((d) => d.id === g.id) ?? { id: g.id, name: g.name, cap: 1000 })
  const policy = {
    ...drawn,
    groups,
    grants: [],
    protected: random.chance(0.4)
      ? random.sample(
          company.people.map((p) => p.email),
          2,
        )
      : [],
  }
  const declared = declaredBy(policy, company, Date.now())
  const start = world.service.state()
  const expected = expectedEnd(start, declared)
  world.write(policy)
  const first = await world.run('apply', '--yes', '--output', 'json')
  checkShape(world, first.json, 'apply')
  checkStep(world, first, start)
  const holds = holdsOf(first.json)
  if (declared.loose.size === 0) {
    checkGuards(world, declared.wanted, { start, changes: changesOf(first.json), holds }, defaults)
    checkUnapproved(world, declared.wanted, start, defaults)
  }
  checkProtected(world, declared.wanted, start, policy.protected)
  const same = await world.run('apply', '--yes', '--output', 'json')
  if (writesOf(same.seen).length > 0)
    world.breach(
      'A hold stays until its own approval (docs/guards-and-approvals.md)',
      `the second apply wrote ${writesOf(same.seen).map(writtenText).join(', ')}`,
    )
  checkSame(world, holds, holdsOf(same.json))
  await release(world, random, policy, holdsOf(same.json))
  const left = differences(world.service.state(), expected).filter(([scope]) => !declared.loose.has(scope))
  for (const [scope, is, should] of left)
    world.breach('All holds approved: the service is as declared', `${scope} is ${is}, should be ${should}`)
  if (left.length === 0 && declared.loose.size === 0) await checkQuiet(world)
}

const exit = 'Exit codes, the first that fits: 3 held by a guard, 0 done'

function checkStep(world: World, run: Run, start: State): void {
  checkWrites(world, run, start)
  checkShown(world, changesOf(run.json), run.seen, false)
  const due = holdsOf(run.json).length > 0 ? 3 : 0
  if (run.code !== due) world.breach(exit, `exit ${run.code} with ${holdsOf(run.json).length} holds: ${outcome(run)}`)
}

function checkSame(world: World, before: readonly Hold[], now: readonly Hold[]): void {
  const ids = new Set(now.map((hold) => hold.id))
  for (const hold of before) {
    if (!ids.has(hold.id))
      world.breach(
        'A hold has the same id in every cycle while its changes are the same (docs/guards-and-approvals.md)',
        `${hold.id} (${hold.guards.join(', ')}: ${hold.changes.join(', ')}) is gone; now ${now.map((h) => h.changes.join(', ')).join(' | ')}`,
      )
  }
}

/** Releases the holds one after the other; each time exactly one is written and the others stay held, then and later. */
async function release(world: World, random: Random, policy: Policy, standing: readonly Hold[]): Promise<void> {
  let holds = standing
  for (let step = 0; step < 8 && holds.length > 0; step += 1) {
    const hold = random.pick(holds)
    const others = holds.filter((other) => other.id !== hold.id)
    const start = world.service.state()
    const reviewed = random.chance(0.25)
    const words = reviewed
      ? []
      : random.chance(0.5)
        ? ['--approve', hold.id.length < 32 || random.chance(0.5) ? hold.id : hold.id.slice(0, 10)]
        : []
    if (reviewed) world.write({ ...policy, approvals: [hold.id] })
    else if (words.length === 0) {
      const approved = await world.run('approve', hold.id)
      if (approved.code !== 0) world.breach('approve ID records the release of a hold', `exit ${approved.code}: ${outcome(approved)}`)
    }
    const mark = world.service.seen.length
    const killed = hold.changes.length > 1 && random.chance(0.35)
    if (killed) await dieHalfway(world, random, words)
    const last = await world.run('apply', '--yes', ...(killed ? [] : words), '--output', 'json')
    const run = { ...last, seen: world.service.seen.slice(mark) }
    if (killed && foreignWrites(last, others).length > 0) world.breach(lets, `after a kill: ${foreignWrites(last, others).join(', ')}`)
    if (killed) {
      holds = holdsOf(last.json)
      checkKept(world, run, hold)
      continue
    }
    checkShape(world, run.json, 'apply --approve')
    checkStep(world, run, start)
    checkReleased(world, run, hold, others)
    holds = holdsOf(run.json)
  }
}

const lets = 'Releasing one hold never lets another through; it releases exactly its own changes (docs/guards-and-approvals.md)'

const foreignWrites = (run: Run, others: readonly Hold[]): readonly string[] =>
  writesOf(run.seen)
    .map(writtenText)
    .filter((key) => others.some((other) => other.changes.includes(key)))

/** An apply that is killed at one of its first writes. */
async function dieHalfway(world: World, random: Random, words: readonly string[]): Promise<void> {
  const write = random.int(1, 3)
  const landing = random.chance(0.5)
  const ended = await applyKilledAt(world, write, landing, ...words)
  world.story.push(`ended with ${ended.code} (-1: killed at a write)`)
}

/** A change that was released before a crash stays released until it is verified. */
function checkKept(world: World, run: Run, hold: Hold): void {
  const landed = new Set(landedOf(run.seen).map(writtenText))
  const waits = new Set(
    changesOf(run.json)
      .filter((c) => c.waitsFor !== '')
      .map(keyOf),
  )
  const missing = hold.changes.filter((key) => !landed.has(key) && !waits.has(key))
  const rule = 'The released changes stay released until verified, also when a crash leaves half of them (docs/guards-and-approvals.md)'
  if (missing.length > 0) world.breach(rule, `${missing.join(', ')} not written after the crash; exit ${run.code}`)
}

function checkReleased(world: World, run: Run, hold: Hold, others: readonly Hold[]): void {
  const written = new Set(writesOf(run.seen).map(writtenText))
  const foreign = foreignWrites(run, others)
  if (foreign.length > 0) world.breach(lets, `approved ${hold.changes.join(', ')}; also written: ${foreign.join(', ')}`)
  const changes = changesOf(run.json)
  const went = changes.filter((c) => hold.changes.includes(keyOf(c)))
  const missing = hold.changes.filter((key) => !written.has(key) && !went.some((c) => keyOf(c) === key && c.waitsFor !== ''))
  if (missing.length > 0)
    world.breach(
      'A released change that may not be written yet names what it waits for',
      `${missing.join(', ')}: not written, and no waitsFor`,
    )
  for (const change of went)
    if (goesOut(change) && change.released === '')
      world.breach('released names the approval', `${keyOf(change)} was approved and has no released`)
  checkSame(world, others, holdsOf(run.json))
}
