// Values of Prometheus labels from untrusted text. prom-client escapes the syntax of the page; this makes values fit for dashboards, alerts
// and chat messages. Names of labels are ours, and stay.
import { clipped } from './terminal.ts'

/** Longer values make every scrape expensive and fit on no dashboard. Choice. */
const MAX_LABEL = 200

/** One line of printable text, cut after `MAX_LABEL` characters. */
export const labelText = (text: string): string => clipped(text, MAX_LABEL)

/** The same labels with safe values. */
export const labelsText = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, labelText(value)]))
