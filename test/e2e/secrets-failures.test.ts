// The key when things go wrong: services, proxies and certificates that fail in odd ways, keys in odd places, and errors that nobody catches.
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { authority, hasOpenssl, httpsServer } from '../support/certificates.ts'
import { inside } from '../support/inside.ts'
import { capkeeper, type Ran } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { configText, place, policyText, workspace } from './world.ts'

/** With characters that JSON and URLs spell in another way. */
const KEY = 'sk-recognisable"key/with\\every+sign&0123456789'
const PIECES = [KEY, 'recognisable', '0123456789', encodeURIComponent('with\\every+sign')].flatMap((text) => [
  text,
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
])

const textOf = ({ stdout, stderr }: Ran): string => `${stdout}\n${stderr}`
const leaks = (ran: Ran): readonly string[] => PIECES.filter((piece) => textOf(ran).includes(piece))

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

interface Asked {
  readonly baseUrl: string
  readonly key?: string
  readonly env?: Readonly<Record<string, string>>
  readonly argv?: readonly string[]
}

/** Runs one command with the key in a file, with everything told that can be told; `by` is how. */
async function ask({ baseUrl, key = KEY, env = {}, argv = ['plan'] }: Asked, by: typeof capkeeper = inside): Promise<Ran> {
  const at = place()
  at.write('key', key)
  at.write('policies/acme.yaml', policyText('team: {cap: 500}'))
  at.write('config.yaml', configText([workspace('acme', baseUrl, { allowPlainHttp: true })]))
  const flags = ['--config', at.path('config.yaml'), '--log-level', 'trace']
  // In this process they run side by side, from one folder.
  return by([...argv, ...flags], { ...(by === capkeeper && { cwd: at.folder }), env: { CAPKEEPER_DEBUG: '1', ...env } })
}

/** What a service may do with a request that it has read. */
type Answer = (body: string, response: ServerResponse) => void

const ECHOES: Readonly<Record<string, Answer>> = {
  'as the cap': (body, response) => response.end(JSON.stringify({ addOnCreditCap: JSON.parse(body).service_key })),
  'as a truncated JSON': (body, response) => response.end(body.slice(0, -3)),
  'as a page': (body, response) => response.writeHead(502, { 'content-type': 'text/html' }).end(`<html><title>${body}</title></html>`),
  'as an error': (body, response) => response.writeHead(400).end(JSON.stringify({ error: `cannot take ${body}` })),
  'as the code of an error': (body, response) => response.writeHead(403).end(JSON.stringify({ code: JSON.parse(body).service_key })),
  'as where to go': (body, response) =>
    response.writeHead(302, { location: `/?${encodeURIComponent(body)}#${encodeURIComponent(KEY)}` }).end(),
  'as a path to go': (_body, response) => response.writeHead(308, { location: `https://x.example/${encodeURIComponent(KEY)}` }).end(),
  'as when to come back': (_body, response) => response.writeHead(503, { 'retry-after': KEY }).end(KEY),
  'in another spelling': (_body, response) => response.writeHead(400).end(encodeURIComponent(KEY)),
  'as a name of the people': (body, response) => response.end(JSON.stringify({ userTableStats: [{ email: KEY, name: body }] })),
}

const echoing = (answer: Answer): Server =>
  createServer((request, response) => {
    let body = ''
    request.on('data', (data) => {
      body += String(data)
    })
    request.on('end', () => answer(body, response))
  })

const parrot = (): Server =>
  createTcpServer((socket) => {
    socket.on('error', () => undefined).on('data', (data) => socket.end(data))
  })

