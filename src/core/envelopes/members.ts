// Who is in the groups of envelopes: what two readings in a row say. The first reading of a group counts at once.
import { notAhead } from '../model/age.ts'
import type { GroupMembers } from '../model/observed.ts'
import type { Envelope, EnvelopeMemory, Refusal } from '../model/policy.ts'
import { DAY_MS, type Instant } from '../model/units.ts'

/** Counts the readings of the envelopes' groups that were not counted yet. */
export function learnMembers(
  memory: EnvelopeMemory,
  envelopes: readonly Envelope[],
  groups: readonly GroupMembers[],
  now: Instant,
): EnvelopeMemory {
  const ids = [...new Set(envelopes.flatMap((one) => one.groups))]
  const next: Record<'readAt', Record<string, Instant>> & Record<'members' | 'last', Record<string, readonly string[]>> = {
    readAt: {},
    members: {},
    last: {},
  }
  const joined: Record<string, Instant> = {}
  for (const [email, at] of Object.entries(memory.joined)) if (now - notAhead(at, now) < DAY_MS) joined[email] = notAhead(at, now)
  for (const id of ids) {
    const read = groups.find((one) => one.id === id)
    const known = Object.hasOwn(memory.members, id) ? (memory.members[id] ?? []) : undefined
    const before = memory.last[id] ?? []
    const isNew = read !== undefined && memory.readAt[id] !== read.readAt
    const agreed = !isNew ? known : known === undefined ? read.emails : agreedBy(known, before, read.emails)
    if (agreed === undefined) continue
    if (known !== undefined && agreed !== known) for (const email of new Set(agreed).difference(new Set(known))) joined[email] = now
    next.members[id] = agreed
    next.last[id] = isNew ? read.emails : before
    next.readAt[id] = read?.readAt ?? memory.readAt[id] ?? now
  }
  return { ...memory, ...next, joined }
}

/** Who is in both readings is in, who is in neither is out, and all others are as before. */
function agreedBy(known: readonly string[], one: readonly string[], other: readonly string[]): readonly string[] {
  const [were, first, second] = [new Set(known), new Set(one), new Set(other)]
  return [...new Set([...known, ...other])]
    .filter((email) => (first.has(email) === second.has(email) ? second.has(email) : were.has(email)))
    .sort()
}

/** Who joined in the last day: more people of whom a team decides. */
export function joinedNotes(
  { joined, members }: EnvelopeMemory,
  envelopes: readonly Envelope[],
): readonly Pick<Refusal, 'message' | 'at'>[] {
  return Object.keys(joined).flatMap((email) =>
    envelopes.flatMap(({ name, groups, at }) => {
      const group = groups.find((id) => members[id]?.includes(email))
      return group === undefined ? [] : [{ message: `${email} joined group ${group} and is inside envelope ${name} now`, at }]
    }),
  )
}
