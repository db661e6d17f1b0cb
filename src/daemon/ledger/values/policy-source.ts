// The schemas of scopes, caps, the last known good policy, envelopes and the people file in the ledger. Only the generator loads this file;
// source.ts has the other values.
import type { TUnsafe } from 'typebox'
import type { Listing } from '../../../core/model/observed.ts'
import type {
  ActiveDays,
  Attributes,
  CapRule,
  DeclaredGroup,
  EnvelopeMemory,
  Grant,
  PeopleRule,
  PolicyApproval,
  PolicySet,
  Pool,
  PoolMembers,
  ProtectedPerson,
  Span,
  When,
} from '../../../core/model/policy.ts'
import type { Position } from '../../../core/model/problem.ts'
import type { GroupScope, Scope, ScopeKey, UserScope } from '../../../core/model/scope.ts'
import type { Credits } from '../../../core/model/units.ts'
import type { DatedListing, DirectoryMemory } from '../../../core/resolve/directory.ts'
import { boolean, byKind, list, number, numeric, oneOf, optional, orWord, record, shape, text } from './build.ts'

export const amount = numeric<Credits>('a number')

export const cap = orWord('none', numeric<Credits>('a cap or none'))

export const position = shape<Position>({ file: text, line: number, column: number })

export const scope = byKind<Scope>({ team: {}, group: { id: text }, user: { email: text } })

export const byScope = <T>(item: TUnsafe<T>): TUnsafe<Readonly<Record<ScopeKey, T>>> => record(item)

const when = shape<When>({
  email: optional(text),
  role: optional(text),
  groups: optional(list(text)),
  inactiveDays: optional(number),
  joinedWithinDays: optional(number),
  activeDays: optional(shape<ActiveDays>({ below: number, within: number })),
  attributes: optional(shape<Attributes>({ listed: optional(boolean), columns: optional(record(text)) })),
})

const poolMembers = byKind<PoolMembers>({
  groups: { ids: list(text) },
  emails: { emails: list(text) },
  when: { when },
})

export const policySet = shape<PolicySet>({
  workspace: text,
  rules: list(
    shape<CapRule>({
      ...{ scope, cap, reason: optional(text), at: position, document: text },
      envelope: optional(text),
      narrowed: optional(boolean),
    }),
  ),
  grants: list(
    shape<Grant>({
      scope,
      amount: byKind<Grant['amount']>({
        cap: { credits: amount },
        add: { credits: amount },
      }),
      fromAt: optional(number),
      until: byKind<Grant['until']>({
        instant: { at: number },
        cycleEnd: {},
      }),
      reason: text,
      ticket: optional(text),
      at: position,
      document: text,
      envelope: optional(text),
    }),
  ),
  groups: list(
    shape<DeclaredGroup>({ scope: byKind<GroupScope>({ group: { id: text } }), name: text, at: position, nameAt: optional(position) }),
  ),
  protectedPeople: list(shape<ProtectedPerson>({ scope: byKind<UserScope>({ user: { email: text } }), at: position })),
  approvals: list(shape<PolicyApproval>({ id: text, at: position })),
  onGroupConflict: optional(oneOf(['min', 'max'])),
  peopleRules: list(shape<PeopleRule>({ name: text, when, cap, reason: optional(text), at: position, document: text })),
  pools: list(
    shape<Pool>({
      name: text,
      members: poolMembers,
      credits: amount,
      share: oneOf(['need', 'equal']),
      min: amount,
      max: optional(amount),
      at: position,
      document: text,
    }),
  ),
  documents: list(text),
})

export const envelopes = shape<EnvelopeMemory>({
  ...{ readAt: record(number), members: record(list(text)), last: record(list(text)), joined: record(number) },
  spans: byScope(shape<Span>({ fromAt: number, untilAt: number })),
  scopes: byScope(text),
})

export const listed = {
  values: optional(record(text)),
  was: optional(shape<NonNullable<Listing['was']>>({ at: number, values: record(text) })),
  goneAt: optional(number),
}

export const directory = shape<DirectoryMemory>({
  digest: text,
  sinceAt: number,
  next: optional(
    shape<NonNullable<DirectoryMemory['next']>>({
      digest: text,
      since: number,
      fell: optional(shape<NonNullable<NonNullable<DirectoryMemory['next']>['fell']>>({ from: number, to: number })),
    }),
  ),
  people: record(list(shape<DatedListing>({ at: number, ...listed }))),
})
