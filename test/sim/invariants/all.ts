// Every invariant of the simulation, in the order they are listed in reports.
import type { Invariant } from '../steps.ts'
import { converges } from './converges.ts'
import { nobodyBetween, protectedPeople } from './people.ts'
import { approvals, healed, pace, quiet, secrecy } from './whole.ts'
import { heldStays, intents, knownReading, notOurs, oneWriter } from './writes.ts'

export const invariantsFor = (key: string): readonly Invariant[] => [
  converges,
  knownReading,
  heldStays,
  notOurs,
  healed,
  protectedPeople,
  nobodyBetween,
  approvals,
  intents,
  quiet,
  pace,
  secrecy(key),
  oneWriter,
]
