// What makes a release: the package's files, the changelog's section, the workflows of this repository.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { withRepository } from '../../deploy/chart-release.ts'
import { releaseNotes, sectionOf } from '../../deploy/release-notes.ts'
import { readYaml, scriptsOf, type Workflow } from '../support/workflows.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const manifest = JSON.parse(read('package.json'))

describe('the package', () => {
  test('holds the program, the example policies with their schema, and what is to be read', () => {
    const argv = ['pack', '--dry-run', '--json', '--ignore-scripts']
    const [packed] = JSON.parse(execFileSync('npm', argv, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }))
    const paths: readonly string[] = packed.files.map((file: { readonly path: string }) => file.path)
    expect(paths.filter((path) => !path.startsWith('dist/')).toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
      'policies/acme.yaml',
      'policies/cap-policy.schema.json',
      'policies/temporary.yaml',
    ])
  })

  test('is started by its name, on a Node that it says, and is published with provenance', () => {
    expect(manifest).toMatchObject({
      bin: { capkeeper: 'dist/main.js' },
      files: ['dist', 'policies', 'CHANGELOG.md'],
      engines: { node: '>=24' },
      publishConfig: { access: 'public', provenance: true },
    })
  })

  test('names no place that nobody knows yet', () => {
    expect(Object.keys(manifest).filter((key) => ['repository', 'homepage', 'bugs', 'author'].includes(key))).toEqual([])
  })

  test('runs no script on the machine that installs it', () => {
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$/.test(name))).toEqual([])
  })
})

describe('the chart', () => {
  const chart = read('deploy/helm/capkeeper/Chart.yaml')

  test('names no place that nobody knows yet, and what it needs and brings', () => {
    expect(Object.keys(parse(chart)).filter((key) => ['home', 'sources', 'icon', 'maintainers'].includes(key))).toEqual([])
    expect(parse(chart)).toMatchObject({ kubeVersion: '>=1.29.0-0', annotations: { 'artifacthub.io/license': manifest.license } })
  })

  test('gets the place of the repository when it is released, and keeps everything else', () => {
    const released = parse(withRepository(chart, 'https://git.example.com/acme/capkeeper', '4f2a9c81'))
    expect(released).toEqual({
      ...parse(chart),
      home: 'https://git.example.com/acme/capkeeper',
      sources: ['https://git.example.com/acme/capkeeper'],
      icon: 'https://git.example.com/acme/capkeeper/raw/4f2a9c81/deploy/helm/icon.svg',
      maintainers: [{ name: 'acme', url: 'https://git.example.com/acme' }],
    })
    expect(read('deploy/helm/icon.svg')).toContain('<svg ')
  })

  test('is not released from something that is no repository', () => {
    expect(() => withRepository(chart, 'https://git.example.com/', 'x')).toThrow('not the address of a repository')
  })
})

describe('the changelog', () => {
  test('has a section for the version in package.json', () => {
    expect(sectionOf(read('CHANGELOG.md'), manifest.version)?.text).toBeTruthy()
    expect(sectionOf(read('CHANGELOG.md'), manifest.version)?.when).toMatch(/^(unreleased|\d{4}-\d{2}-\d{2})$/)
  })

  const CHANGELOG = '# Changelog\n\n## 1.1.0, unreleased\n\n- New.\n\n## 1.0.0, 2026-11-20\n\n- First.\n\n## 0.9.0, 2026-10-01\n'

  test('gives a release its notes', () => {
    expect(releaseNotes('v1.0.0', '1.0.0', CHANGELOG)).toBe('- First.\n')
  })

  test.each([
    ['of another version than package.json', 'v1.0.1', '1.0.0', 'the tag is v1.0.1 and package.json says 1.0.0'],
    ['of a version that the changelog does not know', 'v2.0.0', '2.0.0', "no section '## 2.0.0, DATE'"],
    ['of a version that begins like another', 'v1.0', '1.0', "no section '## 1.0, DATE'"],
    ['that is not dated yet', 'v1.1.0', '1.1.0', "says 'unreleased' of 1.1.0"],
    ['about which nothing is said', 'v0.9.0', '0.9.0', 'says nothing about 0.9.0'],
  ])('refuses a tag %s', (_name, tag, version, why) => {
    expect(() => releaseNotes(tag, version, CHANGELOG)).toThrow(why)
  })
})

describe.each(['ci', 'release'])('the workflow %s', (name) => {
  const workflow = readYaml<Workflow>(read(`.github/workflows/${name}.yaml`))

  test('runs what anybody runs at home, and only what there is', () => {
    const scripts = scriptsOf(Object.values(workflow.jobs).flatMap((job) => job.steps))
    expect(scripts.split('\n')).toContain('.ci/run')
    const named = [...scripts.matchAll(/npm run ([\w:]+)/g)].map(([, script = '']) => script)
    expect(named.filter((script) => !(script in manifest.scripts))).toEqual([])
  })
})

describe('the release', () => {
  const { on, jobs } = readYaml<Workflow>(read('.github/workflows/release.yaml'))

  test('starts with a tag alone, and nothing is published before the tests', () => {
    expect(on).toEqual({ push: { tags: ['v*.*.*'] } })
    expect(Object.entries(jobs).flatMap(([name, job]) => ('needs' in job ? [] : [name]))).toEqual(['test'])
  })

  test('makes image, chart, package, SBOM and signatures', () => {
    const scripts = scriptsOf(Object.values(jobs).flatMap((job) => job.steps))
    for (const made of ['docker buildx build', 'helm push', 'npm publish', 'npm sbom', 'cosign sign', 'gh release create'])
      expect(scripts).toContain(made)
  })
})
