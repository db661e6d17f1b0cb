// A service that answers some requests wrongly, for as long as a test says so, and cycles that are cut short.
import type { Operation } from '../../src/core/model/observed.ts'
import { LedgerError } from '../../src/daemon/ledger/error.ts'
import type { Ledger, Transport, WireAnswer } from '../../src/ports.ts'
import { email, type PolicySketch } from './declare.ts'
import type { World } from './world.ts'

type Body = Readonly<Record<string, unknown>>
export type Match = (operation: Operation, body: Body) => boolean

export interface Fault {
  broken: boolean
}

const ALWAYS: Fault = { broken: true }

const isOf = (name: string | undefined, body: Body): boolean => {
  if (name === undefined) return true
  if (name === 'team') return body['team_level'] === true
  return name.startsWith('group:') ? body['group_id'] === name.slice(6) : body['user_email'] === email(name)
}

/** Writes of a scope, or all. */
export const writes =
  (name?: string): Match =>
  (operation, body) =>
    operation === 'UsageConfig' && isOf(name, body)

/** Reads of the cap of a scope, or all. */
export const reads =
  (name?: string): Match =>
  (operation, body) =>
    operation === 'GetUsageConfig' && isOf(name, body)

/** Lists of the members of groups, or of the one with this name. */
export const listings =
  (name?: string): Match =>
  (operation, body) =>
    operation === 'UserPageAnalytics' && (name === undefined ? body['group_name'] !== undefined : body['group_name'] === name)

export const either =
  (...matches: readonly Match[]): Match =>
  (operation, body) =>
    matches.some((one) => one(operation, body))

/** 200 without a text answers nothing, any other status an error. */
export const answerOf = (
  status: number,
  body = status === 200 ? '{}' : '{"error":"no"}',
  headers: WireAnswer['headers'] = {},
): WireAnswer => ({
  ...{ status, headers, body },
})

type Options = Parameters<Transport['send']>[2]
type Answer = Awaited<ReturnType<Transport['send']>>

/** Answers in the place of the service, where `say` gives anything; `ask` asks the service. */
export const instead =
  (
    say: (
      operation: Operation,
      body: Body,
      ask: () => Promise<Answer>,
      options: Options,
    ) => Answer | undefined | Promise<Answer | undefined>,
  ) =>
  (inner: Transport): Transport => ({
    async send(operation, body, options) {
      const ask = () => inner.send(operation, body, options)
      return (await say(operation, body, ask, options)) ?? ask()
    },
  })

/** Requests that match are answered like this, and do not reach the service, while the fault lasts. */
export const answering = (match: Match, status = 503, fault = ALWAYS, text?: string) =>
  instead((operation, body) => (fault.broken && match(operation, body) ? answerOf(status, text) : undefined))

/** Answers to requests that match have another text. */
export const edited = (match: Match, edit: (text: string) => string) =>
  instead(async (operation, body, ask) => {
    const answer = match(operation, body) ? await ask() : undefined
    return answer && 'body' in answer ? { ...answer, body: edit(answer.body) } : answer
  })

/** The service's own clock, apart from ours. */
export const serviceClock = (skew: { readonly ms: number }) =>
  instead(async (_operation, _body, ask) => {
    const answer = await ask()
    if ('kind' in answer) return answer
    const date = Date.parse(answer.headers['date'] ?? '') + skew.ms
    return { ...answer, headers: { ...answer.headers, date: new Date(date).toUTCString() } }
  })

/** Happens after each request that matches, until `onCall` is set anew. */
export function whenAsked(one: World, match: Match, act: () => unknown): void {
  one.onCall = ({ operation, body }) => void (match(operation, body) && act())
}

/** A cycle that is stopped with the first request that matches, or with a later one; `dies` ends the process with it. */
export async function cutShort(one: World, match: Match, declared?: PolicySketch, more: { after?: number; dies?: boolean } = {}) {
  const { after = 1, dies = false } = more
  const stop = new AbortController()
  let seen = 0
  whenAsked(one, match, () => {
    seen += 1
    if (seen === after) stop.abort(new Error('stopped'))
  })
  const report = await one.cycle(declared, { stop: stop.signal, leaving: () => dies && stop.signal.aborted })
  one.onCall = undefined
  return report
}

/** Calls that wait for the disk. */
const WAITS = /^(load|commit|record|history|pause|savePause|save(Burn|Runs|AddOnUse))/

/** Looks at each call of the ledger before it is made; what `look` throws, the call throws, or rejects with. */
export const onLedger =
  (look: (method: keyof Ledger, given: readonly unknown[]) => void) =>
  (real: Ledger): Ledger =>
    new Proxy(real, {
      get(ledger, name, self) {
        const own: unknown = Reflect.get(ledger, name, self)
        if (typeof own !== 'function') return own
        const call = (...given: readonly unknown[]): unknown => {
          look(name as keyof Ledger, given)
          return own(...given)
        }
        return WAITS.test(String(name)) ? async (...given: readonly unknown[]) => call(...given) : call
      },
    })

/** A ledger whose disk is full for these calls. */
export const failingLedger = (fails: (method: keyof Ledger) => boolean) =>
  onLedger((method) => {
    if (fails(method)) throw new LedgerError('LEDGER_FULL', 'capkeeper.db: the disk is full, so nothing was recorded')
  })

/** What goes wrong with the cap of one scope. */
export interface Wrong {
  /** What a read of the scope shows; absent: all is well. */
  reads?: string
  /** Of each write of the scope, in turn: whether it lands, and what is answered; the last one stays. */
  writes?: readonly (readonly [landed: boolean, status: number])[]
  /** What a read shows from the first write on. */
  readsAfter?: string
  sent: number
}

/** Reads and writes of one scope go wrong as `fault` says. */
export const faulty = (fault: Wrong, name: string) =>
  instead(async (operation, body, ask) => {
    if (fault.reads !== undefined && reads(name)(operation, body)) return answerOf(200, fault.reads)
    if (!fault.writes || !writes(name)(operation, body)) return undefined
    const [landed, status] = fault.writes[Math.min(fault.sent, fault.writes.length - 1)] ?? [true, 200]
    fault.sent += 1
    if (fault.readsAfter) fault.reads = fault.readsAfter
    if (landed) await ask()
    return answerOf(status)
  })

/** From now on all is well. */
export const heal = (fault: Wrong): void => {
  delete fault.reads
  delete fault.writes
}
