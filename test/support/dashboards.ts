// A dashboard file for tests: panels, also in collapsed rows, and every query with its variables filled in.

export interface PanelFile {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: { readonly uid: string }
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[]
  readonly fieldConfig?: {
    readonly defaults: { readonly unit: string; readonly thresholds: { readonly steps: readonly { readonly value: number | null }[] } }
  }
  readonly panels?: readonly PanelFile[]
}

export interface DashboardFile {
  readonly uid: string
  readonly title: string
  readonly tags: readonly string[]
  readonly schemaVersion: number
  readonly links: readonly { readonly tags: readonly string[]; readonly includeVars: boolean; readonly keepTime: boolean }[]
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] }
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string; readonly query: unknown }[]
  }
  readonly panels: readonly PanelFile[]
}

export const allPanels = ({ panels }: Pick<DashboardFile, 'panels'>): readonly PanelFile[] =>
  panels.flatMap((panel) => [panel, ...(panel.panels ?? [])])

const filled = (query: string): string =>
  query.replaceAll(/\$__(rate_)?interval\b|\$__range\b/g, '5m').replaceAll(/\$(workspace|group)\b/g, 'acme')

/** Queries of panels, annotations and variables, as Grafana would send them. */
export function dashboardQueries(text: string): readonly string[] {
  const dashboard: DashboardFile = JSON.parse(text)
  const ofVariables = dashboard.templating.list.flatMap(
    ({ definition = '' }) => /^label_values\((.+), \w+\)$/.exec(definition)?.slice(1) ?? [],
  )
  const ofPanels = allPanels(dashboard).flatMap(({ targets = [] }) => targets.map((target) => target.expr))
  return [...ofPanels, ...dashboard.annotations.list.map((mark) => mark.expr), ...ofVariables].map(filled)
}
