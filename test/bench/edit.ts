// G29: edits of policy files. The laws on random files and edits, and the time of an edit beside `validate` of the same policies.
import { spawnSync } from 'node:child_process'
import { openTrial } from '../policy/edit/laws.ts'
import { beside, exactly, publish, ROUNDS, took, turns } from './bench.ts'
import { build, MAIN } from './built.ts'
import { openFolder } from './world.ts'

const CASES = Number(process.argv[2] ?? 20_000)
const ENTRIES = 20_000
const START_ROUNDS = 15

/** Tries the cases; the number of those that break a law, each shown. */
async function brokenOf(cases: number): Promise<{ readonly broken: number; readonly made: number }> {
  const trial = openTrial()
  let [broken, made] = [0, 0]
  for (let seed = 0; seed < cases; seed += 1) {
    const tried = await trial.tryOne(seed)
    if (tried.broken !== '') {
      broken += 1
      console.log(`seed ${seed}: ${tried.broken}`)
    }
    if (tried.outcome === 'made') made += 1
  }
  trial.close()
  return { broken, made }
}

const laws = await brokenOf(CASES)
build()
const folder = openFolder()
const users = Array.from({ length: ENTRIES }, (_, index) => `  - {email: p${index}@b.example, cap: ${1_000 + index}}\n`).join('')
const head = 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: big}\nspec:\n  team: {cap: 500}\n'
const [big, small] = [folder.write('big.yaml', `${head}  users:\n${users}`), folder.write('small.yaml', head)]

const run = (argv: readonly string[], wanted: number): Promise<number> =>
  took(() => {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, ...argv], { encoding: 'utf8' })
    if (status !== wanted) throw new Error(`${argv.join(' ')} ended with ${status}:\n${stderr}`)
  })

/** `--check` leaves the file as it is for the next round. */
async function both(file: string, scope: string, rounds: number): Promise<readonly [edit: number, validate: number]> {
  const { edit, validate } = await turns(
    { edit: () => run(['edit', 'cap', scope, '7', '--policies', file, '--check'], 2), validate: () => run(['validate', file], 0) },
    { rounds },
  )
  return [edit, validate]
}

publish('Edits of policy files', [
  exactly('G29', `laws broken by ${CASES} random edits of random files (${laws.made} of them changed the file)`, laws.broken, 0),
  beside('G29', `edit of a file of ${ENTRIES} entries, beside validate of it`, await both(big, 'p10000@b.example', ROUNDS), 2),
  beside('G29', 'edit of a small file, beside validate of it', await both(small, 'team', START_ROUNDS)),
])
