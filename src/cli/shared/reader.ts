// What every command that reads the service shares: each workspace with a client that cannot write, its ledger, and the plan that follows
// from both. Nothing here writes, to the service or to the ledger. Also saves a file as a whole.

import { closeSync, openSync, readSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { ServiceReader } from '../../api/client.ts'
import { messageOf } from '../../core/model/problem.ts'
import { type Preview, type PreviewOptions, type PreviewParts, preview } from '../../daemon/cycle/preview.ts'
import { readPeopleFile } from '../../daemon/directory/read.ts'
import { sha256 } from '../../daemon/schedule/system.ts'
import { codeIn } from '../../files.ts'
import { connectReader, type Setup, type WorkspaceSetup } from '../compose.ts'
import { type Cli, CommandError } from './context.ts'
import { inEach, interruptible } from './each.ts'
import type { Ledgers } from './ledger/ledgers.ts'
import { type SweepProgress, sweepProgress } from './progress.ts'

const UNWRITTEN: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not write there',
}

/**
 * Writes JSON. A pipe or a device, such as /dev/stdout, is written to. Otherwise a new file replaces the one of this name, and no
 * link is followed. A file that holds something else than JSON, such as the ledger, is not replaced. After an error, which is told in words,
 * nothing is left behind.
 */
export function saveWhole(file: string, text: string, mode = 0o666): void {
  try {
    const there = statSync(file, { throwIfNoEntry: false })
    if (there?.isFile() === false) writeFileSync(file, text, { mode })
    else if (there && there.size > 0 && firstOf(file) !== '{')
      throw new Error('it holds something else, which would be lost; name another file')
    else replace(file, text, mode)
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${UNWRITTEN[codeIn(error) ?? ''] ?? messageOf(error)}`)
  }
}

function firstOf(file: string): string {
  using opened = new DisposableStack()
  const first = Buffer.alloc(1)
  readSync(opened.adopt(openSync(file, 'r'), closeSync), first)
  return first.toString()
}

function replace(file: string, text: string, mode: number): void {
  const part = `${file}.${process.pid}.part`
  try {
    writeFileSync(part, text, { flag: 'wx', mode })
    renameSync(part, file)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

/** What the workspaces of one command share. */
interface ReadSession<L> {
  readonly cli: Cli
  readonly signal: AbortSignal
  readonly progress: SweepProgress
  readonly ledgerOf: (workspace: WorkspaceSetup, client: ServiceReader) => Promise<L>
}

/** One workspace, ready to be read. */
export type WorkspaceReader<L extends PreviewParts['ledger']> = ReturnType<typeof readerOf<L>>

/**
 * Opens the ledgers, reads every workspace side by side, and closes them. The first interrupt aborts the signal. `instead`: what is said of a
 * workspace that need not be read. The answer has the salt of people's hashes, of any ledger.
 */
export function readEach<L extends PreviewParts['ledger'], T>(
  cli: Cli,
  { workspaces }: Setup,
  open: (signal: AbortSignal) => Promise<Ledgers<L>>,
  use: (reader: WorkspaceReader<L>) => Promise<T>,
  instead: (workspace: WorkspaceSetup) => T | undefined = () => undefined,
) {
  return interruptible(cli, async (signal) => {
    await using opened = new AsyncDisposableStack()
    const ledgers = opened.adopt(await open(signal), (one) => one.close())
    using progress = await sweepProgress('reading caps', cli.stderr, signal)
    const session: ReadSession<L> = { cli, signal, progress, ledgerOf: (one, client) => ledgers.of(one, client, signal) }
    let salt: string | undefined
    const read = (reader: WorkspaceReader<L>): Promise<T> => {
      salt ??= reader.ledger.fact('peopleSalt')
      return use(reader)
    }
    const answers = await inEach(cli, workspaces, (one) => instead(one) ?? withReader(one, session, read), signal)
    return { ...answers, known: ledgers.known, salt }
  })
}

/** Connects a workspace, hands it to `use`, and closes the connection. Throws an `InputError` when no key can be used. */
export async function withReader<L extends PreviewParts['ledger'], T>(
  workspace: WorkspaceSetup,
  session: ReadSession<L>,
  use: (reader: WorkspaceReader<L>) => Promise<T>,
): Promise<T> {
  using connection = connectReader(session.cli, workspace.config, { signal: session.signal })
  const { client } = connection
  return await use(readerOf({ ...workspace, client, ledger: await session.ledgerOf(workspace, client) }, session))
}

function readerOf<L extends PreviewParts['ledger']>(
  connected: WorkspaceSetup & { readonly client: ServiceReader; readonly ledger: L },
  { cli, signal, progress }: ReadSession<L>,
) {
  const parts = { ...connected, clock: cli.clock, digest: sha256, readPeopleFile }
  return {
    ...{ ...parts, signal, progress },
    /** Reads people and caps, all of them or `only` some, and works out the plan. */
    preview: (only?: PreviewOptions['only']): Promise<Preview> =>
      preview(parts, parts.policy, { signal, onSweep: progress.expect, onReading: progress.one, only }),
  }
}
