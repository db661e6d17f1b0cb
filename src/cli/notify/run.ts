// What `notify preview` does: everything that a plan reads, and then the daemon's own decision who is to be told what. It has no channel to
// send by.
import type { Due } from '../../core/notify/due.ts'
import { preview } from '../../daemon/cycle/preview.ts'
import { endedUse } from '../../daemon/notify/ended.ts'
import { dueNow } from '../../daemon/notify/outbox.ts'
import { sha256 } from '../../daemon/schedule/system.ts'
import { connectReader, readSetup, type WorkspaceSetup } from '../compose.ts'
import { showWarnings } from '../plan/output.ts'
import { type Cli, CommandError, painter } from '../shared/context.ts'
import { inEach } from '../shared/each.ts'
import { EXIT, worstExit } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { type Ledgers, openLedgers } from '../shared/ledger/ledgers.ts'
import { labelsFor } from '../shared/people.ts'
import { sweepProgress } from '../shared/progress.ts'
import { tellLine } from '../shared/tell.ts'
import type { NotifyFlags } from './command.ts'
import { type PreviewedWorkspace, renderPreviewJson, renderPreviewText } from './render.ts'

const NOTHING_ASKED = 'the config asks for no messages: write notify: into it, as docs/notify.md says'

/** Prints what would go out now. Ends with 1 when the config asks for nothing, or nobody could be read; with 4 when one workspace of several cannot be. */
export async function previewCommand(flags: NotifyFlags, cli: Cli): Promise<void> {
  const setup = await readSetup(cli, flags)
  showWarnings(setup.warnings, cli)
  if (!setup.workspaces.some(({ config }) => config.notify)) throw new CommandError(NOTHING_ASKED)
  const { done: previewed, codes } = await interruptible(cli, async (signal) => {
    const ledgers = await openLedgers(cli, setup, signal, flags)
    try {
      return await inEach(cli, setup.workspaces, (one) => previewOne(one, { cli, signal, ledgers, people: setup.config.people }), signal)
    } finally {
      await ledgers.close()
    }
  })
  const shown = flags.output === 'json' ? renderPreviewJson(previewed, cli.clock.now()) : renderPreviewText(previewed, painter(cli.stdout))
  cli.stdout.write(shown)
  cli.finish(worstExit([previewed.some(({ due }) => due) ? EXIT.done : EXIT.failed, ...codes]))
}

interface Parts {
  readonly cli: Cli
  readonly signal: AbortSignal
  readonly ledgers: Ledgers
  readonly people: 'hash' | 'email'
}

async function previewOne(one: WorkspaceSetup, { cli, signal, ledgers, people }: Parts): Promise<PreviewedWorkspace> {
  const { config, policy } = one
  const settings = config.notify?.settings
  if (!settings) return { workspace: config.name, notes: [] }
  const { client, close } = connectReader(cli, config, { signal })
  const progress = await sweepProgress('reading caps', cli.stderr, signal)
  try {
    const ledger = await ledgers.of(one, client, signal)
    const parts = { client, settings: config, ledger, clock: cli.clock, digest: sha256 }
    const options = { signal, onSweep: progress.expect, onReading: progress.one }
    const { state, desiredState, warnings } = await preview(parts, policy, options)
    for (const { message } of warnings) tellLine(cli, `${config.name}: ${message}`)
    if (!state.usage) return { workspace: config.name, notes: ['nobody could be read'] }
    const labels = labelsFor(people, ledger.fact('peopleSalt'))
    const ended = await endedUse({ state, clock: cli.clock, ledger }, settings)
    const looked = { config, state, shown: { desiredState }, clock: cli.clock, ledger }
    const due: Due = dueNow(looked, { settings, label: labels.label }, { ended })
    const known = new Set(policy.set.groups.map(({ scope }) => scope.id))
    const pools = new Set(policy.set.pools.map(({ name }) => name))
    const notes = settings.owners.flatMap(({ of }) => {
      if (of.kind === 'group') return known.has(of.id) ? [] : [`notify.owners: no policy declares the group ${of.id}`]
      return pools.has(of.name) ? [] : [`notify.owners: no policy declares the pool ${of.name}`]
    })
    return { workspace: config.name, due, notes }
  } finally {
    progress.stop()
    close()
  }
}
