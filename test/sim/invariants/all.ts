// All invariants of the simulation, in the order of reports.
import type { Invariant } from '../steps.ts'
import { applied, converges } from './converges.ts'
import { countedPeople } from './counted.ts'
import { staysForgotten, toldAll, toldOnce, toldWhom } from './messages.ts'
import { notForgotten, releasesKept, spentInTime, wholeOnly } from './orphans.ts'
import { protectedPeople, safeOnTheWay } from './people.ts'
import { fileCounts } from './people-file.ts'
import { poolSum, poolsKept } from './pools.ts'
import { freshReading, readBack } from './readings.ts'
import { rulesAgree } from './rules.ts'
import { alertOnly, approvedOnly, paused, rosterDoubt, wrongClock } from './standstill.ts'
import { asDeclared, refusedIsNothing } from './teams.ts'
import { completeCycle, fewTries, zeroGivenBack } from './tries.ts'
import { safeWhilePartial } from './underway.ts'
import { approvals, healed, nothingUnexpected, pace, quiet, secrecy } from './whole.ts'
import { heldStays, intents, knownReading, notOurs, oneWriter } from './writes.ts'

export const invariantsFor = (keys: readonly string[]): readonly Invariant[] => [
  nothingUnexpected,
  converges,
  applied,
  knownReading,
  freshReading,
  readBack,
  heldStays,
  notOurs,
  healed,
  protectedPeople,
  countedPeople,
  paused,
  wrongClock,
  rosterDoubt,
  approvedOnly,
  alertOnly,
  safeOnTheWay,
  safeWhilePartial,
  approvals,
  spentInTime,
  releasesKept,
  notForgotten,
  wholeOnly,
  intents,
  fewTries,
  completeCycle,
  zeroGivenBack,
  poolSum,
  poolsKept,
  rulesAgree,
  refusedIsNothing,
  asDeclared,
  fileCounts,
  toldOnce,
  toldWhom,
  toldAll,
  staysForgotten,
  quiet,
  pace,
  secrecy(keys),
  oneWriter,
]
