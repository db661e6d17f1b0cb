// The thread that parses a large config file.
import { answerWith } from '../../policy/load/aside.ts'
import type { ConfigFileText } from './config.ts'
import { parseConfigText } from './file.ts'

await answerWith(({ shown, text, file }: ConfigFileText) => parseConfigText(shown, text, file))
