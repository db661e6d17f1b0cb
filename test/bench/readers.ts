// G30: what the filter costs. Pages of a reader who sees only the people of some groups, here all of them, beside the same pages without a filter; and
// what is left for one person of 50,000.
import { createConsole } from '../../src/console/routes.ts'
import { viewOf } from '../../src/daemon/conditions/view.ts'
import { createLibrary, type Reader, sourceOf } from '../../src/daemon/http/documents/make.ts'
import { EMAIL_LABELS } from '../../src/daemon/http/labels.ts'
import { systemClock } from '../../src/daemon/schedule/system.ts'
import { HASHED_LABELS } from '../support/documents.ts'
import { beside, publish, type Row, turns, within } from './bench.ts'
import { bigWorld } from './big.ts'
import { quietWorkspace } from './quiet.ts'
import { costOf } from './remote.ts'

const PEOPLE = 50_000
const MOST_RATIO = 1.1
const MOST_ME_MS = 1
const ROUNDS = 9
const WARM_UPS = 3
const ASKED = 200

const world = bigWorld({ scopes: 1_500, people: PEOPLE, drifted: 20 })
const workspace = await quietWorkspace(world)
let state = 0
const library = createLibrary({
  sources: () => [sourceOf(workspace, () => state)],
  daemon: () => ({ version: '0.1.0', configValid: true, ledgerWritable: true }),
  people: EMAIL_LABELS,
  hashed: HASHED_LABELS,
  clock: { ...systemClock, now: () => world.now },
})
const everybody: Reader = {
  sightOf: () => ({ kind: 'whole', named: 'everybody' }),
  seesAll: true,
  seesSelf: () => false,
  asks: ['x-groups'],
}
const groups = world.groups.map(({ id }) => id)
const lead: Reader = { ...everybody, sightOf: () => ({ kind: 'part', groups, named: groups }), seesAll: false }

const page = (path: string) => {
  const found = createConsole().routes.find((route) => route.path === path)
  if (!found) throw new Error(`no page ${path}`)
  return found
}

/** Each look is a new state. */
async function compared(name: string, path: string, one = ''): Promise<Row> {
  const looked =
    (reader: Reader): (() => Promise<number>) =>
    async () => {
      state += 1
      const documents = library.for(reader)
      return (await costOf(async () => page(path).render(documents, { params: { workspace: 'bench', name: one }, query: {}, path }))).cpuMs
    }
  const { without, filtered } = await turns({ without: looked(everybody), filtered: looked(lead) }, { rounds: ROUNDS, warmUps: WARM_UPS })
  return beside('G30', `${name} of ${PEOPLE} people, CPU with the filter beside without`, [filtered, without], MOST_RATIO)
}

const rows: Row[] = []
for (const [name, path, one] of [
  ['groups', '/workspaces/:workspace/groups', ''],
  ['a group', '/workspaces/:workspace/groups/:name', groups[7] ?? ''],
  ['people', '/workspaces/:workspace/people', ''],
  ['a person', '/workspaces/:workspace/people/:name', world.groups[7]?.emails[0] ?? ''],
] as const)
  rows.push(await compared(name, path, one))

state += 1
const people = viewOf(workspace).people
const askMe = (index: number) =>
  library
    .for({
      ...everybody,
      seesAll: false,
      seesSelf: () => true,
      sightOf: () => ({ kind: 'nothing' }),
      asks: ['x-groups', 'x-email'],
      email: people[index]?.email ?? '',
    })
    .me()
for (let index = 0; index < ASKED; index += 1) await askMe(index)
const all = await costOf(async () => {
  for (let index = 0; index < ASKED; index += 1) {
    const { workspaces } = await askMe((index * 241) % people.length)
    if (workspaces.length !== 1) throw new Error('a person is missing')
  }
})
rows.push(within('G30', `what is left for one of ${PEOPLE} people, CPU`, all.cpuMs / ASKED, MOST_ME_MS))
await workspace.ledger.commit()
publish(`What the filter costs with ${PEOPLE} people, medians of ${ROUNDS}`, rows)
