// Writes a file that the user named: whole or not at all, and never in place of a pipe or a device.
import { closeSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

/**
 * Writes a text in pieces. A pipe or a device, such as /dev/stdout, is written to. Otherwise a new file replaces the one of this name, and no
 * link is followed. After an error nothing is left behind.
 */
export function saveWhole(file: string, pieces: Iterable<string>, mode = 0o666): void {
  const isSpecial = statSync(file, { throwIfNoEntry: false })?.isFile() === false
  if (isSpecial) write(file, pieces, 'w', mode)
  else replace(file, pieces, mode)
}

function replace(file: string, pieces: Iterable<string>, mode: number): void {
  const part = `${file}.${process.pid}.part`
  try {
    write(part, pieces, 'wx', mode)
    renameSync(part, file)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

function write(file: string, pieces: Iterable<string>, flags: string, mode: number): void {
  const opened = openSync(file, flags, mode)
  try {
    for (const piece of pieces) writeFileSync(opened, piece)
  } finally {
    closeSync(opened)
  }
}
