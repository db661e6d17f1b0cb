// What `init` writes: texts that read back as what they were made of, comments that may be taken at their word, and files that are all there or
// not at all; and what it asks on a terminal.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { callsIn, wordsOf } from '../support/command-lines.ts'
import { loadConfig } from '../support/config.ts'
import { inside } from '../support/inside.ts'
import { hasTerminals, onTerminal } from '../support/process.ts'
import { hurriedClock, realClock } from '../support/real-clock.ts'
import { startSandbox } from '../support/sandbox.ts'
import { readYaml, type Workflow, workflowOffences } from '../support/workflows.ts'
import { type Place, place } from './world.ts'

const FILES = [
  '.github/workflows/capkeeper.yaml',
  'capkeeper-config.schema.json',
  'capkeeper.yaml',
  'policies/acme.yaml',
  'policies/cap-policy.schema.json',
]

/** A folder with a key, and a service with a group; `onAsked` is called with each request. */
async function begun(onAsked: (at: Place) => void = () => undefined) {
  const at = place()
  at.write('key', 'sandbox-admin\n')
  const clock = { ...realClock(), sleep: async () => onAsked(at) }
  const service = await startSandbox({ clock, latency: 1, people: 3, groups: 1, working: false })
  onTestFinished(() => service.close())
  const flagsOf = (workspace: string, key: string) => ['--base-url', service.url, '--service-key-file', key, '--workspace', workspace]
  const run = (...argv: readonly string[]) => inside(argv, { cwd: at.folder, clock: hurriedClock() })
  return {
    ...at,
    service,
    /** Address, key file and name. */
    flags: flagsOf('acme', 'key'),
    run,
    init: (folder: string, { workspace = 'acme', key = 'key', group = 'Platform' } = {}) =>
      run('init', folder, ...flagsOf(workspace, key), `--group=grp_platform=${group}`),
    /** All files below the folder, but for the key. */
    files: (): readonly string[] =>
      readdirSync(at.folder, { recursive: true, withFileTypes: true })
        .flatMap((entry) => (entry.isDirectory() ? [] : [`${entry.parentPath}/${entry.name}`.slice(at.folder.length + 1)]))
        .filter((name) => name !== 'key')
        .toSorted(),
  }
}

/** What was written into a folder, read back by the program. */
async function readBack(at: Place, folder: string, changed: (text: string) => string = (text) => text) {
  const config = at.path(`${folder}/capkeeper.yaml`)
  const policies = readdirSync(at.path(`${folder}/policies`)).filter((name) => name.endsWith('.yaml'))
  for (const name of ['capkeeper.yaml', ...policies.map((one) => `policies/${one}`)])
    at.write(`${folder}/${name}`, changed(at.read(`${folder}/${name}`)))
  const { config: read, problems, configured } = loadConfig({ env: {}, flags: { config } })
  const [workspace] = read?.workspaces ?? []
  const loaded = await loadPolicies(workspace?.policies ?? [], { now: realClock().now(), ...(configured && { workspaces: configured }) })
  return { config: read, workspace, problems: [...problems, ...loaded.problems], set: loaded.sets.get(workspace?.name ?? '')?.set }
}

