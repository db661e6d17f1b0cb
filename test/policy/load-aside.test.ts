// Policies and config read in a thread of their own: the same as without one, within bounds that end the thread and nothing else.
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfigAside } from '../../src/daemon/config/config.ts'
import { readAs } from '../../src/files.ts'
import { loadPolicies, loadPoliciesAside } from '../../src/policy/load/load.ts'
import { loadConfig } from '../support/config.ts'
import { realClock } from '../support/real-clock.ts'
import { folder, placesWithFiles, policyText } from './support.ts'

const clock = realClock()
const people = (count: number): string =>
  `users:\n${Array.from({ length: count }, (_, index) => `- {email: person.${index}@example.com, cap: ${index + 1}}`).join('\n')}`

it('policies that are read beside a daemon are the same, with their commit', async () => {
  readAs('daemon')
  onTestFinished(() => readAs('command'))
  const cwd = folder({
    'p/a.yaml': policyText('users: [{email: a@b.c, cap: 5}]', 'a'),
    'p/b.yaml': '\xff\ufeff',
    '.git/HEAD': `${'c'.repeat(40)}\n`,
  })
  symlinkSync('nowhere', join(cwd, 'p/c.yaml'))
  const aside = await loadPoliciesAside(['p'], { cwd }, clock)
  expect(aside).toEqual(await loadPolicies(['p'], { cwd }))
  rmSync(join(cwd, 'p/c.yaml'))
  rmSync(join(cwd, 'p/b.yaml'))
  expect((await loadPoliciesAside(['p'], { cwd }, clock)).sets.get('default')?.revision).toBe('c'.repeat(40))
})

describe('policies that are read in a thread', () => {
  it('give the sets, the problems and the files that they give without a thread', async () => {
    const cwd = folder({
      'p/a.yaml': policyText(`workspace: acme\n${people(2_000)}`, 'a'),
      'p/b.yaml': policyText('workspace: acme\nusers: [{email: person.1@example.com, cap: 5}]', 'b'),
      'p/c.yaml': policyText('workspace: beta\nteam: {cap: 7}\nusers: [{email: a@b.c, cap: none}]', 'c'),
    })
    const options = { cwd, workspaces: ['acme', { name: 'beta' }] }
    const aside = await loadPoliciesAside(['p'], options, clock)
    expect(aside).toEqual(await loadPolicies(['p'], options))
    expect([...aside.sets.keys()]).toEqual(['beta'])
    expect(placesWithFiles(aside.problems)[0]).toBe('p/b.yaml:7:19 DUPLICATE_SCOPE (p/a.yaml:9:13)')
  })

  it.each([
    ['large ones', { 'p/a.yaml': policyText(people(3_000)) }],
    ['many without a document', Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`p/${index}.yaml`, '']))],
  ])('are given up in time: %s', async (_name, files) => {
    const cwd = folder(files)
    const hasty = { ...clock, sleep: () => Promise.resolve() }
    const { sets, problems } = await loadPoliciesAside(['p'], { cwd }, hasty)
    expect(sets.size).toBe(0)
    expect(problems).toMatchObject([{ severity: 'error', code: 'TOO_LARGE', message: expect.stringContaining('was not read within 20 s') }])
  })

  it('may not say more together than is kept, also by aliases', async () => {
    const reason = 'r'.repeat(20_000)
    const grants = Array.from(
      { length: 50 },
      (_, index) => `- {user: person.${index}@example.com, cap: 5, until: 2027-01-31, reason: ${index === 0 ? `&r ${reason}` : '*r'}}`,
    )
    const file = (name: string): string => policyText(`workspace: ${name}\ngrants:\n${grants.join('\n')}`, name)
    const names = Array.from({ length: 10 }, (_, index) => `w${index}`)
    const cwd = folder(Object.fromEntries(names.map((name) => [`p/${name}.yaml`, file(name)])))
    const { sets, problems } = await loadPoliciesAside(['p'], { cwd, workspaces: names }, clock)
    expect(sets.size).toBe(0)
    expect(problems[0]?.message).toMatch(/^the policies of all workspaces say \d+ characters together, at most 8388608 are kept$/)
  })
})

it('a config beyond what is read at once is the same in a thread', async () => {
  const workspaces = Array.from({ length: 1_500 }, (_, index) => `- {name: w${index}, baseUrl: "https://s${index}.example", interval: 9m}`)
  const text = `apiVersion: capkeeper/v1\nkind: Config\nworkspaces:\n${workspaces.join('\n')}\n`
  const input = { env: {}, flags: { config: 'c.yaml' }, cwd: folder({ 'c.yaml': text }) }
  const aside = await loadConfigAside(input, clock)
  expect(aside.config?.workspaces).toHaveLength(1_500)
  expect(aside).toEqual(loadConfig(input))
})
