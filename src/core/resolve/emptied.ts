// A file that held a policy and holds none now is broken, as one that does not parse: an emptied file must not remove what it declared. Deleting
// the file is how its policies are removed.
import type { PolicyRevision, PolicySet } from '../model/policy.ts'
import type { Problem } from '../model/problem.ts'

/** One problem for each file of which `kept`, the last known good set, has a part, and which is empty now. */
export function emptied({ empty = [] }: PolicyRevision, kept: PolicySet | undefined): readonly Problem[] {
  const held = new Set(kept && filesOf(kept))
  return empty
    .filter((file) => held.has(file))
    .map((file) => ({
      severity: 'error',
      code: 'EMPTY_FILE',
      message: `${file} held policies and is empty now; they stay in force`,
      hint: 'restore the file, or delete it to remove what it declared',
      at: { file, line: 1, column: 1 },
    }))
}

const filesOf = ({ rules, grants, groups, protectedPeople, approvals, peopleRules, pools }: PolicySet): readonly string[] =>
  [rules, grants, groups, protectedPeople, approvals, peopleRules, pools].flatMap((all) => all.map(({ at }) => at.file))
