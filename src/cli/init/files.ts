// Creates new files, all or none. Each is written under another name and then linked to its place, which never replaces a file. When one fails,
// the others are removed. It must never overwrite or remove a file that it did not make.
import { existsSync, linkSync, lstatSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandError } from '../shared/context.ts'
import { messageOf } from '../shared/text.ts'

export interface NewFile {
  /** Below the folder, with `/`. */
  readonly path: string
  readonly text: string
}

/** The paths that exist already, dangling links included. */
export const existingIn = (folder: string, paths: readonly string[]): readonly string[] =>
  paths.filter((path) => lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined)

/** The path exists and is no folder. */
export const isNoFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === false

/** Creates all files. On an error it throws a `CommandError` and leaves the folder as it was. */
export function createFiles(folder: string, files: readonly NewFile[]): void {
  const made: (() => void)[] = []
  try {
    makeFolder(folder, made)
    const staging = mkdtempSync(join(folder, '.capkeeper-init-'))
    try {
      for (const [index, { path, text }] of files.entries()) {
        const whole = join(staging, String(index))
        writeFileSync(whole, text, { flush: true })
        const target = join(folder, path)
        makeFolder(dirname(target), made)
        place(whole, target, text)
        made.push(() => unlinkSync(target))
      }
    } finally {
      rmSync(staging, { recursive: true, force: true })
    }
  } catch (error) {
    for (const undo of made.toReversed()) quietly(undo)
    throw new CommandError(`nothing was written: ${messageOf(error)}`)
  }
}

/** Makes a folder and its parents, and notes how to remove those that it made. */
function makeFolder(folder: string, made: (() => void)[]): void {
  if (existsSync(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent, made)
  mkdirSync(folder)
  made.push(() => rmdirSync(folder))
}

const WITHOUT_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** On a file system without links the file is written in place, which also replaces nothing. */
function place(whole: string, target: string, text: string): void {
  try {
    linkSync(whole, target)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && WITHOUT_LINKS.includes(String(error.code)))) throw error
    writeFileSync(target, text, { flag: 'wx', flush: true })
  }
}

/** A folder into which others have put files remains. */
function quietly(undo: () => void): void {
  try {
    undo()
  } catch {}
}
