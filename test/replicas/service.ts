// The services of all workspaces, with the real sandbox behind them, and a record of every write: its sender, when it left, arrived and
// took effect, and whether its answer was sent. A write may be held, before it takes effect or before its answer.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as bodyText } from 'node:stream/consumers'
import type { Operation } from '../../src/core/model/observed.ts'

import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { clock, now } from './time.ts'

/** A write as the service received it; times are of the wall clock of the check, which no fault changes. */
export interface Arrival {
  readonly workspace: string
  /** The index of the replica that sent it. */
  readonly sender: number | undefined
  readonly sentAt: number
  /** How much of the write's time limit the connection took. */
  readonly connectedInMs: number
  readonly arrivedAt: number
  readonly value: number | undefined
  landedAt?: number
  /** The cap before it. */
  before?: number | undefined
  answeredAt?: number
}

/** A cap that took effect. */
export interface Landing {
  readonly at: number
  readonly workspace: string
  readonly value: number | undefined
  readonly before: number | undefined
  /** Absent: another client. */
  readonly write?: Arrival
}

/** What happens to the next write of a workspace. */
interface HoldUp {
  readonly beforeMs?: number
  readonly afterMs?: number
}

export type Service = Awaited<ReturnType<typeof startService>>

/** The sender of requests from this port, and when they left. */
type SenderOf = (
  port: number | undefined,
) => { readonly sender: number; readonly sentAt: number; readonly connectedInMs: number } | undefined

export const TEAM = { kind: 'team' } as const

interface Plan extends HoldUp {
  readonly came: (arrival: Arrival) => void
}

export async function startService(workspaces: readonly string[], senderOf: SenderOf) {
  const company = { people: 5, groups: 1, days: 0, seed: 1 }
  const sandboxes = new Map<string, Sandbox>(workspaces.map((name) => [name, createSandbox({ clock, company, working: false })]))
  const sandboxOf = (name: string): Sandbox => {
    const sandbox = sandboxes.get(name)
    if (!sandbox) throw new Error(`there is no service of ${name}`)
    return sandbox
  }
  const arrivals: Arrival[] = []
  const landings: Landing[] = []
  const plans = new Map<string, Plan>()
  const ending = new AbortController()
  let isEnding = false
  const rest = (ms: number): Promise<void> => (ms > 0 ? clock.sleep(ms, ending.signal) : Promise.resolve())
  const capOf = (name: string): number | undefined => sandboxOf(name).store.cap(TEAM)

  async function write(name: string, text: string, incoming: IncomingMessage): Promise<{ readonly arrival: Arrival; answer: Answer }> {
    const from = senderOf(incoming.socket.remotePort)
    const arrivedAt = now()
    const { sentAt, connectedInMs } = from ?? { sentAt: arrivedAt, connectedInMs: 0 }
    const arrival: Arrival = { workspace: name, sender: from?.sender, sentAt, connectedInMs, arrivedAt, value: valueIn(text) }
    arrivals.push(arrival)
    const plan = plans.get(name)
    plans.delete(name)
    plan?.came(arrival)
    await rest(plan?.beforeMs ?? 0)
    const before = capOf(name)
    const answer = answerOf(sandboxOf(name), 'UsageConfig', text)
    Object.assign(arrival, { landedAt: now(), before })
    if (answer.status < 300) landings.push({ at: now(), workspace: name, value: capOf(name), before, write: arrival })
    await rest(plan?.afterMs ?? 0)
    return { arrival, answer }
  }
  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const text = await bodyText(incoming)
    if (isEnding) outgoing.setHeader('connection', 'close')
    const [, name = '', , , operation = ''] = (incoming.url ?? '').split('/')
    if (operation === 'UsageConfig') {
      const { arrival, answer } = await write(name, text, incoming)
      send(outgoing, answer)
      if (!outgoing.destroyed && outgoing.writable !== false) arrival.answeredAt = now()
      return
    }
    const known = OPERATIONS.find((one) => one === operation)
    if (!known) return void outgoing.writeHead(404).end()
    send(outgoing, answerOf(sandboxOf(name), known, text))
  }
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing).catch(() => incoming.socket.destroy()))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as AddressInfo).port,
    arrivals,
    landings,
    capOf,
    /** Sets a cap without a request, as another client. */
    foreign(name: string, value: number) {
      const before = capOf(name)
      sandboxOf(name).writeCap(TEAM, value)
      landings.push({ at: now(), workspace: name, value, before })
    },
    /** Resolves when the next write of this workspace has arrived, which is then held. */
    nextWrite: (name: string, holdUp: HoldUp) => new Promise<Arrival>((came) => void plans.set(name, { ...holdUp, came })),
    /** Whether connections close after each answer. */
    endConnections(yes: boolean) {
      isEnding = yes
    },
    /** Cancels the plans for writes that have not arrived. */
    forgetPlans: () => plans.clear(),
    async close() {
      ending.abort(new Error('the check is over'))
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      for (const sandbox of sandboxes.values()) sandbox.close()
    },
  }
}

const OPERATIONS: readonly Operation[] = ['Analytics', 'UserPageAnalytics', 'CascadeAnalytics', 'GetUsageConfig', 'GetTeamCreditBalance']

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

function answerOf(sandbox: Sandbox, operation: Operation, text: string): Answer {
  const result = sandbox.exchange(operation, text)
  if (result.kind !== 'answer') throw new Error('these sandboxes always answer')
  const { status, contentType, body } = result.answer
  return { status, type: contentType, body }
}

const send = (outgoing: ServerResponse, { status, type, body }: Answer): void =>
  void outgoing.writeHead(status, { 'content-type': type }).end(body)

function valueIn(text: string): number | undefined {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || !('set_add_on_credit_cap' in value)) return undefined
  const cap = value.set_add_on_credit_cap
  return cap === undefined ? undefined : Number(cap)
}
