// What a policy set means, as lines and as a digest. File names, places, document names, order, formatting and comments make no difference to them.
import { createHash } from 'node:crypto'
import type { Delegated, PolicyRevision, PolicySet } from '../../core/model/policy.ts'
import { compareText, scopeKey } from '../../core/model/scope.ts'

/** 12 hex digits of SHA-256 over what a set means, from its lines: scopes, caps, times, reasons, lists. */
export const digestOfLines = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.toSorted(compareText).join('\n')).digest('hex').slice(0, 12)

/** The digest of a set and of what teams say beside it. */
export const digestOf = ({ set, delegated }: Pick<PolicyRevision, 'set' | 'delegated'>): string =>
  digestOfLines([...linesOf(set), ...delegatedLines(delegated)])

/** What a set, or a part of one, means, in lines: one for each declaration. */
export function linesOf({ rules = [], grants = [], onGroupConflict, ...set }: Partial<PolicySet>): readonly string[] {
  const { groups = [], protectedPeople = [], approvals = [], peopleRules = [], pools = [] } = set
  return [
    ...rules.map(({ scope, cap, reason }) => ['rule', scopeKey(scope), cap, reason]),
    ...grants.map(({ scope, amount, fromAt, until, reason, ticket }) => ['grant', scopeKey(scope), amount, fromAt, until, reason, ticket]),
    ...groups.map(({ scope, name }) => ['group', scope.id, name]),
    ...protectedPeople.map(({ scope }) => ['protected', scope.email]),
    ...approvals.map(({ id }) => ['approval', id]),
    ...peopleRules.map(({ name, when, cap, reason }, index) => ['people', index, name, when, cap, reason]),
    ...pools.map(({ name, members, credits, share, min, max }) => ['pool', name, members, credits, share, min, max]),
    ['onGroupConflict', onGroupConflict],
    // JSON writes what is absent in a list as null.
  ].map((line) => JSON.stringify(line))
}

/** What the files of teams say, and under which bounds. A file that cannot be used counts by its name. */
export const delegatedLines = (delegated: Delegated | undefined): readonly string[] =>
  delegated
    ? [
        ...delegated.envelopes.map(({ at: _, ...envelope }) => ['envelope', envelope]),
        ...delegated.files.flatMap(({ envelope, file, documents }) =>
          documents
            ? documents.map(({ rules, grants }) => [
                envelope,
                rules.map((one) => [one.scope, one.cap, one.reason]),
                grants.map(({ at: _, ...one }) => one),
              ])
            : [['broken', envelope, file]],
        ),
        ['unlisted', ...delegated.unlisted],
        ['refused', ...delegated.refused],
      ].map((line) => JSON.stringify(line))
    : []
