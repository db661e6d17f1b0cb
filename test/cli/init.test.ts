// What `init` writes, without a service: texts that read back as what they were made of, comments that may be taken at their word, and files
// that are all there or not at all.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CONFIG_FILE, createFiles, endingText, existingIn, filesOf, policyFile, type Start } from '../../src/cli/init/render.ts'
import { credits } from '../../src/core/model/units.ts'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { wordsOf } from '../support/command-lines.ts'
import { loadConfig } from '../support/config.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const live = { people: ['ada@example.com'], capOf: () => undefined, emails: () => [], unread: [] }
const nothing = { team: 'none', groups: [], people: [], named: [], left: 0, conflicts: [], leftOut: [] } as const
const START: Start = {
  ...{ workspace: 'acme', baseUrl: 'https://service.example', key: { file: '/keys/read' }, live, now: NOW },
  adopted: {
    ...{ ...nothing, team: credits(500), people: [{ email: 'ada@example.com', cap: credits(0) }] },
    groups: [{ id: 'grp_a', name: 'A', cap: credits(700), emails: [] }],
  },
}

function folder(): string {
  const at = mkdtempSync(join(tmpdir(), 'capkeeper-init-'))
  onTestFinished(() => rmSync(at, { recursive: true, force: true }))
  return at
}

/** What was written, read back by the program. */
function readBack(start: Start, changed: (text: string) => string = (text) => text) {
  const at = folder()
  createFiles(
    at,
    filesOf(start).map(({ path, text }) => ({ path, text: path.endsWith('.json') ? text : changed(text) })),
  )
  const { config, problems, configured } = loadConfig({ env: {}, flags: { config: join(at, CONFIG_FILE) } })
  const policies = loadPolicies(config?.workspaces.flatMap((one) => one.policies) ?? [], {
    now: NOW,
    ...(configured && { workspaces: configured }),
  })
  return {
    at,
    config,
    workspace: config?.workspaces[0],
    problems: [...problems, ...policies.problems],
    set: policies.sets.get(start.workspace)?.set,
  }
}

