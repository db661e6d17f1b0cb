// Requests and tidying by pull request: the scripts as they are copied, against a real git repository and the part of GitHub's API that they use.
// What others write is data: no text of theirs becomes a command, a path, a mention, or more than was approved.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { requestOf } from '../../deploy/examples/requests/request.mts'
import { userScope } from '../../src/core/model/scope.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { systemClock } from '../../src/daemon/schedule/system.ts'
import { serve } from '../api/world.ts'
import { historyOf, intentFor, raise } from '../support/ledger.ts'
import { capkeeper } from '../support/process.ts'
import { DEPLOY, readDeploy } from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { readYaml, scriptsOf, type Workflow } from '../support/workflows.ts'

const DAY = 86_400_000
const TOKEN = 'a-token-of-this-job'
const dayIn = (days: number): string => new Date(systemClock.now() + days * DAY).toISOString().slice(0, 10)
const SETTINGS = { approvers: ['lead', 'author'], maxAdd: 1000, maxDays: 31, policies: 'policies' }
const LOGINS = { ada: 'ada@example.com' }
const POLICY = 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec:\n  team: {cap: 500} # everybody\n'

interface Asked {
  readonly method: string
  readonly path: string
  readonly body: Record<string, unknown>
}

interface Issue {
  readonly body: string
  readonly author?: string
  readonly edited?: boolean
  readonly state?: string
}

/** A repository on this disk with the files of the examples, its remote, and GitHub beside it. */
async function stage(first: Issue = { body: '' }, policy = POLICY) {
  let issue = first
  const root = temporaryFolder()
  const [remote, checkout, bin] = [join(root, 'remote.git'), join(root, 'checkout'), join(root, 'bin')]
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-C', checkout, '-c', 'user.name=t', '-c', 'user.email=t@t', ...words], { encoding: 'utf8' })
  execFileSync('git', ['init', '-q', '--bare', '--initial-branch=main', remote])
  execFileSync('git', ['clone', '-q', remote, checkout], { stdio: 'ignore' })
  for (const [name, files] of [
    ['requests', ['request.mts', 'pull-request.mts']],
    ['tidy', ['tidy.mts']],
  ] as const) {
    const folder = join(checkout, '.github/capkeeper', name)
    mkdirSync(folder, { recursive: true })
    for (const file of files) copyFileSync(join(DEPLOY, 'examples', name, file), join(folder, file))
  }
  writeFileSync(join(checkout, '.github/capkeeper/requests/settings.json'), JSON.stringify(SETTINGS))
  writeFileSync(join(checkout, '.github/capkeeper/requests/logins.json'), JSON.stringify(LOGINS))
  mkdirSync(join(checkout, 'policies'))
  writeFileSync(join(checkout, 'policies/acme.yaml'), policy)
  git('checkout', '-q', '-B', 'main')
  git('add', '--all')
  git('-c', 'commit.gpgSign=false', 'commit', '-q', '-m', 'first')
  git('push', '-q', 'origin', 'main')
  mkdirSync(bin)
  writeFileSync(join(bin, 'capkeeper'), `#!/bin/sh\nexec '${process.execPath}' --no-warnings '${process.env['CAPKEEPER_MAIN']}' "$@"\n`)
  chmodSync(join(bin, 'capkeeper'), 0o755)
  const asked: Asked[] = []
  const url = await github(asked, () => issue)
  const event = join(root, 'event.json')
  const surroundings = {
    ...{ PATH: `${bin}${delimiter}${process.env['PATH']}`, HOME: root, GITHUB_API_URL: url, GITHUB_GRAPHQL_URL: `${url}/graphql` },
    ...{ GITHUB_SERVER_URL: url, GITHUB_REPOSITORY: 'acme/caps', GITHUB_TOKEN: TOKEN, GITHUB_EVENT_PATH: event, BASE: 'main' },
  }
  const run = async (script: string, happened: object = {}, env: Record<string, string> = {}) => {
    writeFileSync(event, JSON.stringify(happened))
    const command = [process.execPath, '--no-warnings', join(checkout, '.github/capkeeper', script)] as const
    const { code, stdout, stderr } = await capkeeper([], { command, cwd: checkout, env: { ...surroundings, ...env } })
    return { code, said: stdout + stderr }
  }
  const policyAt = (branch: string): string =>
    execFileSync('git', ['-C', remote, 'show', `${branch}:policies/acme.yaml`], { encoding: 'utf8' })
  const branches = (): readonly string[] =>
    execFileSync('git', ['-C', remote, 'for-each-ref', '--format=%(refname:short)'], { encoding: 'utf8' }).trim().split('\n')
  /** Another issue in the same repository, as it was at first. */
  const begin = (next: Issue): void => {
    issue = next
    asked.length = 0
    git('checkout', '-q', '--force', 'main')
    for (const branch of branches().filter((one) => one !== 'main')) git('push', '-q', 'origin', '--delete', branch)
  }
  return { root, checkout, asked, run, git, policyAt, branches, begin }
}

