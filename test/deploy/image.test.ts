// What deploy/Dockerfile promises, read from the file; `npm run image:check` carries it out.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { pairsOf, stagesOf, valuesOf } from '../../deploy/source/dockerfile.ts'
import { manifestsOf, statefulSet } from '../support/kubernetes.ts'
import { readDeploy } from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'

const [build = [], final = [], ...more] = stagesOf(readDeploy('Dockerfile'))
const pod = statefulSet(manifestsOf(readDeploy('kubernetes/base/statefulset.yaml'))).spec?.template.spec
const values = parse(readDeploy('helm/capkeeper/values.yaml'))

describe('the image', () => {
  test('is built in one stage and is only what comes out of it in the other', () => {
    expect(more).toEqual([])
    expect(valuesOf(build, 'FROM').join()).toMatch(/node:24\.\d+\.\d+-/)
    expect(valuesOf(final, 'FROM')).toEqual(['gcr.io/distroless/nodejs24-debian13:nonroot'])
    expect(valuesOf(final, 'COPY').filter((value) => !value.startsWith('--from=build '))).toEqual([])
    expect(valuesOf(final, 'RUN')).toEqual([])
  })

  test('is built on bases that the release pins by the digests they have that day, or the release ends', () => {
    const folder = temporaryFolder()
    const dockerfile = join(folder, 'Dockerfile')
    const pin = (answer: string) => {
      writeFileSync(dockerfile, readDeploy('Dockerfile'))
      writeFileSync(join(folder, 'docker'), `#!/bin/sh\necho ${answer}\n`, { mode: 0o755 })
      const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` }
      return execFileSync('deploy/pin-bases.sh', [dockerfile], { env, encoding: 'utf8', stdio: 'pipe' })
    }
    const digest = `sha256:${'ab'.repeat(32)}`
    const bases = pin(digest).trim().split('\n')
    expect(bases).toEqual([expect.stringMatching(/^node:24[^@]*@/), expect.stringMatching(/^gcr\.io[^@]*@/)])
    expect(bases.every((base) => base.endsWith(`@${digest}`))).toBe(true)
    const froms = stagesOf(readFileSync(dockerfile, 'utf8')).flatMap((stage) => valuesOf(stage, 'FROM'))
    expect(froms.map((from) => bases.some((base) => from.includes(base)))).toEqual([true, true])
    expect(() => pin('unknown')).toThrow(/no digest/)
  })

  test('holds production packages of the lock only', () => {
    expect(valuesOf(build, 'RUN').filter((value) => value.startsWith('npm '))).toEqual([
      'npm ci --no-audit --no-fund',
      'npm run build',
      'npm ci --omit=dev --no-audit --no-fund',
    ])
  })

  test('runs as the user, with the bounds of memory and on the port, that the manifests say too', () => {
    const { runAsUser, runAsGroup } = pod?.securityContext ?? {}
    expect(valuesOf(final, 'USER')).toEqual([`${runAsUser}:${runAsGroup}`])
    const { NODE_OPTIONS } = pairsOf(final, 'ENV')
    expect(NODE_OPTIONS).toMatch(/^--max-semi-space-size=1 --max-old-space-size=\d+$/)
    expect(pod?.containers[0]?.env).toContainEqual({ name: 'NODE_OPTIONS', value: NODE_OPTIONS })
    expect(values.nodeOptions).toBe(NODE_OPTIONS)
    expect(valuesOf(final, 'EXPOSE')).toEqual([String(pod?.containers[0]?.ports?.[0]?.containerPort)])
  })

  test('ends on SIGTERM, keeps its ledger in a volume, and starts without a shell', () => {
    expect(valuesOf(final, 'STOPSIGNAL')).toEqual(['SIGTERM'])
    expect(valuesOf(final, 'VOLUME')).toEqual(['/data'])
    expect([...valuesOf(final, 'ENTRYPOINT'), ...valuesOf(final, 'CMD')].map((value) => JSON.parse(value))).toEqual([
      ['/nodejs/bin/node', '/app/dist/main.js'],
      ['run'],
    ])
  })

  test('says what it is', () => {
    const { name: title, description, license } = JSON.parse(readDeploy('../package.json'))
    expect(pairsOf(final, 'LABEL')).toEqual({
      'org.opencontainers.image.title': title,
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.licenses': license,
      'org.opencontainers.image.version': '$VERSION',
      'org.opencontainers.image.revision': '$REVISION',
    })
  })

  test('is built from no more than it copies', () => {
    const allowed = readDeploy('../.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
    const copied = [...build, ...final]
      .filter(({ name, value }) => name === 'COPY' && !value.startsWith('--from'))
      .flatMap(({ value }) => value.split(' ').slice(0, -1))
    expect(copied.toSorted()).toEqual(allowed.toSorted())
  })
})
