// G17: cap reads from the embedded service over HTTP, beside a bare fastify route. What counts is how many reads a second of the server's
// CPU answers: on few cores the client would be the bottleneck of both.
import { Agent, request } from 'node:http'
import { judged, publish, ROUNDS, told, took, turns } from './bench.ts'
import { cpuMs, type Remote, startRemote } from './remote.ts'
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
  const pending = bodies.values()
  const work = async (): Promise<void> => {
    for (const body of pending) await post(url, body)
  }
  const wallMs = await took(() => Promise.all(Array.from({ length: CONCURRENCY }, work)))
  const usedMs = cpuMs(await server.ask<NodeJS.CpuUsage>('cpu')) - cpuMs(before)
  return { wall: (bodies.length * 1000) / wallMs, cpu: (bodies.length * 1000) / usedMs }
}

const service = await startRemote('service.ts', ['0', '200', '8'])
const route = await startRemote('route.ts')
try {
  const place = await service.ask<Place>('place')
  const { url } = await route.ask<{ url: string }>('place')
  const bodies = Array.from({ length: READS }, (_, at) =>
    JSON.stringify({ service_key: place.key, user_email: place.people[at % place.people.length] }),
  )
  let [ours, theirs] = [
    { wall: 0, cpu: 0 },
    { wall: 0, cpu: 0 },
  ]
  const { wall, cpu, bareWall, bareCpu } = await turns({
    async wall() {
      ours = await ratesOf(service, place.url, bodies)
      return ours.wall
    },
    cpu: () => ours.cpu,
    async bareWall() {
      theirs = await ratesOf(route, url, bodies)
      return theirs.wall
    },
    bareCpu: () => theirs.cpu,
  })
  const shown = (one: number, other: number): string => `${Math.round(one)} / ${Math.round(other)}`
  const figure = 'reads per CPU second, beside a bare fastify route'
  publish(`Cap reads from the embedded service: ${READS} reads, ${CONCURRENCY} at once, medians of ${ROUNDS}`, [
    judged('G17', figure, `>= ${LEAST} x`, shown(cpu, bareCpu), cpu / bareCpu >= LEAST, cpu / bareCpu),
    told('G17', 'reads per second of wall time, beside the same', shown(wall, bareWall), wall / bareWall),
  ])
} finally {
  agent.destroy()
  await service.stop()
  await route.stop()
}