/** Answers for issues, pull requests and comments; no other token is let in. */
async function github(asked: Asked[], given: () => Issue): Promise<string> {
  const { url } = await serve((request, response, text) => {
    const sent = text === '' ? {} : JSON.parse(text)
    const path = request.url ?? ''
    const isKnown = request.headers.authorization === `Bearer ${TOKEN}`
    if (path !== '/graphql') asked.push({ method: request.method ?? '', path, body: sent })
    const { body, author = 'ada', edited = false, state = 'OPEN' } = given()
    const issue = { body, state, lastEditedAt: edited ? '2026-11-20T12:00:00Z' : null, author: { login: author } }
    const pulls = asked.some(({ method, path: at }) => method === 'POST' && at.endsWith('/pulls')) ? [{ number: 9 }] : []
    const answer = path === '/graphql' ? { data: { repository: { issue } } } : path.includes('/pulls?') ? pulls : {}
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  return url
}

const form = (fields: { readonly [label: string]: string } = {}): string =>
  Object.entries({ Address: '_No response_', 'Credits more': '500', Until: dayIn(10), Reason: 'release week', ...fields })
    .map(([label, text]) => `### ${label}\n\n${text}`)
    .join('\n\n')

const approved = (by = 'lead', text = '/approve') => ({
  action: 'created',
  issue: { number: 7 },
  comment: { body: text, user: { login: by } },
  sender: { login: by },
})
const made = ({ asked }: { readonly asked: readonly Asked[] }) => asked.filter(({ method }) => method !== 'GET')
const GRANT = (email: string, reason: string): string =>
  `${POLICY}  grants:\n    - {user: ${email}, add: 500, until: ${dayIn(10)}, reason: ${reason}, ticket: "#7"}\n`

const REQUEST = 'requests/request.mts'

test('an approved request becomes one pull request, for the address of the login; an edit drops it; other addresses are unproven', async () => {
  const at = await stage({ body: form() })
  expect(await at.run(REQUEST, approved())).toMatchObject({ code: 0 })
  expect(at.branches()).toEqual(['capkeeper-request-7', 'main'])
  expect(at.policyAt('main')).toBe(POLICY)
  expect(at.policyAt('capkeeper-request-7')).toBe(
    `${POLICY}  grants:\n    - user: ada@example.com\n      add: 500\n      until: ${dayIn(10)}\n      reason: release week\n      ticket: "#7"\n`,
  )
  expect(made(at)).toEqual([
    {
      method: 'POST',
      path: '/repos/acme/caps/pulls',
      body: {
        head: 'capkeeper-request-7',
        base: 'main',
        title: `Request #7: 500 credits more until ${dayIn(10)}`,
        body: expect.stringContaining('Closes #7.'),
      },
    },
  ])
  expect(String(made(at)[0]?.body['body'])).toContain('| address | of the login that asked |')
  expect((await at.run(REQUEST, approved())).said).toContain('there is a pull request for it already')

  const before = made(at).length
  expect(await at.run(REQUEST, { action: 'edited', issue: { number: 7 }, sender: { login: 'ada' } })).toMatchObject({ code: 0 })
  expect(at.branches()).toEqual(['main'])
  expect(made(at).slice(before)).toEqual([
    { method: 'PATCH', path: '/repos/acme/caps/pulls/9', body: { state: 'closed' } },
    { method: 'POST', path: '/repos/acme/caps/issues/7/comments', body: { body: expect.stringContaining('its pull request is closed') } },
  ])

  at.begin({ body: form({ Address: 'Cyd@example.com' }), author: 'cyd' })
  expect(await at.run(REQUEST, approved())).toMatchObject({ code: 0 })
  expect(String(made(at)[0]?.body['body'])).toContain('**address unproven**')
  expect(at.policyAt('capkeeper-request-7')).toContain('user: cyd@example.com\n')
})

describe('no pull request comes of', () => {
  const rows: readonly (readonly [string, Issue, string])[] = [
    ['an amount above the bound', { body: form({ 'Credits more': '1001' }) }, 'at most 1000 are granted this way'],
    ['an amount that is none', { body: form({ 'Credits more': '1e3' }) }, 'not a whole number'],
    ['an amount of less', { body: form({ 'Credits more': '-5' }) }, 'not a whole number'],
    ['a day too late', { body: form({ Until: dayIn(40) }) }, 'lasts 31 days at most'],
    ['a day in the past', { body: form({ Until: dayIn(-2) }) }, 'in the past'],
    ['no day', { body: form({ Until: '2026-02-30' }) }, 'not one like 2026-12-15'],
    ['the cycle’s end', { body: form({ Until: 'cycleEnd' }) }, 'not one like 2026-12-15'],
    ['another person’s address', { body: form({ Address: 'bob@example.com' }) }, 'not the one of the person who asks'],
    ['a path as an address', { body: form({ Address: '../../x@example.com' }), author: 'cyd' }, 'not one that can be taken'],
    ['a flag as an address', { body: form({ Address: '--file=x@example.com' }), author: 'cyd' }, 'not one that can be taken'],
    ['a command as an address', { body: form({ Address: '$(id)@example.com' }), author: 'cyd' }, 'not one that can be taken'],
    ['a prototype’s name as a login', { body: form(), author: 'constructor' }, 'not one that can be taken'],
    ['a field that a text brings along', { body: form({ Reason: 'a\n\n### Credits more\n\n9' }) }, 'stands twice'],
    ['a megabyte', { body: form({ Reason: 'x'.repeat(1_000_000) }) }, 'at most 20000 are read'],
    ['a long reason', { body: form({ Reason: 'x'.repeat(301) }) }, 'from 1 to 300 are taken'],
    ['no form', { body: 'please give me more' }, 'the field Address is missing'],
  ]
  test.each(rows)('%s', (_row, { body, author = 'ada' }, why) => {
    const given = { settings: SETTINGS, logins: LOGINS, now: systemClock.now() }
    expect(() => requestOf(body, author, given)).toThrow(
      expect.objectContaining({ name: 'Refusal', message: expect.stringContaining(why) }),
    )
  })

  test('whoever may not approve it, an edited or closed request, one that is refused, or a comment that says anything else', async () => {
    const at = await stage()
    for (const [issue, event, why] of [
      [{ body: form() }, approved('mallory'), 'is not on the list'],
      [{ body: form(), author: 'author' }, approved('author'), 'nobody approves their own request'],
      [{ body: form() }, { ...approved(), sender: { login: 'mallory' } }, 'is not on the list'],
      [{ body: form(), edited: true }, approved(), 'was edited after it was opened'],
      [{ body: form(), state: 'CLOSED' }, approved(), 'is closed'],
      [{ body: form({ Until: dayIn(40) }) }, approved(), 'lasts 31 days at most'],
    ] as const) {
      at.begin(issue)
      expect(await at.run(REQUEST, event)).toMatchObject({ code: 0, said: expect.stringContaining(why) })
      expect(made(at)).toEqual([
        { method: 'POST', path: '/repos/acme/caps/issues/7/comments', body: { body: expect.stringContaining(why) } },
      ])
    }
    at.begin({ body: form() })
    for (const text of ['/approve, but less', 'I /approve', '/approved'])
      expect(await at.run(REQUEST, approved('lead', text))).toMatchObject({ code: 0, said: '' })
    expect(made(at)).toEqual([])
    expect(at.branches()).toEqual(['main'])
  })

  test('an edit that capkeeper refuses, such as a second grant at the same time or a template, and the job says so', async () => {
    const at = await stage({ body: form() }, GRANT('ada@example.com', 'before'))
    const { code, said } = await at.run(REQUEST, approved())
    expect([code, said]).toEqual([1, expect.stringContaining('overlap in time')])
    expect(said).not.toContain(TOKEN)
    at.begin({ body: form({ Address: 'cyd@example.com', Reason: 'a {{ b }}' }), author: 'cyd' })
    expect(await at.run(REQUEST, approved())).toMatchObject({ code: 1 })
    expect(at.branches()).toEqual(['main'])
  })
})

test('a reason is data: commands, lines, mentions, paths, YAML, tables, flags and trailers of a commit', async () => {
  const at = await stage()
  const reason = [
    '--allow-zero $(touch pwned) `touch pwned`; touch pwned ../../etc/passwd',
    'two\r\nthree\u2028four @acme/owners [x](https://evil.example) <img src=x>\n\nCo-authored-by: mallory <m@example.com>',
    'x, cap: 99999} # - {user: mallory@example.com | a | ``` b',
  ].join('\n')
  at.begin({ body: form({ Reason: reason }) })
  expect(await at.run(REQUEST, approved())).toMatchObject({ code: 0 })
  const lines = at.policyAt('capkeeper-request-7').split('\n')
  const line = lines.find((one) => one.startsWith('      reason: ')) ?? ''
  const written = line.slice('      reason: '.length)
  expect(written.startsWith('"') ? JSON.parse(written) : written).toBe(reason.replace(/\s+/g, ' '))
  expect(lines).toHaveLength(POLICY.split('\n').length + 6)
  const leaves = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : [])
  expect([...leaves(at.root), ...leaves(at.checkout)].filter((name) => name.includes('pwned'))).toEqual([])
  const row =
    String(made(at)[0]?.body['body'])
      .split('\n')
      .find((one) => one.startsWith('| reason |')) ?? ''
  expect(row).toMatch(/^\| reason \| (`+) .* \1 \|$/)
})

test('tidying opens one pull request with the reasons, changes it, and closes it when nothing is over', async () => {
  const ended = `${POLICY}  grants:\n    - {user: ada@example.com, add: 500, until: ${dayIn(-21)}, reason: r}\n`
  const at = await stage({ body: '' }, ended)
  const file = join(at.root, 'capkeeper.db')
  const store = await openLedger({ file, mode: 'write', clock: systemClock })
  const ledger = await store.workspace('default', 'https://service.example')
  const change = { ...raise(userScope('ada@example.com'), 900, 500), cause: 'expired' } as const
  await ledger.recordOutcome(await ledger.recordIntent(intentFor(change)), historyOf(change, systemClock.now() - 19 * DAY), 'released')
  await store.close()
  const tidy = () => at.run('tidy/tidy.mts', {}, { CAPKEEPER_LEDGER: file })
  expect(await tidy()).toMatchObject({ code: 0 })
  expect(at.policyAt('capkeeper-tidy')).toBe(POLICY)
  expect(made(at)).toMatchObject([{ method: 'POST', path: '/repos/acme/caps/pulls', body: { head: 'capkeeper-tidy', base: 'main' } }])
  expect(String(made(at)[0]?.body['body'])).toMatch(
    /^- ` the grant of ada@example\.com ` in ` policies\/acme\.yaml `: its end was verified on [\d-]+, 19 d ago$/m,
  )
  at.git('checkout', '-q', 'main')
  await tidy()
  expect(made(at).slice(1)).toMatchObject([{ method: 'PATCH', path: '/repos/acme/caps/pulls/9' }])
  // Somebody removed it by hand.
  at.git('checkout', '-q', 'main')
  writeFileSync(join(at.checkout, 'policies/acme.yaml'), POLICY)
  at.git('-c', 'commit.gpgSign=false', 'commit', '-q', '-am', 'by hand')
  expect((await tidy()).said).toContain('nothing is over any more; the pull request is closed')
  expect(at.branches()).toEqual(['main'])
})

describe.each(['requests/capkeeper-requests.yaml', 'tidy/capkeeper-tidy.yaml'])('the workflow %s', (path) => {
  const text = readDeploy(`examples/${path}`)
  const workflow = readYaml<Workflow>(text)

  test('installs the version of this tree', () => {
    const { version } = JSON.parse(readFileSync(join(DEPLOY, '../package.json'), 'utf8'))
    expect(text).toContain(`PACKAGE: capkeeper@${version}\n`)
  })

  test('hands texts of others to no script', () => {
    const scripts = Object.values(workflow.jobs).map(({ steps }) => scriptsOf(steps))
    expect(scripts.join('\n')).not.toMatch(/\$\{\{|eval|github\.event/)
  })
})

test('the form has the fields that the script reads', () => {
  const { body } = readYaml<{ readonly body: readonly { readonly attributes: { readonly label?: string } }[] }>(
    readDeploy('examples/requests/request.yml'),
  )
  expect(body.flatMap(({ attributes }) => attributes.label ?? [])).toEqual(['Address', 'Credits more', 'Until', 'Reason'])
})
