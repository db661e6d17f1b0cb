// The cluster's DNS, as much of it as is asked for here: A records of headless services, from the endpoints that the API server has. It forwards
// nothing, because nothing outside is to be reached. A process of its own, as the scenes keep theirs busy:
//   node dns.ts ADDRESS API TOKEN
import { createSocket } from 'node:dgram'
import { request } from 'node:https'
import { realClock } from '../support/real-clock.ts'

const clock = realClock()

/** `NAME.NAMESPACE.svc.cluster.local` to addresses. */
type Lookup = (service: string, namespace: string) => readonly string[]

const TYPE_A = 1
const NAME_ERROR = 3
const REFRESH_MS = 500

interface Slice {
  readonly metadata: { readonly namespace: string; readonly labels?: Readonly<Record<string, string>> }
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[]
}

/** All endpoints of the cluster, as a lookup. */
function slices(api: string, token: string): Promise<Lookup> {
  return new Promise((resolve, reject) => {
    const options = { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false }
    const asked = request(`${api}/apis/discovery.k8s.io/v1/endpointslices`, options, async (response) => {
      let text = ''
      for await (const chunk of response) text += String(chunk)
      const { items }: { readonly items: readonly Slice[] } = JSON.parse(text)
      resolve((service, namespace) =>
        items
          .filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === service)
          .flatMap(({ endpoints = [] }) => endpoints.flatMap(({ addresses }) => addresses)),
      )
    })
    asked.once('error', reject).end()
  })
}

function answerTo(query: Buffer, lookup: Lookup): Buffer {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase())
    at += length + 1
  }
  const type = query.readUInt16BE(at + 1)
  const question = query.subarray(12, at + 5)
  const [service = '', namespace = '', svc] = labels
  const isOurs = svc === 'svc' && labels.slice(3).join('.') === 'cluster.local'
  const found = isOurs ? lookup(service, namespace) : []
  const records = type === TYPE_A ? found.map(recordOf) : []
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8400 | (query.readUInt16BE(2) & 0x0100) | (found.length === 0 ? NAME_ERROR : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, question, ...records])
}

/** An A record of the question's name, for 2 s. */
function recordOf(address: string): Buffer {
  const record = Buffer.alloc(16)
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(TYPE_A, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(2, 6)
  record.writeUInt16BE(4, 10)
  record.set(address.split('.').map(Number), 12)
  return record
}

if (import.meta.main) {
  const [address = '', api = '', token = ''] = process.argv.slice(2)
  let lookup: Lookup = () => []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => socket.send(answerTo(query, lookup), from.port, from.address))
  socket.bind(53, address)
  for (;;) {
    lookup = await slices(api, token).catch(() => lookup)
    await clock.sleep(REFRESH_MS)
  }
}
