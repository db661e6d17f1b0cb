// The folder for temporary files of tests: in memory where the machine has room. Each record of a ledger waits for its disk, so the
// thousands that tests write would wait for a real one in turn. The file system calls are the same; faults of a disk are tested in
// test/hostile.
import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

const IN_MEMORY = '/dev/shm'
/** Room for several clusters of PostgreSQL at a time, and the profile of a browser. Containers often have 64 MiB there. */
const ROOM_BYTES = 4 * 1024 ** 3

/** Followed by the number of the process that made it, which tells whether its run has ended. */
const PREFIX = 'capkeeper-tests-'

/** Makes a folder in memory for `os.tmpdir()` of this process and its workers, unless TMPDIR is set; returns a function that removes it. */
export function temporaryInMemory(): () => void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return () => undefined
  removeForgotten()
  const folder = mkdtempSync(join(IN_MEMORY, `${PREFIX}${process.pid}-`))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  // The user of PostgreSQL needs access to it.
  chmodSync(folder, 0o755)
  if (!runsPrograms(folder)) {
    remove()
    return () => undefined
  }
  process.env['TMPDIR'] = folder
  return remove
}

/** Removes folders of killed runs of this user. */
function removeForgotten(): void {
  for (const name of readdirSync(IN_MEMORY).filter((one) => one.startsWith(PREFIX))) {
    const [pid = ''] = name.slice(PREFIX.length).split('-')
    const folder = join(IN_MEMORY, name)
    if (statSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.() && !isAlive(Number(pid)))
      rmSync(folder, { recursive: true, force: true })
  }
}

/** Only "no such process" means that it has ended: a process of another user is alive. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return bavail * bsize >= ROOM_BYTES
  } catch {
    return false
  }
}

/** Some tests write a script and run it; a mount may forbid that. */
function runsPrograms(folder: string): boolean {
  const probe = join(folder, 'probe')
  try {
    writeFileSync(probe, '#!/bin/sh\n', { mode: 0o755 })
    accessSync(probe, constants.X_OK)
    return true
  } catch {
    return false
  } finally {
    rmSync(probe, { force: true })
  }
}

/** A folder that is removed with the test, or outside of one with the file. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'capkeeper-test-')))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    onTestFinished(remove)
  } catch {
    afterAll(remove)
  }
  return folder
}