/** Takes the comment marks off what could be written in their place: keys and lists, not sentences. */
const uncommented = (text: string): string => text.replaceAll(/^( *)# ( *(?:- )?\w+:(?: [^ ].*)?)$/gm, '$1$2')

describe('the texts', () => {
  test('are the workspace in audit mode and the caps in force, with comments that can be used as they stand', async () => {
    const at = await begun()
    at.service.setCap('team', 500)
    at.service.setCap('group:grp_platform', 700)
    at.service.setCap('ada.lovelace@example.com', 0)
    expect((await at.init('.')).code).toBe(0)
    const { config, workspace, set, problems } = await readBack(at, '.')
    expect(problems).toEqual([])
    expect(config?.ledger).toBe(at.path('capkeeper.db'))
    expect(workspace).toMatchObject({ name: 'acme', baseUrl: at.service.url, mode: 'audit', policies: [at.path('policies')] })
    expect(set?.rules.map(({ scope, cap }) => [scope.kind, cap])).toEqual([
      ['team', 500],
      ['group', 700],
      ['user', 0],
    ])
    const used = await readBack(at, '.', uncommented)
    expect(used.problems).toEqual([])
    expect(used.config).toMatchObject({ listen: { host: '127.0.0.1', port: 9464 }, pricePerCredit: 0.04 })
    expect(used.workspace).toMatchObject({ intervalMs: 300_000, keys: { billingWrite: { file: '/var/run/secrets/capkeeper/write-key' } } })
    expect(used.set?.protectedPeople.map(({ scope }) => scope.email)).toEqual(['oncall@example.com'])
    expect(used.set?.grants).toMatchObject([{ amount: { credits: 6000 }, until: { kind: 'instant' } }])
  })

  test('of a workspace without any cap lead on, and end with three commands that a shell takes, for any folder', async () => {
    const at = await begun()
    const { stdout } = await at.init('my caps/')
    const commands = stdout.split('next:\n')[1]?.trimEnd().split('\n') ?? []
    expect(commands.map((line) => wordsOf(line).at(-1))).toEqual(Array(3).fill('my caps/capkeeper.yaml'))
    expect(await readBack(at, 'my caps')).toMatchObject({ problems: [], set: { rules: [] } })
    expect(await readBack(at, 'my caps', uncommented)).toMatchObject({ problems: [], set: { rules: [{ cap: 3000 }] } })
    for (const [workspace, file] of [
      ['Acme, Inc.', 'acme-inc'],
      ['.. etc: x', 'etc-x'],
    ] as const) {
      expect(await at.init(file, { workspace })).toMatchObject({ code: 0 })
      expect(at.files()).toContain(`${file}/policies/${file}.yaml`)
    }
  })

  test('read back as their inputs, with odd names', async () => {
    const at = await begun()
    const [group] = at.service.sandbox.store.groups()
    if (!group) throw new Error('the service has a group')
    const odd = ['true', '1e3', '-', '? a', 'a: b', '#', '"', "'", '.5', 'a spec:', 'naïve', 'a = b']
    for (let index = 0; index < odd.length; index += 3) {
      const [workspace = '', file = '', called = ''] = odd.slice(index)
      const key = `k${file}`
      at.write(key, 'sandbox-admin\n')
      at.service.sandbox.store.saveGroup({ ...group, name: called })
      at.service.setCap('group:grp_platform', 7)
      expect(await at.init(`f${index}`, { workspace: `x${workspace}`, key, group: called })).toMatchObject({ code: 0 })
      const read = await readBack(at, `f${index}`)
      expect(read.problems).toEqual([])
      expect(read.workspace).toMatchObject({ name: `x${workspace}`, keys: { default: { file: at.path(key) } } })
      expect(read.set?.groups.map((one) => one.name)).toEqual([called])
    }
  })

  test.skipIf(spawnSync('mkfifo', ['--version']).status !== 0)(
    'name the variable where the key came through a pipe (needs mkfifo)',
    async () => {
      const at = await begun()
      execFileSync('mkfifo', [at.path('pipe')])
      spawn('sh', ['-c', 'cat key > pipe'], { cwd: at.folder })
      expect(await at.init('caps', { key: 'pipe' })).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') })
      expect(at.read('caps/capkeeper.yaml')).toContain('        env: CAPKEEPER_SERVICE_KEY\n')
    },
  )

  test('leave out a person whom the service does not know and one whom no policy can name, say so, and it ends with 4', async () => {
    const at = await begun()
    const { store } = at.service.sandbox
    // Gone between the roster and the caps.
    at.service.setCap('team', 500)
    const lost = store.people().at(-1)?.email ?? ''
    const odd = 'a{b}`c@example.com'
    for (const [id, person] of store.people().slice(0, 1).entries()) store.savePerson({ ...person, id: 99 + id, email: odd })
    at.service.sandbox.reload()
    at.service.setCap(odd, 700)
    const read = store.person
    Object.assign(store, { person: (email: string) => (email === lost ? undefined : read(email)) })
    const ran = await at.init('.')
    expect(ran).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/error: \S+ is left out: GetUsageConfig: the service does not know this.*\n.*is 700: { \(U\+007B\)/),
    })
    expect(at.read('policies/acme.yaml')).toContain(`# NOT COMPLETE: 2 caps missing:\n#   ${lost}\n#   ${odd}\n`)
    expect((await at.run('plan', '--config', 'capkeeper.yaml', '--detailed-exitcode')).code).toBe(0)
  })
})

