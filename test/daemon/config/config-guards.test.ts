// How the guards that are no shares of people are written, and that the published schema takes what the parser takes.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { CONFIG_SCHEMA } from '../../../src/cli/schema.ts'
import { DEFAULT_GUARDS, type GuardSettings } from '../../../src/core/model/change.ts'
import { parseConfigText } from '../../../src/daemon/config/file.ts'

const text = (guards: string): string => `apiVersion: capkeeper/v1
kind: Config
workspaces:
  - name: acme
    guards: ${guards}
`

describe('a guard', () => {
  const { validate } = schema()
  it.each<readonly [string, Partial<GuardSettings>]>([
    ['{maxRaise: 250%}', { maxRaise: 250 }],
    ['{maxRaise: 50}', { maxRaise: 50 }],
    ['{maxRaise: off}', { maxRaise: 'off' }],
    ['{maxRaise: on}', { maxRaise: 100 }],
    ['{breaker: off}', { breaker: 'off' }],
    ['{breaker: on}', { breaker: { inARow: 3, percent: 10 } }],
    ['{breaker: 25%}', { breaker: { inARow: 3, percent: 25 } }],
    ['{breaker: {inARow: 5}}', { breaker: { inARow: 5, percent: 10 } }],
    ['{breaker: {inARow: 5, percent: 1}}', { breaker: { inARow: 5, percent: 1 } }],
    ['{contested: 6}', { contested: 6 }],
    ['{contested: {times: 6}}', { contested: 6 }],
    ['{contested: {}}', {}],
    ['{contested: off}', { contested: 'off' }],
    ['{contested: on}', { contested: 3 }],
  ])('is written %s', (guards, expected) => {
    const { config, problems } = parseConfigText('c.yaml', text(guards))
    expect(problems).toEqual([])
    expect(config?.workspaces[0]?.guards).toEqual({ ...DEFAULT_GUARDS, ...expected })
    expect(validate(parse(text(guards)))).toBe(true)
  })
})

function schema() {
  return { validate: new Ajv2020({ strict: false, validateFormats: false }).compile(CONFIG_SCHEMA) }
}
