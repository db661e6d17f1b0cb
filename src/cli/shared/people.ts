// People by e-mail or as hashes, as `people` of the config says. For output that leaves the machine, such as the comment on a pull request;
// never for JSON, which is saved and applied.
import type { Scope } from '../../core/model/scope.ts'
import { EMAIL_LABELS, hashLabels, type PeopleLabels, type PeopleShown } from '../../daemon/http/status/labels.ts'
import { randomSalt, sha256 } from '../../daemon/schedule/system.ts'

/** Hashes stay the same while the ledger keeps their salt; without a salt they differ in each run. */
export const labelsFor = (shown: PeopleShown, salt: string | undefined): PeopleLabels =>
  shown === 'hash' ? hashLabels(sha256, salt ?? randomSalt()) : EMAIL_LABELS

/** A scope with its person as shown. */
export const scopeShown = (scope: Scope, labels: PeopleLabels): Scope =>
  scope.kind === 'user' ? { kind: 'user', email: labels.label(scope.email) } : scope
