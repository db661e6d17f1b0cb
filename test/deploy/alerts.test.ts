// The alert rules as a person on call meets them: each says how bad it is, what to do and where to read on; and what promtool says of them.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { prometheusRule } from '../../deploy/source/manifest.ts'
import { type AlertRule, alertRules, DEPLOY, hasProgram, RULE_FILE, readDeploy, runProgram } from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'

const rules = alertRules()
const names = [...new Set(rules.map((rule) => rule.alert))]
const TESTS = ['rules.test.yaml', 'rules.hours.test.yaml'].map((name) => join(import.meta.dirname, name))
const hasPromtool = hasProgram('promtool')

describe.each(rules.map((rule) => [`${rule.alert} (${rule.labels['severity']})`, rule] as const))('%s', (_name, rule) => {
  test('says how bad it is, what it is about, what happened, what to do and where to read on', () => {
    expect(rule.alert).toMatch(/^Capkeeper[A-Z]\w+$/)
    expect(rule.labels).toEqual({ severity: expect.stringMatching(/^(critical|warning)$/), topic: expect.stringMatching(/^[a-z]+$/) })
    expect(Object.keys(rule.annotations)).toEqual(['summary', 'description', 'runbook_url'])
    expect(rule.annotations['description']?.length).toBeGreaterThan(150)
    expect(rule.annotations['runbook_url']).toBe(`deploy/RUNBOOK.md#${rule.alert.toLowerCase()}`)
  })

  test('comes once per workspace, and names it', () => {
    const whole = ['CapkeeperMetricsAbsent', 'CapkeeperConfigInvalid', 'CapkeeperLedgerNotWritable'].includes(rule.alert)
    const text = `${rule.annotations['summary']}${rule.annotations['description']}`
    expect(text).toContain(whole ? '$labels.job' : '$labels.workspace')
    expect(rule.expr).toMatch(whole ? /by \(job\)/ : /by \((job, )?workspace\)/)
  })
})

test('one topic has one critical alert at most for a warning to give way to', () => {
  const warningTopics = rules.filter((rule) => rule.labels['severity'] === 'warning').map((rule) => rule.labels['topic'])
  const shared = [...new Set(warningTopics)].filter((topic) => rules.some((rule) => rule.labels['topic'] === topic && isCritical(rule)))
  expect(shared.toSorted()).toEqual(['auth', 'blocked', 'burn', 'pool', 'reconcile'])
})

const isCritical = (rule: AlertRule): boolean => rule.labels['severity'] === 'critical'

test('no PrometheusRule is made from a file without groups', () => {
  expect(() => prometheusRule('rules: []\n')).toThrow('no line "groups:"')
})

describe('promtool', () => {
  test.skipIf(!hasPromtool)('check rules finds nothing wrong (needs promtool)', () => {
    const { status, said } = runProgram('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', RULE_FILE])
    expect(said).toContain('SUCCESS')
    expect(status).toBe(0)
  })

  /** Asked once, about both: samples that differ, and the texts of all alerts that fire. */
  let asked: string | undefined
  const answer = (): string => {
    asked ??= runProgram('promtool', ['test', 'rules', ...withTexts(TESTS)]).said
    return asked
  }

  test.skipIf(!hasPromtool)('test rules: every alert fires when it should, and does not when it should not (needs promtool)', () => {
    const lines = answer().split('\n')
    expect(lines.filter((line) => line.startsWith('Unit Testing: '))).toHaveLength(TESTS.length)
    expect(lines.filter((line) => !ABOUT_TEXTS.test(line))).toEqual([])
  })

  test.skipIf(!hasPromtool)('fills in every text without an error (needs promtool)', () => {
    const said = answer()
    expect(names.filter((name) => !said.includes(`alertname="${name}", severity=`) && !said.includes(`alertname="${name}", job=`))).toEqual(
      [],
    )
    expect(said).not.toMatch(/<error expanding|<no value>|%!|\{\{|NaN/)
  })
})

test('every alert, in every severity, is expected somewhere and not expected elsewhere', () => {
  const rows = TESTS.flatMap((path) => testFile(path).tests).flatMap((one) => one.promql_expr_test)
  const about = (rule: AlertRule) => rows.filter(({ expr }) => alertsOf(expr).includes(rule.alert))
  const fires = (rule: AlertRule): boolean =>
    about(rule).some((row) => row.exp_samples.some(({ labels }) => labels.includes(`severity="${rule.labels['severity']}"`)))
  expect(rules.filter((rule) => !fires(rule) || !about(rule).some((row) => row.exp_samples.length === 0))).toEqual([])
})

interface TestFile {
  readonly tests: readonly {
    readonly promql_expr_test: readonly {
      readonly expr: string
      readonly eval_time: string
      readonly exp_samples: readonly { readonly labels: string }[]
    }[]
  }[]
}

const testFile = (path: string): TestFile => parse(readFileSync(path, 'utf8'))

/** A line of promtool that tells what it got in place of the alert that never comes; a sample that differs has another. */
const ABOUT_TEXTS = /^(?:Unit Testing: .*| {2}FAILED:| {4}(?:name|alertname): .*| {8}.*|)$/

/** The test files, in which an alert that never comes is expected as well: in its place promtool tells all alerts that fire, with their texts. */
function withTexts(paths: readonly string[]): readonly string[] {
  const folder = temporaryFolder()
  return paths.map((path) => {
    const file = testFile(path)
    const tests = file.tests.map((one) => ({
      ...one,
      alert_rule_test: one.promql_expr_test
        .filter(({ exp_samples }) => exp_samples.length > 0)
        .flatMap(({ expr, eval_time }) =>
          alertsOf(expr).map((alertname) => ({ eval_time, alertname, exp_alerts: [{ exp_labels: { never: 'there' } }] })),
        ),
    }))
    const changed = join(folder, basename(path))
    writeFileSync(changed, JSON.stringify({ ...file, rule_files: [RULE_FILE], tests }))
    return changed
  })
}

function alertsOf(expr: string): readonly string[] {
  const [, pattern = ''] = /alertname=~?"([^"]*)"/.exec(expr) ?? []
  return names.filter((name) => new RegExp(`^(?:${pattern})$`).test(name))
}

describe('the sample for Alertmanager', () => {
  const config = join(DEPLOY, 'alertmanager/alertmanager.yaml')
  const hasAmtool = hasProgram('amtool')

  test.skipIf(!hasAmtool)('is one that Alertmanager takes (needs amtool)', () => {
    const { status, said } = runProgram('amtool', ['check-config', config])
    expect(said).toContain('SUCCESS')
    expect(status).toBe(0)
  })

  test.skipIf(!hasAmtool).each([
    ['a critical alert to those on call', 'CapkeeperBurnFast', 'critical', 'capkeeper-pages'],
    ['a warning to the tickets', 'CapkeeperHoldActive', 'warning', 'capkeeper-tickets'],
    ['what is not of capkeeper elsewhere', 'NodeDown', 'critical', 'platform'],
  ])('sends %s (needs amtool)', (_row, alertname, severity, receiver) => {
    const labels = [`alertname=${alertname}`, `severity=${severity}`, 'workspace=acme']
    expect(runProgram('amtool', ['config', 'routes', 'test', `--config.file=${config}`, ...labels]).said).toContain(`${receiver}\n`)
  })

  test('holds no secret itself', () => {
    const text = readDeploy('alertmanager/alertmanager.yaml')
    expect(text).not.toMatch(/hooks\.slack\.com|_password:|api_url:/)
    expect(text).toMatch(/slack_api_url_file:[\s\S]*smtp_auth_password_file:/)
  })
})
