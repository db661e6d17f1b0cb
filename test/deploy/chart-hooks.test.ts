// The scripts of `helm test` and of the wait for git, run as in their containers, against a daemon on loopback where they ask one.
import { expect, test } from 'vitest'
import { serve } from '../api/world.ts'
import { capkeeper } from '../support/process.ts'
import { readDeploy } from '../support/rules.ts'

test.each([
  ['ends well with a daemon that is ready and knows them', 200, ['acme', 'labs'], 0, '/status: acme, audit'],
  ['fails while the daemon is not ready', 503, ['acme'], 1, '/readyz: 503 not yet'],
  ['ends well where the pages need a sign-in', 401, ['acme'], 0, '/status: not asked for workspaces, because the pages need a sign-in'],
  ['fails with the answer that has no workspaces', 500, ['acme'], 1, '/status: 500 not yet'],
  ['fails when a workspace is missing', 200, ['acme', 'other'], 1, '/status does not know other'],
])('helm test: %s', async (_row, status, workspaces, code, said) => {
  const page = await serving(status)
  const answer = await script('ask.mjs', { PAGE: page, WORKSPACES: JSON.stringify(workspaces), WITHIN: '0' })
  expect(answer).toEqual({ code, said: expect.stringContaining(said) })
})

test.each([
  ['ends at once when it is there', import.meta.filename],
  ['gives up after its time, and the daemon starts all the same', '/nowhere/at/all'],
])('the wait for the first sync: %s', async (_row, link) => {
  expect(await script('wait.mjs', { LINK: link, WITHIN: '1' })).toEqual({ code: 0, said: '' })
})

/** A page as the daemon's, as far as the test asks it: 503 comes from /readyz, what else is wrong from /status. */
async function serving(status: number): Promise<string> {
  const { url } = await serve((request, response) => {
    if (status !== 200 && (status === 503) === (request.url === '/readyz')) response.writeHead(status).end('not yet')
    else response.end(JSON.stringify({ workspaces: ['acme', 'labs'].map((workspace) => ({ workspace, mode: 'audit' })) }))
  })
  return url
}

/** A script of the chart, run as in its container: by its text. */
async function script(name: string, env: Readonly<Record<string, string>>) {
  const text = readDeploy(`helm/capkeeper/files/${name}`)
  const { code, stdout, stderr } = await capkeeper(['--eval', text], { command: [process.execPath, '--input-type=module'], env })
  return { code, said: `${stdout}${stderr}` }
}
