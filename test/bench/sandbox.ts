// G17: cap reads from the embedded service over HTTP, beside a bare fastify route. What counts is how many reads a second of the server's
// CPU answers: on few cores the client would be the bottleneck of both.
import { Agent, request } from 'node:http'
import { median, publish, ROUNDS, told } from './bench.ts'
import { type Remote, startRemote } from './remote.ts'
import type { Place } from './service.ts'

const READS = 10_000
const CONCURRENCY = 16
const LEAST = 0.5

const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })

function post(url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    request(`${url}/api/v1/GetUsageConfig`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`status ${answer.statusCode}`))))
    })
      .on('error', reject)
      .end(body)
  })
}

/** Reads per second of wall time, and per second of the server's CPU. */
async function ratesOf(server: Remote, url: string, bodies: readonly string[]): Promise<{ readonly wall: number; readonly cpu: number }> {
  const before = await server.ask<NodeJS.CpuUsage>('cpu')
  const started = performance.now()
  const pending = bodies.values()
  const work = async (): Promise<void> => {
    for (const body of pending) await post(url, body)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const wallMs = performance.now() - started
  const after = await server.ask<NodeJS.CpuUsage>('cpu')
  const cpuMs = (after.user + after.system - before.user - before.system) / 1000
  return { wall: (bodies.length * 1000) / wallMs, cpu: (bodies.length * 1000) / cpuMs }
}

const service = await startRemote('service.ts', ['0', '200', '8'])
const route = await startRemote('route.ts')
try {
  const place = await service.ask<Place>('place')
  const { url } = await route.ask<{ url: string }>('place')
  const bodies = Array.from({ length: READS }, (_, at) =>
    JSON.stringify({ service_key: place.key, user_email: place.people[at % place.people.length] }),
  )
  const ours: { wall: number; cpu: number }[] = []
  const bare: { wall: number; cpu: number }[] = []
  for (let round = -1; round < ROUNDS; round += 1) {
    const rates = [await ratesOf(service, place.url, bodies), await ratesOf(route, url, bodies)] as const
    if (round < 0) continue
    ours.push(rates[0])
    bare.push(rates[1])
  }
  const side = (rates: readonly { wall: number; cpu: number }[], what: 'wall' | 'cpu'): number => median(rates.map((one) => one[what]))
  const ratio = side(ours, 'cpu') / side(bare, 'cpu')
  const shown = (what: 'wall' | 'cpu'): string => `${Math.round(side(ours, what))} / ${Math.round(side(bare, what))}`
  publish(`Cap reads from the embedded service: ${READS} reads, ${CONCURRENCY} at once, medians of ${ROUNDS}`, [
    {
      goal: 'G17',
      figure: 'reads per CPU second, beside a bare fastify route',
      limit: `>= ${LEAST} x`,
      measured: shown('cpu'),
      ratio,
      met: ratio >= LEAST,
    },
    told('G17', 'reads per second of wall time, beside the same', shown('wall'), side(ours, 'wall') / side(bare, 'wall')),
  ])
} finally {
  agent.destroy()
  await service.stop()
  await route.stop()
}
