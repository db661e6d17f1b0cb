// G5 with real timers over real HTTP: the real client reads caps as fast as its pace allows from a small server on a loopback port, whose
// token bucket lets 20 requests through in a second and tells nothing of it. What a simulation leaves out is here: timers that fire late,
// connections that open, a runtime that compiles. Counted over the first 400 requests, because that is a whole run of the command line.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReadClient } from '../../src/api/client.ts'
import { createKeyRing } from '../../src/api/keys.ts'
import { createHttpTransport } from '../../src/api/transport/http.ts'
import { createPaces } from '../../src/api/transport/queue.ts'
import { systemClock, systemRandom } from '../../src/daemon/schedule/system.ts'
import { type Limiter, makeLimiter, offer } from '../sim/pacing/limits.ts'
import { judged, median, publish, type Row } from './bench.ts'

const RATE_PER_SECOND = 20
const REQUESTS = 400
const ROUNDS = 3

/** What one run of the client came to. */
interface LiveUse {
  /** Answers over what the bucket would have allowed in the same time. */
  readonly use: number
  readonly refused: number
}

/** Refuses what the bucket has no token for, without `Retry-After`. */
async function startService(limiter: Limiter, count: { refused: number }): Promise<Server> {
  const startedAt = performance.now()
  const server = createServer((request, response) => {
    const accepted = offer(limiter, performance.now() - startedAt).kind === 'ok'
    if (!accepted) count.refused += 1
    request.resume()
    request.on('end', () => {
      response.writeHead(accepted ? 200 : 429, { 'content-type': 'application/json' })
      response.end(accepted ? '{"addOnCreditCap":1000}' : '{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** The first 400 requests of a client that has learned nothing; `burst` is the size of the bucket in requests. */
async function liveUse(burst: number): Promise<LiveUse> {
  const count = { refused: 0 }
  const limit = { kind: 'bucket', burstSeconds: burst / RATE_PER_SECOND } as const
  const server = await startService(makeLimiter({ limit, steps: [{ fromMs: 0, rate: RATE_PER_SECOND }], retryAfter: 'none' }), count)
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport = createHttpTransport({ baseUrl, userAgent: 'capkeeper/bench', proxyEnv: {}, concurrency: 8 })
  const client = createReadClient({
    transport,
    keys: createKeyRing({ default: { env: 'KEY' } }, { env: { KEY: 'bench' } }),
    clock: systemClock,
    random: systemRandom,
    rate: { start: 5, max: 60, concurrency: 8 },
    paces: createPaces(),
  })
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: REQUESTS }, () => client.readCap({ kind: 'team' })))
  const seconds = (performance.now() - startedAt) / 1000
  transport.close()
  server.close()
  return { use: REQUESTS / (RATE_PER_SECOND * seconds), refused: count.refused }
}

/** What the goal asks of a bucket of so many requests. */
const GOALS = [
  { burst: 20, least: 0.9 },
  { burst: 1, least: 0.6 },
]

const rows: Row[] = []
for (const { burst, least } of GOALS) {
  const runs: LiveUse[] = []
  for (let round = 0; round < ROUNDS; round += 1) runs.push(await liveUse(burst))
  const use = median(runs.map((run) => run.use))
  const figure = `real HTTP, 20/s untold, bucket of ${burst}: use of the limit over the first 400 requests`
  const measured = `${runs.map((run) => run.use.toFixed(2)).join(', ')}; refused ${runs.map(({ refused }) => refused).join(', ')}`
  rows.push(judged('G5', figure, `>= ${least}`, measured, use >= least, use))
}
publish('Pacing over real HTTP, with real timers', rows)
