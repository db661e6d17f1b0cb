import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { saveWhole } from '../../src/cli/shared/reader.ts'
import { place } from '../e2e/world.ts'
import { inside } from '../support/inside.ts'

const hasMkfifo = spawnSync('mkfifo', ['--version']).status === 0

describe('a file that is saved', () => {
  test('takes the place of the one before, and of a link, but not of where that leads', () => {
    const { folder } = place()
    writeFileSync(join(folder, 'a'), 'old')
    symlinkSync('a', join(folder, 'link'))
    saveWhole(join(folder, 'link'), ['n', 'ew'])
    expect(['a', 'link'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(['old', 'new'])
    saveWhole(join(folder, 'a'), ['newer'])
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('newer')
    expect(readdirSync(folder)).toEqual(['a', 'link'])
  })

  test('is written whole or not at all, and leaves files with similar names alone', () => {
    const { folder } = place()
    writeFileSync(join(folder, 'a'), 'old')
    writeFileSync(join(folder, 'a.part'), 'of somebody')
    mkdirSync(join(folder, 'folder'))
    function* broken(): Generator<string> {
      yield 'n'
      throw new Error('no more')
    }
    expect(() => saveWhole(join(folder, 'a'), broken())).toThrow('no more')
    expect(() => saveWhole(join(folder, 'folder'), ['x'])).toThrow('EISDIR')
    expect(['a', 'a.part'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(['old', 'of somebody'])
    expect(readdirSync(folder)).toEqual(['a', 'a.part', 'folder'])
  })
})

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
