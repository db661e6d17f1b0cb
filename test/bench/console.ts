// G21: what the console costs with 5,000 people, 500 groups and 100 workspaces: how long the event loop stands still for a page, and how large
// pages and scripts are.
import { gzipSync } from 'node:zlib'
import { createConsole } from '../../src/console/routes.ts'
import type { WorkspaceView } from '../../src/core/model/events.ts'
import { groupScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { viewOf } from '../../src/daemon/conditions/view.ts'
import { createLibrary, sourceOf } from '../../src/daemon/http/documents/make.ts'
import { EMAIL_LABELS } from '../../src/daemon/http/labels.ts'
import { startServer } from '../../src/daemon/http/server.ts'
import { systemClock } from '../../src/daemon/schedule/system.ts'
import { HASHED_LABELS, libraryOf } from '../support/documents.ts'
import { serverParts } from '../support/server.ts'
import { fullView, HOLD, NOW, personEmail } from '../support/views.ts'
import { judged, ms, publish, ROUNDS, type Row, turns, watchLoop, within } from './bench.ts'
import { bigWorld } from './big.ts'
import { clickRows } from './clicks.ts'
import { lookedBack, rememberWrites } from './looked-back.ts'
import { quietWorkspace } from './quiet.ts'

const PEOPLE = 5_000
const GROUPS = 500
const WORKSPACES = 100
const LONGEST_BLOCK_MS = 20
const MOST_PAGE_BYTES = 100 * 1024
const MOST_SCRIPT_BYTES = 150 * 1024
/** An answer is shared for less than so many times as long as it took, or a moment. */
const SHARED_TIMES = 6
const SHARED_MS = 300
const WARM_UPS = 4

const big = (): WorkspaceView => {
  const view = fullView('w0', PEOPLE)
  const groups = Array.from({ length: GROUPS }, (_, index) => ({
    id: `grp_${index}`,
    name: `Group ${index}`,
    emails: Array.from({ length: 10 }, (__, member) => personEmail(index * 10 + member)),
    used: credits(index),
    readAt: NOW,
  }))
  const scopes = groups.map(({ id }) => ({
    scope: groupScope(id),
    state: 'in_sync' as const,
    desired: credits(500),
    observed: credits(500),
    readAt: NOW,
  }))
  return { ...view, groups, scopes: [...view.scopes, ...scopes] }
}

const PAGES: readonly (readonly [name: string, path: string])[] = [
  ['overview', '/'],
  ['workspace', '/workspaces/w0'],
  ['groups', '/workspaces/w0/groups'],
  ['a group', '/workspaces/w0/groups/grp_7'],
  ['people', '/workspaces/w0/people'],
  ['people, searched', '/workspaces/w0/people?search=person49&sort=cap'],
  ['a person', `/workspaces/w0/people/${personEmail(7)}`],
  ['changes', '/workspaces/w0/changes'],
  ['a hold', `/workspaces/w0/holds/${HOLD.id}`],
  ['policies', '/workspaces/w0/policies'],
  ['health', '/workspaces/w0/health'],
]

const views = [big(), ...Array.from({ length: WORKSPACES - 1 }, (_, index) => fullView(`w${index + 1}`, 50))]
// Each look is a new state, so every answer is made anew, the index of all people included.
const documents = libraryOf({ views: () => views, clock: { ...systemClock, now: () => NOW } })
const server = await startServer(serverParts({ views: () => views, clock: systemClock, documents }))

/** Each look is to be made anew. */
async function measure(url: string): Promise<{ readonly blockMs: number; readonly bytes: number }> {
  let bytes = 0
  const look = async (): Promise<number> => {
    const watch = watchLoop()
    const beganMs = performance.now()
    const answer = await fetch(url)
    const text = await answer.text()
    const blockMs = watch()
    await systemClock.sleep(Math.max(SHARED_MS, SHARED_TIMES * (performance.now() - beganMs)))
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`)
    bytes = Buffer.byteLength(text.replace(/<figure.*?<\/figure>/gs, ''))
    return blockMs
  }
  return { ...(await turns({ blockMs: look }, { warmUps: WARM_UPS })), bytes }
}

/** The same company in the daemon itself: policies, plan, readings and ledger included, for documents and for the pages that need them. */
const world = bigWorld({ scopes: 1_500, people: PEOPLE, drifted: 20 })
const workspace = await quietWorkspace(world)
let looks = 0
const lastPlan = await rememberWrites(workspace.ledger, world)
const compared = lookedBack(world)
if (compared.kind !== 'made') throw new Error(`no comparison: ${compared.kind}`)
const known = createLibrary({
  comparisons: { of: () => ({ made: { at: world.now, compared } }) },
  sources: () => [sourceOf(workspace, () => ++looks)],
  daemon: () => ({ version: '0.1.0', configValid: true, ledgerWritable: true }),
  people: EMAIL_LABELS,
  hashed: HASHED_LABELS,
  clock: { ...systemClock, now: () => world.now },
})
const whole = await startServer(serverParts({ views: () => [viewOf(workspace)], clock: systemClock, documents: known }))
const somebody = encodeURIComponent(world.roster.people[7]?.email ?? '')
const group = encodeURIComponent(world.groups[7]?.id ?? '')
/** Under `/workspaces/bench`, as a page and under `/api/v1`. */
const PARTS: readonly (readonly [name: string, path: string])[] = [
  ['workspace', ''],
  ['groups', '/groups'],
  ['a group', `/groups/${group}`],
  ['people', '/people'],
  ['a person', `/people/${somebody}`],
  ['changes', '/changes'],
  ['a plan', `/changes?plan=${lastPlan}`],
  ['holds', '/holds'],
  ['policies', '/policies'],
  ['health', '/health'],
  ['comparison', '/simulate'],
]
const SERIES = ['credits', 'burn', 'drift', 'pools'] as const

const rows: Row[] = []
async function row(name: string, url: string, mostBytes?: number): Promise<void> {
  const { blockMs, bytes } = await measure(url)
  const isPage = mostBytes !== undefined
  rows.push(
    judged(
      'G21',
      `${name}: longest block; bytes${isPage ? ' but for charts' : ''}`,
      `<= ${LONGEST_BLOCK_MS} ms${isPage ? ', 100 KiB' : ''}`,
      `${ms(blockMs)}, ${Math.round(bytes / 1024)} KiB`,
      blockMs <= LONGEST_BLOCK_MS && bytes <= (mostBytes ?? Number.POSITIVE_INFINITY),
      blockMs / LONGEST_BLOCK_MS,
    ),
  )
}

for (const [name, path] of PAGES) await row(name, server.url + path, MOST_PAGE_BYTES)
await row('all workspaces as JSON', `${server.url}/api/v1/workspaces`)
await row('/status', `${server.url}/status`)
for (const [name, path] of PARTS) {
  await row(`${name}, everything known`, `${whole.url}/workspaces/bench${path}`, MOST_PAGE_BYTES)
  await row(`${name} as JSON`, `${whole.url}/api/v1/workspaces/bench${path.replace('/simulate', '/comparison')}`)
}
for (const name of SERIES) await row(`series ${name} as JSON`, `${whole.url}/api/v1/workspaces/bench/series/${name}`)
rows.push(...(await clickRows(`${whole.url}/workspaces/bench`)))
await whole.close()
await workspace.ledger.commit()
await server.close()
const scripts = createConsole().assets.filter(({ type }) => type.startsWith('text/javascript'))
const scriptBytes = scripts.reduce((sum, { body }) => sum + gzipSync(body).length, 0)
rows.push(within('G21', 'all scripts, compressed', scriptBytes, MOST_SCRIPT_BYTES, (bytes) => `${(bytes / 1024).toFixed(1)} KiB`))
publish(`The console with ${PEOPLE} people, ${GROUPS} groups and ${WORKSPACES} workspaces, medians of ${ROUNDS}`, rows)