describe('files', () => {
  test('lead editors to schemas, and are a safe workflow', async () => {
    const at = await begun()
    expect((await at.init('caps')).code).toBe(0)
    expect(at.files()).toEqual(FILES.map((name) => `caps/${name}`))
    // Outside of the folder.
    expect(at.read('caps/capkeeper.yaml')).toContain(`        file: ${at.path('key')}\n`)
    for (const [file, schema, kind] of [
      ['capkeeper.yaml', 'capkeeper-config.schema.json', 'config'],
      ['policies/acme.yaml', 'policies/cap-policy.schema.json', 'policy'],
    ] as const) {
      expect(at.read(`caps/${file}`).split('\n')[0]).toBe(`# yaml-language-server: $schema=./${schema.split('/').at(-1)}`)
      expect(at.read(`caps/${schema}`)).toBe((await at.run('schema', kind)).stdout)
    }
    const workflow = readYaml<Workflow>(at.read('caps/.github/workflows/capkeeper.yaml'))
    expect(workflowOffences(workflow)).toEqual([])
    const commands = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap((step) => callsIn(step.run ?? '')))
    expect(commands.map((call) => wordsOf(call)[1])).toEqual(['validate', 'plan'])
  })

  test.each(['capkeeper.yaml', 'capkeeper-config.schema.json', 'policies/acme.yaml', '.github/workflows/capkeeper.yaml'])(
    'are none where %s turns up while the service is asked',
    async (name) => {
      const at = await begun((folder) => folder.write(name, 'mine'))
      expect(await at.init('.')).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was written: EEXIST') })
      expect(at.read(name)).toBe('mine')
      expect(at.files()).toEqual([name])
      // Nor are folders.
      expect(readdirSync(at.folder).toSorted()).toEqual([name.split('/')[0], 'key'].toSorted())
    },
  )

  test('are none where a folder cannot be made', async () => {
    const at = await begun((folder) => folder.write('policies', 'a file'))
    expect(await at.init('.')).toMatchObject({ code: 1, stderr: expect.stringMatching(/nothing was written: E/) })
    expect(at.files()).toEqual(['policies'])
  })

  test('that are there already are all listed, also a dangling link', async () => {
    const at = await begun()
    at.write('capkeeper.yaml', 'mine')
    mkdirSync(at.path('.github/workflows'), { recursive: true })
    symlinkSync('nowhere', at.path('.github/workflows/capkeeper.yaml'))
    const ran = await at.init('.')
    expect(ran.stderr).toContain('has capkeeper.yaml, .github/workflows/capkeeper.yaml already')
    expect(existsSync(at.path('nowhere'))).toBe(false)
  })

  test('are written by one of two at the same time, and by the other not', async () => {
    const at = await begun()
    const ran = await Promise.all([at.init('.'), at.init('.')])
    expect(ran.map(({ code }) => code).toSorted()).toEqual([0, 1])
    expect(at.files()).toEqual(FILES)
    expect((await at.run('validate', '--config', 'capkeeper.yaml')).code).toBe(0)
  })
})

describe.skipIf(!hasTerminals)('init on a terminal', () => {
  const ADDRESS = 'Address of the service'
  const NAME = 'Name of the workspace [default]: '

  test('asks for missing values, asks again after a wrong answer, and never repeats an answer', async () => {
    const at = await begun()
    const pasted = 'pasted-key-instead-of-its-file'
    const { code, screen } = await onTerminal(['init', 'caps'], {
      cwd: at.folder,
      dialogue: [
        [ADDRESS, 'service'],
        [ADDRESS, at.service.url],
        ['File that holds the service key', pasted],
        ['File that holds the service key', 'key'],
        [NAME, at.service.url],
        [NAME, 'Acme, Inc.'],
        ['Group 1: ', 'grp_platform'],
        ['Group 1: ', 'grp_platform=Platform'],
        ['Group 2: ', ''],
      ],
    })
    expect(code, screen).toBe(0)
    expect(screen).toContain('not an http or https address; write it like')
    expect(screen).toContain('that is no file with a key in it')
    expect(screen).toContain('Write ID=NAME')
    // Once as it was typed, echoed by the terminal.
    expect(screen.split(pasted)).toHaveLength(2)
    expect(at.read('caps/policies/acme-inc.yaml')).toContain('workspace: Acme, Inc.\n')
    expect(at.read('caps/capkeeper.yaml')).toContain('  - name: Acme, Inc.\n')
  })

  test('asks only for values that no flag gives', async () => {
    const at = await begun()
    const { code, screen } = await onTerminal(['init', ...at.flags], {
      cwd: at.folder,
      dialogue: [
        ['Group 1: ', 'grp_none=No Group'],
        ['Group 2: ', ''],
      ],
    })
    expect(code).toBe(1)
    expect(screen).not.toContain(ADDRESS)
    expect(screen).toContain('the group grp_none (No Group) could not be listed')
    expect(at.files()).toEqual([])
  })

  test('asks again for a wrong value of a flag, before anything else', async () => {
    const at = await begun()
    const [address = '', key = ''] = [at.service.url, 'key']
    const { code, screen } = await onTerminal(['init', '--base-url', 'service', '--service-key-file', 'none', '--workspace', address], {
      cwd: at.folder,
      dialogue: [
        [ADDRESS, address],
        ['File that holds the service key', key],
        [NAME, 'acme'],
        ['Group 1: ', ''],
      ],
    })
    expect(code, screen).toBe(0)
    expect(screen).toContain('not an http or https address; write it like')
    expect(screen).toContain('a name has no /')
    expect(at.files()).toEqual(FILES)
  })

  test.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('takes %s for a no: it exits 1 and writes nothing', async (_name, answer) => {
    const at = await begun()
    const { code, screen } = await onTerminal(['init', 'caps'], { cwd: at.folder, question: ADDRESS, answer })
    expect({ code, files: at.files() }).toEqual({ code: 1, files: [] })
    expect(screen).toContain('cancelled; nothing was written')
  })

  test('asks nothing with --non-interactive', async () => {
    const at = await begun()
    const { code, screen } = await onTerminal(['init', '--non-interactive', ...at.flags], { cwd: at.folder })
    expect(code, screen).toBe(0)
    expect(at.files()).toEqual(FILES)
  })
})
