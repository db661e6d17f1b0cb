import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { authoritiesIn } from '../../src/api/way.ts'
import { type Authority, authority, type Certificate, hasOpenssl, httpsServer } from '../support/certificates.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { KEY, proxyTo, transportTo } from './world.ts'

const BODY = { team_level: true, service_key: KEY }
const SOON = { timeoutMs: 60_000 }
const HERE = 'IP:127.0.0.1,DNS:localhost'

describe.skipIf(!hasOpenssl)('an https service (needs openssl)', () => {
  const folder = temporaryFolder()
  let [ours, others]: Authority[] = []
  let good: Certificate

  beforeAll(() => {
    ours = authority(folder, 'ours')
    others = authority(folder, 'others')
    good = ours.sign(HERE)
  })
  async function serve(certificate: Certificate) {
    const server = await httpsServer(certificate, (_request, response) => response.end('{}'))
    onTestFinished(() => server.close())
    return server
  }

  const to = (baseUrl: string, caFile: string | undefined, more: Parameters<typeof transportTo>[1] = {}) =>
    transportTo(baseUrl, { ...(caFile !== undefined && { authorities: authoritiesIn(caFile) }), ...more })

  const ask = (transport: ReturnType<typeof transportTo>) => transport.send('GetUsageConfig', BODY, SOON)

  it('is trusted when the CA file contains its authority', async () => {
    const server = await serve(good)
    expect(await ask(to(server.url, ours?.file))).toMatchObject({ status: 200 })
    expect(await ask(to(`https://localhost:${server.port}`, ours?.file))).toMatchObject({ status: 200 })
  })

  const refusals: readonly [string, () => Certificate | undefined, () => string | undefined, string][] = [
    ['no CA file names its authority', () => good, () => undefined, 'the certificate is not trusted; name a private CA with --ca-file'],
    ['the CA file names another authority', () => good, () => others?.file, 'the certificate is not trusted'],
    ['its certificate has expired', () => ours?.sign(HERE, -1), () => ours?.file, 'the certificate has expired (CERT_HAS_EXPIRED)'],
    ['its certificate is for another host', () => ours?.sign('DNS:other.example'), () => ours?.file, 'is for another host name'],
  ]

  it.each(refusals)('is refused with one clear line when %s', async (_case, certificate, caFile, said) => {
    const server = await serve(certificate() ?? good)
    const failure = await ask(to(server.url, caFile()))
    expect(failure).toEqual({ kind: 'network', message: expect.stringContaining(said) })
    expect('message' in failure && failure.message).not.toContain('\n')
    expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain(KEY)
  })

  it('is verified even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    const server = await serve(good)
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      expect(await ask(to(server.url, others?.file))).toMatchObject({ message: expect.stringContaining('not trusted') })
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    }
  })

  it('is verified through the tunnel of a proxy too, host name included', async () => {
    const server = await serve(good)
    const proxyEnv = { HTTPS_PROXY: (await proxyTo(server.url)).url }
    expect(await ask(to(`https://localhost:${server.port}`, ours?.file, { proxyEnv }))).toMatchObject({ status: 200 })
    expect(await ask(to(`https://localhost:${server.port}`, others?.file, { proxyEnv }))).toMatchObject({
      message: expect.stringContaining('not trusted'),
    })
    expect(await ask(to('https://elsewhere.example', ours?.file, { proxyEnv }))).toMatchObject({
      message: expect.stringContaining('another host name'),
    })
  })

  it('is verified with the current CA file, even after that was swapped or broken', async () => {
    const server = await serve(good)
    const file = join(folder, 'changing.pem')
    const put = (text: string): void => {
      writeFileSync(`${file}.new`, text)
      renameSync(`${file}.new`, file)
    }
    put(`# a bundle\n${others?.pem}${ours?.pem}`)
    const transport = to(server.url, file)
    expect(await ask(transport)).toMatchObject({ status: 200 })
    put(others?.pem ?? '')
    expect(await ask(transport)).toMatchObject({ message: expect.stringContaining('not trusted') })
    put(ours?.pem ?? '')
    expect(await ask(transport)).toMatchObject({ status: 200 })
    put('nothing')
    expect(await ask(transport)).toMatchObject({ status: 200 })
  })
})

describe('a CA file', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'ca.pem')
  const garbage = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
  const cases: readonly [string, string, RegExp][] = [
    ['it does not exist', join(folder, 'nowhere.pem'), /nowhere\.pem does not exist \(ENOENT\)/],
    ['it is a folder', folder, /is not a regular file/],
    ['it holds no certificate', file, /holds no certificate/],
    ['it holds a broken one', `${file}.broken`, /certificate 1 of 1 cannot be read/],
  ]
  it.each(cases)('is refused before the first request when %s', (_case, path, said) => {
    writeFileSync(file, 'hello')
    writeFileSync(`${file}.broken`, garbage)
    const authorities = authoritiesIn(path)
    expect(() => transportTo('https://x', { authorities })).toThrow(
      expect.objectContaining({ problems: [expect.objectContaining({ code: 'CA_INVALID', message: expect.stringMatching(said) })] }),
    )
  })

  it.skipIf(!hasOpenssl)('stays the last good one while the file cannot be used (needs openssl)', () => {
    const pem = readFileSync(authority(temporaryFolder(), 'kept').file, 'utf8')
    writeFileSync(file, pem)
    const trusted = authoritiesIn(file)
    const good = trusted()
    for (const [spoil, said] of [
      [() => writeFileSync(file, 'no certificate'), /holds no certificate/],
      [() => rmSync(file), /does not exist \(ENOENT\)/],
      [() => mkdirSync(file), /is not a regular file/],
    ] as const) {
      spoil()
      expect(trusted()).toEqual({ ...good, unread: expect.stringMatching(said) })
    }
    rmSync(file, { recursive: true })
    writeFileSync(file, pem)
    expect(trusted()).toEqual(good)
  })

  it('has a bound on its size', () => {
    writeFileSync(file, ' '.repeat(4 * 1024 * 1024 + 1))
    expect(authoritiesIn(file)()).toEqual({ unread: expect.stringContaining('has more than the 4194304 bytes that are read') })
  })
})

it('NODE_TLS_REJECT_UNAUTHORIZED=0 is refused for https, and means nothing for http', () => {
  const proxyEnv = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const make = (baseUrl: string) => () => transportTo(baseUrl, { proxyEnv })
  expect(make('https://x')).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ code: 'TLS_UNVERIFIED' })] }))
  expect(make('http://127.0.0.1:1')).not.toThrow()
})
