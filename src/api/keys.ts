// The service's keys: one per permission, from a file or the environment, read again when the file changes. A key's text leaves this file
// only through `keyFor`, for a request body. No message, problem or error shows any of it, and `redact` removes it from other texts.
import { createHash } from 'node:crypto'
import { ApiError, type Operation } from '../core/model/observed.ts'
import type { Problem } from '../core/model/problem.ts'
import { DIRECT_FILES, type Files, filesOf, keepLastGood, type LastGood, type TokenSource } from '../files.ts'
import { PERMISSION_NAME, PERMISSION_OF, PERMISSIONS, type Permission } from './wire.ts'

/** Permissions without a source of their own fall back to `default` (docs/configuration.md). */
export type KeySources = { readonly [name in KeyName]?: TokenSource }
export type KeyName = Permission | 'default'

export interface ServiceKey {
  /** The source's name in the configuration. */
  readonly name: KeyName
  /** A digest: tells whether two keys are the same, also across rings. */
  readonly id: string
  readonly value: string
}

export type KeyRing = ReturnType<typeof createKeyRing>

/** A key that was loaded, and all texts that reveal it. */
type Known = ReturnType<typeof knownOf>

export interface KeyRingOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absent: they are read at once. */
  readonly files?: Pick<Files, 'look'>
}

const MAX_KEY_LENGTH = 8_192
/** Shorter pieces of a key may appear by chance, and reveal nothing. */
const PIECE_LENGTH = 12
const REMOVED = '[key]'

/** A key that cannot be used: why, without any of its content. */
interface Unusable {
  readonly code: 'KEY_MISSING' | 'KEY_UNREADABLE' | 'KEY_EMPTY' | 'KEY_MALFORMED'
  readonly message: string
}

type Loaded = { readonly value: string } | Unusable

export function createKeyRing(sources: KeySources, options: KeyRingOptions) {
  const { env, files = DIRECT_FILES } = options
  const known = new Map<string, Known>()
  const readers = new Map(filesOf(Object.values(sources)).map((file) => [file, keyReader(files, file)]))

  function loadFile(file: string): Loaded {
    const { value, unread } = readers.get(file)?.() ?? {}
    return value && (unread === undefined || 'value' in value) ? value : { code: 'KEY_UNREADABLE', message: unread ?? '' }
  }

  function load(source: TokenSource): Loaded {
    const loaded = 'file' in source ? loadFile(source.file) : fromEnvironment(env, source.env)
    if ('value' in loaded && !known.has(loaded.value)) known.set(loaded.value, knownOf(loaded.value))
    return loaded
  }

  return {
    /** The key for an operation, read again when its file changed. Throws an `ApiError` of kind `auth` when it cannot be used. */
    keyFor(operation: Operation): ServiceKey {
      const permission = PERMISSION_OF[operation]
      const name = keyNameFor(sources, permission)
      const source = name && sources[name]
      const loaded = source ? load(source) : missing(permission)
      if ('code' in loaded) throw unusable(operation, loaded)
      return { name: name ?? 'default', id: (known.get(loaded.value) ?? knownOf(loaded.value)).id, value: loaded.value }
    },
    /** Why files cannot be read any more whose last good key is used. Each source is named once. */
    kept: (): readonly string[] =>
      [...readers.values()].flatMap((read) => {
        const { value, unread } = read()
        return value && 'value' in value && unread !== undefined ? [unread] : []
      }),
    /** The problems of all sources, for start-up and `doctor`; a permission without any key is a warning. */
    problems(): readonly Problem[] {
      if (Object.keys(sources).length === 0) return [{ severity: 'error', ...NO_KEY }]
      const lacking = PERMISSIONS.filter((permission) => !keyNameFor(sources, permission)).map(missing)
      const broken = Object.values(sources)
        .map(load)
        .filter((loaded) => 'code' in loaded)
      return [...broken.map(asProblem('error')), ...lacking.map(asProblem('warning'))]
    },
    /** Removes every key ever loaded from a text, whole or in long pieces. */
    redact: (text: string): string => known.values().reduce(withoutKey, text),
  }
}

