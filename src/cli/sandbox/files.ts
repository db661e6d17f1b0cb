// Fixture files: read for `sandbox --fixture`, written whole or not at all by `sandbox --export`.

import { once } from 'node:events'
import { InputError } from '../../core/model/problem.ts'
import { readText } from '../../files.ts'
import { exportFixture } from '../../sandbox/fixture/export.ts'
import { readFixture } from '../../sandbox/fixture/file.ts'
import type { Fixture } from '../../sandbox/fixture/fixture.ts'
import { createSandbox, type SandboxOptions } from '../../sandbox/sandbox.ts'
import { openStore, type Store } from '../../sandbox/store.ts'
import { type Cli, CommandError } from '../shared/context.ts'
import { saveWhole } from '../shared/save.ts'
import { messageOf } from '../shared/text.ts'

const MAX_FIXTURE_BYTES = 512 * 1024 * 1024

/** Reads a fixture file. Throws an `InputError` with the place of each problem. */
export function openFixture(file: string, cli: Pick<Cli, 'clock'>): Fixture {
  return readFixture(file, textOf(file), cli.clock.now())
}

function textOf(file: string): string {
  try {
    return readText(file, MAX_FIXTURE_BYTES)
  } catch (error) {
    const message = `fixture ${file} cannot be read: ${messageOf(error)}`
    throw new InputError([{ severity: 'error', code: 'FIXTURE_UNREADABLE', message }])
  }
}

/** Writes the state to `to`, or to stdout for `-`. Throws a `CommandError` and leaves nothing behind when that fails. */
export async function exportState(options: SandboxOptions, to: string, cli: Cli): Promise<void> {
  const store = stateOf(options)
  try {
    // In one transaction, because another process may have the file open.
    if (to === '-') for (const piece of store.transaction(() => [...pieces(store)])) await show(piece, cli)
    else store.transaction(() => writeWhole(to, pieces(store)))
  } finally {
    store.close()
  }
}

/** The data as it is: only a running sandbox, which may have the same file open, advances its time. Without data, a fresh company. */
function stateOf(options: SandboxOptions): Store {
  const kept = openStore(options.data ?? ':memory:')
  if (kept.meta('grownUntil') !== undefined && !options.fixture) return kept
  kept.close()
  return createSandbox(options).store
}

const PIECE_LENGTH = 65_536

/** The text in pieces worth a write each. */
function* pieces(store: Store): Generator<string> {
  let piece = ''
  for (const part of exportFixture(store)) {
    piece += part
    if (piece.length < PIECE_LENGTH) continue
    yield piece
    piece = ''
  }
  yield piece
}

/** After a closed pipe, as with `| head`, the rest is dropped; process.ts handles the error. */
async function show(piece: string, { stdout }: Cli): Promise<void> {
  if (!stdout.write(piece)) await once(stdout, 'drain').catch(() => undefined)
}

function writeWhole(file: string, texts: Iterable<string>): void {
  try {
    saveWhole(file, texts)
  } catch (error) {
    throw new CommandError(`the state cannot be written to ${file}: ${messageOf(error)}`)
  }
}
