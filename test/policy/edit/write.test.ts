// Writing edited files: whole at any time, as they were after a failure, with owner and mode, through links.
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, linkSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { planEdits } from '../../../src/policy/edit/plan.ts'
import { ChangedError, writeEdits } from '../../../src/policy/edit/write.ts'
import { folder, policyText } from '../support.ts'
import { writeCounted } from './calls.ts'

const ID = '7d1f0c2a9b347d1f0c2a9b347d1f0c2a'
const NAMES = ['a.yaml', 'b.yaml', 'sub/c.yaml']
const OLD = Object.fromEntries(NAMES.map((name) => [name, policyText(`approvals: [${ID}] # ü`, name)]))
const NEW = Object.fromEntries(Object.entries(OLD).map(([name, text]) => [name, text.replace(ID, '')]))

/** Each thread takes a while to begin: CAPKEEPER_FUZZ=1 tries a kill at every call. */
const STEP = process.env['CAPKEEPER_FUZZ'] === undefined ? 7 : 1

const plan = (root: string): ReturnType<typeof planEdits> =>
  planEdits({ paths: [root], options: { cwd: root, now: 0 }, edits: [{ kind: 'remove', target: { kind: 'approval', id: ID } }] })

async function edited(root: string) {
  const made = await plan(root)
  if (made.kind !== 'proven') throw new Error(JSON.stringify(made))
  return made.files
}

const texts = (root: string) => Object.fromEntries(NAMES.map((name) => [name, readFileSync(join(root, name), 'utf8')]))
const names = (root: string): readonly string[] =>
  readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.includes('.'))
    .toSorted()

test('several files are replaced, with their modes, and nothing else is left', async () => {
  const root = folder(OLD)
  chmodSync(join(root, 'a.yaml'), 0o640)
  writeEdits(await edited(root))
  expect(texts(root)).toEqual(NEW)
  expect(statSync(join(root, 'a.yaml')).mode & 0o777).toBe(0o640)
  expect(names(root)).toEqual(NAMES)
})

test('a file is replaced behind its links, which stay, as in a mounted folder of Kubernetes', async () => {
  const root = folder({ '..one/a.yaml': OLD['a.yaml'] ?? '' })
  symlinkSync('..one', join(root, '..data'))
  symlinkSync('..data/a.yaml', join(root, 'a.yaml'))
  writeEdits(await edited(root))
  expect(readlinkSync(join(root, 'a.yaml'))).toBe('..data/a.yaml')
  expect(readFileSync(join(root, '..one/a.yaml'), 'utf8')).toBe(NEW['a.yaml'])
})

test('a file that changed since it was read is left alone, and so are the others', async () => {
  const root = folder(OLD)
  const files = await edited(root)
  writeFileSync(join(root, 'b.yaml'), 'mine')
  expect(() => writeEdits(files)).toThrow(ChangedError)
  expect(texts(root)).toEqual({ ...OLD, 'b.yaml': 'mine' })
  expect(names(root)).toEqual(NAMES)
})

test('a change that keeps size and time is seen as well', async () => {
  const root = folder(OLD)
  const files = await edited(root)
  const { atime, mtime } = statSync(join(root, 'a.yaml'))
  writeFileSync(join(root, 'a.yaml'), (OLD['a.yaml'] ?? '').replace('# ü', '# ö'))
  utimesSync(join(root, 'a.yaml'), atime, mtime)
  expect(() => writeEdits(files)).toThrow('a.yaml was changed by somebody else meanwhile, or is being edited')
})

test('a file with a second name is left alone, because that one would keep the old text', async () => {
  const root = folder(OLD)
  linkSync(join(root, 'a.yaml'), join(root, 'other.txt'))
  const files = await edited(root)
  expect(() => writeEdits(files)).toThrow(expect.objectContaining({ name: 'InputError' }))
  expect(texts(root)).toEqual(OLD)
})

test.skipIf(process.getuid?.() !== 0)('a file whose owner cannot be kept is refused, and nothing is left', async () => {
  const root = folder(OLD)
  chmodSync(root, 0o777)
  for (const name of NAMES) chmodSync(join(root, name), 0o644)
  chmodSync(join(root, 'sub'), 0o777)
  const script = await scriptOf(root, 'process.setgid(65534); process.setuid(65534)')
  const { status, stdout } = spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '--eval', script], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, 'InputError: a.yaml cannot be replaced with its owner and mode kept (EPERM)'])
  expect(texts(root)).toEqual(OLD)
  expect(names(root)).toEqual(NAMES)
})

