// `edit` as a command: what is printed where, and the exit codes. What is written is tested with the policies.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { unifiedDiff } from '../../src/cli/edit/run.ts'
import { randomOf } from '../adversary/random.ts'
import { run } from './world.ts'

const ID = '7d1f0c2a9b347d1f0c2a9b347d1f0c2a'
const TEXT = 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: p}\nspec:\n  team: {cap: 500}\n  groups: [{id: g, name: G}]\n'

let folder = ''
let file = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'capkeeper-edit-'))
  file = join(folder, 'p.yaml')
  writeFileSync(file, TEXT)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const edit = (...argv: readonly string[]) => run(['edit', ...argv, '--policies', file])
const text = (): string => readFileSync(file, 'utf8')

test('gives an appended entry back byte for byte', async () => {
  for (const [made, undone] of [
    [
      ['grant', 'ada@example.com', '--cap', '900', '--until', '2030-12-15', '--reason', 'r'],
      ['remove', 'grant:ada@example.com'],
    ],
    [
      ['approve', ID.toUpperCase()],
      ['remove', `approval:${ID}`],
    ],
    [
      ['cap', 'ada@example.com', '0', '--allow-zero'],
      ['remove', 'ada@example.com'],
    ],
    [
      ['cap', 'group:h', '5', '--name', 'H'],
      ['remove', 'group:h'],
    ],
  ] as const) {
    expect(await edit(...made)).toMatchObject({ code: 0 })
    expect(text()).not.toBe(TEXT)
    expect(await edit(...undone)).toMatchObject({ code: 0 })
    expect(text()).toBe(TEXT)
  }
})

describe('wrong usage exits 64 and writes nothing:', () => {
  test.each<readonly [string, readonly string[], string]>([
    ['no scope', ['cap', 'ada', '5'], 'Write an e-mail, group:ID or team.'],
    ['no cap', ['cap', 'team', '1e3'], 'Write a whole number from 0 to 2147483647, or none.'],
    ['a 0 that may not be meant', ['cap', 'team', '0'], 'a cap of 0 needs --allow-zero'],
    ['a name for a person', ['cap', 'ada@example.com', '5', '--name', 'Ada'], '--name is the name of a group'],
    ['a new group without a name', ['cap', 'group:h', '5'], 'group:h is not declared yet: give its group_name with --name'],
    ['a part of a hold id', ['approve', ID.slice(0, 12)], 'The whole id of 32 hex digits is needed'],
    ['a grant without an amount', ['grant', 'team', '--until', '2030-01-01', '--reason', 'r'], 'give one of --cap and --add'],
    [
      'a grant with two amounts',
      ['grant', 'team', '--cap', '5', '--add', '5', '--until', '2030-01-01', '--reason', 'r'],
      'give one of --cap and --add',
    ],
    ['a grant without a reason', ['grant', 'team', '--cap', '5', '--until', '2030-01-01'], 'give the --reason'],
    ['a grant of 0', ['grant', 'team', '--cap', '0', '--until', '2030-01-01', '--reason', 'r'], 'a cap of 0 needs --allow-zero'],
    [
      'a cycle without a day in it',
      ['grant', 'team', '--cap', '5', '--until', 'cycleEnd', '--reason', 'r'],
      '--until cycleEnd needs --from',
    ],
    ['an end that is no day', ['grant', 'team', '--cap', '5', '--until', '2030-02-30', '--reason', 'r'], 'Write a date'],
    [
      'more than an end to extend',
      ['grant', 'team', '--extend', '--cap', '5', '--until', '2030-01-01'],
      '--extend moves the end of a grant, and nothing else',
    ],
    ['a grant that is not there', ['grant', 'team', '--extend', '--until', '2030-01-01'], 'team has no grant to extend'],
    ['a day for what is no grant', ['remove', 'team', '--from', '2030-01-01'], '--from names a grant'],
    ['a reason that looks like a template', ['cap', 'team', '5', '--reason', 'a {{ b }}'], 'would make the file look like a template'],
    ['an empty reason', ['cap', 'team', '5', '--reason', ''], '--reason is empty'],
  ])('%s', async (_row, argv, said) => {
    expect(await edit(...argv)).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining(said) })
    expect(text()).toBe(TEXT)
  })

  test('no policies', async () => {
    expect(await run(['edit', 'cap', 'team', '5'])).toMatchObject({ code: 64, stderr: expect.stringContaining('no policies to edit') })
  })
})

test('a large file is edited in a thread, to the same text', async () => {
  const users = Array.from({ length: 3_000 }, (_, index) => `    - {email: p${index}@example.com, cap: ${index + 1}}\n`).join('')
  writeFileSync(file, `${TEXT}  users:\n${users}`)
  expect(await edit('cap', 'p1500@example.com', '7')).toMatchObject({ code: 0 })
  expect(text()).toBe(`${TEXT}  users:\n${users}`.replace('cap: 1501}', 'cap: 7}'))
})

test('the diff of random texts is what `git apply` makes of one the other', () => {
  execFileSync('git', ['init', '-q', folder])
  for (let seed = 0; seed < 40; seed += 1) {
    const random = randomOf(seed)
    const lines = (): string[] => Array.from({ length: random.int(0, 30) }, () => random.pick(['a', 'b', 'c', 'd', '', 'e\r']))
    const old = lines()
    const now = random.chance(0.1)
      ? lines()
      : old.flatMap((line) => (random.chance(0.15) ? random.pick([[], ['new'], [line, 'more']]) : [line]))
    const ending = (): string => random.pick(['\n', '\n', ''])
    const [before, after] = [old.join('\n') + ending(), now.join('\n') + ending()]
    if (before === after || before === '' || after === '') continue
    writeFileSync(join(folder, 'x'), before)
    execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: folder, input: unifiedDiff('x', before, after) })
    expect(readFileSync(join(folder, 'x'), 'utf8'), `seed ${seed}`).toBe(after)
  }
})
