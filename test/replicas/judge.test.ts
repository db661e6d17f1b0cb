// The judge of `npm run replicas:check` finds what is wrong. That replicas pass it, `npm run replicas:check` shows; one that dies, stands still or
// stops is tested in test/e2e/replicas.test.ts.
import { expect, test } from 'vitest'
import type { Audit, Given } from './audit.ts'
import { type Trouble, violationsOf } from './judge.ts'
import type { Arrival, Landing, Service } from './service.ts'

const write = (more: Partial<Arrival>): Arrival => ({
  ...{ workspace: 'w0', sender: 0, sentAt: 1_000, connectedInMs: 0, arrivedAt: 1_001, value: 1_000, landedAt: 1_002, answeredAt: 1_003 },
  ...more,
})
const landing = (of: Arrival, before: number): Landing => ({
  at: of.landedAt ?? 0,
  workspace: of.workspace,
  value: of.value,
  before,
  write: of,
})
const given = (more: Partial<Given>): Given => ({ at: 0, workspace: 'w0', holder: 'a', token: 1, until: 18_000, era: 'x', ...more })

function rulesOf(parts: { arrivals?: Arrival[]; landings?: Landing[]; given?: Given[]; troubles?: Trouble[] }): readonly string[] {
  const service: Pick<Service, 'arrivals' | 'landings'> = { arrivals: parts.arrivals ?? [], landings: parts.landings ?? [] }
  const audit: Pick<Audit, 'given'> = { given: parts.given ?? [given({})] }
  const placeOf = (holder: string): number => (holder === 'a' ? 0 : 1)
  return violationsOf({ service, audit, placeOf, troubles: parts.troubles ?? [], sinceAt: 0 }).map(({ rule }) => rule)
}

const LEASE = 'a write leaves under a lease that outlasts it'
const TWICE = 'nothing is written twice beyond the one in doubt'
const first = write({})
const { answeredAt: _, ...unanswered } = first
const again = write({ sentAt: 2_000, arrivedAt: 2_001, landedAt: 2_002, answeredAt: 2_003 })

test.each<[string, Parameters<typeof rulesOf>[0], readonly string[]]>([
  ['a write under a lease', { arrivals: [write({})] }, []],
  ['a write that its lease does not outlast', { arrivals: [write({ sentAt: 8_100 })] }, [LEASE]],
  ['such a write, after part of its time was spent on connecting', { arrivals: [write({ sentAt: 8_100, connectedInMs: 200 })] }, []],
  ['a write after its lease', { arrivals: [write({ sentAt: 20_000 })] }, [LEASE]],
  ['a write by a replica that is not the holder', { arrivals: [write({ sender: 1 })] }, [LEASE]],
  ['a write by an unknown sender', { arrivals: [write({ sender: undefined })] }, [LEASE]],
  ['a lease that follows one', { given: [given({}), given({ at: 18_000, until: 36_000, holder: 'b' })] }, []],
  ['a lease within another', { given: [given({}), given({ at: 17_000, until: 35_000, holder: 'b' })] }, ['one lease at a time']],
  ['a write of the stored cap', { landings: [landing(first, 9), landing(again, 1_000)] }, [TWICE]],
  ['the same after a lost answer', { landings: [landing(unanswered, 9), landing(again, 1_000)] }, []],
  ['one with trouble', { landings: [landing(first, 9), landing(again, 1_000)], troubles: [{ place: 0, fromAt: 900, untilAt: 1_500 }] }, []],
  ['an old policy', { arrivals: [write({ value: 1_001 }), write({ sentAt: 2_000 })] }, ['no old policy is written']],
])('the judge of these finds what is wrong: %s', (_row, parts, rules) => expect(rulesOf(parts)).toEqual(rules))
