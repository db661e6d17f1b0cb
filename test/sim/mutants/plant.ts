// Loaded before all other modules (`node --import`): serves one file of src/ with the bug that CAPKEEPER_PLANT names. No file on disk is
// changed, so that many bugs can be tried side by side.
import { registerHooks } from 'node:module'
import { PLANTS } from './plants.ts'

const name = process.env['CAPKEEPER_PLANT'] ?? ''
const plant = PLANTS[name]
if (!plant) throw new Error(`there is no planted bug called ${name}`)

const { file, find, replace } = plant
const url = new URL(`../../../src/${file}`, import.meta.url).href

registerHooks({
  load(asked, context, nextLoad) {
    const loaded = nextLoad(asked, context)
    return asked === url ? { ...loaded, source: planted(String(loaded.source)) } : loaded
  },
})

/** Throws unless the text that the bug replaces occurs exactly once: the source has changed. */
function planted(source: string): string {
  const parts = source.split(find)
  if (parts.length !== 2) throw new Error(`${name}: what it replaces stands ${parts.length - 1} times in src/${file}`)
  return parts.join(replace)
}
