// The JSON documents that commands print: their head, and instants in RFC 3339. Nothing is cut.
import { jsonText } from '../../core/escape/terminal.ts'
import { API_VERSION } from '../../policy/words.ts'
import { rfc3339 } from './text.ts'

/** `{apiVersion, kind, …fields}`. A number under `at` or a name that ends with `At` is an instant. */
export const documentText = (kind: string, fields: object): string =>
  jsonText({ apiVersion: API_VERSION, kind, ...fields }, (key, value) =>
    (key === 'at' || key.endsWith('At')) && typeof value === 'number' ? rfc3339(value) : value,
  )

/** The document of the one workspace that was asked for; where several were, a list of those that could be answered (choice). */
export const documentOrList = (kind: string, items: readonly object[], asked: number): string =>
  asked === 1 && items[0]
    ? documentText(kind, items[0])
    : documentText(`${kind}List`, { items: items.map((one) => ({ apiVersion: API_VERSION, kind, ...one })) })
