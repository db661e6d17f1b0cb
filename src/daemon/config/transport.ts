// Transport security: https with every certificate verified; plain http only to this machine, or where a setting allows it. A CA file changes which
// certificates are trusted; nothing turns verification off.
import { isLoopback } from '../../core/model/loopback.ts'
import type { Problem } from '../../core/model/problem.ts'
import { quoted } from '../../policy/yaml.ts'
import type { ConfigFlags, ConfigInput, WorkspaceConfig } from './settings.ts'

type Environment = ConfigInput['env']

const PLAIN_HTTP_VARIABLE = 'CAPKEEPER_ALLOW_PLAIN_HTTP'
const YES = ['true', '1']
const NO = ['', 'false', '0']

/** Adds the CA file and the permission for plain http from flags or environment; unlike an address, they apply to every workspace. Choice. */
export function withTransport(env: Environment, flags: ConfigFlags, problems: Problem[]): (workspace: WorkspaceConfig) => WorkspaceConfig {
  const caFile = flags.caFile ?? (env['CAPKEEPER_CA_FILE'] || undefined)
  const word = env[PLAIN_HTTP_VARIABLE] ?? ''
  if (!YES.includes(word) && !NO.includes(word)) {
    const message = `${PLAIN_HTTP_VARIABLE} is ${quoted(word)}, not true or false`
    problems.push({ severity: 'error', code: 'NOT_BOOLEAN', message, hint: 'write true, or leave it out' })
  }
  const allowed = flags.allowPlainHttp === true || YES.includes(word)
  return (workspace) => ({
    ...workspace,
    ...(caFile !== undefined && { caFile }),
    ...(allowed && { allowPlainHttp: true }),
  })
}

/** Addresses over which the key would travel unencrypted. The command decides the severity. */
export const plainHttpProblems = (workspaces: readonly WorkspaceConfig[], severity: Problem['severity']): readonly Problem[] =>
  workspaces
    .filter(({ baseUrl, allowPlainHttp }) => baseUrl.startsWith('http:') && !allowPlainHttp && !isHere(baseUrl))
    .map(({ name, baseUrl }) => ({
      severity,
      code: 'PLAIN_HTTP',
      message: `${name}: ${baseUrl} would carry the service key unencrypted to another machine`,
      hint: 'write https://, or allow it with --allow-plain-http, CAPKEEPER_ALLOW_PLAIN_HTTP=true or allowPlainHttp: true in the config',
    }))

const isHere = (baseUrl: string): boolean => isLoopback(new URL(baseUrl).hostname.replace(/^\[|\]$/g, ''))
