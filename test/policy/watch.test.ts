import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { stampBefore, watchPaths } from '../../src/policy/load/watch.ts'
import { until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { folder } from './support.ts'

type WatchOptions = Parameters<typeof watchPaths>[3]

const clock = realClock()
const watchers: Awaited<ReturnType<typeof watchPaths>>[] = []
afterEach(() => {
  for (const watcher of watchers.splice(0)) watcher.close()
})

/** The poll comes later than any test waits: only an event can tell. */
const BY_EVENTS: WatchOptions = { pollMs: 600_000, quietMs: 20 }
/** So long that a change of which nobody should be told would have been told. */
const SILENCE_MS = 150

/** Watches, and finds that nothing is told of a start. */
async function observe(paths: readonly string[], options: WatchOptions = {}) {
  const calls: number[] = []
  watchers.push(await watchPaths(paths, clock, () => calls.push(clock.monotonic()), { ...BY_EVENTS, ...options }))
  await clock.sleep(SILENCE_MS)
  expect(calls).toEqual([])
  return {
    calls,
    /** Does something, and waits until a change is told. */
    async tells(act: () => void): Promise<void> {
      const before = calls.length
      act()
      await until('a change to be told', () => calls.length > before)
    },
  }
}

/** Does something and expects to be told of it once. */
async function expectTold(paths: readonly string[], act: () => void): Promise<void> {
  const { calls, tells } = await observe(paths)
  await tells(act)
  await clock.sleep(SILENCE_MS)
  expect(calls.length).toBe(1)
}

const swapLink = (target: string, path: string): void => {
  symlinkSync(target, `${path}.new`)
  renameSync(`${path}.new`, path)
}

describe('watchPaths reports', () => {
  it('a change between the reading of the files and the watch', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    const since = await stampBefore([root], clock)
    writeFileSync(join(root, 'a.yaml'), 'a: 2')
    let calls = 0
    watchers.push(await watchPaths([root], clock, () => (calls += 1), { ...BY_EVENTS, since: () => since }))
    await until('the change to be told', () => calls > 0)
  })

  it('an edit in place', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    await expectTold([root], () => writeFileSync(join(root, 'a.yaml'), 'a: 2'))
  })

  it('a file that is replaced', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    await expectTold([root], () => {
      writeFileSync(join(root, '.a.yaml.swp'), 'a: 2')
      renameSync(join(root, '.a.yaml.swp'), join(root, 'a.yaml'))
    })
  })

  it('a file that is removed', async () => {
    const root = folder({ 'a.yaml': 'a: 1', 'b.yaml': 'b: 1' })
    await expectTold([root], () => unlinkSync(join(root, 'b.yaml')))
  })

  it('a new folder, and then of a file in it', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    const { tells, calls } = await observe([root])
    mkdirSync(join(root, 'sub'))
    await clock.sleep(SILENCE_MS)
    expect(calls).toEqual([])
    await tells(() => writeFileSync(join(root, 'sub/b.yaml'), 'b: 1'))
  })

  it('the swap of ..data', async () => {
    const root = folder({ '..one/a.yaml': 'a: 1', '..two/a.yaml': 'a: 2' })
    symlinkSync('..one', join(root, '..data'))
    symlinkSync('..data/a.yaml', join(root, 'a.yaml'))
    await expectTold([root], () => {
      swapLink('..two', join(root, '..data'))
      rmSync(join(root, '..one'), { recursive: true })
    })
  })

  it('the swap of ..data behind a single file', async () => {
    const root = folder({ '..one/config.yaml': 'a: 1', '..two/config.yaml': 'a: 2' })
    symlinkSync('..one', join(root, '..data'))
    symlinkSync('..data/config.yaml', join(root, 'config.yaml'))
    await expectTold([join(root, 'config.yaml')], () => swapLink('..two', join(root, '..data')))
  })

  it('the swap of a worktree above the path, again and again', async () => {
    const root = folder({ 'one/policies/a.yaml': 'a: 1', 'two/policies/a.yaml': 'a: 2', 'three/policies/a.yaml': 'a: 3' })
    symlinkSync('one', join(root, 'repo'))
    const { tells } = await observe([join(root, 'repo/policies')])
    for (const target of ['two', 'three', 'one']) await tells(() => swapLink(target, join(root, 'repo')))
  })

  it('the whole folder replaced', async () => {
    const root = folder({ 'p/a.yaml': 'a: 1', 'q/a.yaml': 'a: 2' })
    const { tells } = await observe([join(root, 'p')])
    await tells(() => {
      renameSync(join(root, 'p'), join(root, 'old'))
      renameSync(join(root, 'q'), join(root, 'p'))
    })
    await tells(() => writeFileSync(join(root, 'p/a.yaml'), 'a: 3'))
  })

  it.skipIf(spawnSync('mkfifo', ['--version']).status !== 0)('a pipe in place of the folder, and of a file (needs mkfifo)', async () => {
    const root = folder({ 'p/a.yaml': 'a: 1', 'q/a.yaml': 'a: 2' })
    const { tells } = await observe([join(root, 'p')])
    for (const path of ['p/a.yaml', 'p']) {
      await tells(() => {
        renameSync(join(root, path), join(root, `${path}.old`))
        execFileSync('mkfifo', [join(root, path)])
      })
    }
    await tells(() => swapLink('q', join(root, 'p')))
  })

  it('a link at the beginning of a way of links, in its middle and at its end, and one in a circle', async () => {
    const root = folder({ 'real/p/a.yaml': 'a: 1', 'real/q/a.yaml': 'a: 3', 'other/p/a.yaml': 'a: 2', 'links/none': '' })
    const links = { 'real/end': 'p', 'other/end': 'p', 'links/two': '../real', one: 'links/two', circle: 'round', round: 'circle' }
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name))
    const { tells } = await observe([join(root, 'one/end'), join(root, 'circle')])
    await tells(() => swapLink('q', join(root, 'real/end')))
    await tells(() => swapLink('../other', join(root, 'links/two')))
    await tells(() => swapLink('real', join(root, 'one')))
    await tells(() => swapLink('other/p/a.yaml', join(root, 'circle')))
  })

  it('a path that was not there before, folder by folder', async () => {
    const root = folder({})
    const { tells } = await observe([join(root, 'x/y/p')])
    await tells(() => void mkdirSync(join(root, 'x/y/p'), { recursive: true }))
    await tells(() => writeFileSync(join(root, 'x/y/p/a.yaml'), 'a: 1'))
  })
})

