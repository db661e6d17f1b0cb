// Replaces files by their edited texts: each is whole at any time, also when the process is killed, and after a failure all are as they were. A
// file that changed since it was read is left alone. Owner and mode stay; where they cannot, nothing is written.
import {
  closeSync,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { InputError } from '../../core/model/problem.ts'
import { codeIn, readBytes } from '../../files.ts'
import { MAX_FILE_BYTES } from '../load/files.ts'
import type { EditedFile } from './plan.ts'

/** A file is not what it was when the edit was worked out; nothing was written. */
export class ChangedError extends Error {
  override readonly name = 'ChangedError'
}

type Replacement = ReturnType<typeof replacementOf>

/** Writes edited texts. Throws a `ChangedError`, an `InputError` for a file that cannot be replaced as it is, or the system's error. */
export function writeEdits(files: readonly EditedFile[]): void {
  const replacements = files.map(replacementOf)
  const done: Replacement[] = []
  try {
    for (const one of replacements) prepare(one, replacements.length > 1)
    for (const one of replacements) mustBeAlone(one)
    for (const one of replacements) {
      mustBeSame(one)
      renameSync(one.fresh, one.real)
      done.push(one)
    }
    for (const folder of new Set(files.map(({ real }) => dirname(real)))) flushFolder(folder)
  } catch (error) {
    // The last one renamed needs no way back: nothing failed behind it but the flush of a folder.
    if (done.length < replacements.length) for (const one of done) renameSync(one.old, one.real)
    throw error
  } finally {
    for (const { fresh, old } of replacements) for (const path of [fresh, old]) rmSync(path, { force: true })
  }
}

/** `fresh` and `old`: hidden names beside the file, which no loader reads. */
function replacementOf(file: EditedFile) {
  const stats = lstatSync(file.real, { bigint: true })
  const hidden = join(dirname(file.real), `${hiddenPrefix(file)}${process.pid}`)
  if (stats.nlink > 1n) refuse(file, `is one file with ${stats.nlink} names, and the others would keep the old text`)
  return { ...file, stats, fresh: `${hidden}.new`, old: `${hidden}.old` }
}

/** The beginning of all hidden names beside a file; the process that made it follows. */
const hiddenPrefix = ({ real }: EditedFile): string => `.${basename(real)}.capkeeper-`

/** Of two edits at once at least one sees the other. What a killed one left behind is removed. */
function mustBeAlone(one: Replacement): void {
  const [folder, prefix] = [dirname(one.real), hiddenPrefix(one)]
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix)) continue
    const pid = Number.parseInt(name.slice(prefix.length), 10)
    if (pid === process.pid) continue
    if (isAlive(pid)) changed(one)
    rmSync(join(folder, name), { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeIn(error) === 'EPERM'
  }
}

/** The text under a hidden name, flushed, with the owner and mode of the file; and where several are replaced, the old one under another. */
function prepare(one: Replacement, keepsOld: boolean): void {
  mustBeSame(one)
  if (!readBytes(one.real, MAX_FILE_BYTES).equals(Buffer.from(one.before))) changed(one)
  for (const path of [one.fresh, one.old]) rmSync(path, { force: true })
  try {
    writeFresh(one)
    if (keepsOld) keepOld(one)
  } catch (error) {
    if (!isForbidden(error)) throw error
    refuse(one, `cannot be replaced with its owner and mode kept (${error.code})`)
  }
}

function writeFresh(one: Replacement): void {
  const { stats, fresh } = one
  using ended = new DisposableStack()
  const file = ended.adopt(openSync(fresh, 'wx', 0o600), closeSync)
  writeFileSync(file, one.after)
  const made = fstatSync(file, { bigint: true })
  if (made.uid !== stats.uid || made.gid !== stats.gid) fchownSync(file, Number(stats.uid), Number(stats.gid))
  fchmodSync(file, Number(stats.mode & 0o7777n))
  fsyncSync(file)
  const { uid, gid, mode } = fstatSync(file, { bigint: true })
  if (uid !== stats.uid || gid !== stats.gid || mode !== stats.mode) refuse(one, 'cannot be replaced with its owner and mode kept')
}

/** A second name of the old file; a copy where the file system has no links. */
function keepOld({ real, old }: Replacement): void {
  try {
    linkSync(real, old)
  } catch {
    copyFileSync(real, old)
  }
}

function mustBeSame(one: Replacement): void {
  const now = lstatSync(one.real, { bigint: true, throwIfNoEntry: false })
  const { stats } = one
  if (!now || now.ino !== stats.ino || now.dev !== stats.dev || now.size !== stats.size || now.mtimeNs !== stats.mtimeNs) changed(one)
}

function changed({ shown }: Replacement): never {
  throw new ChangedError(`${shown} was changed by somebody else meanwhile, or is being edited; nothing was written, so try again`)
}

function refuse({ shown }: EditedFile, why: string): never {
  const hint = 'edit it as a user who may, or by hand; --check and the diff show the change'
  throw new InputError([
    { severity: 'error', code: 'EDIT_BY_HAND', message: `${shown} ${why}`, at: { file: shown, line: 1, column: 1 }, hint },
  ])
}

const FORBIDDEN = new Set(['EACCES', 'EPERM', 'EROFS'])

const isForbidden = (error: unknown): error is NodeJS.ErrnoException => FORBIDDEN.has(codeIn(error) ?? '')

/** Some systems cannot flush a folder; the names are written all the same. */
function flushFolder(folder: string): void {
  try {
    using ended = new DisposableStack()
    fsyncSync(ended.adopt(openSync(folder, 'r'), closeSync))
  } catch {
    return
  }
}
