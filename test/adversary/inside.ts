// The same command lines inside this process, through the program's own parser: for the cases of `npm test`, where starting hundreds of
// processes would take longer than their work. Cases about the process itself start one.
import { join } from 'node:path'
import type { Signals } from '../../src/cli/shared/context.ts'
import { begin } from '../support/inside.ts'
import type { Ended, Programs } from './program.ts'

const FILES: readonly string[] = ['--config', '--plan', '--out', '--ledger', '--fixture']

/** Files are named relative to the case's folder, which cannot be the folder of this process. */
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