describe('watchPaths', () => {
  it('is quiet when hidden files, other files or times of folders change', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    const { calls } = await observe([root])
    writeFileSync(join(root, '.a.yaml.swp'), 'x')
    writeFileSync(join(root, 'capkeeper.db'), 'x')
    await clock.sleep(SILENCE_MS)
    expect(calls).toEqual([])
  })

  it('tells once of many edits, and in time of edits that never stop', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    const [quietMs, patienceMs] = [100, 400]
    const { calls } = await observe([root], { quietMs, patienceMs })
    const edits: number[] = []
    // They do not stop before one was told. Several come at once, so that they are more than what may be told on the slowest machine.
    await until('a change to be told', () => {
      for (let more = 5; more > 0; more -= 1) {
        edits.push(clock.monotonic())
        writeFileSync(join(root, 'a.yaml'), `a: ${edits.length}`)
      }
      return calls.length > 0
    })
    await clock.sleep(2 * quietMs)
    // A busy machine may leave so long between two that each counts.
    const pauses = edits.filter((at, index) => at - (edits[index - 1] ?? at) >= quietMs).length
    expect(calls.length).toBeLessThanOrEqual(2 + pauses)
    expect(edits.length).toBeGreaterThan(calls.length)
  })

  it('finds by its poll what no event told', async () => {
    const root = folder({ 'x/p/a.yaml': 'a: 1', 'y/p/a.yaml': 'a: 2' })
    const { tells } = await observe([join(root, 'x/p')], { pollMs: 150 })
    await tells(() => {
      renameSync(join(root, 'x'), join(root, 'old'))
      renameSync(join(root, 'y'), join(root, 'x'))
    })
  })

  it('goes on after a receiver has failed', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    let calls = 0
    const failing = () => {
      calls += 1
      return calls === 1 ? Promise.reject(new Error('no')) : undefined
    }
    watchers.push(await watchPaths([root], clock, failing, BY_EVENTS))
    for (const [index, text] of ['a: 2', 'a: 3'].entries()) {
      writeFileSync(join(root, 'a.yaml'), text)
      await until(`call ${index + 1}`, () => calls === index + 1)
    }
  })

  it('tells again until what was read is what is there', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    let read: string | undefined = 'of a reading that failed'
    let calls = 0
    const receive = async () => {
      calls += 1
      if (calls === 3) read = await stampBefore([root], clock)
    }
    watchers.push(await watchPaths([root], clock, receive, { pollMs: 20, quietMs: 5, since: () => read }))
    await until('three calls', () => calls === 3)
    await clock.sleep(SILENCE_MS)
    expect(calls).toBe(3)
  })

  it('says nothing after it is closed', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    const { calls } = await observe([root], { pollMs: 50 })
    for (const watcher of watchers) watcher.close()
    writeFileSync(join(root, 'a.yaml'), 'a: 2')
    await clock.sleep(SILENCE_MS)
    expect(calls).toEqual([])
  })
})
