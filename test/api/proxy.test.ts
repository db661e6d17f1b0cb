import { describe, expect, it } from 'vitest'
import { proxyFor, whyNoProxy } from '../../src/api/way.ts'

describe('the proxy', () => {
  const service = 'https://service.example/api'
  it.each<readonly [string, string, Readonly<Record<string, string>>, string | undefined]>([
    ['is HTTPS_PROXY for https', service, { HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128'],
    ['may be in lower case, which wins', service, { HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:2' }, 'http://b:2'],
    ['may lack the scheme', service, { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128'],
    ['is none when the variable is empty', service, { HTTPS_PROXY: ' ' }, undefined],
    ['is none for https when only HTTP_PROXY is set', service, { HTTP_PROXY: 'http://proxy:1' }, undefined],
    ['is HTTP_PROXY for http', 'http://service.example', { HTTP_PROXY: 'http://proxy:1', HTTPS_PROXY: 'http://other:1' }, 'http://proxy:1'],
    ...['127.0.0.1:8787', 'localhost', '127.8.9.10', '[::1]'].map(
      (host) => ['is none for http on this machine', `http://${host}`, { HTTP_PROXY: 'http://proxy:1' }, undefined] as const,
    ),
    ...['0.0.0.0', '[::]', '10.0.0.1', '127.0.0.1.example', 'localhost.example', '1127.0.0.example'].map(
      (host) => ['is HTTP_PROXY for http elsewhere', `http://${host}`, { HTTP_PROXY: 'http://proxy:1' }, 'http://proxy:1'] as const,
    ),
  ])('%s', (_name, url, env, expected) => {
    expect(proxyFor(url, env)?.url).toBe(expected)
  })

  it.each([
    ['the host itself', 'https://service.example', 'a, service.example'],
    ['everything', 'https://service.example', '*'],
    ['a domain above', 'https://api.service.example', 'service.example'],
    ['a domain above with a dot', 'https://api.service.example', '.service.example'],
    ['a domain above with a star', 'https://api.service.example', '*.service.example'],
    ['the host in other letters', 'https://Service.Example', 'SERVICE.example'],
    ['the host with its port', 'https://service.example:8443', 'service.example:8443'],
    ['the host with the usual port', 'https://service.example', 'service.example:443'],
    ['an address', 'https://10.1.2.3', '10.1.2.3'],
    ['a network', 'https://10.1.2.3', '10.0.0.0/8'],
    ['an IPv6 address', 'https://[fd00::1]', 'fd00::1'],
    ['an IPv6 network', 'https://[fd00::1]', 'fd00::/8'],
    ['one of several separated by blanks', 'https://service.example', 'a  service.example b'],
  ])('is not used when NO_PROXY names %s', (_name, url, noProxy) => {
    expect(proxyFor(url, { HTTPS_PROXY: 'http://proxy:1', NO_PROXY: noProxy })).toBeUndefined()
    expect(proxyFor(url, { HTTPS_PROXY: 'http://proxy:1', no_proxy: noProxy })).toBeUndefined()
  })

  it.each([
    ['another host that ends alike', 'https://myservice.example', 'service.example'],
    ['another port', 'https://service.example:8443', 'service.example:443'],
    ['another network', 'https://11.1.2.3', '10.0.0.0/8'],
    ['a broken network', 'https://10.1.2.3', '10.0.0.0/99'],
    ['nothing', 'https://service.example', ''],
  ])('is still used when NO_PROXY names %s', (_name, url, noProxy) => {
    expect(proxyFor(url, { HTTPS_PROXY: 'http://proxy:1', NO_PROXY: noProxy })?.url).toBe('http://proxy:1')
  })

  it.each([
    ['a raw #', 'http://me:p#ssw0rd@proxy:3128', /%23/],
    ['a raw # after digits, which would be a port', 'http://me:12#34w0rd@proxy:3128', /%23/],
    ['a raw @', 'http://me:p@ssw0rd@proxy:3128', /%40/],
    ['a raw /, without a scheme', 'me:1/ssw0rd@proxy:3128', /%2F/],
    ['a raw ?', 'me:1?ssw0rd@proxy:3128', /%3F/],
  ])('is refused by the name of its variable, without the password, where that has %s', (_row, https_proxy, how) => {
    const proxy = proxyFor('https://service.example', { https_proxy })
    const why = proxy && whyNoProxy(proxy)
    expect(why).toMatch(/^https_proxy is not an address/)
    expect(why).toMatch(how)
    expect(why).not.toContain('w0rd')
  })

  it.each(['http://me:p%23%40ss@proxy:3128', 'proxy:3128/', 'https://proxy'])('is used as %s', (HTTPS_PROXY) => {
    const proxy = proxyFor('https://service.example', { HTTPS_PROXY })
    expect(proxy && whyNoProxy(proxy)).toBeUndefined()
  })
})
