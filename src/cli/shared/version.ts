// The version of this program, from its package.json, which is found wherever the program was built to.
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'

const file = findPackageJSON(import.meta.url)
const manifest: unknown = file === undefined ? undefined : JSON.parse(readFileSync(file, 'utf8'))

/** Such as `0.1.0`; also in `User-Agent: capkeeper/VERSION` and in `capkeeper_build_info`. */
export const VERSION: string =
  typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown'

/** The folder of the package, in which a checkout has its `.git`. */
export const PACKAGE_FOLDER = file === undefined ? '.' : dirname(file)
