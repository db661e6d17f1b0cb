// The example that exports a people file: from a SCIM service that answers with the examples of RFC 7643 and RFC 7644, and from a real OpenLDAP where
// there is one. What it writes is read as the daemon reads it.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPeopleFile } from '../../src/daemon/directory/read.ts'
import { serve } from '../api/world.ts'
import { manifestsOf, schemaOffences } from '../support/kubernetes.ts'
import { capkeeper, start, until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { readDeploy } from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'

const SCRIPT = join(import.meta.dirname, '../../deploy/examples/directory/export.mts')

/** RFC 7643, 8.3: the full user of the enterprise extension, cut to what tells people apart. */
const ENTERPRISE_USER = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
  id: '2819c223-7f76-453a-919d-413861904646',
  externalId: '701984',
  userName: 'bjensen@example.com',
  name: { formatted: 'Ms. Barbara J Jensen, III', familyName: 'Jensen', givenName: 'Barbara' },
  emails: [
    { value: 'bjensen@example.com', type: 'work', primary: true },
    { value: 'babs@jensen.org', type: 'home' },
  ],
  active: true,
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': {
    employeeNumber: '701984',
    costCenter: '4130',
    organization: 'Universal Studios',
    division: 'Theme Park',
    department: 'Tour Operations',
    manager: {
      value: '26118915-6090-4610-87e4-49d8ca9f808d',
      $ref: '../Users/26118915-6090-4610-87e4-49d8ca9f808d',
      displayName: 'John Smith',
    },
  },
}
/** RFC 7643, 8.1: the minimal user, and RFC 7644, 3.4.2: one of a list. */
const MINIMAL_USER = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  id: '2819c223-7f76-453a-919d-413861904646',
  userName: 'jsmith@example.com',
}
const WITHOUT_ADDRESS = { id: 'c75ad752-64ae-4823-840d-ffa80929976c', userName: 'jsmith' }
const LEFT = { ...MINIMAL_USER, userName: 'left@example.com', active: false }
const COMMA = {
  userName: 'comma@example.com',
  'URN:ietf:params:scim:schemas:extension:enterprise:2.0:user': { Department: 'Sales, "North"' },
}

/** A SCIM service that gives so many people a page, whatever was asked for (RFC 7644, 3.4.2.4: it may give fewer). */
async function scim(users: readonly unknown[], perPage: number, claimed = users.length) {
  const asked: string[] = []
  const { url } = await serve((request, response) => {
    const { pathname, search, searchParams } = new URL(request.url ?? '', 'http://localhost')
    asked.push(`${pathname}${search} ${request.headers.authorization}`)
    const startIndex = Number(searchParams.get('startIndex'))
    const resources = users.slice(startIndex - 1, startIndex - 1 + perPage)
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:ListResponse']
    response.setHeader('content-type', 'application/scim+json')
    response.end(JSON.stringify({ schemas, totalResults: claimed, itemsPerPage: resources.length, startIndex, Resources: resources }))
  })
  return { url: `${url}/scim/v2/`, asked }
}

async function exported(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await capkeeper(argv, { command: [process.execPath, '--no-warnings', SCRIPT], env })
  return { status: code, said: `${stdout}${stderr}` }
}

const COLUMNS = ['costCenter=ENTERPRISE:costCenter', 'unit=ENTERPRISE:department']

test('from SCIM: the users of the standard, page by page, with the token', async () => {
  const at = temporaryFolder()
  const { url, asked } = await scim([ENTERPRISE_USER, MINIMAL_USER, WITHOUT_ADDRESS, LEFT, COMMA], 2)
  writeFileSync(join(at, 'token'), 'secret\n')
  const file = join(at, 'people.csv')
  const { status, said } = await exported(['scim', url, file, ...COLUMNS], { TOKEN_FILE: join(at, 'token') })
  expect({ status, said }).toEqual({ status: 0, said: 'wrote 3 people; 1 have no e-mail address\n' })
  expect(asked).toEqual([1, 3, 5].map((index) => `/scim/v2/Users?startIndex=${index}&count=200 Bearer secret`))
  const emails = ['bjensen@example.com', 'jsmith@example.com', 'comma@example.com']
  const answer = await readPeopleFile({ file, id: 'email', columns: ['costCenter', 'unit'] }, emails, realClock())
  expect(answer).toMatchObject({
    people: new Map([
      ['bjensen@example.com', { costCenter: '4130', unit: 'Tour Operations' }],
      ['jsmith@example.com', { costCenter: '', unit: '' }],
      ['comma@example.com', { costCenter: '', unit: 'Sales, "North"' }],
    ]),
    others: [],
  })
})

