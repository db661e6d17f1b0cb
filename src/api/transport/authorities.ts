// A file of CA certificates to trust instead of the usual ones, read again when it changes. Nothing here, and no setting anywhere, turns
// verification off.
import { X509Certificate } from 'node:crypto'
import { statSync } from 'node:fs'
import { readText } from '../../files.ts'
import type { Clock } from '../../ports.ts'

/** The CA certificates to trust, in PEM; or why there are none. */
export type Authorities =
  /** `unread`: why the file cannot be used any more; these are its last good ones. */
  { readonly pem: string; readonly unread?: string } | { readonly message: string }

/** The file is checked for changes at most this often. */
const CHECK_EVERY_MS = 1_000
/** The bundles of operating systems have about 250 KiB. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Reads CA certificates in PEM. Follows links, so that a swapped volume is noticed. No other authority is trusted beside them, as with
 * `ca_file` of Prometheus and `--cacert` of curl. Choice.
 */
export function authoritiesIn(file: string, clock: Pick<Clock, 'monotonic'>): () => Authorities {
  let known: Known | undefined
  let checkedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (known && clock.monotonic() - checkedAt < CHECK_EVERY_MS) return known.found
    checkedAt = clock.monotonic()
    const read = readAuthorities(file, known)
    const last = known?.found
    known = 'message' in read.found && last && 'pem' in last ? { identity: '', found: { pem: last.pem, unread: read.found.message } } : read
    return known.found
  }
}

interface Known {
  readonly identity: string
  readonly found: Authorities
}

function readAuthorities(file: string, before: Known | undefined): Known {
  try {
    const stats = statSync(file, { bigint: true })
    const identity = `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`
    if (before?.identity === identity) return before
    if (!stats.isFile()) return { identity, found: { message: `the CA file ${file} is not a regular file` } }
    if (stats.size > MAX_BYTES) {
      return { identity, found: { message: `the CA file ${file} has ${stats.size} bytes, at most ${MAX_BYTES} are read` } }
    }
    return { identity, found: checkedPem(readText(file, MAX_BYTES), file) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    return { identity: '', found: { message: `the CA file ${file} cannot be read${code}` } }
  }
}

const CERTIFICATE = /-----BEGIN (TRUSTED )?CERTIFICATE-----[^-]*-----END (TRUSTED )?CERTIFICATE-----/g

/** Checked here, because Node silently skips certificates that it cannot read. */
function checkedPem(text: string, file: string): Authorities {
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
