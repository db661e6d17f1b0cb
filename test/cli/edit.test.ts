// `edit` as a command, of large files, and its diffs.
import { execFileSync } from 'node:child_process'
import { linkSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { randomOf } from '../adversary/random.ts'
import { inside } from '../support/inside.ts'
import { open } from '../support/ledger.ts'
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

test('a file that cannot be replaced is refused in JSON as other edits are', async () => {
  linkSync(file, join(folder, 'second'))
  const { code, stdout } = await run(['edit', 'cap', 'team', '7', '--policies', file, '--output', 'json'])
  expect([code, JSON.parse(stdout)]).toMatchObject([65, { written: false, problems: [{ code: 'EDIT_BY_HAND' }] }])
})

test('the diff of edits of random policies is what `git apply` makes of one the other', async () => {
  execFileSync('git', ['init', '-q', folder])
  const id = (index: number): string => index.toString(16).padStart(32, '0')
  const ledger = await open(join(folder, 'ledger.db'))
  const records = await ledger.workspace('default', 'http://127.0.0.1:9')
  for (let index = 0; index < 40; index += 1) {
    const state = (['spent', 'pending', 'void', 'pending'] as const)[index % 4] ?? 'pending'
    records.saveApproval({ id: id(index), via: 'policy', approvedAt: 0, state, released: [] })
  }
  await records.commit()
  await ledger.close()
  for (let seed = 0; seed < 20; seed += 1) {
    const random = randomOf(seed)
    const ending = random.pick(['\n', '\n', '\r\n'])
    const among = (lines: readonly string[]): readonly string[] =>
      lines.flatMap((line) => [
        line,
        ...Array.from({ length: random.pick([0, 0, 1, 2, 5, 8]) }, () => random.pick(['', '# the same', '# other'])),
      ])
    const approvals = Array.from({ length: 40 }, (_, index) => `    - '${id(index)}'`).filter(() => random.chance(0.4))
    const users = Array.from({ length: 5 }, (_, index) => [`email: p${index}@example.com`, `cap: ${index + 1}`, 'reason: old']).flatMap(
      (fields) =>
        random.chance(0.5) ? [`    - {${fields.join(', ')}}`] : fields.map((one, at) => `${at === 0 ? '    - ' : '      '}${one}`),
    )
    const rest = random.chance(0.5)
      ? ['  users:', ...among(users), '  approvals:', ...among(approvals)]
      : ['  approvals:', ...among(approvals), '  users:', ...among(users)]
    const [head, spec] = [TEXT.trimEnd().split('\n').slice(0, 3), TEXT.trimEnd().split('\n').slice(3)]
    const lines = random.chance(0.5) ? [...head, ...spec, ...rest] : [...spec, ...rest, ...head]
    const text = lines.join(ending).trimEnd() + random.pick([ending, ''])
    writeFileSync(file, text)
    const person = `p${random.int(0, 4)}@example.com`
    const others = [
      ['cap', person, '70', '--reason', 'new'],
      ['cap', person, '71'],
      ['remove', person],
      ['grant', 'team', '--cap', '900', '--until', '2999-01-01', '--reason', 'more'],
    ]
    const edits = [['tidy', '--ledger', 'ledger.db'], ['cap', 'new@example.com', '8'], ['cap', 'team', '501'], random.pick(others)]
    for (const edit of edits) {
      const before = readFileSync(file, 'utf8')
      const ran = await inside(['edit', ...edit, '--policies', 'p.yaml'], { cwd: folder })
      const after = readFileSync(file, 'utf8')
      expect(ran.code, `seed ${seed}: ${edit[0]}: ${ran.stderr}`).toBe(0)
      expect(ran.stdout === '', `seed ${seed}: ${edit[0]}`).toBe(before === after)
      if (before === after) continue
      writeFileSync(file, before)
      execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: folder, input: ran.stdout })
      expect(readFileSync(file, 'utf8'), `seed ${seed}: ${edit[0]}`).toBe(after)
    }
  }
})
