// Whom the service's certificate must be vouched for by, when that is not for the usual authorities: a file of CA certificates, read again
// when it changes. It can only say whom to trust in their place; nothing here, and no setting anywhere, turns verification off.
import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { Clock } from '../../ports.ts'

/** The CA certificates to trust, in PEM; or why there are none. */
export type Authorities = { readonly pem: string } | { readonly message: string }

/** How often the file is looked at again at most. */
const LOOK_EVERY_MS = 1_000
/** The bundles of operating systems have about 250 KiB. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Looks at a file of CA certificates in PEM, again at most once a second; follows links, so that a swapped volume is noticed. They are
 * trusted alone, as with `ca_file` of Prometheus and `--cacert` of curl. Choice.
 */
export function authoritiesIn(file: string, clock: Pick<Clock, 'monotonic'>): () => Authorities {
  let known: { readonly identity: string; readonly found: Authorities } | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (known && clock.monotonic() - lookedAt < LOOK_EVERY_MS) return known.found
    lookedAt = clock.monotonic()
    known = look(file, known)
    return known.found
  }
}

function look(file: string, before: { readonly identity: string; readonly found: Authorities } | undefined) {
  try {
    const stats = statSync(file, { bigint: true })
    const identity = `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`
    if (before?.identity === identity) return before
    if (!stats.isFile()) return { identity, found: { message: `the CA file ${file} is not a regular file` } }
    if (stats.size > MAX_BYTES) {
      return { identity, found: { message: `the CA file ${file} has ${stats.size} bytes, at most ${MAX_BYTES} are read` } }
    }
    return { identity, found: judged(readFileSync(file, 'utf8'), file) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    return { identity: '', found: { message: `the CA file ${file} cannot be read${code}` } }
  }
}

const CERTIFICATE = /-----BEGIN (TRUSTED )?CERTIFICATE-----[^-]*-----END (TRUSTED )?CERTIFICATE-----/g

/** Node skips what it cannot read, and would then trust nobody without saying why. */
function judged(text: string, file: string): Authorities {
  const blocks = text.match(CERTIFICATE) ?? []
  if (blocks.length === 0) return { message: `the CA file ${file} holds no certificate; write PEM: -----BEGIN CERTIFICATE----- …` }
  const broken = blocks.findIndex((block) => !isCertificate(block))
  if (broken >= 0) return { message: `the CA file ${file}: certificate ${broken + 1} of ${blocks.length} cannot be read` }
  return { pem: blocks.join('\n') }
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}