test('from SCIM: nothing is written where a page is empty before the end, or nobody has an address', async () => {
  const file = join(temporaryFolder(), 'people.csv')
  const cut = await scim([ENTERPRISE_USER], 1, 3)
  expect((await exported(['scim', cut.url, file, ...COLUMNS])).said).toContain('3 people, and this page is empty')
  const nobody = await scim([WITHOUT_ADDRESS], 1)
  expect((await exported(['scim', nobody.url, file, ...COLUMNS])).said).toContain('nobody has an e-mail address')
  expect(existsSync(file)).toBe(false)
})

const PEOPLE = `dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: cn=Ada Lovelace,dc=example,dc=com
objectClass: inetOrgPerson
cn: Ada Lovelace
sn: Lovelace
mail: ada@example.com
departmentNumber: CC-12
ou: Research, and everything that has a name which is so long that a line of LDIF is folded within it

dn: cn=Kurt,dc=example,dc=com
objectClass: inetOrgPerson
cn: Kurt
sn: Gödel
mail: kurt@example.com
departmentNumber: CC-7
ou: Zürich

dn: cn=Nobody,dc=example,dc=com
objectClass: inetOrgPerson
cn: Nobody
sn: Nobody
`
const SLAPD = '/usr/sbin/slapd'
const hasLdap = existsSync(SLAPD) && spawnSync('ldapsearch', ['-VV']).status === 0

test.skipIf(!hasLdap)('from LDAP: people of a real OpenLDAP, with folded lines and base64 (needs slapd and ldapsearch)', async () => {
  const at = temporaryFolder()
  mkdirSync(join(at, 'db'))
  const schemas = ['core', 'cosine', 'inetorgperson'].map((name) => `include /etc/ldap/schema/${name}.schema`)
  const lines = [
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    'database mdb',
    'suffix dc=example,dc=com',
    `directory ${join(at, 'db')}`,
  ]
  writeFileSync(join(at, 'slapd.conf'), `${[...schemas, ...lines].join('\n')}\n`)
  writeFileSync(join(at, 'people.ldif'), PEOPLE)
  execFileSync('/usr/sbin/slapadd', ['-f', join(at, 'slapd.conf'), '-l', join(at, 'people.ldif')], { stdio: 'pipe' })
  const socket = `ldapi://${encodeURIComponent(join(at, 'socket'))}`
  start(['-f', join(at, 'slapd.conf'), '-h', socket, '-d', '0'], { command: [SLAPD] })
  const search = ['-x', '-LLL', '-H', socket, '-b', 'dc=example,dc=com', '-E', 'pr=1/noprompt', 'mail=*', 'mail', 'departmentNumber', 'ou']
  await until('slapd', () => spawnSync('ldapsearch', search).status === 0)
  writeFileSync(join(at, 'found.ldif'), execFileSync('ldapsearch', search))
  expect(readFileSync(join(at, 'found.ldif'), 'utf8')).toContain('ou:: ')
  const file = join(at, 'people.csv')
  const { status, said } = await exported(['ldif', join(at, 'found.ldif'), file, 'costCenter=departmentNumber', 'unit=ou'])
  expect({ status, said }).toEqual({ status: 0, said: 'wrote 2 people; 0 have no e-mail address\n' })
  expect(readFileSync(file, 'utf8')).toBe(
    'email,costCenter,unit\n' +
      'ada@example.com,CC-12,"Research, and everything that has a name which is so long that a line of LDIF is folded within it"\n' +
      'kurt@example.com,CC-7,Zürich\n',
  )
})

test('the CronJob is what Kubernetes takes, and runs the script with the columns of the manual', () => {
  const manifests = manifestsOf(readDeploy('examples/directory/cronjob.yaml'))
  expect(manifests.flatMap(schemaOffences)).toEqual([])
  const { version } = JSON.parse(readDeploy('../package.json'))
  const job = manifests.find(({ kind }) => kind === 'CronJob')
  const [container] = Object(job?.spec).jobTemplate.spec.template.spec.containers
  expect(container).toMatchObject({
    image: `images.example.com/capkeeper:${version}`,
    args: ['scim', expect.anything(), '/directory/people.csv', ...COLUMNS],
  })
})
