// Counts the calls of the file system by which edited files are written: at one of them the thread ends, or the call fails.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { EditedFile } from '../../../src/policy/edit/plan.ts'
import { writeEdits } from '../../../src/policy/edit/write.ts'

const NAMES = [
  ...(['openSync', 'writeFileSync', 'fchmodSync', 'fsyncSync', 'closeSync'] as const),
  ...(['linkSync', 'lstatSync', 'readdirSync', 'renameSync', 'rmSync'] as const),
]

/** How many calls there were, or what was thrown. */
export function writeCounted(files: readonly EditedFile[], at = 0, how: 'kill' | 'fail' = 'fail'): string {
  let calls = 0
  const real = Object.fromEntries(NAMES.map((name) => [name, fs[name] as (...given: never[]) => unknown]))
  const counted =
    (call: (...given: never[]) => unknown) =>
    (...given: never[]): unknown => {
      calls += 1
      if (calls === at && how === 'kill') process.exit(9)
      if (calls === at) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      return call(...given)
    }
  Object.assign(fs, Object.fromEntries(Object.entries(real).map(([name, call]) => [name, counted(call)])))
  syncBuiltinESMExports()
  try {
    writeEdits(files)
    return `calls ${calls}`
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  } finally {
    Object.assign(fs, real)
    syncBuiltinESMExports()
  }
}
