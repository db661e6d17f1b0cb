// The thread that parses large policies, with the same code as without a thread. It opens no path, and says at which file it is.
import { answerWith } from './aside.ts'
import type { FoundFiles } from './files.ts'
import { judgePolicies } from './judge.ts'
import type { LoadOptions } from './loaded.ts'

interface Data {
  readonly paths: readonly string[]
  readonly found: FoundFiles
  readonly options: LoadOptions
}

await answerWith(({ paths, found, options }: Data, onFile) => judgePolicies(paths, found, { ...options, onFile }))
