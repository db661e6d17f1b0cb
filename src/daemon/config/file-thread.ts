// The thread that parses a large config file.
import { answerWith } from '../../policy/load/aside.ts'
import { parseConfigText } from './file.ts'

await answerWith((given: Parameters<typeof parseConfigText>) => parseConfigText(...given))
