// Messages that would be sent, as text and as JSON.
import { plain, printable } from '../../core/escape/terminal.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Due, Message } from '../../core/notify/due.ts'
import type { Paint } from '../shared/context.ts'
import { documentText } from '../shared/document.ts'
import { count } from '../shared/text.ts'

export interface PreviewedWorkspace {
  readonly workspace: string
  /** Absent when the config asks for no messages, or the roster could not be read. */
  readonly due?: Due
  readonly notes: readonly string[]
}

/** `{apiVersion, kind: "Notifications", createdAt, workspaces: [{workspace, quiet, messages: [{to, about, level, subject, text}], notes}]}` (choice). */
export const renderPreviewJson = (previewed: readonly PreviewedWorkspace[], now: Instant): string =>
  documentText('Notifications', {
    createdAt: now,
    workspaces: previewed.map(({ workspace, due, notes }) => ({
      workspace,
      quiet: due?.quiet ?? false,
      messages: (due?.messages ?? []).map(({ to, kind, level, subject, text }) => ({ to, about: kind, level, subject, text })),
      notes,
    })),
  })

export const renderPreviewText = (previewed: readonly PreviewedWorkspace[], paint: Paint): string =>
  previewed.map((one) => `${workspaceLines(one, paint).join('\n')}\n`).join('\n')

function workspaceLines({ workspace, due, notes }: PreviewedWorkspace, paint: Paint): readonly string[] {
  const name = paint('bold', plain(workspace))
  const noted = notes.map((note) => paint('yellow', plain(note)))
  if (!due) return [`${name}: no messages can be told`, ...noted]
  const { messages, quiet } = due
  const none = due.told ? 'nothing would go out now' : 'nothing would go out now, because no billing cycle is known'
  const when = quiet ? 'would go out after the quiet hours' : 'would go out now'
  const head = messages.length === 0 ? none : `${count(messages.length, 'message')} ${when}`
  return [`${name}: ${head}`, ...noted, ...messages.flatMap((message) => ['', ...messageLines(message, paint)])]
}

const messageLines = ({ to, subject, text }: Message, paint: Paint): readonly string[] => [
  `${paint('dim', 'to')}       ${to.kind === 'email' ? plain(to.address) : `webhook ${plain(to.name)}`}`,
  `${paint('dim', 'subject')}  ${plain(subject)}`,
  ...text.split('\n').map((line) => (line === '' ? '' : `  ${printable(line)}`)),
]
