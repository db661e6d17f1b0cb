// Workflows and actions of GitHub as data, and their faults: what may start them, their permissions, their time, the code they use.
import { parse } from 'yaml'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly shell?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly 'timeout-minutes'?: number
  readonly permissions?: Readonly<Record<string, string>>
  readonly if?: string
  readonly steps: readonly Step[]
}

export interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions?: Readonly<Record<string, string>>
  readonly concurrency?: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

export interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly description?: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

/** A workflow or action file. */
export const readYaml = <T>(text: string): T => parse(text)

/** A full commit; branches move, and tags can be moved. */
const PINNED = /@[0-9a-f]{40}$/
/** Expressions that outsiders fill in, which a shell would run in a script: `${{ … }}` belongs into `env`. */
const EXPRESSION = /\$\{\{/

const stepOffences = (place: string, step: Step): readonly string[] => [
  ...(step.uses && !step.uses.startsWith('./') && !PINNED.test(step.uses) ? [`${place} uses ${step.uses}, which moves`] : []),
  ...(step.run && EXPRESSION.test(step.run) ? [`${place} has an expression in its script`] : []),
  ...(step.uses?.startsWith('actions/checkout@') && step.with?.['persist-credentials'] !== false
    ? [`${place} keeps the token in the checkout`]
    : []),
]

/** The faults of any workflow of ours. */
export function workflowOffences({ on, permissions, concurrency, jobs }: Workflow): readonly string[] {
  return [
    ...('pull_request_target' in on ? ['a fork gets secrets (pull_request_target)'] : []),
    ...(JSON.stringify(permissions) === '{"contents":"read"}' ? [] : ['the default is not to read contents alone']),
    ...(concurrency === undefined ? ['runs of one branch meet each other (concurrency)'] : []),
    ...Object.entries(jobs).flatMap(([name, job]) => [
      ...(job['timeout-minutes'] === undefined ? [`${name} may hang for hours`] : []),
      ...job.steps.flatMap((step, index) => stepOffences(`${name}, step ${index + 1},`, step)),
    ]),
  ]
}

/** The faults of any composite action of ours. */
export const actionOffences = ({ inputs, runs }: Action): readonly string[] => [
  ...runs.steps.flatMap((step, index) => stepOffences(`step ${index + 1}`, step)),
  ...Object.entries(inputs).flatMap(([name, { description }]) => (description ? [] : [`the input ${name} is not described`])),
]

/** Every script of a workflow or an action, as one text. */
export const scriptsOf = (steps: readonly Step[]): string => steps.flatMap(({ run }) => run ?? []).join('\n')
