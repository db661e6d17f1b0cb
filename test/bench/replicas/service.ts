// A service as light as one can be, in a process of its own, so that the replicas are what is measured: many workspaces behind a path prefix each,
// caps in one map, no key looked at, no company. It answers what a daemon asks, over real HTTP. Arguments: the people of a workspace.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveRemote } from '../remote.ts'
import { capOf, peopleOf } from './company.ts'

const people = Number(process.argv[2] ?? 18)
/** Caps that are not as declared, by workspace and scope. */
const changed = new Map<string, number>()
let calls = 0
let writes = 0
/** Calls about use, which a daemon makes beside its cycles. */
let ofUse = 0

interface Body {
  readonly team_level?: boolean
  readonly group_id?: string
  readonly user_email?: string
  readonly set_add_on_credit_cap?: number
}

const keyOf = ({ team_level, group_id, user_email }: Body): string => (team_level ? 'team' : (group_id ?? user_email ?? ''))

/** The roster of a workspace; everybody is in its one group. */
const rosterOf = (workspace: string): unknown => ({
  userTableStats: peopleOf(workspace, people).map((email) => ({
    name: email,
    email,
    role: 'user',
    teamStatus: 'USER_TEAM_STATUS_APPROVED',
    promptCreditsUsed: 100,
  })),
  billingCycleStart: '2026-01-01T00:00:00Z',
  billingCycleEnd: '2036-01-01T00:00:00Z',
})

function answer(workspace: string, operation: string, body: Body): unknown {
  calls += 1
  const at = `${workspace} ${keyOf(body)}`
  switch (operation) {
    case 'GetUsageConfig':
      return { addOnCreditCap: changed.get(at) ?? capOf(keyOf(body)) }
    case 'UsageConfig':
      writes += 1
      changed.set(at, body.set_add_on_credit_cap ?? 0)
      return {}
    case 'UserPageAnalytics':
      return rosterOf(workspace)
    case 'GetTeamCreditBalance':
      return { promptCreditsPerSeat: 500, numSeats: people, addOnCreditsAvailable: 1_000_000, addOnCreditsUsed: 0 }
    default:
      ofUse += 1
      return { queryResults: [] }
  }
}

const server = createServer((request, response) => {
  const [, workspace = '', , , operation = ''] = (request.url ?? '').split('/')
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    text += chunk
  })
  request.on('end', () => {
    const json = JSON.stringify(answer(workspace, operation, JSON.parse(text)))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) })
    response.end(json)
  })
})
server.keepAliveTimeout = 600_000
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))

serveRemote({
  url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** Somebody else changes the first person's cap in each of these. */
  drift: (workspaces: readonly string[]) => {
    for (const one of workspaces) changed.set(`${one} ${peopleOf(one, 1)[0]}`, 77_777)
  },
  /** How many of these are as somebody else left them. */
  drifted: (workspaces: readonly string[]) => workspaces.filter((one) => changed.get(`${one} ${peopleOf(one, 1)[0]}`) === 77_777).length,
  counts: () => ({ calls, writes, ofUse }),
  cpu: () => process.cpuUsage(),
})
