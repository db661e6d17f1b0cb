// Two workspaces that write to one team would undo each other's caps for ever.
import { expect, test } from 'vitest'
import { parseConfigText } from '../../../src/daemon/config/file.ts'

const one = (name: string, more = ''): string =>
  `{name: ${name}, baseUrl: https://x.example/api/v1/, keys: {default: {file: k}}, policies: [p]${more}}`

test.each([
  ['with the same address and key', one('b'), ['SAME_TEAM']],
  ['with the address written another way', one('b').replace('/api/v1/', ''), ['SAME_TEAM']],
  ['with the file of the key written another way', one('b').replace('file: k', 'file: ./x/../k'), ['SAME_TEAM']],
  ['that only plans', one('b', ', mode: audit'), []],
  ['with another key', one('b').replace('file: k', 'file: other'), []],
  ['with a key of its own for writing', one('b').replace('default', 'billingRead: {file: k}, billingWrite'), ['SAME_TEAM']],
  ['at another address', one('b').replace('x.example', 'y.example'), []],
])('a second workspace %s', (_row, second, codes) => {
  const text = `apiVersion: capkeeper/v1\nkind: Config\nworkspaces:\n  - ${one('a')}\n  - ${second}\n`
  const { config, problems } = parseConfigText('c.yaml', text)
  expect(problems.map(({ code, severity, at, other }) => [code, severity, at?.line, other?.line])).toEqual(
    codes.map((code) => [code, 'error', 5, 4]),
  )
  expect(config === undefined).toBe(codes.length > 0)
})
