import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, constants, lstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { expect, test } from 'vitest'
import { world } from '../e2e/world.ts'

const hasMkfifo = spawnSync('mkfifo', ['--version']).status === 0

test.skipIf(!hasMkfifo)('a saved plan goes into a pipe, and the pipe stays (needs mkfifo)', async () => {
  const { path, run } = await world()
  execFileSync('mkfifo', [path('pipe')])
  const reader = openSync(path('pipe'), constants.O_RDWR | constants.O_NONBLOCK)
  const ran = await run('plan', '--out', path('pipe'))
  const bytes = Buffer.alloc(65_536)
  const length = readSync(reader, bytes)
  closeSync(reader)
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(bytes.toString('utf8', 0, length)).toContain('"Plan"')
  expect(lstatSync(path('pipe')).isFIFO()).toBe(true)
})

test('a plan that cannot be saved leaves nothing behind', async () => {
  const { folder, path, run } = await world()
  const before = readdirSync(folder)
  for (const [file, why] of [
    ['nowhere/plan.json', 'ENOENT'],
    ['key/plan.json', 'ENOTDIR'],
    ['policies', 'EISDIR'],
  ] as const) {
    const { code, stderr } = await run('plan', '--out', path(file))
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${file} cannot be written (${why})\n`)])
  }
  expect(readdirSync(folder)).toEqual(before)
})
