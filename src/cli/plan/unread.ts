// Whether a preview read anything at all. If not, its plan says nothing about the service: the user is told so first, with the reason, and the
// command fails.
import type { Preview } from '../../daemon/cycle/preview.ts'
import type { Cli } from '../shared/context.ts'
import { tellLine } from '../shared/tell.ts'

type Read = Pick<Preview, 'state' | 'warnings'>

/** Why no cap could be read or, if there was none to read, why the roster could not; undefined when something was read. */
export function unreadBecause({ state, warnings }: Read): string | undefined {
  const readings = [...state.readings.values()]
  if (readings.length === 0) return warnings.find(({ reason }) => reason === 'ROSTER_UNREAD')?.message
  const failures = readings.flatMap(({ failure }) => (failure ? [failure.message] : []))
  if (failures.length < readings.length) return undefined
  // After this failure the other scopes were not asked.
  return failures.find((message) => !message.includes(': not asked ')) ?? failures[0]
}

/** Prints the warnings of a preview; first, that nothing could be read. */
export function tellReading(cli: Cli, workspace: string, read: Read): void {
  const why = unreadBecause(read)
  if (why !== undefined) tellLine(cli, `error: ${workspace}: nothing could be read: ${why}`)
  for (const { message } of read.warnings) if (message !== why) tellLine(cli, `${workspace}: ${message}`)
}
