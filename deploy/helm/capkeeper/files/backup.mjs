// Copies the ledger beside the running daemon, checks the copy, and only then takes old copies away. It never touches the ledger itself.
// FOLDER: where copies go; KEEP: how many stay; MAIN: the program; LEDGER: what is copied.
import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const { FOLDER = '/backup', KEEP = '14', MAIN = '/app/dist/main.js', LEDGER = '/data/capkeeper.db' } = process.env
const capkeeper = (...argv) => execFileSync(process.execPath, [MAIN, 'ledger', ...argv], { stdio: 'inherit' })

const stamp = new Date().toISOString().replaceAll(':', '-').slice(0, 19)
const file = join(FOLDER, `capkeeper-${stamp}.db`)
try {
  capkeeper('backup', file, '--ledger', LEDGER)
  capkeeper('check', '--ledger', file)
} catch {
  rmSync(file, { force: true })
  process.exit(1)
}
const copies = readdirSync(FOLDER).filter((name) => /^capkeeper-[\dT-]{19}\.db$/.test(name)).toSorted()
for (const name of copies.slice(0, -Number(KEEP))) {
  rmSync(join(FOLDER, name))
  console.log(`removed ${name}`)
}
console.log(`kept ${file}`)
