// Holds team and group writes where the service was observed to copy them over people's own caps, while layers are declared.
import { type Guard, holdWhere } from './round.ts'

export const semantics: Guard = (round) => {
  const { facts, settings, impact } = round.inputs
  if (!settings.semantics || facts.copying === undefined || impact.capSemantics === 'copied') return undefined
  const why = 'this service copies a team or group cap to each member (seen), while capSemantics is layered'
  return holdWhere('semantics', round, why, (one) => one.scope.kind !== 'user')
}
