import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, constants, lstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { place } from '../e2e/world.ts'
import { inside } from '../support/inside.ts'

const hasMkfifo = spawnSync('mkfifo', ['--version']).status === 0

test.skipIf(!hasMkfifo)('an export of the sandbox goes into a pipe, and the pipe stays (needs mkfifo)', async () => {
  const { folder } = place()
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  const ran = await inside(['sandbox', '--people', '1', '--groups', '1', '--days', '0', '--export', pipe], { cwd: folder })
  const bytes = Buffer.alloc(65_536)
  const length = readSync(reader, bytes)
  closeSync(reader)
  expect(ran).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(bytes.toString('utf8', 0, length)).toContain('"SandboxFixture"')
  expect(lstatSync(pipe).isFIFO()).toBe(true)
  expect(readdirSync(folder)).toEqual(['pipe'])
})
