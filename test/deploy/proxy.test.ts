// The documented examples of proxies: each replaces both headers by which a reader is known. nginx runs with the example as it is printed, between a
// client that forges, doubles and folds headers, and a real server.
import { createSign, generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createGate } from '../../src/daemon/http/auth.ts'
import { hashLabels } from '../../src/daemon/http/labels.ts'
import { sha256, systemClock } from '../../src/daemon/schedule/system.ts'
import { serve as listening, type TestServer } from '../api/world.ts'
import { fakeClock } from '../support/clock.ts'
import { libraryOf } from '../support/documents.ts'
import { freePort } from '../support/postgres.ts'
import { start, until } from '../support/process.ts'
import { hasProgram } from '../support/rules.ts'
import { serve } from '../support/serve.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { fullView, personEmail } from '../support/views.ts'

const MANUAL = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
const EXAMPLES = [...MANUAL.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language = '', text = '']) => ({ language, text }))
const NGINX = EXAMPLES.find(({ language }) => language === 'nginx')?.text ?? ''

const HAS_NGINX = hasProgram('nginx', '-v')
const HAS_OAUTH2_PROXY = hasProgram('oauth2-proxy')

test.each([
  ['oauth2-proxy beside it', /--upstream=/, [/--pass-user-headers=true/]],
  ['nginx', /auth_request /, [/proxy_set_header X-Forwarded-Groups \$/, /proxy_set_header X-Forwarded-Email \$/]],
  ['an ingress', /auth-url/, [/auth-response-headers: \S*X-Auth-Request-Groups/, /auth-response-headers: \S*X-Auth-Request-Email/]],
])('the example of %s replaces both headers', (_name, which, needed) => {
  const found = EXAMPLES.filter(({ text }) => which.test(text))
  expect(found).toHaveLength(1)
  for (const one of needed) expect(found[0]?.text).toMatch(one)
})

test('no other proxy is documented than these', () => {
  expect(EXAMPLES.filter(({ text }) => /oauth2/.test(text))).toHaveLength(3)
})

const ADA = personEmail(1)
const EVE = personEmail(2)
const settings = {
  proxy: { header: 'X-Forwarded-Groups', emailHeader: 'X-Forwarded-Email', from: ['127.0.0.1'] },
  metrics: true,
  viewers: [
    { groups: ['platform'], workspaces: ['*'] },
    { self: true, workspaces: ['*'] },
  ],
}

/** The pages of a daemon that believes the headers of a proxy. */
function daemonPages() {
  const clock = fakeClock()
  const [views, people] = [() => [fullView('acme')], hashLabels(sha256, 'salt')]
  const gate = createGate({ settings: () => settings, env: {} })
  return serve({ views, clock, people, gate, isChecked: () => settings, documents: libraryOf({ views, clock, people }) })
}

