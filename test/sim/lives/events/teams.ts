// Events of an envelope: what the team writes, how its file breaks, and how platform changes its bounds.
import { between, pick } from '../../../../src/sandbox/company/company.ts'
import { delegate, ENVELOPE_GROUPS, editTeam, REFUSED, stray, type TeamState, WRONGS } from '../envelope.ts'
import type { Life } from '../life.ts'
import { drawCap } from '../policy-edits.ts'
import { MINUTE_MS } from '../scenario.ts'
import { type Acts, later } from './tools.ts'

/** Bounds that platform sets for some hours. */
const BOUNDS: readonly [TeamState['bounds'], ...TeamState['bounds'][]] = [
  { maxCap: REFUSED.narrowed },
  { maxCap: REFUSED.narrowed },
  { sum: 1 },
  { maxPeople: 1 },
  { grants: undefined },
  { groups: ENVELOPE_GROUPS.slice(1) },
  'gone',
]

/** Something is so until the team, or platform, has put it right again. */
function forAWhile(life: Life, minutes: number, begin: () => void, end: () => void): void {
  begin()
  life.published()
  later(life, minutes * MINUTE_MS, () => {
    end()
    life.published()
  })
}

export const TEAMS = {
  'team-edit': (life, draw) => {
    editTeam(life, drawCap(draw) || 100, draw)
    life.published()
  },
  'team-stray': (life, draw) =>
    forAWhile(
      life,
      between(draw, 10, 900),
      () => stray(life, draw),
      () => life.model.strays.clear(),
    ),
  'team-broken': (life, draw) =>
    forAWhile(
      life,
      between(draw, 1, 600),
      () => {
        life.team.wrong = pick(draw, WRONGS)
        if (draw() < 0.6) editTeam(life, drawCap(draw) || 100, draw)
      },
      () => {
        life.team.wrong = undefined
      },
    ),
  // Lines move between platform and team, or the team's file gets another name.
  'team-move': (life, draw) => {
    if (draw() < 0.5) delegate(life, life.model, draw)
    else life.team.name = pick(draw, ['team', 'other'])
    life.published()
  },
  'team-bounds': (life, draw) =>
    forAWhile(
      life,
      between(draw, 10, 700),
      () => {
        life.team.bounds = pick(draw, BOUNDS)
      },
      () => {
        life.team.bounds = {}
      },
    ),
} satisfies Partial<Acts>
