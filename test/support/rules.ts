// The alert rules and the runbook for tests, and the programs that check them where they are installed.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export const DEPLOY = join(import.meta.dirname, '../../deploy')
export const RULE_FILE = join(DEPLOY, 'prometheus/capkeeper.rules.yaml')

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

interface RecordRule {
  readonly record: string
  readonly expr: string
}

type AnyRule = AlertRule | RecordRule

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AnyRule[] }[]
}

export const readDeploy = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8')

export const ruleFile = (): RuleFile => parse(readFileSync(RULE_FILE, 'utf8'))

export const isAlert = (rule: AnyRule): rule is AlertRule => 'alert' in rule
const isRecord = (rule: AnyRule): rule is RecordRule => 'record' in rule

export const allRules = (): readonly AnyRule[] => ruleFile().groups.flatMap((group) => group.rules)
export const alertRules = (): readonly AlertRule[] => allRules().filter(isAlert)
export const recordedNames = (): readonly string[] =>
  allRules()
    .filter(isRecord)
    .map((rule) => rule.record)

/** Queries inside the templates of annotations: `query (printf "…%q…" $labels.workspace)`. */
export const queriesInTemplates = (text: string): readonly string[] =>
  [...text.matchAll(/query \(printf "((?:[^"\\]|\\.)*)"/g)].map(([, format = '']) => format.replaceAll('%q', '"acme"'))

/** Whether a program is installed, by words with which it does nothing. */
export const hasProgram = (name: string, ...words: readonly string[]): boolean =>
  spawnSync(name, words.length === 0 ? ['--version'] : words).status === 0

export interface Checked {
  readonly status: number | null
  readonly said: string
}

export function runProgram(name: string, argv: readonly string[]): Checked {
  const { status, stdout, stderr } = spawnSync(name, [...argv], { encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}
