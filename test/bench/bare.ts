// The floor that cycles are measured against: a plain loop with got over the same calls and nothing else. No pacing, no retry, no ledger,
// no check of what comes back. It keeps connections alive and as many calls under way as capkeeper does.
import { Agent } from 'node:http'
import got from 'got'
import type { Wire } from '../../src/api/wire.ts'
import { costOf, serveRemote } from './remote.ts'

/** One call of the loop. */
export interface Call {
  readonly operation: string
  readonly body: Wire<'GetUsageConfigRequest'> & Readonly<Record<string, unknown>>
}

const [url = '', key = '', concurrency = '8'] = process.argv.slice(2)
const agent = { http: new Agent({ keepAlive: true, maxSockets: Number(concurrency) }) }

async function run(calls: readonly Call[], workers = Number(concurrency)): Promise<void> {
  const pending = calls.values()
  const work = async (): Promise<void> => {
    for (const { operation, body } of pending) {
      const json = { ...body, service_key: key }
      await got.post(`${url}/api/v1/${operation}`, { json, agent, retry: { limit: 0 } }).json()
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
}

serveRemote({
  run: (calls: readonly Call[]) => costOf(() => run(calls)),
  /** One call at a time: what a call takes when nothing else is under way. */
  alone: (calls: readonly Call[]) => costOf(() => run(calls, 1)),
})
