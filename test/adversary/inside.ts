// The same command lines in this process, through the program's own reader of command lines: for the cases that `npm test` tries, where
// hundreds of starts would cost more than what they do. Never for what is about the process itself: those cases start one.
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { runCli } from '../../src/cli/program.ts'
import { createSecrets, NO_SIGNALS, type Signals } from '../../src/cli/shared/context.ts'
import { realClock } from '../support/real-clock.ts'
import type { Ended, Programs } from './program.ts'

const FILES: readonly string[] = ['--config', '--plan', '--out', '--ledger', '--fixture']

/** Files are named from the case's folder, which cannot be this process's own. */
const inFolder = (folder: string, words: readonly string[]): readonly string[] =>
  words.map((word, index) => (FILES.includes(words[index - 1] ?? '') ? join(folder, word) : word))

function begin(folder: string, words: readonly string[], signals: Signals): { readonly ended: Promise<Ended>; readonly out: PassThrough } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  let [out, talk] = ['', '']
  stdout.on('data', (part: Buffer) => {
    out += part.toString('utf8')
  })
  stderr.on('data', (part: Buffer) => {
    talk += part.toString('utf8')
  })
  const world = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: { NO_COLOR: '1', CAPKEEPER_TRIAL_KEY: 'sandbox-admin' },
    clock: realClock(),
    secrets: createSecrets(),
    signals,
  }
  const ended = runCli(inFolder(folder, words), world).then((code) => ({ line: `capkeeper ${words.join(' ')}`, code, out, talk }))
  return { ended, out: stdout }
}

export const inside: Programs = {
  command: (folder, words) => begin(folder, words, NO_SIGNALS).ended,
  async sandbox(folder, words) {
    const stopped = Promise.withResolvers<void>()
    const signals: Signals = {
      on(kind, handler) {
        if (kind === 'interrupt') stopped.promise.then(handler)
        return () => undefined
      },
      exit: () => undefined,
    }
    const { ended, out } = begin(folder, ['sandbox', ...words], signals)
    const address = new Promise<string>((done, fail) => {
      out.once('data', (part: Buffer) => done(String(/http:\/\/127\.0\.0\.1:\d+/.exec(part.toString('utf8')))))
      ended.then(({ talk }) => fail(new Error(`the sandbox ended: ${talk}`)))
    })
    const close = async (): Promise<void> => {
      stopped.resolve()
      await ended
    }
    return { url: await address, close }
  },
}
