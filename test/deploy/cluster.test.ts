// What `npm run cluster:check` says where it cannot make a cluster: every scene by its name, and what is missing. The scenes themselves run outside
// `npm test`, as they need root and half a gigabyte of programs.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SCENES } from '../cluster/scenes.ts'

test('without its parts it skips every scene by name, names what is missing, and fails nobody', () => {
  const env = { PATH: '/nowhere', CAPKEEPER_CLUSTER_PARTS: '/nowhere', CAPKEEPER_CLUSTER_BUILD: 'no' }
  const { status, stdout } = spawnSync(process.execPath, ['--no-warnings', join(import.meta.dirname, '../cluster/main.ts')], {
    env,
    encoding: 'utf8',
  })
  expect(status).toBe(0)
  const lines = stdout.trim().split('\n')
  expect(lines.slice(0, -1)).toEqual(SCENES.map(([name]) => `skipped: ${name}`))
  for (const part of ['etcd (etcd-server)', 'kubelet', 'helm']) expect(lines.at(-1)).toContain(part)
})

test('every scene has a name of its own', () => {
  expect(new Set(SCENES.map(([name]) => name)).size).toBe(SCENES.length)
})
