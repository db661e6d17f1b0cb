// Plans on merge requests of GitLab: the pipeline that a policy repository copies. Its note is in comment.test.ts.
import { describe, expect, test } from 'vitest'
import { callsIn, offenceOf } from '../support/command-lines.ts'
import { readDeploy } from '../support/rules.ts'
import { readYaml } from '../support/workflows.ts'

describe('the pipeline', () => {
  interface PipelineJob {
    readonly extends: string
    readonly rules: readonly { readonly if: string }[]
    readonly script: readonly string[]
  }
  const text = readDeploy('ci/gitlab-ci.yml')
  const {
    '.capkeeper': shared,
    'capkeeper validate': validate,
    'capkeeper plan': plan,
  } = readYaml<Readonly<Record<string, PipelineJob>>>(text)

  test('validates every push, and plans merge requests of the project itself, trains too', () => {
    expect(validate?.rules).toEqual([{ if: '$CI_PIPELINE_SOURCE == "merge_request_event" || $CI_PIPELINE_SOURCE == "push"' }])
    expect(plan?.rules).toEqual([
      { if: '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID' },
    ])
  })

  test('never applies, and calls only what the program takes', () => {
    const lines = [...(validate?.script ?? []), ...(plan?.script ?? [])]
    expect(
      lines
        .flatMap(callsIn)
        .map(offenceOf)
        .filter((offence) => offence !== undefined),
    ).toEqual([])
    expect(lines.join('\n')).not.toMatch(/\b(apply|approve|pause|resume)\b/)
  })

  test('hands the key and the token to the plan alone, and installs the version of this tree', () => {
    expect(JSON.stringify([shared, validate])).not.toMatch(/READ_KEY|LEDGER_TOKEN|GITLAB_TOKEN/)
    expect(shared).toMatchObject({ variables: { CAPKEEPER_PACKAGE: `capkeeper@${JSON.parse(readDeploy('../package.json')).version}` } })
  })

  test('says how the plan ended, also when the note was written', () => {
    expect(plan?.script.at(-1)).toBe('exit "$code"')
    expect(plan?.script.findIndex((line) => line.includes('note.mts'))).toBe(2)
  })
})
