// The real sandbox, and a proxy before it that records every request in order, follows the caps by the writes, and may damage answers. It
// never judges; the checks do.
import { writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text as bodyText } from 'node:stream/consumers'
import { type Company, fixtureOf } from './company.ts'
import { at, type Json, parseJson, textAt } from './json.ts'
import { after, type Cap, type State } from './model.ts'
import { sandbox as startSandbox } from './program.ts'

/** One recorded request. */
export interface Seen {
  readonly operation: string
  /** For reads and writes of caps. */
  readonly scope: string
  /** The cap of a write, or the cap that a read showed. */
  readonly cap: Cap
  readonly status: number
  /** The caps before a write, and after it. */
  readonly before: State
  readonly after: State
  /** Whether a write took effect. */
  readonly landed: boolean
}

type Spoil = 'drop-before' | 'drop-after' | 'pass'

/** Asked before a request goes on to the sandbox. */
type Tamper = (operation: string) => Spoil

export type Service = Awaited<ReturnType<typeof startService>>

const serviceKey = 'sandbox-admin'
export const passing: Tamper = () => 'pass'
export const writtenText = (write: Seen): string => `${write.scope} → ${write.cap}`
export const writesOf = (seen: readonly Seen[]): readonly Seen[] => seen.filter((s) => s.operation === 'UsageConfig')
export const landedOf = (seen: readonly Seen[]): readonly Seen[] => writesOf(seen).filter((s) => s.landed)

/** Starts a sandbox with this company in `folder`, and the proxy before it. */
export async function startService(folder: string, company: Company, switches: readonly string[]) {
  writeFileSync(join(folder, 'company.json'), fixtureOf(company))
  const { url: sandbox, end } = await startSandbox(folder, ['--port', '0', '--fixture', 'company.json', ...switches])
  let state: State = new Map(company.caps)
  const seen: Seen[] = []
  /** Places outside of a body where the key was seen. */
  const leaks: string[] = []
  const service = { tamper: passing }
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const text = await bodyText(incoming)
    if (`${incoming.url}${JSON.stringify(incoming.headers)}`.includes(serviceKey)) leaks.push(`${incoming.url}`)
    const body = parseJson(text)
    const operation = (incoming.url ?? '').split('/').pop() ?? ''
    const scope = scopeOf(body)
    const clears = at(body, 'clear_add_on_credit_cap') === true
    const wants = capOf(at(body, 'set_add_on_credit_cap'))
    const spoil = service.tamper(operation)
    const answer = spoil === 'drop-before' ? undefined : await send(sandbox, incoming.url ?? '', text)
    const write = operation === 'UsageConfig'
    const landed = write && answer !== undefined && answer.status < 300 && textAt(parseJson(answer.body), 'error') === ''
    const before = state
    if (landed) state = after(state, [[scope, clears ? 'none' : wants]])
    const shown = operation === 'GetUsageConfig' ? capShown(answer) : wants
    seen.push({ operation, scope, cap: write && clears ? 'none' : shown, status: answer?.status ?? 0, before, after: state, landed })
    if (spoil !== 'pass' || answer === undefined) incoming.socket.destroy()
    else outgoing.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body)
  }
  const proxy = createServer((incoming, outgoing) => void handle(incoming, outgoing).catch(() => incoming.socket.destroy()))
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
  const address = proxy.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  /** Another client sets or clears a cap; the proxy does not record it as a write. */
  const edit = async (scope: string, cap: Cap): Promise<void> => {
    const body = {
      service_key: serviceKey,
      ...wireOf(scope),
      ...(cap === 'none' ? { clear_add_on_credit_cap: true } : { set_add_on_credit_cap: cap }),
    }
    const answer = await send(sandbox, '/api/v1/UsageConfig', JSON.stringify(body))
    if (answer.status !== 200) throw new Error(`the sandbox refused an edit of ${scope}: ${answer.body}`)
    state = after(state, [[scope, cap]])
  }
  const close = async (): Promise<void> => {
    proxy.closeAllConnections()
    await new Promise<void>((done) => proxy.close(() => done()))
    await end()
  }
  // The address that the program uses is the proxy's.
  return Object.assign(service, { url: `http://127.0.0.1:${port}`, seen, leaks, state: () => state, edit, close })
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const capOf = (value: Json | undefined): Cap => (typeof value === 'number' ? value : 'none')
const capShown = (answer: { readonly body: string } | undefined): Cap => {
  const body = parseJson(answer?.body ?? '')
  return capOf(at(body, 'addOnCreditCap') ?? at(body, 'add_on_credit_cap'))
}

function scopeOf(body: Json | undefined): string {
  if (at(body, 'team_level') === true) return 'team'
  const group = textAt(body, 'group_id')
  return group ? `group:${group}` : textAt(body, 'user_email').trim().toLowerCase()
}

function wireOf(scope: string): { [key: string]: Json } {
  if (scope === 'team') return { team_level: true }
  return scope.startsWith('group:') ? { group_id: scope.slice(6) } : { user_email: scope }
}

function send(base: string, path: string, body: string): Promise<Answer> {
  return new Promise((done, fail) => {
    const outgoing = httpRequest(new URL(path, base), { method: 'POST', headers: { 'content-type': 'application/json' } }, (incoming) => {
      const date = incoming.headers.date
      const retry = incoming.headers['retry-after']
      const headers = { ...(date ? { date } : {}), ...(retry ? { 'retry-after': retry } : {}) }
      bodyText(incoming).then((text) => done({ status: incoming.statusCode ?? 0, body: text, headers }), fail)
    })
    outgoing.on('error', fail)
    outgoing.end(body)
  })
}
