// Policies as commands load them, with the workspaces that the configuration names. No network package is loaded for it.
import type { PolicyRevision } from '../../core/model/policy.ts'
import type { Problem } from '../../core/model/problem.ts'
import type { LoadedConfig } from '../../daemon/config/config.ts'
import type { Config } from '../../daemon/config/settings.ts'
import { loadPoliciesAside } from '../../policy/load/load-aside.ts'
import type { LoadedPolicies } from '../../policy/load/loaded.ts'
import type { Cli } from './context.ts'

/** The policy paths of all workspaces, each once. */
export const policyPaths = (config: Pick<Config, 'workspaces'> | undefined): readonly string[] => [
  ...new Set(config?.workspaces.flatMap(({ policies, envelopes = [] }) => [...policies, ...envelopes.flatMap((one) => one.policies)])),
]

/** Loads the policies at these paths. `workspace` is what `--workspace` says; `asWritten`: see `LoadOptions`. */
export const readPolicies = (
  paths: readonly string[],
  { configured }: LoadedConfig,
  { workspace, asWritten = false }: { readonly workspace?: string; readonly asWritten?: boolean },
  { clock }: Pick<Cli, 'clock'>,
): Promise<LoadedPolicies> =>
  loadPoliciesAside(
    paths,
    {
      workspaces: configured,
      workspace,
      now: clock.now(),
      asWritten: asWritten || undefined,
    },
    clock,
  )

/** How much a workspace declares, teams in their envelopes included. */
export function amountsOf({ set, delegated }: PolicyRevision): Readonly<Record<'documents' | 'rules' | 'grants', number>> {
  const ofTeams = delegated?.files.flatMap(({ documents = [] }) => documents) ?? []
  return {
    documents: set.documents.length + ofTeams.length,
    rules: set.rules.length + ofTeams.flatMap(({ rules }) => rules).length,
    grants: set.grants.length + ofTeams.flatMap(({ grants }) => grants).length,
  }
}

/** The problems for commands that go on beside a team's faults: errors of envelopes are warnings. */
export function problemsBeside({ problems, ofEnvelopes = [] }: LoadedPolicies): readonly Problem[] {
  const theirs = new Set(ofEnvelopes)
  return problems.map((problem) => (theirs.has(problem) ? { ...problem, severity: 'warning' } : problem))
}

/** Without a config file the workspace has the name that the flag or the policies give. */
export function named(config: Config, { workspace }: Pick<LoadedPolicies, 'workspace'>): Config {
  const [only] = config.workspaces
  if (workspace === undefined || !only || config.workspaces.length > 1) return config
  return { ...config, workspaces: [{ ...only, name: workspace }] }
}
