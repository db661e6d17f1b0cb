// Writes a people file (docs/directory.md) from a SCIM service, or from an LDIF file that `ldapsearch -LLL` has written.
//
//   node export.mts scim https://idp.example/scim/v2 people.csv costCenter=ENTERPRISE:costCenter unit=ENTERPRISE:department
//   node export.mts ldif people.ldif people.csv costCenter=departmentNumber unit=ou
//
// Each column is a name and where its value stands. ENTERPRISE stands for the enterprise extension of RFC 7643. The token for SCIM is in the file
// that TOKEN_FILE names. Nothing is written unless everything was read, and the file is replaced in one step.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'

interface Row {
  readonly email: string
  readonly values: readonly string[]
}

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const PAGE = 200
const MOST_PEOPLE = 100_000

const cell = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

type Resource = Readonly<Record<string, unknown>>

/** The primary address, else one for work, else the only one, else a user name that is an address (RFC 7643, 4.1.2 and 2.4). */
function emailOf({ emails, userName }: Resource): string {
  const all = Array.isArray(emails) ? (emails as readonly Resource[]) : []
  const one =
    all.find(({ primary }) => primary === true) ?? all.find(({ type }) => type === 'work') ?? (all.length === 1 ? all[0] : undefined)
  const found = textOf(one?.['value']) || textOf(userName)
  return found.includes('@') ? found : ''
}

/** `department`, `name.familyName`, or `ENTERPRISE:costCenter`. Names compare whatever the case (RFC 7643, 2.1). */
function attributeOf(resource: Resource, path: string): string {
  const [schema, rest] = path.startsWith('ENTERPRISE:') ? [ENTERPRISE, path.slice('ENTERPRISE:'.length)] : [undefined, path]
  const find = (from: unknown, name: string): unknown =>
    typeof from === 'object' && from !== null
      ? Object.entries(from).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
      : undefined
  return textOf(rest.split('.').reduce(find, schema === undefined ? resource : find(resource, schema)))
}

/** All pages (RFC 7644, 3.4.2.4). People who are not active are left out. */
async function fromScim(url: string, paths: readonly string[]): Promise<readonly Row[]> {
  const { TOKEN_FILE } = process.env
  const headers = {
    accept: 'application/scim+json',
    ...(TOKEN_FILE && { authorization: `Bearer ${readFileSync(TOKEN_FILE, 'utf8').trim()}` }),
  }
  const rows: Row[] = []
  for (let startIndex = 1; startIndex <= MOST_PEOPLE; ) {
    const page = `${url.replace(/\/+$/, '')}/Users?startIndex=${startIndex}&count=${PAGE}`
    const response = await fetch(page, { headers, redirect: 'error', signal: AbortSignal.timeout(60_000) })
    if (!response.ok) throw new Error(`${page}: ${response.status}`)
    const { Resources: resources = [], totalResults } = (await response.json()) as {
      readonly Resources?: readonly Resource[]
      readonly totalResults?: number
    }
    if (typeof totalResults !== 'number') throw new Error(`${page}: no list of people`)
    for (const one of resources)
      if (one['active'] !== false) rows.push({ email: emailOf(one), values: paths.map((path) => attributeOf(one, path)) })
    startIndex += resources.length
    if (startIndex > totalResults) return rows
    if (resources.length === 0) throw new Error(`${page}: ${totalResults} people, and this page is empty`)
  }
  throw new Error(`more than ${MOST_PEOPLE} people`)
}

/** Entries of LDIF (RFC 2849): folded lines, and values in base64. The first of several values counts. */
function fromLdif(file: string, paths: readonly string[]): readonly Row[] {
  const text = readFileSync(file, 'utf8').replaceAll('\r\n', '\n').replaceAll('\n ', '')
  return text.split(/\n\n+/).flatMap((entry): readonly Row[] => {
    const values = new Map<string, string>()
    for (const line of entry.split('\n')) {
      const [, name = '', colons, value = ''] = /^([A-Za-z0-9.;-]+)(::?) ?(.*)$/.exec(line) ?? []
      const key = name.toLowerCase()
      if (name !== '' && !values.has(key)) values.set(key, colons === '::' ? Buffer.from(value, 'base64').toString('utf8') : value)
    }
    if (!values.has('dn')) return []
    return [{ email: values.get('mail') ?? '', values: paths.map((path) => values.get(path.toLowerCase()) ?? '') }]
  })
}

const [kind, source = '', target = '', ...columns] = process.argv.slice(2)
const [names, paths] = [0, 1].map((part) => columns.map((column) => column.split('=')[part] ?? '')) as [string[], string[]]
if ((kind !== 'scim' && kind !== 'ldif') || target === '' || columns.length === 0 || paths.includes('')) {
  process.stderr.write('usage: node export.mts scim URL|ldif FILE people.csv NAME=ATTRIBUTE…\n')
  process.exit(64)
}
const found = kind === 'scim' ? await fromScim(source, paths) : fromLdif(source, paths)
const rows = found.filter(({ email }) => email !== '')
if (rows.length === 0) throw new Error('nobody has an e-mail address, so nothing is written')
const lines = [['email', ...names], ...rows.map(({ email, values }) => [email, ...values])].map((cells) => cells.map(cell).join(','))
writeFileSync(`${target}.part`, `${lines.join('\n')}\n`)
renameSync(`${target}.part`, target)
process.stdout.write(`wrote ${rows.length} people; ${found.length - rows.length} have no e-mail address\n`)
