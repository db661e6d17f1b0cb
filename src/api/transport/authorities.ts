// A file of CA certificates to trust instead of the usual ones, read again when it changes. Nothing here, and no setting anywhere, turns
// verification off.
import { X509Certificate } from 'node:crypto'
import { DIRECT_FILES, type Files, whyUnreadAndCode } from '../../files.ts'

/** The CA certificates to trust, in PEM; or why there are none. */
export type Authorities =
  /** `unread`: why the file cannot be used any more; these are its last good ones. */
  { readonly pem: string; readonly unread?: string } | { readonly message: string }

/** The bundles of operating systems have about 250 KiB. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Reads CA certificates in PEM. Follows links, so that a swapped volume is noticed. No other authority is trusted beside them, as with
 * `ca_file` of Prometheus and `--cacert` of curl. Choice.
 */
export function authoritiesIn(file: string, files: Pick<Files, 'look'> = DIRECT_FILES): () => Authorities {
  let known: Known | undefined
  return () => {
    const read = readAuthorities(files, file, known)
    const last = known?.found
    known = 'message' in read.found && last && 'pem' in last ? { identity: '', found: { pem: last.pem, unread: read.found.message } } : read
    return known.found
  }
}

interface Known {
  readonly identity: string
  readonly found: Authorities
}

function readAuthorities(files: Pick<Files, 'look'>, file: string, before: Known | undefined): Known {
  try {
    const { identity, text } = files.look(file, MAX_BYTES)
    return before?.identity === identity ? before : { identity, found: checkedPem(text(), file) }
  } catch (error) {
    return { identity: '', found: { message: `the CA file ${file} ${whyUnreadAndCode(error)}` } }
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
