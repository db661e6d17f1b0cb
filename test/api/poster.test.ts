// Posts to secret addresses: what arrives, what certainly did not, and that no failure shows the address.
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPoster } from '../../src/api/transport/http.ts'
import { proxyTo, serve } from './world.ts'

const PATH = '/services/T000/very-secret'

function posting(proxyEnv: Readonly<Record<string, string>> = {}) {
  const poster = createPoster({ userAgent: 'capkeeper/1.2.3', proxyEnv })
  onTestFinished(() => poster.close())
  return (url: string, timeoutMs = 60_000) => poster.post(url, { text: 'hello' }, { timeoutMs })
}

describe('a post', () => {
  it.each([200, 302, 404, 503])('arrives once as JSON, and returns the status: %i', async (status) => {
    const server = await serve((_request, response) => response.writeHead(status, { location: '/other' }).end('x'.repeat(1000)))
    expect(await posting()(`${server.url}${PATH}?key=1`)).toEqual({ status })
    expect(server.requests.map(({ request, body }) => [request.method, request.url, JSON.parse(body)])).toEqual([
      ['POST', `${PATH}?key=1`, { text: 'hello' }],
    ])
    expect(server.requests[0]?.request.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'capkeeper/1.2.3' })
  })

  it('does not wait for the end of an endless answer', async () => {
    const server = await serve((_request, response) => response.writeHead(200).write('on and on'))
    expect(await posting()(server.url)).toEqual({ status: 200 })
  })

  it('goes through the proxy', async () => {
    const server = await serve((_request, response) => response.end('ok'))
    const proxy = await proxyTo(server.url)
    expect(await posting({ http_proxy: proxy.url })(`http://hooks.example${PATH}`)).toEqual({ status: 200 })
    expect(proxy.asked).toEqual(['hooks.example:80'])
    expect(server.requests).toHaveLength(1)
  })
})

describe('a post that fails', () => {
  it('certainly did not arrive when nothing listens, the name is unknown, or the proxy refuses', async () => {
    const proxy = await proxyTo()
    const failures = await Promise.all([
      posting()(`http://127.0.0.1:1${PATH}`),
      posting()(`http://no-such-host.invalid${PATH}`),
      posting({ HTTPS_PROXY: proxy.url })(`https://hooks.example${PATH}`),
      posting({ HTTPS_PROXY: 'socks5://x' })(`https://hooks.example${PATH}`),
    ])
    for (const failure of failures) expect(failure).toMatchObject({ kind: 'network', unsent: true })
    expect(JSON.stringify(failures)).not.toMatch(/secret|hooks\.example|T000/)
  })

  it('because the connection switches to another protocol may have arrived, and the connection is closed', async () => {
    const closed = Promise.withResolvers<void>()
    const server = await serve(({ socket }) => {
      socket.once('close', () => closed.resolve())
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')
    })
    const failure = await posting()(`${server.url}${PATH}`, 2_000)
    expect(failure).toEqual({ kind: 'network', message: 'the answer switches to another protocol (HTTP 101)' })
    await closed.promise
  })

  it('may have arrived when the connection is cut or no answer comes', async () => {
    const cut = await serve((request) => request.socket.destroy())
    const silent = await serve(() => undefined)
    const failures = await Promise.all([posting()(`${cut.url}${PATH}`), posting()(`${silent.url}${PATH}`, 1_000)])
    expect(failures.some((failure) => JSON.stringify(failure).includes('unsent'))).toBe(false)
    expect(failures).toMatchObject([{ kind: 'network' }, { kind: 'timeout' }])
    expect(JSON.stringify(failures)).not.toMatch(/secret|T000/)
  })
})
