// The files that the daemon reads beside itself. A file system that never answers is in test/hostile.
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FileError, keepFiles, oneAtATime, readAs, readWhole } from '../src/files.ts'
import { fakeClock } from './support/clock.ts'
import { temporaryFolder } from './support/temporary.ts'

const folder = temporaryFolder()
const path = join(folder, 'file')

test('what is known of a file is a second old at most, and another identity tells that it changed', async () => {
  const clock = fakeClock()
  const files = keepFiles(clock)
  writeFileSync(path, 'one')
  expect(() => files.look(path, 10)).toThrow('has not been read yet')
  await files.refresh([path])
  const first = files.look(path, 10)
  writeFileSync(path, 'two')
  await files.refresh([path])
  expect(files.look(path, 10).text()).toBe('one')
  await clock.advance(1_000)
  await files.refresh([path])
  const second = files.look(path, 10)
  expect([first.text(), second.text()]).toEqual(['one', 'two'])
  expect(first.identity).not.toBe(second.identity)
  expect(() => files.look(path, 2)).toThrow('has more than the 2 bytes that are read')
})

test('what cannot be read is an error until it can be', async () => {
  const clock = fakeClock()
  const files = keepFiles(clock)
  rmSync(path)
  await files.refresh([path])
  expect(() => files.look(path, 10)).toThrow('ENOENT')
  mkdirSync(path)
  await clock.advance(1_000)
  await files.refresh([path])
  expect(() => files.look(path, 10)).toThrow('is not a regular file')
  rmSync(path, { recursive: true })
  const socket = createServer().listen(path)
  onTestFinished(() => void socket.close())
  await once(socket, 'listening')
  await clock.advance(1_000)
  await files.refresh([path])
  expect(() => files.look(path, 10)).toThrow('is not a regular file')
  await expect(readWhole(path, 10, clock)).rejects.toThrow('is not a regular file')
})

test('many readers of one file, and many files, all get their content', async () => {
  readAs('daemon')
  onTestFinished(() => readAs('command'))
  const paths = Array.from({ length: 40 }, (_, at) => join(folder, String(at)))
  for (const one of paths) writeFileSync(one, one)
  const read = await Promise.all([...paths, ...paths].map((one) => readWhole(one, 1_000, fakeClock())))
  expect(read.map(({ bytes }) => bytes.toString())).toEqual([...paths, ...paths])
  await expect(readWhole(folder, 10, fakeClock())).rejects.toThrow(FileError)
})

test('what stalls is begun once, whoever asks for it, and again when it has ended', async () => {
  const clock = fakeClock()
  let begun = 0
  const end = Promise.withResolvers<void>()
  const work = async (): Promise<void> => {
    begun += 1
    await end.promise
  }
  const ask = () => oneAtATime('one', clock, work)
  const asked = Promise.allSettled([ask(), ask(), ask()])
  await clock.advance(5_000)
  const reasons = (await asked).map((one) => (one.status === 'rejected' ? String(one.reason.code) : 'done'))
  expect([reasons, begun]).toEqual([['FILE_STALLED', 'FILE_STALLED', 'FILE_STALLED'], 1])
  await expect(ask()).rejects.toThrow('did not answer within 5 s')
  end.resolve()
  await new Promise(setImmediate)
  await ask()
  expect(begun).toBe(2)
})
