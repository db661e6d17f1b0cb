// Any text in a config file: it is read without a throw, each problem has a place in the text and quotes nothing that moves a
// cursor, and what is given out has only numbers that a daemon can run with.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatProblems } from '../../../src/core/escape/text.ts'
import { folder, hasErrors } from '../../policy/support.ts'
import { loadConfig } from '../../support/config.ts'
import { ODD_YAML, runs, spoilt } from '../../support/fuzz.ts'

const RICH = `apiVersion: capkeeper/v1
kind: Config
listen: 0.0.0.0:9464
people: hash
ledger: ./capkeeper.db
pricePerCredit: 0.04
metrics: {perUser: top, userLabel: email}
workspaces:
  - name: acme
    baseUrl: https://service.example/api/v1
    keys:
      default: {file: /var/run/key}
      billingWrite: {env: WRITE_KEY}
    policies: [/policies, more]
    mode: enforce
    capSemantics: layered
    interval: 5m
    usageInterval: 19d23h
    onDrift: heal
    prune: true
    undeclaredUsers: ignore
    guards:
      maxLowered: {percent: 15, floor: 3}
      rosterShrink: 20
      emptyPolicy: off
    rate: {start: 5, max: 10, concurrency: 8}
  - {name: beta, baseUrl: "http://127.0.0.1:8787"}
`
const ODD = [
  ...ODD_YAML,
  ...['5m', '0s', '1ms', '99999d', '5 m', 'off', 'on', 'paused', 'audit', 'acme', 'https://u:p@x', 'ftp://x', 'localhost:70000', ':::1'],
  ...['percent', 'floor', 'keys'],
]

const cwd = folder({})
const load = (text: string) => {
  writeFileSync(join(cwd, 'c.yaml'), text)
  return loadConfig({ env: {}, flags: { config: 'c.yaml' }, cwd })
}

it('a config text of any kind is parsed without a throw, each problem has its position, and a result is one that a daemon can run with', () => {
  let whole = 0
  fc.assert(
    fc.property(spoilt([RICH], ODD), (text) => {
      const { config, problems } = load(text)
      const lines = text
        .toWellFormed()
        .replace(/^\ufeff/, '')
        .split('\n')
      for (const { at, sourceLine, message } of problems) {
        const line = lines[(at?.line ?? 0) - 1]?.replace(/\r$/, '')
        expect(line, message).toBeDefined()
        expect(at && at.column >= 1 && at.column <= (line?.length ?? 0) + 2, message).toBe(true)
        if (sourceLine !== undefined) expect(sourceLine).toBe(line)
      }
      expect(formatProblems(problems)).not.toMatch(/(?![\t\n])[\p{Cc}\p{Cf}]/u)
      expect(config === undefined).toBe(hasErrors(problems))
      if (!config) return
      whole += 1
      for (const { name, intervalMs, usageIntervalMs, rate, guards } of config.workspaces) {
        expect(name.trim()).not.toBe('')
        expect(usageIntervalMs).toBeLessThanOrEqual(8 * 3_600_000)
        for (const ms of [intervalMs, usageIntervalMs]) expect(Number.isInteger(ms) && ms >= 100 && ms <= 20 * 86_400_000).toBe(true)
        expect(rate.start > 0 && rate.start <= rate.max && rate.max <= 1000).toBe(true)
        expect(Number.isInteger(rate.concurrency) && rate.concurrency >= 1 && rate.concurrency <= 64).toBe(true)
        for (const number of numbersIn(guards)) expect(number >= 0 && number < 1e10).toBe(true)
      }
      const port = config.listen?.port ?? 0
      expect(Number.isInteger(port) && port >= 0 && port <= 65_535).toBe(true)
      expect((config.pricePerCredit ?? 1) > 0 && (config.pricePerCredit ?? 1) <= 1_000_000).toBe(true)
    }),
    runs(125),
  )
  expect(whole).toBeGreaterThan(25)
})

function numbersIn(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}
