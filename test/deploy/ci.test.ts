// What a policy repository copies: nothing in it applies, forks get no secret, and the versions are those of this tree.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { callsIn, offenceOf } from '../support/command-lines.ts'
import { DEPLOY, hasProgram, readDeploy, runProgram } from '../support/rules.ts'
import { type Action, actionOffences, readYaml, scriptsOf, type Workflow, workflowOffences } from '../support/workflows.ts'

const text = readDeploy('ci/policies.yaml')
const workflow = readYaml<Workflow>(text)
const action = readYaml<Action>(readDeploy('ci/action/action.yml'))
const script = readDeploy('ci/action/plan.sh')
const { version } = JSON.parse(readFileSync(join(DEPLOY, '../package.json'), 'utf8'))

/** All that we run, and all that a policy repository copies. */
const WORKFLOWS = ['ci', 'release'].map((name) => `../.github/workflows/${name}.yaml`)
const COPIED = ['ci/policies.yaml', 'examples/requests/capkeeper-requests.yaml', 'examples/tidy/capkeeper-tidy.yaml']

test.each([...WORKFLOWS, ...COPIED])('%s keeps the rules for all workflows', (path) => {
  expect(workflowOffences(readYaml(readDeploy(path)))).toEqual([])
})

describe('the workflow', () => {
  test.each([
    ['started with secrets for forks', text.replace('pull_request:', 'pull_request_target:'), 'a fork gets secrets'],
    ['that may write contents', text.replace('contents: read', 'contents: write'), 'the default is not to read'],
    ['without time limits', text.replaceAll(/timeout-minutes: .*/g, ''), 'validate may hang'],
    ['on a tag of an action', text.replace(/checkout@[0-9a-f]{40}/, 'checkout@v6'), 'which moves'],
    ['that meets itself', text.replace(/concurrency:[\s\S]*?true\n/, ''), 'runs of one branch'],
    ['that leaves its token about', text.replace('persist-credentials: false', 'fetch-depth: 1'), 'keeps the token'],
    ['with a pull request’s title in a script', `${text}      - run: echo \${{ github.event.pull_request.title }}\n`, 'has an expression'],
  ])('is refused %s', (_name, changed, why) => {
    expect(workflowOffences(readYaml(changed)).join('\n')).toContain(why)
  })

  test('validates every push, every pull request, and what a merge queue would merge', () => {
    expect(workflow.on).toEqual({ push: null, pull_request: null, merge_group: null })
    expect(workflow.jobs['validate']).not.toHaveProperty('if')
  })

  test('plans in merge queues and on pull requests of the repository itself, and may then write to them and to nothing else', () => {
    const { plan } = workflow.jobs
    expect(plan?.if).toMatch(/^github\.event_name == 'merge_group' \|\| \(github\.event_name == 'pull_request' && .*\)$/)
    expect(plan?.if).toContain("github.event_name == 'pull_request'")
    expect(plan?.if).toContain('head.repo.full_name == github.repository')
    expect(plan?.permissions).toEqual({ contents: 'read', 'pull-requests': 'write' })
  })

  test('shows in the comment what is wrong with policies, in place of the plan of an older commit', () => {
    expect(workflow.jobs['plan']).not.toHaveProperty('needs')
    const stepOf = (name: string) => action.runs.steps.find((step) => 'name' in step && step.name === name)
    expect(stepOf('Validate')).toHaveProperty('if', "inputs.command == 'validate'")
    expect(stepOf('Comment')).toHaveProperty('if', expect.stringMatching(/^always\(\)/))
  })

  test('hands the keys to the job that plans, from an environment', () => {
    const { plan, ...others } = workflow.jobs
    expect(plan).toHaveProperty('environment.name', 'capkeeper-plan')
    expect(JSON.stringify(plan)).toMatch(/secrets\.CAPKEEPER_LEDGER_TOKEN.*secrets\.CAPKEEPER_READ_KEY/)
    expect(JSON.stringify(others)).not.toContain('secrets.')
  })
})

describe('the action', () => {
  test('keeps the rules for all actions', () => {
    expect(actionOffences(action)).toEqual([])
  })

  test('is refused when an input has no description', () => {
    expect(actionOffences({ ...action, inputs: { key: {} } })).toEqual(['the input key is not described'])
  })

  test('installs the version of this tree', () => {
    expect(action.inputs['package']?.default).toBe(`capkeeper@${version}`)
  })

  test('shows the keys to the plan alone', () => {
    const withKey = action.runs.steps.filter((step) => /ledger-token|service-key/.test(JSON.stringify(step)))
    expect(withKey).toHaveLength(1)
    expect(withKey).toMatchObject([{ name: 'Plan', env: { CAPKEEPER_LEDGER_TOKEN: expect.stringContaining('inputs.ledger-token') } }])
  })
})

describe('no step', () => {
  const scripts = [scriptsOf(action.runs.steps), ...Object.values(workflow.jobs).map((job) => scriptsOf(job.steps)), script]

  test('applies, approves, pauses or runs: each only validates or plans', () => {
    const calls = scripts.flatMap((one) => one.split('\n').flatMap(callsIn))
    expect(calls.map((call) => call.split(' ')[1])).toEqual(['validate', 'plan'])
    expect(scripts.join('\n')).not.toMatch(/\b(apply|approve|pause|resume|UsageConfig)\b/)
  })

  test('has a call that the program would not take', () => {
    const calls = scripts.flatMap((one) => one.split('\n').flatMap(callsIn)).map((call) => call.replace(' "$@"', ''))
    expect(calls.map(offenceOf).filter((offence) => offence !== undefined)).toEqual([])
  })
})

test.skipIf(!hasProgram('actionlint', '-version'))('actionlint finds nothing in the workflows', () => {
  const files = [...WORKFLOWS, ...COPIED].map((path) => join(DEPLOY, path))
  expect(runProgram('actionlint', ['-no-color', ...files])).toEqual({ status: 0, said: '' })
})

test('code owners name who must approve caps, the config and the workflow itself', () => {
  const lines = readDeploy('ci/CODEOWNERS')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(lines.map((line) => line.split(/\s+/)[0])).toEqual(['*', '/policies/', '/policies/payments.yaml', '/.github/'])
  expect(lines.filter((line) => !/^\S+(\s+@acme\/[\w-]+)+$/.test(line))).toEqual([])
})
