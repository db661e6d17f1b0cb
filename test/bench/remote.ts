// Processes that a bench starts beside itself, so that each side's CPU and memory are its own: named requests over Node's channel
// between parent and child, one answer each.
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'

/** What one piece of work cost the process that did it. */
export interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
  /** The highest resident memory of that process so far. */
  readonly peakKib: number
}

export interface Remote {
  ask<Answer>(what: string, argument?: unknown): Promise<Answer>
  stop(): Promise<void>
}

interface Envelope {
  readonly id: number
  readonly what?: string
  readonly argument?: unknown
  readonly answer?: unknown
  readonly error?: string
}

/** Starts a script of this folder and waits until it serves. */
export async function startRemote(script: string, args: readonly string[] = []): Promise<Remote> {
  const child = fork(join(import.meta.dirname, script), [...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const gone = new Error(`${script} ended`)
  child.on('message', (message) => {
    const { id, answer, error } = message as Envelope
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asked?.resolve(answer)
    else asked?.reject(new Error(`${script}: ${error}`))
  })
  child.on('exit', () => {
    for (const asked of waiting.values()) asked.reject(gone)
  })
  const remote = { ask: asking(child, waiting), stop: () => stopped(child) }
  await remote.ask('ready')
  return remote
}

function asking(child: ChildProcess, waiting: Map<number, PromiseWithResolvers<unknown>>): Remote['ask'] {
  let last = 0
  return async <Answer>(what: string, argument?: unknown) => {
    last += 1
    const asked = Promise.withResolvers<unknown>()
    waiting.set(last, asked)
    child.send({ id: last, what, argument } satisfies Envelope)
    return (await asked.promise) as Answer
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (!child.connected) return
  const ended = Promise.withResolvers<void>()
  child.once('exit', () => ended.resolve())
  child.disconnect()
  await ended.promise
}

/** In the child: answers what the parent asks. A child whose parent is gone ends. */
export function serveRemote(handlers: Readonly<Record<string, (argument: never) => unknown>>): void {
  process.on('disconnect', () => process.exit(0))
  process.on('message', async (message) => {
    const { id, what = '', argument } = message as Envelope
    try {
      const answer = what === 'ready' ? undefined : await handlers[what]?.(argument as never)
      process.send?.({ id, answer })
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
}

export const cpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

/** Runs work and says what it cost this process. */
export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const cpu = process.cpuUsage()
  const started = performance.now()
  await work()
  const wallMs = performance.now() - started
  return { wallMs, cpuMs: cpuMs(process.cpuUsage(cpu)), peakKib: process.resourceUsage().maxRSS }
}
