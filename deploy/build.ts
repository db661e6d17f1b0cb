// Builds the program into `dist`: its modules joined into fewer files, each with a source map, because every file costs time at the start.
// Modules that are loaded together are in one file, so a command that needs no network still loads no client, server or log. `npm run build`, to which a folder can be given.
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { makeSources } from './sources.ts'

const ROOT = join(import.meta.dirname, '..')

/** What is started: the program, and its threads, which are looked up by name beside the module that starts them. */
export const ENTRIES = {
  main: 'src/main.ts',
  'load-thread': 'src/policy/load/load-thread.ts',
  'plan-thread': 'src/policy/edit/plan-thread.ts',
  'file-thread': 'src/daemon/config/file-thread.ts',
  'directory-thread': 'src/daemon/directory/directory-thread.ts',
  'compare-thread': 'src/daemon/replay/compare-thread.ts',
}

/** Packages that no command without network loads at its start. They stay in `node_modules`; all others are joined to what needs them. */
export const HEAVY = ['fastify', 'got', 'hpagent', 'nodemailer', 'pg', 'pg-connection-string', 'pino', 'pino-pretty', 'prom-client']
const APART = new RegExp(`^(node:|(${HEAVY.join('|')})(/|$))`)

/** Writes the program into a folder, which is emptied first. Throws when a module is missing. */
export async function build(dir = join(ROOT, 'dist')): Promise<void> {
  await makeSources()
  // A module that some load at once and others later is told of with every build; it is meant.
  await using program = await rolldown({
    input: ENTRIES,
    cwd: ROOT,
    platform: 'node',
    external: APART,
    checks: { ineffectiveDynamicImport: false },
  })
  const names = '[name].js'
  await program.write({
    dir,
    format: 'esm',
    sourcemap: true,
    sourcemapExcludeSources: true,
    cleanDir: true,
    entryFileNames: names,
    chunkFileNames: names,
  })
  chmodSync(join(dir, 'main.js'), 0o755)
}

if (import.meta.main) await build(process.argv[2])
