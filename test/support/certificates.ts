// A certificate authority for tests, and https servers with certificates that it signed; made with the openssl program.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { hasProgram } from './rules.ts'

export const hasOpenssl = hasProgram('openssl', 'version')

export interface Certificate {
  readonly key: string
  readonly cert: string
}

export type Authority = ReturnType<typeof authority>

/** Made in `folder`, which the caller removes. */
export function authority(folder: string, name: string) {
  const path = (file: string): string => join(folder, `${name}-${file}`)
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...fresh, '-days', '2', '-keyout', path('ca.key'), '-out', path('ca.pem'), '-subj', `/CN=${name}`)
  return {
    /** The path of its certificate in PEM. */
    file: path('ca.pem'),
    pem: readFileSync(path('ca.pem'), 'utf8'),
    /** A server certificate for `names`, such as `IP:127.0.0.1`, that ends `days` from now. */
    sign(names: string, days = 2): Certificate {
      openssl('req', ...fresh, '-keyout', path('key'), '-out', path('request'), '-subj', '/CN=service')
      writeFileSync(path('names'), `subjectAltName=${names}`)
      const by = ['-CA', path('ca.pem'), '-CAkey', path('ca.key'), '-set_serial', '7']
      openssl('x509', '-req', '-in', path('request'), ...by, '-extfile', path('names'), '-days', String(days), '-out', path('cert'))
      return { key: readFileSync(path('key'), 'utf8'), cert: readFileSync(path('cert'), 'utf8') }
    },
  }
}

/** An https server on loopback; `present` changes the certificate that new connections see. */
export async function httpsServer(certificate: Certificate, handler: RequestListener) {
  const server = createServer({ ...certificate }, handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    present: (next: Certificate) => server.setSecureContext({ ...next }),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
