// What an error of the client says, as plain data. Anything that is not the world's failure is ours, and goes on up.
import { ApiError } from '../../../api/errors.ts'
import type { ApiErrorKind } from '../../../core/model/observed.ts'

export interface Failure {
  readonly kind: ApiErrorKind
  readonly message: string
  /** Nothing was asked this time: an earlier failure of the same cause stands for it. */
  readonly unsent: boolean
}

/** The kind and message of an `ApiError`; rethrows everything else. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return { kind: error.kind, message: error.message, unsent: error.unsent === true }
  throw error
}
