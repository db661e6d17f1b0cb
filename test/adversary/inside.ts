// The same command lines in this process, through the program's own reader of command lines: for the cases that `npm test` tries, where
// hundreds of starts would cost more than what they do. Never for what is about the process itself: those cases start one.
import { join } from 'node:path'
import type { Signals } from '../../src/cli/shared/context.ts'
import { begin } from '../support/inside.ts'
import type { Ended, Programs } from './program.ts'

const FILES: readonly string[] = ['--config', '--plan', '--out', '--ledger', '--fixture']

/** Files are named from the case's folder, which cannot be this process's own. */
const inFolder = (folder: string, words: readonly string[]): readonly string[] =>
  words.map((word, index) => (FILES.includes(words[index - 1] ?? '') ? join(folder, word) : word))

const ENV = { NO_COLOR: '1', CAPKEEPER_TRIAL_KEY: 'sandbox-admin' }

export const inside: Programs = {
  async command(folder, words): Promise<Ended> {
    const { code, stdout, stderr } = await begin(inFolder(folder, words), ENV).ended
    return { line: `capkeeper ${words.join(' ')}`, code, out: stdout, talk: stderr }
  },
  async sandbox(folder, words) {
    const stopped = Promise.withResolvers<void>()
    const signals: Signals = {
      on(kind, handler) {
        if (kind === 'interrupt') stopped.promise.then(handler)
        return () => undefined
      },
      exit: () => undefined,
    }
    const { ended, stdout } = begin(['sandbox', ...inFolder(folder, words)], ENV, signals)
    const address = new Promise<string>((done, fail) => {
      stdout.once('data', (part: Buffer) => done(String(/http:\/\/127\.0\.0\.1:\d+/.exec(part.toString('utf8')))))
      ended.then(({ stderr }) => fail(new Error(`the sandbox ended: ${stderr}`)))
    })
    const close = async (): Promise<void> => {
      stopped.resolve()
      await ended
    }
    return { url: await address, close }
  },
}
