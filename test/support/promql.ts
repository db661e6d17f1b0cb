// Parses PromQL with Prometheus' own grammar: syntax errors, and the metrics and labels of a query.
import { parser } from '@prometheus-io/lezer-promql'
import { COUNTERS, GAUGES, HISTOGRAMS } from '../../src/daemon/http/metrics/gauges.ts'

export interface Named {
  /** Parts that are not PromQL. */
  readonly errors: readonly string[]
  readonly metrics: readonly string[]
  /** Labels of matchers, `by`, `without`, `on`, `ignoring` and `group_left`. */
  readonly labels: readonly string[]
}

export function namesIn(query: string): Named {
  const errors: string[] = []
  const metrics: string[] = []
  const labels: string[] = []
  parser.parse(query).iterate({
    enter(node) {
      const text = query.slice(node.from, node.to)
      if (node.type.isError) errors.push(`${query.slice(Math.max(0, node.from - 20), node.from)}▸${query.slice(node.from, node.to + 20)}`)
      else if (node.name === 'LabelName') labels.push(text)
      else if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') metrics.push(text)
    },
  })
  return { errors, metrics, labels }
}

const TABLES = { ...GAUGES, ...COUNTERS, ...HISTOGRAMS }

/** Labels by metric on the metrics page: those of metrics/definitions.ts, with the series of histograms. */
export const OUR_METRICS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...Object.entries(TABLES).map(([name, { labels }]) => [name, labels] as const),
  ...Object.entries(HISTOGRAMS).flatMap(([name, { labels }]) => [
    [`${name}_bucket`, [...labels, 'le']] as const,
    [`${name}_sum`, labels] as const,
    [`${name}_count`, labels] as const,
  ]),
])

/** Metrics of Prometheus itself and of every process. */
const isCommon = (name: string): boolean => /^(process|nodejs)_\w+$|^(up|ALERTS)$/.test(name)
const COMMON_LABELS = ['job', 'instance', 'alertname', 'alertstate', 'severity', 'topic']

/** The faults of a query: syntax errors, and metrics and labels that do not exist. `recorded` are names that rules make. */
export function offencesIn(query: string, recorded: readonly string[] = []): readonly string[] {
  const { errors, metrics, labels } = namesIn(query)
  const known = new Set([...COMMON_LABELS, ...[...OUR_METRICS.values()].flat()])
  return [
    ...errors.map((piece) => `does not parse at ${piece}`),
    ...metrics.filter((name) => !OUR_METRICS.has(name) && !isCommon(name) && !recorded.includes(name)).map((name) => `there is no ${name}`),
    ...labels.filter((label) => !known.has(label)).map((label) => `no metric has the label ${label}`),
    ...(metrics.length === 0 ? ['it names no metric'] : []),
    ...strayLabels(query),
  ]
}

/** A label matcher on a metric without that label selects nothing, without an error. */
function strayLabels(query: string): readonly string[] {
  const found: string[] = []
  parser.parse(query).iterate({
    enter(node) {
      if (node.name !== 'VectorSelector') return
      const { metrics, labels } = namesIn(query.slice(node.from, node.to))
      const has = OUR_METRICS.get(metrics[0] ?? '')
      if (has)
        found.push(
          ...labels
            .filter((label) => !has.includes(label) && !COMMON_LABELS.includes(label))
            .map((label) => `${metrics[0]} has no label ${label}`),
        )
    },
  })
  return found
}
