// Policy folders and texts as somebody would make them to do harm: each is refused in a clear line, in little time and memory.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { formatProblems } from '../../src/core/escape/text.ts'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { loadConfig } from '../support/config.ts'
import { folder, policyText } from './support.ts'

const GOOD = policyText('team: {cap: 5}')
const hasMkfifo = spawnSync('mkfifo', ['--version']).status === 0

const refusals = async (cwd: string, path = '.'): Promise<readonly string[]> =>
  (await loadPolicies([path], { cwd })).problems.map(({ message }) => message)

describe('a policy folder', () => {
  it.skipIf(!hasMkfifo)('with a pipe is refused, and nobody waits for what comes out of it (needs mkfifo)', async () => {
    const root = folder({ 'a.yaml': GOOD })
    execFileSync('mkfifo', [join(root, 'pipe.yaml')])
    expect(await refusals(root)).toEqual(['pipe.yaml is not a regular file'])
    expect((await loadPolicies(['.'], { cwd: root })).sets.size).toBe(0)
  })

  it('with a socket or a device is refused, also when the path itself is one', async () => {
    const root = folder({ 'a.yaml': GOOD })
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(root, 'socket.yaml'), resolve))
    onTestFinished(() => void server.close())
    expect(await refusals(root)).toEqual(['socket.yaml is not a regular file'])
    expect(await refusals(root, '/dev/zero')).toEqual(['/dev/zero is not a regular file'])
    const { pid, stdin } = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
    onTestFinished(() => void stdin.end())
    expect(await refusals(root, `/proc/${pid}/fd/0`)).toEqual([`/proc/${pid}/fd/0 is not a regular file`])
    symlinkSync('/dev/zero', join(root, 'zero.yaml'))
    expect((await refusals(root))[1]).toMatch(/^zero\.yaml is a link that leaves the policy folder: it leads to \/dev\/zero/)
  })

  it('with a huge file, or with too much in all files, is refused before anything is read', async () => {
    const root = folder({ 'a.yaml': GOOD, 'b.yaml': '' })
    truncateSync(join(root, 'b.yaml'), 2 ** 40)
    expect(await refusals(root)).toEqual(['b.yaml has 1099511627776 bytes, at most 1048576 are read'])
    const full = `#${'x'.repeat(2 ** 20 - 2)}\n`
    const most = folder(Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`${String(index).padStart(2, '0')}.yaml`, full])))
    expect((await refusals(most)).filter((message) => !message.endsWith('holds no policy'))).toEqual([
      '16.yaml and the policy files before it have more than the 16777216 bytes that are read together',
    ])
  })

  it('that is too deep is refused, and one that leads back to itself is read once', async () => {
    const root = folder({ 'a.yaml': GOOD })
    symlinkSync('.', join(root, 'again'))
    symlinkSync('loop.yaml', join(root, 'loop.yaml'))
    expect(await refusals(root)).toEqual(['loop.yaml is a link that leads back to itself'])
    const deep = folder({})
    mkdirSync(join(deep, ...Array.from({ length: 40 }, () => 'd')), { recursive: true })
    expect(await refusals(deep)).toEqual([expect.stringContaining('folders are nested more than 32 deep')])
  })

  it('may hold no way out by a link in between, by a folder, or by the name of a parent', async () => {
    const root = folder({ 'p/a.yaml': GOOD, 'p/sub/b.yaml': policyText('users: []', 'b'), 'secret.yaml': GOOD, 'p2/c.yaml': GOOD })
    symlinkSync('sub/../../secret.yaml', join(root, 'p/up.yaml'))
    symlinkSync('../p2', join(root, 'p/like'))
    symlinkSync('hop', join(root, 'p/one.yaml'))
    symlinkSync('../secret.yaml', join(root, 'p/hop'))
    symlinkSync('../secret.yaml', join(root, 'p/notes.txt'))
    symlinkSync('..', join(root, 'p/sub/up'))
    symlinkSync('sub/b.yaml', join(root, 'p/inside.yaml'))
    const { problems, files } = await loadPolicies(['p'], { cwd: root })
    expect(problems.map(({ code, message }) => `${code} ${message.split(' ')[0]}`)).toEqual([
      'LINK_OUTSIDE p/like',
      'LINK_OUTSIDE p/one.yaml',
      'LINK_OUTSIDE p/up.yaml',
    ])
    expect(files).toEqual(['p/a.yaml', 'p/inside.yaml'])
  })
})

it('a config file that is a device is refused', () => {
  expect(loadConfig({ env: {}, flags: { config: '/dev/zero' } }).problems).toMatchObject([{ code: 'NOT_A_FILE' }])
})

const many = (piece: string, count: number): string => piece.repeat(count)
const KEYS = Array.from({ length: 1_000 }, (_, index) => `k${index}: 1`).join(', ')

describe('a text', () => {
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ['of opened lists', many('[', 30_000), /nested too deep/],
    ['of as many lists in lists as are read', many('[', 64) + many(']', 64), /is a list, not a mapping/],
    ['of one more', many('[', 65) + many(']', 65), /nested too deep/],
    ['of opened mappings', many('{a: ', 10_000), /nested too deep/],
    ['of nested lists', many('- ', 20_000), /nested too deep/],
    ['of ever deeper lines', Array.from({ length: 1_400 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'), /nested too deep/],
    ['of quotes', many('"', 60_000), /Unexpected/],
    ['of commas', `[${many(', ', 30_000)}]`, /Unexpected/],
    ['of documents', many('---\na\n', 10_001), /more than the 10000 documents that are read/],
    ['of unknown keys', policyText(`team: {${many('a: 1, ', 8_000)}}`), /more than 1000 problems/],
    ['of more than is read', many('#', 1_048_577), /1048577 bytes, at most 1048576 are read/],
    ['whose aliases multiply', policyText(`users:\n- &a {${KEYS}}\n${many('- *a\n', 1_000)}`), /more than (200000 values|1000 problems)/],
    [
      'whose good aliases multiply',
      policyText(`team: {cap: 1}\nprotected: &p [${many('a@b.c, ', 3_000)}]\ngrants: [${many('*p, ', 3_000)}]`),
      /not a mapping|stand for more than 200000 values/,
    ],
    [
      'of laughs',
      `a0: &a0 [x, x]\n${Array.from({ length: 60 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}`,
      /unknown key/,
    ],
    ['that contains itself', policyText('users: &u [*u]'), /not a mapping/],
    ['with a key of 100,000 letters', `${many('k', 100_000)}: 1`, /at most 1024 chars/],
    ['with an empty key', `: x\n${GOOD}`, /key/],
  ]

  it.each(rows)('%s is refused, as a policy and as a config', async (_name, text, said) => {
    const cwd = folder({ 'p.yaml': text })
    const { problems } = await loadPolicies(['.'], { cwd })
    expect(problems.map(({ message }) => message).join('\n')).toMatch(said)
    expect(formatProblems(problems).length).toBeLessThan(1_000_000)
    expect(loadConfig({ env: {}, flags: { config: 'p.yaml' }, cwd }).config).toBeUndefined()
  })

  it('of one long line is not repeated with each of its problems', async () => {
    const text = policyText(`team: {cap: 1, ${many('unknown: 1, ', 5_000)}}`)
    const { problems } = await loadPolicies(['.'], { cwd: folder({ 'p.yaml': text }) })
    expect(JSON.stringify(problems).length).toBeLessThan(500_000)
  })
})
