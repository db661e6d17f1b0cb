// The address of a ledger in PostgreSQL: tells it from a file, shows it without its secrets, and adds libpq's variables for TLS. It loads no
// driver, because commands with a file must not pay for one.

/** Whether a ledger is in PostgreSQL, not in a file. */
export const isPostgresAddress = (ledger: string): boolean => /^postgres(ql)?:\/\//i.test(ledger)

/** Why an address such as `mysql://` is no ledger, without its secrets. Pages (http) are excluded: some commands read a ledger from one. */
export function ledgerFault(ledger: string): string | undefined {
  const [scheme] = /^[a-z][a-z\d+.-]*:\/\//i.exec(ledger) ?? []
  if (scheme === undefined || /^(postgres(ql)?|https?):/i.test(scheme)) return undefined
  return `a ledger is a file, or an address that begins with postgres://; this one begins with ${scheme}`
}

/** libpq allows a user before an empty host, which the variables or `host=` then name. `URL` needs a host. */
const NO_HOST = 'no-host.invalid'

/** Undefined for a text that is no address. */
function parsed(address: string): URL | undefined {
  const url = URL.parse(address) ?? URL.parse(address.replace('@/', `@${NO_HOST}/`))
  return url && isPostgresAddress(address) ? url : undefined
}

const hostIn = (url: URL): string => (url.hostname === NO_HOST ? '' : url.hostname)

/** The address with user, host, port and database, and nothing else. */
export function shownAddress(address: string): string {
  const url = parsed(address)
  if (!url) return 'postgres://…'
  const user = url.username === '' ? '' : `${url.username}@`
  const host = url.searchParams.get('host') ?? hostIn(url)
  const port = url.port === '' ? (url.searchParams.get('port') ?? '') : url.port
  return `postgres://${user}${host}${port === '' ? '' : `:${port}`}${url.pathname}`
}

/** All secrets in an address, in libpq's variables, and in the text of its file of passwords. */
export function secretsOf(
  address: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  passwords: string,
): readonly string[] {
  const url = address === undefined ? undefined : parsed(address)
  const inAddress = url ? [decoded(url.password), url.password, url.searchParams.get('password') ?? ''] : []
  const inFile = entriesOf(passwords).flatMap(({ password }) => [password, unescaped(password)])
  return [...inAddress, env['PGPASSWORD'] ?? '', ...inFile].filter((one) => one !== '')
}

/** Of the file of passwords, in bytes. */
export const MAX_PASSWORD_FILE_BYTES = 1024 * 1024

/** Where libpq looks for passwords. */
export const passwordFileOf = (env: Readonly<Record<string, string | undefined>>): string =>
  env['PGPASSFILE'] || `${env['HOME'] ?? '.'}/.pgpass`

interface PasswordEntry {
  /** Host, port, database and user. */
  readonly of: readonly string[]
  readonly password: string
}

/** `host:port:database:user:password`, with `\:` and `\\` inside. */
const ENTRY = /^((?:[^:\\]|\\.)*):((?:[^:\\]|\\.)*):((?:[^:\\]|\\.)*):((?:[^:\\]|\\.)*):(.+)$/

const entriesOf = (file: string): readonly PasswordEntry[] =>
  file.split(/\r?\n/).flatMap((line) => {
    const [, ...of] = line.startsWith('#') ? [] : (ENTRY.exec(line) ?? [])
    const password = of.pop()
    return password === undefined ? [] : [{ of, password }]
  })

const unescaped = (text: string): string => text.replace(/\\(.)/g, '$1')

/** The password for a connection: the first matching line of a password file counts. */
export function passwordFor(
  file: string,
  to: { readonly host: string; readonly port: number; readonly database: string; readonly user: string },
): string | undefined {
  // In a password file a socket has the host `localhost`, as with libpq.
  const asked = [to.host.startsWith('/') ? 'localhost' : to.host, String(to.port), to.database, to.user]
  const fits = ({ of }: PasswordEntry): boolean => asked.every((one, index) => of[index] === '*' || unescaped(of[index] ?? '') === one)
  const found = entriesOf(file).find(fits)
  return found && unescaped(found.password)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const TLS_VARIABLES = { sslmode: 'PGSSLMODE', sslrootcert: 'PGSSLROOTCERT', sslcert: 'PGSSLCERT', sslkey: 'PGSSLKEY' } as const

interface Target {
  /** For the driver, with TLS according to `sslmode` and libpq's variables. */
  readonly connectionString: string
  /** Without TLS, for a server without it, where `sslmode` allows that. */
  readonly withoutTls?: string
}

/** Undefined for a text that is no address. */
export function targetOf(address: string, env: Readonly<Record<string, string | undefined>>): Target | undefined {
  const url = parsed(address)
  if (!url) return undefined
  const parameters = url.searchParams
  for (const [name, variable] of Object.entries(TLS_VARIABLES)) {
    const value = env[variable]
    if (!parameters.has(name) && value !== undefined && value !== '') parameters.set(name, value)
  }
  const host = parameters.get('host') ?? (hostIn(url) || (env['PGHOST'] ?? ''))
  const isSocket = decoded(host).startsWith('/')
  // The system's authorities sign certificates of any server, so the host name must be verified too.
  if (parameters.get('sslrootcert') === 'system') {
    parameters.delete('sslrootcert')
    parameters.set('sslmode', 'verify-full')
  }
  // With libpq's `allow` and `prefer` the server decides whether TLS is used.
  const mode = parameters.get('sslmode') ?? 'prefer'
  const isOpen = mode === 'prefer' || mode === 'allow'
  parameters.set('sslmode', isSocket ? 'disable' : isOpen ? 'prefer' : mode)
  parameters.set('uselibpqcompat', 'true')
  if (!isOpen || isSocket) return { connectionString: textOf(url) }
  const plain = new URL(url)
  for (const name of Object.keys(TLS_VARIABLES)) plain.searchParams.delete(name)
  plain.searchParams.set('sslmode', 'disable')
  return { connectionString: textOf(url), withoutTls: textOf(plain) }
}

const textOf = (url: URL): string => url.href.replace(NO_HOST, '')
