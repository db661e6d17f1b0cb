// What every command that reads the service shares: each workspace with a client that cannot write, its ledger, and the plan that follows
// from both. Nothing here writes, to the service or to the ledger. Also saves a file as a whole.

import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { ServiceReader } from '../../api/client.ts'
import { messageOf } from '../../core/model/problem.ts'
import { type Preview, type PreviewOptions, type PreviewParts, preview } from '../../daemon/cycle/preview.ts'
import { readPeopleFile } from '../../daemon/directory/read.ts'
import { sha256 } from '../../daemon/schedule/system.ts'
import { codeIn } from '../../files.ts'
import { connectReader, type Setup, type WorkspaceSetup } from '../compose.ts'
import { type Cli, CommandError } from './context.ts'
import { type Answers, inEach, interruptible } from './each.ts'
import type { Ledgers } from './ledger/ledgers.ts'
import { type SweepProgress, sweepProgress } from './progress.ts'

const UNWRITTEN: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not write there',
}

/**
 * Writes a text. A pipe or a device, such as /dev/stdout, is written to. Otherwise a new file replaces the one of this name, and no
 * link is followed. After an error, which is told in words, nothing is left behind.
 */
export function saveWhole(file: string, text: string, mode = 0o666): void {
  try {
    const isSpecial = statSync(file, { throwIfNoEntry: false })?.isFile() === false
    if (isSpecial) writeFileSync(file, text, { mode })
    else replace(file, text, mode)
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${UNWRITTEN[codeIn(error) ?? ''] ?? messageOf(error)}`)
  }
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
export interface WorkspaceReader<L extends PreviewParts['ledger']> extends PreviewParts, WorkspaceSetup {
  readonly config: WorkspaceSetup['config']
  readonly client: ServiceReader
  readonly ledger: L
  readonly signal: AbortSignal
  readonly progress: SweepProgress
  /** Reads people and caps, all of them or `only` some, and works out the plan. */
  preview(only?: PreviewOptions['only']): Promise<Preview>
}

/**
 * Opens the ledgers, reads every workspace side by side, and closes them. The first interrupt aborts the signal. `instead`: what is said of a
 * workspace that need not be read.
 */
export function readEach<L extends PreviewParts['ledger'], T>(
  cli: Cli,
  { workspaces }: Setup,
  open: (signal: AbortSignal) => Promise<Ledgers<L>>,
  use: (reader: WorkspaceReader<L>) => Promise<T>,
  instead: (workspace: WorkspaceSetup) => T | undefined = () => undefined,
): Promise<Answers<T> & Pick<Ledgers<L>, 'known'>> {
  return interruptible(cli, async (signal) => {
    await using opened = new AsyncDisposableStack()
    const ledgers = opened.adopt(await open(signal), (one) => one.close())
    using progress = await sweepProgress('reading caps', cli.stderr, signal)
    const session: ReadSession<L> = { cli, signal, progress, ledgerOf: (one, client) => ledgers.of(one, client, signal) }
    const answers = await inEach(cli, workspaces, (one) => instead(one) ?? withReader(one, session, use), signal)
    return { ...answers, known: ledgers.known }
  })
}

/** Connects a workspace, hands it to `use`, and closes the connection. Throws an `InputError` when no key can be used. */
export async function withReader<L extends PreviewParts['ledger'], T>(
  workspace: WorkspaceSetup,
  { cli, signal, progress, ledgerOf }: ReadSession<L>,
  use: (reader: WorkspaceReader<L>) => Promise<T>,
): Promise<T> {
  using connection = connectReader(cli, workspace.config, { signal })
  const { client } = connection
  const ledger = await ledgerOf(workspace, client)
  const parts = { client, config: workspace.config, ledger, clock: cli.clock, digest: sha256, readPeopleFile }
  return await use({
    ...workspace,
    ...parts,
    signal,
    progress,
    preview: (only) => preview(parts, workspace.policy, { signal, onSweep: progress.expect, onReading: progress.one, only }),
  })
}
