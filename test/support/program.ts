// Before all tests: bundles the whole program into a few files, so that the hundreds of processes that tests start do not load five hundred
// sources each. The program is the same: the same sources and packages, with nothing left out or added.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { ENTRIES } from '../../deploy/build.ts'
import { makeSources } from '../../deploy/sources.ts'
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
  await makeSources()
  process.env['CAPKEEPER_MAIN'] ??= await joinedProgram()
  return temporaryInMemory()
}

/**
 * node:http without the client behind `fetch`, which Node loads with an import of node:http and the program never uses. That is a quarter
 * of the start of a command that sends requests.
 */
const http = {
  name: 'http',
  resolveId: (source: string) => (source === 'node:http' || source === 'http' ? '\0http' : null),
  load(id: string) {
    if (id !== '\0http') return null
    const own = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule('node:http')))
    const names = own.filter(([, { get }]) => get === undefined).map(([name]) => name)
    return `const http = process.getBuiltinModule('node:http')\nexport default http\nexport const { ${names.join(', ')} } = http\n`
  },
}

/** Bundles the present sources; returns the file to run. */
async function joinedProgram(): Promise<string> {
  await using joined = await rolldown({
    input: INPUT,
    cwd: ROOT,
    platform: 'node',
    plugins: [http],
    transform: { target: 'node24' },
  })
  const { output } = await joined.generate({ format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' })
  const files = output.map((one) => ({ name: one.fileName, content: one.type === 'chunk' ? one.code : one.source }))
  const hash = createHash('sha256')
  for (const { name, content } of files) hash.update(name).update(content)
  const folder = join(FOLDER, hash.digest('hex').slice(0, 16))
  if (!existsSync(folder)) put(folder, files)
  return join(folder, 'main.js')
}

/** Another run may do the same at the same time: the second keeps the first one's. */
function put(folder: string, files: readonly { readonly name: string; readonly content: string | Uint8Array }[]): void {
  mkdirSync(FOLDER, { recursive: true })
  const earlier = readdirSync(FOLDER).map((name) => ({ path: join(FOLDER, name), madeMs: statSync(join(FOLDER, name)).mtimeMs }))
  const old = earlier.sort((a, b) => b.madeMs - a.madeMs).slice(KEPT)
  for (const { path } of old) rmSync(path, { recursive: true, force: true })
  const unfinished = mkdtempSync(join(FOLDER, 'unfinished-'))
  for (const { name, content } of files) writeFileSync(join(unfinished, name), content)
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}