test('of edits at the same time each is made or told that it was not, and none is lost', async () => {
  const root = folder({ 'a.yaml': policyText('team: {cap: 5}') })
  const source = new URL('../../../src/policy/edit/', import.meta.url)
  const hands = [1, 2, 3, 4].map((hand) => [1, 2, 3].map((at) => `p${hand}${at}@example.com`))
  const ends = await Promise.all(
    hands.map((people) => {
      const script = `
        const { planEdits } = await import('${source}plan.ts')
        const { writeEdits } = await import('${source}write.ts')
        for (const email of ${JSON.stringify(people)}) {
          const { files } = await planEdits({ paths: ['${root}'], options: { cwd: '${root}', now: 0 }, edits: [{ kind: 'protect', email }] })
          try {
            writeEdits(files)
            console.log('made')
          } catch (error) {
            console.log(error.name)
          }
        }`
      return new Promise<string>((resolve) => {
        const child = execFile(process.execPath, ['--no-warnings', '--input-type=module', '--eval', script], (_, said) => resolve(said))
        child.stderr?.pipe(process.stderr)
      })
    }),
  )
  const text = readFileSync(join(root, 'a.yaml'), 'utf8')
  const said = ends.map((lines) => lines.trim().split('\n'))
  expect(said).toEqual(hands.map((people) => people.map((email) => (text.includes(email) ? 'made' : 'ChangedError'))))
  expect(names(root)).toEqual(['a.yaml'])
})

test('what a killed edit left behind is removed by the next one', async () => {
  const root = folder({ ...OLD, '.a.yaml.capkeeper-999999999.new': 'half' })
  writeEdits(await edited(root))
  expect(texts(root)).toEqual(NEW)
  expect(names(root)).toEqual(NAMES)
})

/** Begins with the import of what writes and counts its calls. */
const scriptOf = async (root: string, before: string, ...more: readonly unknown[]): Promise<string> => `
  const { writeCounted } = await import('${new URL('calls.ts', import.meta.url)}')
  ${before}
  process.stdout.write(writeCounted(${[await edited(root), ...more].map((one) => JSON.stringify(one)).join(', ')}))`

/** Writes in a thread that ends at one of its calls as a killed process does: nothing of it runs on. */
async function killedAt(root: string, at: number): Promise<number> {
  const script = await scriptOf(root, '', at, 'kill')
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), { stdout: true })
  return new Promise((resolve, reject) => void worker.on('exit', resolve).on('error', reject))
}

const callsOf = async (): Promise<number> => {
  const said = writeCounted(await edited(folder(OLD)))
  const calls = Number(/^calls (\d+)$/.exec(said)?.[1])
  if (!(calls > 20)) throw new Error(said)
  return calls
}

test('a kill between any two system calls leaves whole files, and a policy that loads', async () => {
  const calls = await callsOf()
  let mixed = 0
  for (let at = 1; at <= calls; at += STEP) {
    const root = folder(OLD)
    expect(await killedAt(root, at)).toBe(9)
    const found = texts(root)
    for (const name of NAMES) expect([OLD[name], NEW[name]], `${name} at call ${at}`).toContain(found[name])
    expect((await plan(root)).kind).toBe('proven')
    if (new Set(NAMES.map((name) => found[name] === OLD[name])).size === 2) mixed += 1
  }
  expect(mixed).toBeGreaterThan(0)
})

test('any call that fails puts all files back, or leaves them all written', async () => {
  const calls = await callsOf()
  let back = 0
  for (let at = 1; at <= calls; at += 1) {
    const root = folder(OLD)
    const said = writeCounted(await edited(root), at)
    const found = texts(root)
    const isBack = found['a.yaml'] === OLD['a.yaml']
    expect(found, `call ${at}: ${said}`).toEqual(isBack ? OLD : NEW)
    if (isBack) back += 1
  }
  expect(back).toBeGreaterThan(35)
})
