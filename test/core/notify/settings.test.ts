// What is sent where the config has no words of its own.
import { expect, test } from 'vitest'
import { DEFAULT_POOL_THRESHOLDS, DEFAULT_TEMPLATES, type MessageKind } from '../../../src/core/notify/settings.ts'
import { type Values, written } from '../../../src/core/notify/text.ts'

const figures = { workspace: 'acme', percent: 90, used: 90, left: 10, source: 'estimated', stop: 'the pool, now', cycleEnd: '2026-12-01' }

test.each<readonly [MessageKind, Values, string, string]>([
  [
    'person',
    { cap: 100 },
    '90 % of your add-on credits are used',
    'You have used 90 of the 100 add-on credits that your cap in acme allows until 2026-12-01; 10 are left (estimated).\n\n' +
      'What stops you first: the pool, now. At the cap, requests that need add-on credits are refused until the next billing cycle, or until your cap is raised.',
  ],
  [
    'pool',
    { pool: 'research', credits: 100, exhausted: 'now' },
    'Pool research: 90 % of its credits are used',
    'The pool research in acme has used 90 of its 100 add-on credits; 10 are left until 2026-12-01. Expected to be used up: now.',
  ],
  [
    'digest',
    { of: 'Research', day: '2026-11-22', members: 9, atCap: 1, nearCap: 2, people: ['ada: 100 of 100', 'bob: 90 of 100'] },
    'Research: 90 add-on credits used',
    'Research in acme, 2026-11-22\n\n90 add-on credits used in the billing cycle that ends on 2026-12-01 (estimated).\n' +
      '9 people; 1 at their cap, 2 at 85 % of it or more.\n\nada: 100 of 100\nbob: 90 of 100',
  ],
])('a %s message says what happened, the figures and until when', (kind, values, subject, text) =>
  expect(written(DEFAULT_TEMPLATES[kind], { ...figures, ...values })).toEqual({ subject, text }),
)

test('owners of a pool are told at 80 % where the config says nothing else', () => expect(DEFAULT_POOL_THRESHOLDS).toEqual([80]))
