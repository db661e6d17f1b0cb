import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Watcher, type WatchOptions, watchPaths, waypoints } from '../../src/policy/load/watch.ts'
import { realClock } from '../support/real-clock.ts'
import { folders } from './support.ts'

const folder = folders()
const clock = realClock()
const watchers: Watcher[] = []
afterEach(() => {
  for (const watcher of watchers.splice(0)) watcher.close()
})

/** Watches without any help from the poll, unless told otherwise. */
async function observe(paths: readonly string[], options: WatchOptions = {}) {
  const calls: number[] = []
  watchers.push(watchPaths(paths, clock, () => calls.push(clock.monotonic()), { pollMs: 60_000, ...options }))
  await clock.sleep(250)
  expect(calls).toEqual([])
  return {
    calls,
    /** Waits for the next call; the time since `from`, in milliseconds. */
    async next(from: number): Promise<number> {
      const before = calls.length
      for (let turn = 0; turn < 400 && calls.length === before; turn += 1) await clock.sleep(10)
      const at = calls[before]
      if (at === undefined) throw new Error('no change was told')
      return at - from
    },
  }
}

/** Does something and expects to be told of it once, soon. */
async function expectTold(paths: readonly string[], act: () => void): Promise<void> {
  const { calls, next } = await observe(paths)
  const from = clock.monotonic()
  act()
  expect(await next(from)).toBeLessThan(1000)
  await clock.sleep(400)
  expect(calls.length).toBe(1)
}

const swapLink = (target: string, path: string): void => {
  symlinkSync(target, `${path}.new`)
  renameSync(`${path}.new`, path)
}

describe('watchPaths tells of', () => {
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
    const { next, calls } = await observe([root])
    mkdirSync(join(root, 'sub'))
    await clock.sleep(300)
    expect(calls).toEqual([])
    const from = clock.monotonic()
    writeFileSync(join(root, 'sub/b.yaml'), 'b: 1')
    expect(await next(from)).toBeLessThan(1000)
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
    const { next } = await observe([join(root, 'repo/policies')])
    for (const target of ['two', 'three', 'one']) {
      const from = clock.monotonic()
      swapLink(target, join(root, 'repo'))
      expect(await next(from)).toBeLessThan(1000)
    }
  })

  it('the whole folder replaced', async () => {
    const root = folder({ 'p/a.yaml': 'a: 1', 'q/a.yaml': 'a: 2' })
    const { next } = await observe([join(root, 'p')])
    const from = clock.monotonic()
    renameSync(join(root, 'p'), join(root, 'old'))
    renameSync(join(root, 'q'), join(root, 'p'))
    expect(await next(from)).toBeLessThan(1000)
    const again = clock.monotonic()
    writeFileSync(join(root, 'p/a.yaml'), 'a: 3')
    expect(await next(again)).toBeLessThan(1000)
  })

  it('a path that was not there before, folder by folder', async () => {
    const root = folder({})
    const { next } = await observe([join(root, 'x/y/p')])
    const from = clock.monotonic()
    mkdirSync(join(root, 'x/y/p'), { recursive: true })
    await next(from)
    const again = clock.monotonic()
    writeFileSync(join(root, 'x/y/p/a.yaml'), 'a: 1')
    expect(await next(again)).toBeLessThan(1000)
  })
})

describe('watchPaths', () => {
  it('is quiet when hidden files, other files or times of folders change', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    const { calls } = await observe([root])
    writeFileSync(join(root, '.a.yaml.swp'), 'x')
    writeFileSync(join(root, 'capkeeper.db'), 'x')
    await clock.sleep(400)
    expect(calls).toEqual([])
  })

  it('tells once of many edits, and in time of edits that never stop', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    const { calls } = await observe([root], { patienceMs: 400 })
    for (let turn = 0; turn < 20; turn += 1) {
      writeFileSync(join(root, 'a.yaml'), `a: ${turn}`)
      await clock.sleep(30)
    }
    await clock.sleep(300)
    expect(calls.length).toBeGreaterThanOrEqual(1)
    expect(calls.length).toBeLessThanOrEqual(3)
  })

  it('finds by its poll what no event told', async () => {
    const root = folder({ 'x/p/a.yaml': 'a: 1', 'y/p/a.yaml': 'a: 2' })
    const { next } = await observe([join(root, 'x/p')], { pollMs: 150 })
    renameSync(join(root, 'x'), join(root, 'old'))
    renameSync(join(root, 'y'), join(root, 'x'))
    expect(await next(clock.monotonic())).toBeLessThan(1000)
  })

  it('goes on after a receiver has failed', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    let calls = 0
    const failing = () => {
      calls += 1
      return calls === 1 ? Promise.reject(new Error('no')) : undefined
    }
    watchers.push(watchPaths([root], clock, failing, { pollMs: 50 }))
    for (const text of ['a: 2', 'a: 3']) {
      await clock.sleep(200)
      writeFileSync(join(root, 'a.yaml'), text)
    }
    await clock.sleep(400)
    expect(calls).toBe(2)
  })

  it('says nothing after it is closed', async () => {
    const root = folder({ 'a.yaml': 'a: 1' })
    const { calls } = await observe([root], { pollMs: 50 })
    for (const watcher of watchers) watcher.close()
    writeFileSync(join(root, 'a.yaml'), 'a: 2')
    await clock.sleep(300)
    expect(calls).toEqual([])
  })
})

describe('waypoints', () => {
  it('are every link on the way, the last name and the first that is missing', () => {
    const root = folder({ 'real/p/a.yaml': '' })
    symlinkSync('real', join(root, 'two'))
    symlinkSync('two', join(root, 'one'))
    const names = (path: string) => waypoints(join(root, path)).map((one) => join(one.folder, one.name).slice(root.length + 1))
    expect(names('one/p')).toEqual(['one', 'two', 'real/p'])
    expect(names('real/x/y')).toEqual(['real/x'])
  })

  it('end for links in a circle', () => {
    const root = folder({})
    symlinkSync('b', join(root, 'a'))
    symlinkSync('a', join(root, 'b'))
    expect(waypoints(join(root, 'a')).length).toBeLessThanOrEqual(41)
  })
})
