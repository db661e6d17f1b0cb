// Refusals of the service: each has a status and is written in one of the error styles that deployments use (docs/service.md, Errors,
// and docs/sandbox.md). A refusal must never contain a key.
import type { Switches } from './switches.ts'

/** A request the service refuses. Status codes: docs/sandbox.md, Behaviour. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** An answer before faults. */
export interface Encoded {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export const JSON_TYPE = 'application/json; charset=utf-8'
const TEXT_TYPE = 'text/plain; charset=utf-8'

/** The codes of the `connect` style; those beyond the four that were seen are choices. */
const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  405: 'unimplemented',
  413: 'invalid_argument',
  429: 'resource_exhausted',
}

/**
 * Writes the refusal of an operation in the configured style. Choice: the style `ok` answers 200 with `error`, except for 429, which is
 * documented, and 5xx, which are not refusals by an operation.
 */
export function encodeRefusal(style: Switches['errors'], status: number, message: string): Encoded {
  switch (style) {
    case 'error':
      return { status, contentType: JSON_TYPE, body: JSON.stringify({ error: message }) }
    case 'connect':
      return { status, contentType: JSON_TYPE, body: JSON.stringify({ code: CODES[status] ?? 'unavailable', message }) }
    case 'text':
      return { status, contentType: TEXT_TYPE, body: message }
    case 'ok': {
      const keeps = status === 429 || status >= 500
      return { status: keeps ? status : 200, contentType: JSON_TYPE, body: JSON.stringify({ error: message }) }
    }
  }
}

/** Writes a refusal by HTTP itself (paths, methods, bodies) in the configured style; the style `ok` keeps its status too. Choice. */
export const encodeHttpRefusal = (style: Switches['errors'], status: number, message: string): Encoded =>
  encodeRefusal(style === 'ok' ? 'error' : style, status, message)
