// The address of a ledger in PostgreSQL: telling it from a file, showing it without what is secret in it, and joining it with libpq's
// variables for TLS. It loads no driver: commands with a file must not pay for one.

/** A ledger in PostgreSQL, in place of a file. */
export const isPostgresAddress = (ledger: string): boolean => /^postgres(ql)?:\/\//i.test(ledger)

/** What an address of something else begins with, such as `mysql://`; a page is asked as such by those who can read one. */
export function otherScheme(ledger: string): string | undefined {
  const [scheme] = /^[a-z][a-z\d+.-]*:\/\//i.exec(ledger) ?? []
  return scheme === undefined || /^(postgres(ql)?|https?):/i.test(scheme) ? undefined : scheme
}

/** As libpq takes it, a user may stand before an empty host: then the variables or `host=` name it. */
const NO_HOST = 'no-host.invalid'

/** Undefined for a text that is no address. */
function parsed(address: string): URL | undefined {
  const url = URL.parse(address) ?? URL.parse(address.replace('@/', `@${NO_HOST}/`))
  return url && isPostgresAddress(address) ? url : undefined
}

const hostIn = (url: URL): string => (url.hostname === NO_HOST ? '' : url.hostname)

/** The address as it may be shown: user, host, port and database, and nothing else. */
export function shownAddress(address: string): string {
  const url = parsed(address)
  if (!url) return 'postgres://…'
  const user = url.username === '' ? '' : `${url.username}@`
  const host = url.searchParams.get('host') ?? hostIn(url)
  const port = url.port === '' ? (url.searchParams.get('port') ?? '') : url.port
  return `postgres://${user}${host}${port === '' ? '' : `:${port}`}${url.pathname}`
}

/** Everything in an address and in libpq's variables that must never be shown; `readFile` gives the text of a file, or undefined. */
export function secretsOf(
  address: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string | undefined,
): readonly string[] {
  const url = address === undefined ? undefined : parsed(address)
  const inAddress = url ? [decoded(url.password), url.password, url.searchParams.get('password') ?? ''] : []
  const inFile = entriesOf(readFile(passwordFileOf(env)) ?? '').flatMap(({ password }) => [password, unescaped(password)])
  return [...inAddress, env['PGPASSWORD'] ?? '', ...inFile].filter((one) => one !== '')
}

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

/** What a password file has for a connection: the first line that fits counts. */
export function passwordFor(
  file: string,
  to: { readonly host: string; readonly port: number; readonly database: string; readonly user: string },
): string | undefined {
  // As libpq has it, a socket is of the machine itself.
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

export interface Target {
  /** For the driver, with TLS as libpq's variables and `sslmode` say. */
  readonly connectionString: string
  /** Without TLS, where `sslmode` leaves that open and the server has none. */
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
  // The machine's own authorities stand for any, so that only the name tells one server from another.
  if (parameters.get('sslrootcert') === 'system') {
    parameters.delete('sslrootcert')
    parameters.set('sslmode', 'verify-full')
  }
  // libpq's `allow` and `prefer` both end with or without TLS, as the server has it.
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
