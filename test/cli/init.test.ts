// What `init` writes: texts that read back as what they were made of, comments that may be taken at their word, and files that are all there or
// not at all. test/e2e/init.test.ts has the command and its service.
import { readdirSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { type Place, place } from '../e2e/world.ts'
import { wordsOf } from '../support/command-lines.ts'
import { loadConfig } from '../support/config.ts'
import { inside } from '../support/inside.ts'
import { realClock } from '../support/real-clock.ts'
import { startSandbox } from '../support/sandbox.ts'

/** A folder with a key, and a service with a group; `onAsked` is called with each request. */
async function begun(onAsked: (at: Place) => void = () => undefined) {
  const at = place()
  at.write('key', 'sandbox-admin\n')
  const clock = { ...realClock(), sleep: async () => onAsked(at) }
  const service = await startSandbox({ clock, latency: 1, people: 3, groups: 1, working: false })
  onTestFinished(() => service.close())
  const init = (folder: string, { workspace = 'acme', key = 'key', group = 'Platform' } = {}) => {
    const flags = ['--base-url', service.url, '--service-key-file', key, '--workspace', workspace, `--group=grp_platform=${group}`]
    return inside(['init', folder, ...flags], { cwd: at.folder })
  }
  const files = (): readonly string[] => readdirSync(at.folder, { recursive: true }).map(String).toSorted()
  return { ...at, service, init, files }
}

/** What was written into a folder, read back by the program. */
function readBack(at: Place, folder: string, changed: (text: string) => string = (text) => text) {
  const config = at.path(`${folder}/capkeeper.yaml`)
  const policies = readdirSync(at.path(`${folder}/policies`)).filter((name) => name.endsWith('.yaml'))
  for (const name of ['capkeeper.yaml', ...policies.map((one) => `policies/${one}`)])
    at.write(`${folder}/${name}`, changed(at.read(`${folder}/${name}`)))
  const { config: read, problems, configured } = loadConfig({ env: {}, flags: { config } })
  const [workspace] = read?.workspaces ?? []
  const loaded = loadPolicies(workspace?.policies ?? [], { now: realClock().now(), ...(configured && { workspaces: configured }) })
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
    const { config, workspace, set, problems } = readBack(at, '.')
    expect(problems).toEqual([])
    expect(config?.ledger).toBe(at.path('capkeeper.db'))
    expect(workspace).toMatchObject({ name: 'acme', baseUrl: at.service.url, mode: 'audit', policies: [at.path('policies')] })
    expect(set?.rules.map(({ scope, cap }) => [scope.kind, cap])).toEqual([
      ['team', 500],
      ['group', 700],
      ['user', 0],
    ])
    const used = readBack(at, '.', uncommented)
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
    expect(readBack(at, 'my caps')).toMatchObject({ problems: [], set: { rules: [] } })
    expect(readBack(at, 'my caps', uncommented)).toMatchObject({ problems: [], set: { rules: [{ cap: 3000 }] } })
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
      const read = readBack(at, `f${index}`)
      expect(read.problems).toEqual([])
      expect(read.workspace).toMatchObject({ name: `x${workspace}`, keys: { default: { file: at.path(key) } } })
      expect(read.set?.groups.map((one) => one.name)).toEqual([called])
    }
  })
})

describe('files', () => {
  test.each(['capkeeper.yaml', 'capkeeper-config.schema.json', 'policies/acme.yaml', '.github/workflows/capkeeper.yaml'])(
    'are none where %s turns up while the service is asked',
    async (name) => {
      const at = await begun((folder) => folder.write(name, 'mine'))
      expect(await at.init('.')).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was written: EEXIST') })
      expect(at.read(name)).toBe('mine')
      expect(at.files().filter((one) => !name.startsWith(one))).toEqual(['key'])
    },
  )

  test('are none where a folder cannot be made, and folders made for them are gone again', async () => {
    const at = await begun((folder) => folder.write('policies', 'a file'))
    expect(await at.init('.')).toMatchObject({ code: 1, stderr: expect.stringMatching(/nothing was written: E/) })
    expect(at.files()).toEqual(['key', 'policies'])
  })
})
