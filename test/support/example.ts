// One workspace with something of everything, made by the program itself: the policies of this repository, kept on the embedded service for a week in
// which others changed caps, the service was away, policies broke, and guards held changes. It is made once, as it is only read.
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkspaceView } from '../../src/core/model/events.ts'
import type { Operation } from '../../src/core/model/observed.ts'
import type { PolicyRevision } from '../../src/core/model/policy.ts'
import { EVERYBODY } from '../../src/daemon/http/auth.ts'
import { createLibrary, type Documents, sourceOf } from '../../src/daemon/http/documents/make.ts'
import { EMAIL_LABELS } from '../../src/daemon/http/labels.ts'
import { compare, compareStart } from '../../src/daemon/replay/comparisons.ts'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { worldClock } from './clock.ts'
import { DAY, HOUR, NOW } from './declare.ts'
import { HASHED_LABELS } from './documents.ts'
import { approve, live, MINUTE } from './living.ts'
import { createWorld, type World } from './world.ts'

export const ADA = 'ada.lovelace@example.com'
const GRACE = 'grace.hopper@example.com'
const BEGUN = NOW - 8 * DAY - 85 * MINUTE

const ROOT = join(import.meta.dirname, '../..')
const FILE = realpathSync(join(ROOT, 'policies/acme.yaml'))
/** The caps are a quarter of those that the file declares, so that people come near them; there is a pool, and a second grant of one person. */
const POLICY = `${readFileSync(FILE, 'utf8').replace(/cap: (\d+)/g, (_, cap: string) => `cap: ${Number(cap) / 4}`)}
  pools:
    - name: research
      credits: 3000
      members: { emails: [igor.abbott@example.com, vera.costa@example.com] }
      share: equal
  grants: [{ user: barbara.liskov@example.com, add: 50, from: 2027-07-10, until: 2027-07-20, reason: talk }]
`

/** As a daemon loads it, edited. */
async function policyOf(text: string): Promise<PolicyRevision> {
  const { sets, problems } = await loadPolicies(['policies'], { now: BEGUN, cwd: ROOT, replaced: new Map([[FILE, text]]) })
  const [policy] = sets.values()
  if (!policy) throw new Error(JSON.stringify(problems))
  return { ...policy, revision: '0123456789abcdef0123456789abcdef01234567' }
}

/** Whether the service is away for a request. */
let isAway = (_operation: Operation, _body: object): boolean => false

const openWorld = (): Promise<World> =>
  createWorld({
    company: { people: 30, groups: 8, days: 40, seed: 1 },
    clock: worldClock(BEGUN),
    config: { intervalMs: 15 * MINUTE, usageIntervalMs: 15 * MINUTE, historyDays: 52 },
    wrapTransport: (inner) => ({
      send: async (operation, body, options) =>
        isAway(operation, body) ? { kind: 'network', message: 'connection refused' } : inner.send(operation, body, options),
    }),
  })

async function makeExample() {
  const world = await openWorld()
  const { clock, ledger, sandbox } = world
  sandbox.store.setMeta('creditsPerSeat', 100)
  sandbox.store.setMeta('addOnAvailable', 7_000)
  sandbox.reload()
  /** A daemon runs for so long, and none for a while after it. */
  const run = async (policy: PolicyRevision | undefined, forMs: number, thenMs = 0): Promise<void> => {
    const life = live(world)
    const { digest = '', revision = '' } = policy ?? {}
    life.loop.setPolicy(policy, { valid: policy !== undefined, digest, revision, loadedAt: clock.now(), problems: [] })
    await clock.pass(forMs)
    await life.stop()
    await clock.pass(thenMs)
  }
  await run(await policyOf(POLICY), 15 * MINUTE, 4 * DAY)
  world.foreign('team', 9_000)
  world.foreign(ADA, 7_000)
  const lowerText = POLICY.replace('cap: 375', 'cap: 275')
  const lower = await policyOf(lowerText)
  await run(lower, 30 * MINUTE, 4 * DAY)
  await ledger.savePause({ untilAt: clock.now() + HOUR, reason: 'incident 12', pausedAt: clock.now() })
  isAway = () => true
  await run(lower, 15 * MINUTE)
  isAway = () => false
  await ledger.savePause(undefined)
  await run(undefined, 5 * MINUTE)
  const lowest = await policyOf(lowerText.replace('cap: 750', 'cap: 300').replace('cap: 625 #', 'cap: 500 #'))
  await run(lowest, 10 * MINUTE)
  approve(world, world.workspace.shown.planned?.plan.holds.find(({ guards }) => guards.includes('protected'))?.id)
  world.foreign(ADA, 9_000)
  isAway = (operation, body) => Object.values(body).includes(operation === 'UsageConfig' ? ADA : GRACE)
  await run(lowest, 10 * MINUTE)
  return world
}

const world = await makeExample()
const how = { workspace: 'acme', now: world.clock.now(), pricePerCredit: 0.04 }
const compared = compare(await compareStart(world.ledger, how), how)

/** The view of it, changed. */
export const exampleView = (change: Partial<WorkspaceView> = {}): WorkspaceView => ({ ...world.view(), ...change })

/** The documents of the workspace, or as they would be with another view of it. */
export function exampleOf(change: Partial<WorkspaceView> = {}): Documents {
  const source = sourceOf(world.workspace, () => 1)
  const library = createLibrary({
    comparisons: { of: () => ({ made: { at: world.clock.now(), compared } }) },
    sources: () => {
      const view = exampleView(change)
      return [{ ...source, view: () => view, facts: async () => ({ ...(await source.facts()), view }) }]
    },
    daemon: () => ({ version: '0.1.0', configValid: true, ledgerWritable: true }),
    people: EMAIL_LABELS,
    hashed: HASHED_LABELS,
    clock: world.clock,
    sourceUrl: () => 'https://git.example.com/caps/{revision}/{file}#L{line}',
    requestUrl: () => 'https://git.example.com/new?for={email}&used={used}',
  })
  return library.for({ ...EVERYBODY, email: ADA, asks: ['X-Groups', 'X-Email'] })
}
