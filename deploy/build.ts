// Builds the program into `dist`: its modules and packages joined into fewer files, small and each with a source map, because every file costs time at
// the start. Modules that are loaded together are in one file, so a command that needs no network still loads no client, server or log.
// `npm run build`, to which a folder can be given.
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { type CodeSplittingNameFunction, type Plugin, rolldown } from 'rolldown'
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

/** Packages that no command without network loads at its start. */
export const HEAVY = ['fastify', 'got', 'hpagent', 'nodemailer', 'pg', 'pg-connection-string', 'pino', 'pino-pretty', 'prom-client']

/** A module of Node as it is: to import one looks at all that it exports, and `node:http` then loads a second client, which takes longer than the first. */
const ofNode: Plugin = {
  name: 'of-node',
  // What joins the modules has `node:module`, before there is any other.
  resolveId: (id) => (id.startsWith('node:') && id !== 'node:module' ? `\0${id}` : undefined),
  load: (id) => (id.startsWith('\0node:') ? `module.exports = process.getBuiltinModule('${id.slice(1)}')` : undefined),
}

/** What nearly every command loads; all of it is one file. */
const STARTS = ['src/cli/process.ts', 'src/cli/validate.ts']

function startPart(): CodeSplittingNameFunction {
  let start: ReadonlySet<string> | undefined
  return (id, context) => {
    start ??= reached(
      STARTS.map((path) => join(ROOT, path)),
      (one) => context.getModuleInfo(one)?.importedIds ?? [],
    )
    return start.has(id) ? 'start' : null
  }
}

function reached(from: readonly string[], next: (id: string) => readonly string[]): ReadonlySet<string> {
  const all = new Set(from)
  for (const id of all) for (const one of next(id)) all.add(one)
  return all
}

/** Writes the program into a folder, which is emptied first. Throws when a module is missing. */
export async function build(dir = join(ROOT, 'dist'), input: Readonly<Record<string, string>> = ENTRIES): Promise<void> {
  await makeSources()
  // A module that some load at once and others later is told of with every build; it is meant.
  await using program = await rolldown({
    input,
    cwd: ROOT,
    platform: 'node',
    // A faster driver of PostgreSQL, which is not used.
    external: 'pg-native',
    plugins: [ofNode],
    checks: { ineffectiveDynamicImport: false },
  })
  const names = '[name].js'
  await program.write({
    dir,
    format: 'esm',
    codeSplitting: { groups: [{ name: startPart(), debugName: 'start' }] },
    minify: true,
    sourcemap: true,
    sourcemapExcludeSources: true,
    cleanDir: true,
    entryFileNames: names,
    chunkFileNames: names,
  })
  chmodSync(join(dir, 'main.js'), 0o755)
}

if (import.meta.main) await build(process.argv[2])
