// The version of this program, from package.json, which is beside `src` and `dist` alike.
import { readFileSync } from 'node:fs'

const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))

/** Such as `0.1.0`; also in `User-Agent: capkeeper/VERSION` and in `capkeeper_build_info`. */
export const VERSION: string =
  typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown'
