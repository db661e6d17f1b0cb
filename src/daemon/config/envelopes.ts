// `envelopes` of the config: checks them against the workspaces and each other, and makes the settings of them. What a team's files say is judged
// elsewhere.
import { normalize } from 'node:path'
import type { EnvelopeSource } from '../../policy/load/delegated.ts'
import { didYouMean } from '../../policy/suggest.ts'
import { type Branch, field, good, items, nameOf, placeOf, report } from '../../policy/tree.ts'
import { quoted } from '../../policy/yaml.ts'
import { reportDuplicates } from './notify-check.ts'
import type { ConfigText, EnvelopeText } from './schema-source.ts'

/** More of them would let teams use up what all files together may take to read. */
const MAX_ENVELOPES = 64

/** Unknown workspaces, empty lists, and paths that two envelopes share. */
export function checkEnvelopes(root: Branch<ConfigText>, locate: (path: string) => string): void {
  const list = field(root, 'envelopes')
  const envelopes = items(list)
  if (list && envelopes.length > MAX_ENVELOPES)
    report(list, 'ENVELOPE', `${envelopes.length} envelopes, and ${MAX_ENVELOPES} at most are possible`, { on: 'key' })
  reportDuplicates('envelope', envelopes)
  const known = items(field(root, 'workspaces')).flatMap((workspace) => good(field(workspace, 'name')) ?? [])
  const first = new Map<string, Branch>()
  for (const envelope of envelopes) {
    const workspace = field(envelope, 'workspace')
    const name = good(workspace)
    if (workspace && name !== undefined && known.length > 0 && !known.includes(name))
      report(workspace, 'ENVELOPE', `${nameOf(workspace)} is ${quoted(name)}, and no workspace is called so`, {
        hint: didYouMean(name, known),
      })
    for (const key of ['policies', 'groups'] as const) {
      const some = field(envelope, key)
      if (some && items(some).length === 0)
        report(some, 'ENVELOPE', `${nameOf(some)} is empty, so the envelope holds nothing`, { on: 'key' })
    }
    for (const path of items(field(envelope, 'policies'))) {
      const text = good(path)
      if (text === undefined) continue
      const key = normalize(locate(text)).replace(/\/+$/, '')
      const other = first.get(key)
      if (other)
        report(path, 'ENVELOPE', `${quoted(text)} is of another envelope`, { hint: 'give each a folder of its own', other: placeOf(other) })
      else first.set(key, path)
    }
  }
}

/** The envelopes of a workspace. */
export function envelopesOf(root: Branch<ConfigText>, workspace: string, locate: (path: string) => string): readonly EnvelopeSource[] {
  return items(field(root, 'envelopes')).flatMap((branch: Branch<EnvelopeText>) => {
    const { sum, maxPeople, grants, policies, groups, ...one } = branch.value
    if (one.workspace !== workspace) return []
    return {
      ...one,
      groups: groups ?? [],
      policies: (policies ?? []).map(locate),
      at: placeOf(branch),
      ...(sum !== undefined && { sum }),
      ...(maxPeople !== undefined && { maxPeople }),
      ...(grants && { grants: { maxDays: grants.maxDays, maxAdd: grants.maxAdd } }),
    }
  })
}