/** nginx with the example, between a stand-in of oauth2-proxy that names this reader and a real server. */
async function stage(reader: Readonly<Record<string, string>>) {
  const signedIn = await listening((_request, response) => response.writeHead(202, reader).end())
  const upstream = await daemonPages()
  const root = temporaryFolder()
  // nginx takes no port 0.
  const port = await freePort()
  const [auth, daemon] = [new URL(signedIn.url).host, new URL(upstream.url).host]
  const site = NGINX.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:4180', auth)
    .replaceAll('127.0.0.1:9464', daemon)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${root}/${name};`).join('\n')
  const config = `daemon off; master_process off; pid ${root}/pid; error_log ${root}/error.log;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${site}}\n`
  writeFileSync(join(root, 'nginx.conf'), config)
  start(['-e', join(root, 'error.log'), '-p', root, '-c', join(root, 'nginx.conf')], { command: ['nginx'] })
  await reached(port)
  return (lines: readonly string[]) => raw(port, lines)
}

const reached = (port: number): Promise<unknown> => until(`an answer on port ${port}`, () => raw(port, []))

/** Sends these header lines as they are. */
function raw(port: number, lines: readonly string[]): Promise<{ readonly status: number; readonly body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  let heard = ''
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(['GET /api/v1/me HTTP/1.1', 'Host: 127.0.0.1', 'Connection: close', ...lines, '', ''].join('\r\n'))
  })
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    heard += text
  })
  socket.on('end', () =>
    resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(heard)?.[1] ?? 0), body: heard.slice(heard.indexOf('\r\n\r\n')) }),
  )
  socket.on('error', reject)
  return promise
}

const FORGERIES: readonly (readonly [string, readonly string[]])[] = [
  ['one forged header', [`X-Forwarded-Email: ${EVE}`]],
  ['the forged header twice', [`X-Forwarded-Email: ${EVE}`, `X-Forwarded-Email: ${EVE}`]],
  ['two addresses in one', [`X-Forwarded-Email: ${EVE},${ADA}`]],
  ['other letters in its name', [`x-fOrWaRdEd-eMaIl: ${EVE}`]],
  ['a forged group', ['X-Forwarded-Groups: platform']],
  ['a forged group twice, with an address', ['X-Forwarded-Groups: platform', 'X-Forwarded-Groups: platform', `X-Forwarded-Email: ${EVE}`]],
  ['underscores in its name', [`X_Forwarded_Email: ${EVE}`, 'X_Forwarded_Groups: platform']],
  ['the names of the answer of oauth2-proxy', [`X-Auth-Request-Email: ${EVE}`, 'X-Auth-Request-Groups: platform']],
]
const FOLDED = [`X-Forwarded-Email: ${ADA}`, ` ${EVE}`, 'X-Other: a', `\tX-Forwarded-Email: ${EVE}`]

describe.skipIf(!HAS_NGINX)('through nginx as documented', () => {
  test('a reader sees themselves, whatever headers they forge (needs nginx)', async () => {
    const ask = await stage({ 'X-Auth-Request-Email': ADA })
    const honest = await ask([])
    expect(honest.status).toBe(200)
    expect(JSON.parse(honest.body).workspaces).toHaveLength(1)
    for (const [name, lines] of FORGERIES) expect([name, await ask(lines)]).toEqual([name, honest])
    const folded = await ask(FOLDED)
    expect(folded.status === 400 || folded.body === honest.body).toBe(true)
  })

  test('a reader whom oauth2-proxy names no address is nobody, whatever headers they forge (needs nginx)', async () => {
    const ask = await stage({ 'X-Auth-Request-User': 'somebody' })
    for (const [name, lines] of [...FORGERIES, ['a folded header', FOLDED] as const]) {
      const { status } = await ask(lines)
      expect([name, status === 401 || status === 400]).toEqual([name, true])
    }
  })

  test('the headers would have counted without the example’s lines (needs nginx)', async () => {
    expect(NGINX).toContain('proxy_set_header X-Forwarded-Email')
    const upstream = await daemonPages()
    expect((await raw(Number(new URL(upstream.url).port), [`X-Forwarded-Email: ${EVE}`])).status).toBe(200)
  })
})

/** An issuer of OpenID Connect with one key, as far as oauth2-proxy asks it. */
async function issuer() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] }
  const one: TestServer = await listening((request, response) => {
    const found = {
      ...{ issuer: one.url, jwks_uri: `${one.url}/keys`, authorization_endpoint: `${one.url}/auth`, token_endpoint: `${one.url}/token` },
      ...{ response_types_supported: ['code'], subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'] },
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(request.url === '/keys' ? keys : found))
  })
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (claims: object): string => {
    const at = Math.floor(systemClock.now() / 1_000)
    const text = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${part({ iss: one.url, aud: 'capkeeper', sub: 'somebody', iat: at, exp: at + 600, ...claims })}`
    return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
  }
  return { ...one, token }
}

describe.skipIf(!HAS_OAUTH2_PROXY)('through oauth2-proxy as documented', () => {
  test('a reader is whom their token names, whatever headers they forge (needs oauth2-proxy)', async () => {
    const signIn = await issuer()
    const upstream = await daemonPages()
    const port = await freePort()
    const example = EXAMPLES.find(({ text }) => /--upstream=/.test(text))?.text ?? ''
    const documented = [...example.matchAll(/^ +- (--\S+)$/gm)].map(([, flag = '']) => flag)
    expect(documented).toContain('--pass-user-headers=true')
    const flags = documented
      .map((flag) =>
        flag
          .replace('0.0.0.0:4180', `127.0.0.1:${port}`)
          .replace('http://127.0.0.1:9464', upstream.url)
          .replace('https://login.example', signIn.url),
      )
      .concat(
        '--client-id=capkeeper',
        '--client-secret=s',
        `--cookie-secret=${'c'.repeat(32)}`,
        '--skip-jwt-bearer-tokens=true',
        '--cookie-secure=false',
      )
    start(flags, { command: ['oauth2-proxy'] })
    await reached(port)
    const bearer = `Authorization: Bearer ${signIn.token({ email: ADA, email_verified: true })}`
    const honest = await raw(port, [bearer])
    expect(honest.status).toBe(200)
    expect(JSON.parse(honest.body).workspaces).toHaveLength(1)
    for (const [name, lines] of FORGERIES) expect([name, await raw(port, [bearer, ...lines])]).toEqual([name, honest])
    const folded = await raw(port, [bearer, ...FOLDED])
    expect(folded.status === 400 || folded.body === honest.body).toBe(true)
    const unsigned = await raw(port, [`X-Forwarded-Email: ${EVE}`])
    expect([302, 401, 403]).toContain(unsigned.status)
  }, 30_000)
})
