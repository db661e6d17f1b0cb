// `init` as a process against the sandbox over HTTP: what it writes is whole, validates, and plans to nothing; what is wrong leaves nothing.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../cli/world.ts'
import { callsIn, wordsOf } from '../support/command-lines.ts'
import { inside } from '../support/inside.ts'
import { hasTerminals, onTerminal } from '../support/process.ts'
import type { SandboxFixture } from '../support/sandbox.ts'
import { readYaml, type Workflow, workflowOffences } from '../support/workflows.ts'
import { type Place, place, service } from './world.ts'

const FILES = [
  '.github/workflows/capkeeper.yaml',
  'capkeeper-config.schema.json',
  'capkeeper.yaml',
  'policies/acme.yaml',
  'policies/cap-policy.schema.json',
]
const SCHEMA_LINE = /^# yaml-language-server: \$schema=\.\/(\S+)$/m
const KEY = 'sandbox-admin'

interface Beginning extends Place {
  readonly service: SandboxFixture
  /** Address, key file and name. */
  readonly flags: readonly string[]
  /** All files below the folder, but for the key. */
  files(): readonly string[]
  init(...argv: readonly string[]): ReturnType<typeof inside>
}

async function beginning(options: Parameters<typeof service>[0] = {}): Promise<Beginning> {
  const at = place()
  at.write('key', `${KEY}\n`)
  const fixture = await service(options)
  const flags = ['--base-url', `${fixture.url}/_route/api_server`, '--service-key-file', 'key', '--workspace', 'acme']
  return {
    ...at,
    service: fixture,
    flags,
    files: () => filesIn(at.folder).filter((name) => name !== 'key'),
    init: (...argv) => inside(['init', ...argv], { cwd: at.folder }),
  }
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? [] : [join(entry.parentPath, entry.name).slice(folder.length + 1)]))
    .toSorted()

describe('init', () => {
  test.skipIf(spawnSync('mkfifo', ['--version']).status !== 0)(
    'names the variable where the key came through a pipe (needs mkfifo)',
    async () => {
      const at = await beginning({ people: 3 })
      execFileSync('mkfifo', [at.path('pipe')])
      spawn('sh', ['-c', 'cat key > pipe'], { cwd: at.folder })
      expect((await at.init('caps', ...at.flags.map((word) => (word === 'key' ? 'pipe' : word)))).code).toBe(0)
      expect(at.read('caps/capkeeper.yaml')).toContain('        env: CAPKEEPER_SERVICE_KEY\n')
    },
  )

  test('writes audit mode, editors’ lines that lead to schemas, a safe workflow, and no key', async () => {
    const at = await beginning({ people: 3 })
    expect((await at.init('caps', ...at.flags)).code).toBe(0)
    expect(at.files()).toEqual(FILES.map((name) => `caps/${name}`))
    expect(at.read('caps/capkeeper.yaml')).toContain('\n    mode: audit\n')
    expect(at.read('caps/capkeeper.yaml')).toContain(`        file: ${at.path('key')}\n`)
    for (const [file, kind] of [
      ['caps/capkeeper.yaml', 'config'],
      ['caps/policies/acme.yaml', 'policy'],
    ] as const) {
      const [first = ''] = at.read(file).split('\n')
      const schema = join(at.path(file), '..', SCHEMA_LINE.exec(first)?.[1] ?? 'nowhere')
      expect(readFileSync(schema, 'utf8')).toBe((await run(['schema', kind])).stdout)
    }
    const workflow = readYaml<Workflow>(at.read('caps/.github/workflows/capkeeper.yaml'))
    expect(workflowOffences(workflow)).toEqual([])
    const commands = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap((step) => callsIn(step.run ?? '')))
    expect(commands.map((call) => wordsOf(call)[1])).toEqual(['validate', 'plan'])
    for (const name of at.files()) expect(at.read(name)).not.toContain(KEY)
  })

  test('leaves out a person whom the service does not know and one whom no policy can name, says so, and ends with 4', async () => {
    const at = await beginning({ people: 4 })
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
    const ran = await at.init('.', ...at.flags)
    expect(ran).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/error: \S+ is left out: GetUsageConfig: the service does not know this.*\n.*is 700: { \(U\+007B\)/),
    })
    expect(at.read('policies/acme.yaml')).toContain(`# NOT COMPLETE: 2 caps missing:\n#   ${lost}\n#   ${odd}\n`)
    expect((await inside(['plan', '--config', 'capkeeper.yaml', '--detailed-exitcode'], { cwd: at.folder })).code).toBe(0)
  })
})

