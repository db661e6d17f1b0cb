// The thread that a people file is measured against: it parses the file and keeps nothing.
import { createReadStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { parse } from 'csv-parse'

let count = 0
const countOne = (): null => {
  count += 1
  return null
}
const parser = createReadStream(workerData).pipe(parse({ on_record: countOne }))
parser.resume()
await finished(parser)
parentPort?.postMessage(count)
