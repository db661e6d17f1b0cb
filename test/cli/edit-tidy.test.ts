// `edit tidy`: what the ledger shows to be over goes, from a file and from a running daemon; everything else stays.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Approval, ApprovalState, ChangeResult } from '../../src/core/model/change.ts'
import { userScope } from '../../src/core/model/scope.ts'
import { DAY_MS } from '../../src/core/model/units.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { ledgerPieces } from '../../src/daemon/ledger/share.ts'
import { sha256 } from '../../src/daemon/schedule/system.ts'
import { fakeClock } from '../support/clock.ts'
import { historyOf, intentFor, ownedCap, raise } from '../support/ledger.ts'
import { run } from './world.ts'

const clock = fakeClock()
const NOW = clock.now()
const day = (ago: number): string => new Date(NOW - ago * DAY_MS).toISOString().slice(0, 10)
const id = (digit: string): string => digit.repeat(32)

let folder = ''
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'capkeeper-tidy-'))
  const store = await openLedger({ file: join(folder, 'capkeeper.db'), mode: 'write', clock })
  const ledger = await store.workspace('acme', 'https://acme.example')
  const ends = async (email: string, ago: number, result: ChangeResult = 'applied'): Promise<void> => {
    const change = { ...raise(userScope(email), 900, 500), cause: 'expired' } as const
    await ledger.recordOutcome(await ledger.recordIntent(intentFor(change)), historyOf(change, NOW - ago * DAY_MS, { result }), 'released')
  }
  await ends('verified@example.com', 19)
  await ends('lately@example.com', 3)
  await ends('failed@example.com', 19, 'failed')
  await ends('before@example.com', 40)
  ledger.saveOwned([ownedCap(userScope('found@example.com'), 500, { owner: 'policy', verifiedAt: NOW - 18 * DAY_MS })])
  ledger.saveOwned([ownedCap(userScope('held@example.com'), 900, { owner: 'grant', verifiedAt: NOW - 18 * DAY_MS })])
  const approval = (digit: string, state: ApprovalState): Approval => ({
    id: id(digit),
    via: 'policy',
    approvedAt: NOW,
    state,
    released: [],
  })
  for (const one of [approval('1', 'spent'), approval('2', 'void'), approval('3', 'pending')]) ledger.saveApproval(one)
  await ledger.commit()
  await store.close()
  const grants = ['verified', 'lately', 'failed', 'before', 'found', 'held', 'unknown'].map(
    (name) => `    - {user: ${name}@example.com, cap: 900, until: ${day(20)}, reason: r}\n`,
  )
  writeFileSync(join(folder, 'p.yaml'), `${HEAD}  grants:\n${grants.join('')}  approvals: [${['1', '2', '3', '4'].map(id).join(', ')}]\n`)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const HEAD = 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: p}\nspec:\n  workspace: acme\n  team: {cap: 500}\n'
const tidy = (ledger: string, ...argv: readonly string[]) =>
  run(['edit', 'tidy', '--policies', join(folder, 'p.yaml'), '--ledger', ledger, ...argv], { clock })
const left = (): readonly string[] => readFileSync(join(folder, 'p.yaml'), 'utf8').match(/\w+(?=@example)|[\da-f]{32}/g) ?? []

const KEPT = ['lately', 'failed', 'before', 'held', 'unknown', id('3'), id('4')]

test('removes ends that are verified long enough, and approvals that are spent or void, each with its reason', async () => {
  const ran = await tidy(join(folder, 'capkeeper.db'))
  expect(ran).toMatchObject({ code: 0 })
  expect(left()).toEqual(KEPT)
  expect(ran.stderr).toContain(`the grant of verified@example.com: its end was verified on ${day(19)}, 19 d ago\n`)
  expect(ran.stderr).toContain(`the grant of found@example.com: its end was verified on ${day(18)}, 18 d ago\n`)
  expect(ran.stderr).toContain(`the approval ${id('1')}: it is spent, and releases nothing any more\n`)
  expect(ran.stderr).toContain(`the approval ${id('2')}: it is void, and releases nothing any more\n`)
  expect(await tidy(join(folder, 'capkeeper.db'), '--check')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'nothing to do: no grant or approval is over\n',
  })
})

test('takes another age with --ended', async () => {
  await tidy(join(folder, 'capkeeper.db'), '--ended', '2d')
  expect(left()).toEqual(KEPT.filter((name) => name !== 'lately'))
})

test('knows the same from a running daemon, which names nobody', async () => {
  const store = await openLedger({ file: join(folder, 'capkeeper.db'), mode: 'read', clock })
  const ledger = await store.workspace('acme', undefined)
  const pieces: string[] = []
  const workspaces = [{ workspace: 'acme', baseUrl: 'https://acme.example', ledger }]
  for await (const piece of ledgerPieces({ workspaces, now: NOW, key: 'k', digest: sha256 })) pieces.push(piece)
  await store.close()
  expect(pieces.join('')).not.toContain('example.com"')
  const server = createServer((_request, response) => response.end(pieces.join('')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    expect(await tidy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).toMatchObject({ code: 0 })
    expect(left()).toEqual(KEPT)
  } finally {
    server.close()
  }
})
