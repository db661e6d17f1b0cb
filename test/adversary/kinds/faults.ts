// A service that loses requests and answers, or has a low rate limit: writes stay correct, and once it is healthy one apply completes the
// work.
import { checkCode } from '../checks/codes.ts'
import { checkEnd, expectedEnd } from '../checks/end.ts'
import { checkWay } from '../checks/steps.ts'
import { drawCompany } from '../company.ts'
import { declaredBy, drawPolicy } from '../policy.ts'
import type { Random } from '../random.ts'
import { passing, type Spoil } from '../service.ts'
import { noGuards } from '../world.ts'
import { checkDone, checkQuiet, drawSwitches, type Kind } from './kind.ts'

export const faults: Kind = async (random, open) => {
  const company = drawCompany(random, false)
  const limits = random.chance(0.3)
    ? ['--rate-limit', random.pick(['30/s', '60/s']), '--retry-after', random.pick(['none', 'seconds', 'date'])]
    : []
  const world = await open(company, [...drawSwitches(random), ...limits])
  world.configure({ guards: { ...noGuards, breaker: 'off', readQuality: 'off' }, concurrency: random.pick([1, 4]) })
  const policy = { ...drawPolicy(random, company, Date.now()), grants: [] }
  const declared = declaredBy(policy, company, Date.now())
  const start = world.service.state()
  const expected = expectedEnd(start, declared)
  world.write(policy)
  const share = random.pick([0, 0.03, 0.08])
  world.service.tamper = () => (random.chance(share) ? drawSpoil(random) : { kind: 'pass' })
  const first = await world.run('apply', '--yes', '--output', 'json')
  checkCode(world, first)
  if (first.code === 0) checkEnd(world, expected, declared.loose, 'exit 0 on a failing service')
  world.service.tamper = passing
  const left = world.service.state()
  const last = await world.run('apply', '--yes', '--output', 'json')
  checkDone(world, last, left, expected, declared.loose)
  checkWay(world, world.service.seen, start, world.service.state())
  if (declared.loose.size === 0) await checkQuiet(world)
}

function drawSpoil(random: Random): Spoil {
  return random.pick<Spoil>([
    { kind: 'drop-before' },
    { kind: 'drop-after' },
    { kind: 'answer', status: 503, body: '{"error":"unavailable"}' },
    { kind: 'answer', status: 502, body: '<html>bad gateway</html>' },
    { kind: 'answer', status: 200, body: '{"addOnCre' },
    { kind: 'answer', status: 429, body: '{"error":"rate limit exceeded"}' },
  ])
}
