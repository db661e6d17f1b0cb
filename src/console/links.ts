// The addresses of the pages.

/** Absent and empty parameters are left out. */
export const withQuery = (path: string, query: Readonly<Record<string, string | number | undefined>>): string => {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  )
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}

const part = encodeURIComponent

/** The pages of a workspace, in the order of the navigation. */
export const SECTIONS = ['groups', 'people', 'changes', 'holds', 'policies', 'simulate', 'health'] as const
/** Those that also exist for readers who see only some people. */
export const PART_SECTIONS = ['groups', 'people'] as const
export type Section = (typeof SECTIONS)[number]

export const OVERVIEW = '/'
export const workspaceUrl = (workspace: string): string => `/workspaces/${part(workspace)}`
export const sectionUrl = (workspace: string, section: Section): string => `${workspaceUrl(workspace)}/${section}`
export const groupUrl = (workspace: string, id: string): string => `${sectionUrl(workspace, 'groups')}/${part(id)}`
export const personUrl = (workspace: string, person: string): string => `${sectionUrl(workspace, 'people')}/${part(person)}`
export const holdUrl = (workspace: string, id: string): string => `${sectionUrl(workspace, 'holds')}/${part(id)}`

/** `at`: an instant at which it wrote, which is needed to find a plan of long ago. */
export const planUrl = (workspace: string, id: string, at?: string): string =>
  withQuery(`${workspaceUrl(workspace)}/plans/${part(id)}`, { at })

/** Where a scope is explained: `team`, `group:ID` or a person. */
export function scopeUrl(workspace: string, scope: string): string {
  if (scope === 'team') return workspaceUrl(workspace)
  return scope.startsWith('group:') ? groupUrl(workspace, scope.slice('group:'.length)) : personUrl(workspace, scope)
}
