// Writes the console's script as the daemon serves it: its sources joined to one module, without types and comments. `npm run console:generate`; a
// test fails while it is not up to date.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = 'src/console/browser/page.ts'

/** Where the script goes, and its text. */
export const SCRIPT_FILE = 'src/console/browser.generated.ts'

/** The script as a constant of a module. */
export async function generatedScript(): Promise<string> {
  await using joined = await rolldown({ input: SOURCE, cwd: ROOT, platform: 'browser' })
  const { output } = await joined.generate({ format: 'esm', comments: false })
  return `// Made of ${SOURCE.replace('src/console/', '')} by \`npm run console:generate\`; never edited by hand.\nexport const PAGE_SCRIPT = ${JSON.stringify(output[0].code)}\n`
}

if (import.meta.main) writeFileSync(join(ROOT, SCRIPT_FILE), await generatedScript())
