// A fixture file's text to a fixture, or to problems with their places: first the JSON, then the schema, then what the entries say about
// each other. Everything that is wrong is told at once; nothing is loaded here.
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { InputError, type Problem } from '../core/model/problem.ts'
import type { Instant } from '../core/model/units.ts'
import type { Fixture } from './fixture.ts'
import { type FixtureFault, meaningFaults, shown } from './fixture-meaning.ts'
import { FIXTURE_SCHEMA } from './fixture-schema.generated.ts'
import type { FixtureDocument } from './fixture-schema-source.ts'
import { type Place, placesOf, pointerPart, readJson } from './json-places.ts'
import { parseTimestamp } from './time.ts'

/** So many problems are shown of one file. */
export const MOST_PROBLEMS = 20

/** Reads a fixture; `now` stands in for an `asOf` that is not given. Throws an `InputError` with up to 20 places and a count of the rest. */
export function readFixture(file: string, text: string, now: Instant): Fixture {
  const clean = text.startsWith('\uFEFF') ? text.slice(1) : text
  const reading = readJson(clean)
  if (reading.kind === 'fault') {
    const { offset, message } = reading.fault
    throw new InputError([
      problemAt(file, clean, { start: offset, end: offset + 1 }, { code: 'FIXTURE_JSON', message: `not JSON: ${message}` }),
    ])
  }
  const { value } = reading
  if (!isFixture(value)) throw failure(file, clean, schemaFaults(isFixture.errors ?? []))
  const asOf = (value.asOf === undefined ? undefined : parseTimestamp(value.asOf)) ?? now
  const faults = meaningFaults(value, asOf)
  if (faults.length > 0) throw failure(file, clean, faults)
  return { file, asOf, document: value }
}

const ajv = new Ajv2020({ allErrors: true, verbose: true, formats: { 'date-time': (text: string) => parseTimestamp(text) !== undefined } })
const isFixture = ajv.compile<FixtureDocument>(FIXTURE_SCHEMA)

function schemaFaults(errors: readonly ErrorObject[]): readonly FixtureFault[] {
  // A name that is wrong is told twice: as a property name, and by the pattern that it breaks.
  return errors.filter((error) => error.propertyName === undefined || error.keyword === 'propertyNames').map(schemaFault)
}

function schemaFault({ instancePath: pointer, keyword, params, parentSchema, data, message }: ErrorObject): FixtureFault {
  const code = 'FIXTURE_SCHEMA'
  const name = pointer === '' ? 'the fixture' : (pointer.split('/').findLast((part) => !/^\d+$/.test(part)) ?? '')
  switch (keyword) {
    case 'additionalProperties': {
      const unknown = String(params['additionalProperty'])
      const known = Object.keys({ ...parentSchema?.['properties'] }).join(', ')
      return {
        pointer: pointer + pointerPart(unknown),
        on: 'key',
        code,
        message: `${shown(unknown)} is not known here`,
        hint: `known here: ${known}`,
      }
    }
    case 'propertyNames': {
      const wrong = String(params['propertyName'])
      const hint = 'write team, group:ID or an e-mail'
      return { pointer: pointer + pointerPart(wrong), on: 'key', code, message: `${shown(wrong)} is not a scope`, hint }
    }
    case 'required':
      return { pointer, code, message: `${params['missingProperty']} is missing` }
    case 'type':
      return { pointer, code, message: `${name}: must be of type ${params['type']}, not ${shown(data)}` }
    case 'const':
      return { pointer, code, message: `${name}: must be ${shown(params['allowedValue'])}, not ${shown(data)}` }
    case 'enum':
      return {
        pointer,
        code,
        message: `${name}: ${shown(data)} is not known`,
        hint: `write one of ${[params['allowedValues']].flat().join(', ')}`,
      }
    case 'format':
      return { pointer, code, message: `${name}: ${shown(data)} is not an instant`, hint: 'write RFC 3339, such as 2026-11-20T00:00:00Z' }
    default:
      return { pointer, code, message: `${name}: ${shown(data)} ${message}` }
  }
}

function failure(file: string, text: string, faults: readonly FixtureFault[]): InputError {
  const listed = faults.slice(0, MOST_PROBLEMS)
  const places = placesOf(
    text,
    listed.map((fault) => fault.pointer),
  )
  const problems = listed.map((fault) => {
    const place = places.get(fault.pointer) ?? { start: 0, end: 1 }
    return problemAt(file, text, (fault.on === 'key' ? place.key : undefined) ?? place, fault)
  })
  const rest = faults.length - listed.length
  const more: Problem = {
    severity: 'error',
    code: 'FIXTURE_SCHEMA',
    message: `${file}: ${rest} more of the kind; the first ${MOST_PROBLEMS} are:`,
  }
  return new InputError(rest > 0 ? [more, ...problems] : problems)
}

function problemAt(
  file: string,
  text: string,
  { start, end }: Pick<Place, 'start' | 'end'>,
  fault: Pick<FixtureFault, 'message' | 'hint'> & { readonly code: string },
): Problem {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = text.indexOf('\n', start)
  const sourceLine = text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd).replace(/\r$/, '')
  const at = { file, line: text.slice(0, lineStart).split('\n').length, column: start - lineStart + 1 }
  const length = Math.max(1, Math.min(end - start, sourceLine.length - at.column + 1))
  const { code, message, hint } = fault
  return { severity: 'error', code, message, at, sourceLine, length, ...(hint === undefined ? {} : { hint }) }
}
