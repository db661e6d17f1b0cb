// The floor of the embedded service: one bare fastify route that answers a cap, in a process of its own.
import fastify from 'fastify'
import { serveRemote } from './remote.ts'

const app = fastify({ logger: false })
app.post('/api/v1/GetUsageConfig', async () => ({ addOnCreditCap: 500 }))
const url = await app.listen({ host: '127.0.0.1', port: 0 })

serveRemote({ place: () => ({ url }), cpu: () => process.cpuUsage() })
