// Before all tests: builds the program as users get it, so that the hundreds of processes that tests start do not load hundreds of sources each.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build, ENTRIES } from '../../deploy/build.ts'
import { temporaryInMemory } from './temporary.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, '.cache/program')
/** How many programs of earlier runs are kept, because one of them may be running. */
const KEPT = 8

/** What is built for users, and more. */
const INPUT = {
  ...ENTRIES,
  // Imported by helper processes of the ledger's tests (ledger.ts).
  'ledger-part': 'src/daemon/ledger/ledger.ts',
  'database-part': 'src/daemon/ledger/sqlite/database.ts',
  'clock-part': 'src/daemon/schedule/system.ts',
}

/** Vitest calls it once, before it starts its workers, which inherit the environment; the returned function is called at the end. */
export async function setup(): Promise<() => void> {
  process.env['CAPKEEPER_MAIN'] ??= await joinedProgram()
  return temporaryInMemory()
}

/** Builds the present sources; returns the file to run. */
async function joinedProgram(): Promise<string> {
  mkdirSync(FOLDER, { recursive: true })
  const unfinished = mkdtempSync(join(FOLDER, 'unfinished-'))
  await build(unfinished, INPUT)
  const hash = createHash('sha256')
  for (const name of readdirSync(unfinished).sort()) hash.update(name).update(readFileSync(join(unfinished, name)))
  const folder = join(FOLDER, hash.digest('hex').slice(0, 16))
  put(unfinished, folder)
  return join(folder, 'main.js')
}

/** Another run may do the same at the same time: the second keeps the first one's. */
function put(unfinished: string, folder: string): void {
  const earlier = readdirSync(FOLDER).map((name) => ({ path: join(FOLDER, name), madeMs: statSync(join(FOLDER, name)).mtimeMs }))
  const old = earlier.sort((a, b) => b.madeMs - a.madeMs).slice(KEPT)
  for (const { path } of old) rmSync(path, { recursive: true, force: true })
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}
