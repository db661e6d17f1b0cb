// Writes the console's script as the daemon serves it: the source without types and comments. `npm run console:generate`; a test fails while it
// is not up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = 'src/console/browser/page.ts'

/** Where the script goes, and its text. */
export const SCRIPT_FILE = 'src/console/browser.generated.ts'

/** The script as a constant of a module. */
export function generatedScript(): string {
  const script = stripTypeScriptTypes(readFileSync(join(ROOT, SOURCE), 'utf8'))
    .split('\n')
    .map((line) => line.trimEnd().replace(/ {2,}(?=\S)/g, (run, at: number) => (at === 0 ? run : ' ')))
    .filter((line) => line !== '' && !/^\s*(\/\/|\/\*\*)/.test(line))
    .join('\n')
  return `// Made of ${SOURCE.replace('src/console/', '')} by \`npm run console:generate\`; never edited by hand.\nexport const PAGE_SCRIPT = ${JSON.stringify(`${script}\n`)}\n`
}

if (import.meta.main) writeFileSync(join(ROOT, SCRIPT_FILE), generatedScript())
