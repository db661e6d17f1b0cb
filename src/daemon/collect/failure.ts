// The failure of a request as plain data.
import { ApiError } from '../../api/errors.ts'
import type { ApiErrorKind } from '../../core/model/observed.ts'

export interface Failure {
  readonly kind: ApiErrorKind
  readonly message: string
  /** The request was not sent, because an earlier one failed for the same cause. */
  readonly unsent: boolean
}

/** The kind and message of an `ApiError`; rethrows everything else. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return { kind: error.kind, message: error.message, unsent: error.unsent === true }
  throw error
}

/** The answer may be too long for the service, for its time or for the wire. */
export const isTooMuch = ({ kind, unsent }: Failure): boolean =>
  !unsent && (kind === 'invalid' || kind === 'malformed' || kind === 'timeout')
