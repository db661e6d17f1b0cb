// Whether a preview read anything at all. A plan of what could not be read says nothing of the service, so whoever asked for it is told
// that first, with the reason, and the command fails.
import type { Preview } from '../../daemon/cycle/preview.ts'
import type { Cli } from '../shared/context.ts'
import { tellLine } from '../shared/tell.ts'

type Read = Pick<Preview, 'state' | 'warnings'>

/** Why no cap could be read or, where no cap was to be read, why not even the roster could; undefined when something was read. */
export function unreadBecause({ state, warnings }: Read): string | undefined {
  const readings = [...state.readings.values()]
  if (readings.length === 0) return warnings.find(({ reason }) => reason === 'ROSTER_UNREAD')?.message
  const failures = readings.flatMap(({ failure }) => (failure ? [failure.message] : []))
  if (failures.length < readings.length) return undefined
  // The others were not asked because of it.
  return failures.find((message) => !message.includes(': not asked ')) ?? failures[0]
}

/** Tells what a preview warns of; first of all, that nothing could be read. */
export function tellReading(cli: Cli, workspace: string, read: Read): void {
  const why = unreadBecause(read)
  if (why !== undefined) tellLine(cli, `error: ${workspace}: nothing could be read: ${why}`)
  for (const { message } of read.warnings) if (message !== why) tellLine(cli, `${workspace}: ${message}`)
}