/** Takes the comment marks off what could be written in their place: keys and lists, not sentences. */
const uncommented = (text: string): string => text.replaceAll(/^( *)# ( *(?:- )?\w+:(?: [^ ].*)?)$/gm, '$1$2')

describe('the texts', () => {
  test('read back as the workspace in audit mode, and as the caps in force', () => {
    const { at, config, workspace, set, problems } = readBack(START)
    expect(problems).toEqual([])
    expect(config?.ledger).toBe(join(at, 'capkeeper.db'))
    expect(workspace).toMatchObject({
      ...{ name: 'acme', baseUrl: 'https://service.example', mode: 'audit', keys: { default: { file: '/keys/read' } } },
      policies: [join(at, 'policies')],
    })
    expect(set?.rules.map(({ scope, cap }) => [scope.kind, cap])).toEqual([
      ['team', 500],
      ['group', 700],
      ['user', 0],
    ])
  })

  test('have comments that can be used as they stand', () => {
    const { config, workspace, set, problems } = readBack(START, uncommented)
    expect(problems).toEqual([])
    expect(config).toMatchObject({ listen: { host: '127.0.0.1', port: 9464 }, pricePerCredit: 0.04 })
    expect(workspace).toMatchObject({ intervalMs: 300_000, keys: { billingWrite: { file: '/var/run/secrets/capkeeper/write-key' } } })
    expect(set?.protectedPeople.map(({ scope }) => scope.email)).toEqual(['oncall@example.com'])
    expect(set?.grants).toMatchObject([{ amount: { credits: 6000 }, until: { kind: 'instant' } }])
  })

  test('of a workspace without any cap, and with groups at odds, lead on', () => {
    const conflicts = ['ada@example.com', 'bob@example.com']
    const plainly = readBack({ ...START, adopted: { ...nothing, conflicts } })
    expect([plainly.problems, plainly.set?.rules]).toEqual([[], []])
    const used = readBack({ ...START, adopted: { ...nothing, conflicts } }, uncommented)
    expect(used.problems).toEqual([])
    expect(used.set).toMatchObject({ onGroupConflict: 'max', rules: [{ cap: 3000 }] })
  })

  test('read back as their inputs, with any names', () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, maxLength: 20 }),
      fc.constantFrom('true', 'no', '1e3', '0x1', '-', '? a', 'a: b', '#', '"', "'", '.5'),
    )
    const names = name.filter((text) => text.trim() === text && text.trim() !== '' && !/[\p{Cc}\ud800-\udfff\\]/u.test(text))
    fc.assert(
      fc.property(names, names, names, (workspace, key, group) => {
        const groups = [{ id: 'grp_a', name: group, cap: credits(7), emails: [] }]
        const named = [{ id: 'grp_b', name: `${group} spec:`, cap: 'none' as const, emails: [] }]
        const read = readBack({ ...START, workspace: `x${workspace}`, key: { file: `/${key}` }, adopted: { ...nothing, groups, named } })
        expect(read.problems).toEqual([])
        expect(read.workspace).toMatchObject({ name: `x${workspace}`, keys: { default: { file: `/${key}` } } })
        expect(read.set?.groups.map((one) => one.name)).toEqual([group, `${group} spec:`])
      }),
      { numRuns: 30 },
    )
  })

  test('end with three commands that a shell takes, for any folder', () => {
    const config = (named: string): readonly (string | undefined)[] =>
      endingText(START, filesOf(START), named)
        .split('next:\n')[1]
        ?.trimEnd()
        .split('\n')
        .map((line) => wordsOf(line).at(-1)) ?? []
    expect(config('.')).toEqual(Array(3).fill('capkeeper.yaml'))
    expect(config('my caps/')).toEqual(Array(3).fill('my caps/capkeeper.yaml'))
  })
})

describe('files', () => {
  const FILES = filesOf(START)
  const all = (at: string): readonly string[] => readdirSync(at, { recursive: true }).map(String).toSorted()

  test('are all made, with the folders above them, and nothing else is left behind', () => {
    const at = folder()
    createFiles(join(at, 'new/one'), FILES)
    const made = all(join(at, 'new/one'))
    expect(made.filter((name) => FILES.some(({ path }) => path === name))).toHaveLength(FILES.length)
    expect(made.filter((name) => name.includes('capkeeper-init'))).toEqual([])
    for (const { path, text } of FILES) expect(readFileSync(join(at, 'new/one', path), 'utf8')).toBe(text)
  })

  test.each(FILES.map(({ path }) => path))('are none where %s turns up in between', (path) => {
    const at = folder()
    mkdirSync(join(at, path, '..'), { recursive: true })
    writeFileSync(join(at, path), 'mine')
    const before = all(at)
    expect(() => createFiles(at, FILES)).toThrow(/nothing was written: EEXIST/)
    expect([all(at), readFileSync(join(at, path), 'utf8')]).toEqual([before, 'mine'])
    expect(existingIn(at, [...FILES.map((file) => file.path), 'none'])).toEqual([path])
  })

  test('are none where a folder cannot be made, and folders made for them are gone again', () => {
    const at = folder()
    writeFileSync(join(at, 'policies'), 'a file')
    expect(() => createFiles(at, FILES.toReversed())).toThrow(/nothing was written: E/)
    expect(all(at)).toEqual(['policies'])
    expect(() => createFiles(join(at, 'policies/deep'), FILES)).toThrow(/nothing was written: ENOTDIR/)
  })
})

test('a policy file is named for its workspace', () => {
  expect([policyFile('acme'), policyFile('Acme, Inc.'), policyFile('../../etc/x')]).toEqual([
    'policies/acme.yaml',
    'policies/acme-inc.yaml',
    'policies/etc-x.yaml',
  ])
})
