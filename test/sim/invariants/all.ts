// Every invariant of the simulation, in the order they are listed in reports.
import type { Invariant } from '../steps.ts'
import { applied, converges } from './converges.ts'
import { countedPeople } from './counted.ts'
import { readBack, secondLook } from './looks.ts'
import { notForgotten, releasesKept, spentInTime, wholeOnly } from './orphans.ts'
import { nobodyBetween, protectedPeople } from './people.ts'
import { poolSum, poolsKept } from './pools.ts'
import { rulesAgree } from './rules.ts'
import { alertOnly, approvedOnly, paused, rosterDoubt, wrongClock } from './standstill.ts'
import { fewTries, oneIsEnough, zeroGivenBack } from './tries.ts'
import { nobodyShort } from './underway.ts'
import { approvals, healed, nothingUnexpected, pace, quiet, secrecy } from './whole.ts'
import { heldStays, intents, knownReading, notOurs, oneWriter } from './writes.ts'

export const invariantsFor = (keys: readonly string[]): readonly Invariant[] => [
  nothingUnexpected,
  converges,
  applied,
  knownReading,
  secondLook,
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
  nobodyBetween,
  nobodyShort,
  approvals,
  spentInTime,
  releasesKept,
  notForgotten,
  wholeOnly,
  intents,
  fewTries,
  oneIsEnough,
  zeroGivenBack,
  poolSum,
  poolsKept,
  rulesAgree,
  quiet,
  pace,
  secrecy(keys),
  oneWriter,
]
