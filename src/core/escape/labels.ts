// Values of Prometheus labels out of text that nobody vetted. The page's own syntax is escaped by the package that writes it; here text is
// made fit for where labels end up: dashboards, alerts and chat messages. It never touches names of labels, which are ours.
import { clipped } from './terminal.ts'

/** Longer values make every scrape dear and fit on no dashboard. Choice. */
const MAX_LABEL = 200

/** One line of printable text, cut after `MAX_LABEL` characters. */
export const labelText = (text: string): string => clipped(text, MAX_LABEL)

/** The same labels with values fit to be shown. */
export const labelsText = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, labelText(value)]))