function knownOf(key: string) {
  const cut = (length: number, step: number): readonly string[] =>
    Array.from({ length: Math.floor((key.length - length) / step) + 1 }, (_, at) => key.slice(at * step, at * step + length))
  const isLong = key.length >= PIECE_LENGTH
  return {
    id: createHash('sha256').update(key).digest('hex'),
    /** As it is, as JSON, and as part of a URL. */
    spellings: [...new Set([key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key)])],
    pieces: new Set(isLong ? cut(PIECE_LENGTH, 1) : []),
    /** Every piece contains one of these, so a text without any of them needs no closer search. */
    halves: isLong ? cut(PIECE_LENGTH / 2, PIECE_LENGTH / 2) : [],
  }
}

const NO_KEY: Unusable = {
  code: 'KEY_MISSING',
  message: 'no service key is configured; name a file with --service-key-file or set CAPKEEPER_SERVICE_KEY',
}

const asProblem =
  (severity: Problem['severity']) =>
  ({ code, message }: Unusable): Problem => ({ severity, code, message })

const missing = (permission: Permission): Unusable => ({
  code: 'KEY_MISSING',
  message: `no service key is configured for ${PERMISSION_NAME[permission]}; set keys.${permission} or keys.default`,
})

/** The name of the key that serves a permission; undefined when there is none. */
export const keyNameFor = (sources: KeySources, permission: Permission): KeyName | undefined =>
  sources[permission] ? permission : sources.default && 'default'

function unusable(operation: Operation, why: Unusable): ApiError {
  const permission = PERMISSION_NAME[PERMISSION_OF[operation]]
  return new ApiError({ operation, kind: 'auth', permission, unsent: true, message: `${operation}: ${why.message}` })
}

function keyReader(files: Pick<Files, 'look'>, file: string): () => LastGood<Loaded> {
  const name = `the key file ${file}`
  return keepLastGood(files, { name, file, maxBytes: 4 * MAX_KEY_LENGTH }, (text) => ({ value: checkedKey(text, name) }))
}

function fromEnvironment(env: KeyRingOptions['env'], name: string): Loaded {
  const text = env[name]
  if (text === undefined) return { code: 'KEY_MISSING', message: `the environment variable ${name}, which should hold the key, is not set` }
  return checkedKey(text, `the key in the environment variable ${name}`)
}

/** White space around a key is dropped, so a trailing newline does no harm. */
function checkedKey(text: string, subject: string): Loaded {
  const value = text.trim()
  if (value === '') return { code: 'KEY_EMPTY', message: `${subject} is empty` }
  if (value.length > MAX_KEY_LENGTH) {
    return { code: 'KEY_MALFORMED', message: `${subject} has ${value.length} characters; a key has ${MAX_KEY_LENGTH} at most` }
  }
  if (/\0|^\uFFFD/.test(value)) return { code: 'KEY_MALFORMED', message: `${subject} looks like UTF-16; save it as UTF-8` }
  if (/[\r\n]/.test(value)) return { code: 'KEY_MALFORMED', message: `${subject} has more than one line; write the key alone` }
  if (/^(['"`]).*\1$/.test(value)) {
    return { code: 'KEY_MALFORMED', message: `${subject} is in quotes; write the key alone, without them` }
  }
  if (/\p{Cc}/u.test(value)) return { code: 'KEY_MALFORMED', message: `${subject} contains control characters; write the key alone` }
  return { value }
}

/** Pieces are removed as well, because a key may be cut short. */
function withoutKey(text: string, { spellings, pieces, halves }: Known): string {
  const whole = spellings.reduce((rest, spelling) => rest.replaceAll(spelling, REMOVED), text)
  return halves.some((half) => whole.includes(half)) ? withoutPieces(whole, pieces) : whole
}

/** Removes every run of characters that pieces of the key cover. */
function withoutPieces(text: string, pieces: ReadonlySet<string>): string {
  let clean = ''
  let end = 0
  for (let at = 0; at + PIECE_LENGTH <= text.length; at += 1) {
    if (!pieces.has(text.slice(at, at + PIECE_LENGTH))) continue
    if (at > end || clean === '') clean += text.slice(end, at) + REMOVED
    end = at + PIECE_LENGTH
  }
  return clean + text.slice(end)
}
