// A simulation for programs: everything, with instants as RFC 3339. Nothing is cut.

import { jsonText } from '../../core/escape/terminal.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Simulation } from '../../core/use/replay/document.ts'
import { rfc3339 } from '../shared/text.ts'

/** `{apiVersion, kind: "Simulation", createdAt, simulations: [...]}`; docs/simulate.md lists the fields. */
export function renderSimulationJson(simulations: readonly Simulation[], now: Instant): string {
  const document = { apiVersion: 'capkeeper/v1', kind: 'Simulation', createdAt: rfc3339(now), simulations }
  return jsonText(document, (key, value) => (key.endsWith('At') && typeof value === 'number' ? rfc3339(value) : value))
}
