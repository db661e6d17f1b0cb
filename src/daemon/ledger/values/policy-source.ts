// The schemas of scopes, caps and the last known good policy in the ledger. Only the generator loads this file; source.ts has the other values.
import type { Static } from 'typebox'
import type {
  ActiveDays,
  Attributes,
  CapRule,
  DeclaredGroup,
  Grant,
  PeopleRule,
  PolicyApproval,
  PolicySet,
  Pool,
  PoolMembers,
  ProtectedPerson,
  When,
} from '../../../core/model/policy.ts'
import type { Position } from '../../../core/model/problem.ts'
import type { GroupScope, Scope, UserScope } from '../../../core/model/scope.ts'
import type { Credits } from '../../../core/model/units.ts'
import { boolean, byKind, list, number, numeric, oneOf, optional, orWord, record, shape, text } from './build.ts'

export const amount = numeric<Credits>('a number')

export const cap = orWord('none', numeric<Credits>('a cap or none'))

export const position = shape<Position>({ file: text, line: number, column: number })

export const scope = byKind<Scope>({ team: {}, group: { id: text }, user: { email: text } })

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

/** Fields that earlier versions did not write. */
type Later = 'peopleRules' | 'pools'

export const policySet = shape<Omit<PolicySet, Later> & Partial<Pick<PolicySet, Later>>>({
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
  peopleRules: optional(list(shape<PeopleRule>({ name: text, when, cap, reason: optional(text), at: position, document: text }))),
  pools: optional(
    list(
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
  ),
  documents: list(text),
})

export type StoredPolicySet = Static<typeof policySet>
