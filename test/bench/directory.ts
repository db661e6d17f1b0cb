// A people file of 50,000 rows and ten columns, read for a roster of 50,000, beside a bare parse of the same file: time, the longest stop of the
// process, and the heap of the image. `npm run bench directory`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { readPeopleFile } from '../../src/daemon/directory/read.ts'
import { systemClock } from '../../src/daemon/schedule/system.ts'
import { beside, ms, publish, told, took, turns, watchLoop } from './bench.ts'
import { openFolder } from './world.ts'

const ROWS = 50_000
const COLUMNS = ['email', 'name', 'costCenter', 'unit', 'title', 'manager', 'city', 'country', 'phone', 'started']

const emailOf = (index: number): string => `person.${index}@example.com`

function fileText(): string {
  const rows = Array.from({ length: ROWS }, (_, index) =>
    [
      emailOf(index),
      `"Person, ${index}"`,
      `CC-${index % 400}`,
      `Unit ${index % 60}`,
      `Engineer ${index % 9}`,
      emailOf(index % 700),
      `Zürich ${index % 30}`,
      'CH',
      `+41 44 ${index}`,
      `20${10 + (index % 16)}-01-01`,
    ].join(','),
  )
  return `${[COLUMNS.join(','), ...rows].join('\n')}\n`
}

/** A parse of the file that keeps nothing, in a thread of its own as well: both begin with nothing compiled. */
async function bare(file: string): Promise<void> {
  const worker = new Worker(new URL('directory-bare.ts', import.meta.url), {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  })
  const [count] = await once(worker, 'message')
  await worker.terminate()
  if (count !== ROWS + 1) throw new Error('the bare parse lost rows')
}

async function measure(file: string): Promise<void> {
  const emails = Array.from({ length: ROWS }, (_, index) => emailOf(index))
  const settings = { file, id: 'email', columns: ['costCenter', 'unit'] }
  async function read(): Promise<void> {
    const answer = await readPeopleFile(settings, emails, systemClock)
    if ('invalid' in answer || answer.people.size !== ROWS) throw new Error(`not read: ${JSON.stringify(answer).slice(0, 200)}`)
  }
  const { theirs, ours, stop } = await turns({
    theirs: () => took(() => bare(file)),
    ours: () => took(read),
    // Looking at the event loop takes a core, so it is not done while time is taken.
    async stop() {
      const longest = watchLoop()
      await read()
      return longest()
    },
  })
  publish('The people file, 50,000 rows of 10 columns', [
    beside('G30', 'reading a people file / a bare parse of it, in a heap of 64 MiB', [ours, theirs], 1.5),
    told('G30', 'longest stop of the process meanwhile', ms(stop)),
  ])
}

if (process.argv[2] === '--measure') await measure(process.argv[3] ?? '')
else {
  const file = openFolder().write('people.csv', fileText())
  const child = fork(import.meta.filename, ['--measure', file], { execArgv: ['--max-old-space-size=64'] })
  child.on('message', (rows) => process.send?.(rows))
  child.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
