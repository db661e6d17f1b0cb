// `edit` as a command, of large files, and its diffs.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { unifiedDiff } from '../../src/cli/edit/run.ts'
import { randomOf } from '../adversary/random.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { run } from './world.ts'

const TEXT = 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: p}\nspec:\n  team: {cap: 500}\n  groups: [{id: g, name: G}]\n'

let folder = ''
let file = ''
beforeEach(() => {
  folder = temporaryFolder()
  file = join(folder, 'p.yaml')
  writeFileSync(file, TEXT)
})

test('a large file is edited in a thread, to the same text', async () => {
  const users = Array.from({ length: 3_000 }, (_, index) => `    - {email: p${index}@example.com, cap: ${index + 1}}\n`).join('')
  writeFileSync(file, `${TEXT}  users:\n${users}`)
  expect(await run(['edit', 'cap', 'p1500@example.com', '7', '--policies', file])).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toBe(`${TEXT}  users:\n${users}`.replace('cap: 1501}', 'cap: 7}'))
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
