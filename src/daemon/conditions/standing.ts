// Warnings that stand while their cause lasts: each is told once, shown for as long as it holds, and told again only after it was gone. So
// that an outage is one line in the log and not one for every reading.
import { report, type Workspace } from '../workspace.ts'

/** Who finds them; each look of one replaces what it found before. */
export type WarningSource = 'usage' | 'runs' | 'addOn' | 'figures'

export interface Warning {
  readonly code: string
  readonly message: string
  /** Which of several it is about, such as a group; the code and this tell it from others. */
  readonly about?: string
  /** Nothing was asked this time: it stands when it stood before, and is no news by itself. */
  readonly quiet?: true
}

/** Rows of an answer that made no sense; none: no warning. */
export const malformedRows = (of: string, rows = 0): readonly Warning[] =>
  rows === 0
    ? []
    : [{ code: 'MALFORMED_ROWS', about: of, message: `${rows} ${rows === 1 ? 'row' : 'rows'} of ${of} made no sense and were set aside` }]

/** Messages of the warnings that hold, by what they are about. */
export type Standing = ReadonlyMap<WarningSource, ReadonlyMap<string, string>>

/** Takes what one source found now. */
export function stand(workspace: Workspace, source: WarningSource, warnings: readonly Warning[]): void {
  const before = workspace.standing.get(source) ?? new Map<string, string>()
  const now = new Map<string, string>()
  for (const { code, message, about = '', quiet } of warnings) {
    const key = `${code} ${about}`
    const stood = before.get(key)
    if (stood === undefined && quiet) continue
    if (stood === undefined && !now.has(key)) report(workspace, { kind: 'warning', code, message })
    now.set(key, quiet && stood !== undefined ? stood : message)
  }
  workspace.standing = new Map([...workspace.standing, [source, now]])
}

/** What holds now, in words. */
export const standingMessages = ({ standing }: Workspace): readonly string[] => [...standing.values()].flatMap((one) => [...one.values()])
