// A life with pools: the real cycle, client and ledger on a sandbox that fails, answers late and shows use after three hours, with people
// who work up to their caps, join and leave, and processes that crash. At every write it compares the sum of max(cap in force, true use)
// over all present and former members with the credits. A seed can be replayed.

import { DEFAULT_GUARDS } from '../../../src/core/model/change.ts'
import { between, type Draw, pick, stream } from '../../../src/sandbox/company/company.ts'
import { email, HOUR, NOW } from '../../support/declare.ts'
import { recordPast } from '../../support/use.ts'
import { createWorld, type Declared, type World } from '../../support/world.ts'

const SEAT = 500
const MEMBERS = ['ada', 'bob', 'cleo', 'dan', 'eve'] as const
type Member = (typeof MEMBERS)[number]

interface PoolLife {
  /** Writes at which the sum was above the credits after it had been within; each with its time and amount. */
  readonly breaches: readonly string[]
  readonly writes: number
  /** Deals that changed a cap. */
  readonly deals: number
  /** The use of members as a share of the credits. */
  readonly used: number
}

interface Scene {
  readonly one: World
  readonly draw: Draw
  credits: number
  readonly used: Map<Member, number>
  readonly grows: Member
}

/** Runs `hours` of a workspace with one pool. `sabotaged`: another client raises two members half-way, which must be found. */
export async function livePools(seed: number, hours: number, sabotaged = false): Promise<PoolLife> {
  const draw = stream(seed, 'sim/pools')
  const calm = draw() < 0.3
  const death = { at: 0 }
  const one = await createWorld({
    people: [...MEMBERS, 'zoe'],
    seed,
    caps: draw() < 0.5 ? {} : { ada: between(draw, 50, 900), bob: between(draw, 50, 900) },
    switches: {
      analyticsDelay: between(draw, 0, 3) * HOUR,
      faults: calm ? {} : { '5xx': 0.03, 'reset-before': 0.03, 'reset-after': 0.03, truncated: 0.01 },
      capReads: pick(draw, ['explicit', 'explicit', 'inherited']),
    },
    // There are few people: guards by share would hold every edit.
    config: { guards: { ...DEFAULT_GUARDS, maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxRaise: 'off' } },
    wrapTransport: (inner) => ({
      async send(operation, body, options) {
        if (operation === 'UsageConfig' && death.at > 0 && --death.at === 0) throw new Error('the process dies')
        return inner.send(operation, body, options)
      },
    }),
  })
  const first = between(draw, 800, 9000)
  const scene: Scene = { one, draw, used: new Map(MEMBERS.map((who) => [who, 0])), grows: pick(draw, MEMBERS), credits: first }
  const caps: Record<string, number> = draw() < 0.5 ? { team: 300 } : {}
  const terms = {
    name: 'research',
    share: pick(draw, ['need', 'equal'] as const),
    min: pick(draw, [0, 20]),
    members: { kind: 'emails' as const, emails: MEMBERS.map(email) },
  }
  const declared = (): Declared => ({ caps, pools: [{ ...terms, credits: scene.credits }] })
  const watch = watchSum(scene)
  let deals = 0
  for (let tick = 0; tick < hours * 2; tick += 1) {
    if (!calm && draw() < 0.05) death.at = between(draw, 1, 3)
    // An edit is dealt at once, before use under the earlier caps has shown.
    if (draw() < 0.08) {
      scene.credits = Math.round(scene.credits * pick(draw, [0.9, 1, 1.02, 1.05]))
      watch.edited()
    }
    if (sabotaged && tick === hours) for (const who of ['ada', 'bob']) one.foreign(who, scene.credits)
    const before = JSON.stringify(one.state.pools)
    await one.cycle(declared()).catch(() => one.restart())
    if (JSON.stringify(one.state.pools) !== before) deals += 1
    work(scene)
    await one.clock.pass(HOUR / 2)
  }
  await one.close()
  const used = [...scene.used.values()].reduce((sum, amount) => sum + amount, 0) / scene.credits
  return { breaches: watch.breaches, writes: watch.writes(), deals, used }
}

/** People work during the day, up to their cap in force; one of them works much more than the others. */
function work({ one, draw, used, grows }: Scene): void {
  const caps = one.inForce()
  const now = one.clock.now()
  const uses = MEMBERS.flatMap((who) => {
    if (draw() < 0.6) return []
    const [before, cap] = [used.get(who) ?? 0, caps[who] ?? 'none']
    // Sometimes a person uses all credits at once, and it shows hours later.
    const wants = draw() < 0.06 ? 10_000 : between(draw, 1, who === grows ? 90 : 25)
    const gets = Math.max(0, Math.min(wants, cap === 'none' ? between(draw, 1, 40) : cap - before))
    if (gets === 0) return []
    used.set(who, before + gets)
    return [{ who, at: now, credits: before === 0 ? SEAT + gets : gets }]
  })
  if (uses.length > 0) recordPast(one, uses)
}

interface Watch {
  readonly breaches: readonly string[]
  writes(): number
  /** The credits have changed: the sum may be above them for a while. */
  edited(): void
}

/** Checks every write after the service has carried it out. */
function watchSum(scene: Scene): Watch {
  const { one, used } = scene
  const breaches: string[] = []
  let [isWithin, writes] = [false, 0]
  one.onCall = ({ operation }) => {
    if (operation !== 'UsageConfig') return
    writes += 1
    const caps = one.inForce()
    const sum = MEMBERS.reduce((total, who) => {
      const cap = caps[who] ?? 'none'
      return total + Math.max(used.get(who) ?? 0, cap === 'none' ? Number.POSITIVE_INFINITY : cap)
    }, 0)
    if (sum <= scene.credits) isWithin = true
    else if (isWithin) breaches.push(`${(one.clock.now() - NOW) / HOUR} h: ${sum} of ${scene.credits}`)
  }
  const edited = (): void => {
    isWithin = false
  }
  return { breaches, writes: () => writes, edited }
}