test('an answer that repeats the request, in whatever way, and a proxy that refuses, give away no key and no password', async () => {
  const proxy = createServer().on('connect', (request, socket) => {
    socket.end(`HTTP/1.1 407 ${request.headers['proxy-authorization'] ?? ''}\r\n\r\n${JSON.stringify(request.headers)}`)
  })
  const env = { HTTPS_PROXY: `http://me:hunter2secret@127.0.0.1:${await listening(proxy)}` }
  const barred = ask({ baseUrl: 'https://service.example', env }, capkeeper)
  const servers = [
    ...Object.entries(ECHOES).map(([name, answer]) => [name, echoing(answer)] as const),
    ['as no HTTP at all', parrot()] as const,
  ]
  const ran = await Promise.all(
    servers.map(async ([name, server]) => [name, await ask({ baseUrl: `http://127.0.0.1:${await listening(server)}` })] as const),
  )
  expect(ran.flatMap(([name, one]) => leaks(one).map((piece) => `${name}: ${piece}`))).toEqual([])
  expect(ran.filter(([, one]) => textOf(one).length < 20).map(([name]) => name)).toEqual([])
  expect(await barred).toMatchObject({ code: 1, stderr: expect.stringContaining('the proxy refused to connect (407)') })
  expect(leaks(await barred)).toEqual([])
  for (const one of ['hunter2secret', Buffer.from('me:hunter2secret').toString('base64')]) expect(textOf(await barred)).not.toContain(one)
})

describe.skipIf(!hasOpenssl)('a certificate that is wrong (needs openssl)', () => {
  const folder = temporaryFolder()
  let server: Awaited<ReturnType<typeof httpsServer>>
  beforeAll(async () => {
    server = await httpsServer(authority(folder, 'ours').sign('IP:127.0.0.1'), (_request, response) => response.end('{}'))
  })
  afterAll(() => {
    server.close()
  })

  test('is told in one line, and nothing is sent; it is fine with the CA file, and 65 says when that is none', async () => {
    const [untrusted, trusted, broken] = await Promise.all([
      ask({ baseUrl: server.url }),
      ask({ baseUrl: server.url, env: { CAPKEEPER_CA_FILE: `${folder}/ours-ca.pem` } }),
      ask({ baseUrl: server.url, argv: ['plan', '--ca-file', `${folder}/nowhere.pem`] }),
    ])
    expect(untrusted).toMatchObject({ code: 1, stderr: expect.stringContaining('not trusted; name a private CA with --ca-file') })
    expect(leaks(untrusted)).toEqual([])
    expect(textOf(trusted)).not.toContain('certificate')
    expect(broken).toMatchObject({ code: 65, stderr: expect.stringContaining('nowhere.pem does not exist (ENOENT)') })
  })

  test('is not taken because NODE_TLS_REJECT_UNAUTHORIZED says so: 65', async () => {
    const ran = await ask({ baseUrl: server.url, env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } }, capkeeper)
    expect(ran).toMatchObject({ code: 65, stderr: expect.stringContaining('capkeeper always verifies them') })
  })
})

describe('an error that nobody catches', () => {
  const hang = (): Promise<number> => listening(createServer(() => undefined))
  /** Runs in the process before capkeeper does, and throws once a request has carried the key away. */
  const sabotage = (code: string): string => {
    const asked = "process.getBuiltinModule('node:diagnostics_channel').subscribe('http.client.request.start'"
    return `--import=data:text/javascript,${encodeURIComponent(`${asked}, () => setTimeout(() => { ${code} }, 100))`)}`
  }
  const error = "Object.assign(new Error('oh: ' + key), { options: { body: key }, cause: new Error(key) })"
  const key = "const key = process.getBuiltinModule('node:fs').readFileSync('key', 'utf8')"

  const errors = { thrown: `${key}; throw ${error}`, bare: `${key}; Promise.reject(key)` }

  test('ends the process without the key, thrown, or rejected with what is no error', async () => {
    const baseUrl = `http://127.0.0.1:${await hang()}`
    const argv = ['run', '--listen', '127.0.0.1:0']
    const ran = await Promise.all(
      Object.values(errors).map((code) => ask({ baseUrl, env: { NODE_OPTIONS: sabotage(code) }, argv }, capkeeper)),
    )
    for (const one of ran) expect(one).toMatchObject({ code: 1, stderr: expect.stringContaining('[key]') })
    expect(ran.flatMap(leaks)).toEqual([])
  })
})