describe('init overwrites nothing', () => {
  test('lists all existing files, also a dangling link', async () => {
    const at = await beginning({ people: 3 })
    at.write('capkeeper.yaml', 'mine')
    mkdirSync(at.path('.github/workflows'), { recursive: true })
    symlinkSync('nowhere', at.path('.github/workflows/capkeeper.yaml'))
    const ran = await at.init('.', ...at.flags)
    expect(ran.stderr).toContain('has capkeeper.yaml, .github/workflows/capkeeper.yaml already')
    expect(existsSync(at.path('nowhere'))).toBe(false)
  })

  test('of two at the same time one writes it all, and the other nothing', async () => {
    const at = await beginning({ people: 3 })
    const ran = await Promise.all([at.init('.', ...at.flags), at.init('.', ...at.flags)])
    expect(ran.map(({ code }) => code).toSorted()).toEqual([0, 1])
    expect(at.files()).toEqual(FILES)
    expect((await inside(['validate', '--config', 'capkeeper.yaml'], { cwd: at.folder })).code).toBe(0)
  })
})

describe('init writes nothing', () => {
  test('while the service fails for everybody', async () => {
    const at = await beginning({ people: 3, faults: { '5xx': 1 } })
    expect(await at.init('.', ...at.flags)).toMatchObject({ code: 1, stderr: expect.stringContaining('the roster could not be read') })
    expect(at.files()).toEqual([])
  })
})

describe.skipIf(!hasTerminals)('init on a terminal', () => {
  const ADDRESS = 'Address of the service'
  const NAME = 'Name of the workspace [default]: '

  test('asks for missing values, asks again after a wrong answer, and never repeats an answer', async () => {
    const at = await beginning({ people: 3 })
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
    expect(at.read('caps/capkeeper.yaml')).toContain('  - name: "Acme, Inc."\n')
  })

  test('asks only for values that no flag gives, and repeats the answers as flags when they were wrong', async () => {
    const at = await beginning({ people: 3 })
    const { code, screen } = await onTerminal(['init', ...at.flags], {
      cwd: at.folder,
      dialogue: [
        ['Group 1: ', 'grp_none=No Group'],
        ['Group 2: ', ''],
      ],
    })
    expect(code).toBe(1)
    expect(screen).not.toContain(ADDRESS)
    expect(screen).toContain(`capkeeper init . ${at.flags.join(' ')} --group 'grp_none=No Group'`)
    expect(at.files()).toEqual([])
  })

  test('asks again for a wrong value of a flag, before anything else', async () => {
    const at = await beginning({ people: 3 })
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
    const at = await beginning({ people: 3 })
    const { code, screen } = await onTerminal(['init', 'caps'], { cwd: at.folder, question: ADDRESS, answer })
    expect({ code, files: at.files() }).toEqual({ code: 1, files: [] })
    expect(screen).toContain('cancelled; nothing was written')
  })

  test('asks nothing with --non-interactive', async () => {
    const at = await beginning({ people: 3 })
    const { code, screen } = await onTerminal(['init', '--non-interactive', ...at.flags], { cwd: at.folder })
    expect(code, screen).toBe(0)
    expect(at.files()).toEqual(FILES)
  })
})
