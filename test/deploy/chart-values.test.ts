// Values that an older release has left.
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { named, schemaOffences } from '../support/kubernetes.ts'
import { readDeploy } from '../support/rules.ts'
import { hasHelm, helmed } from './renderings.ts'

// `helm upgrade --reuse-values` renders a newer chart with the values of an older one, without its new keys.
describe('values of an older release', () => {
  const values: Readonly<Record<string, unknown>> = parse(readDeploy('helm/capkeeper/values.yaml'))
  const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const mappings = (of: Readonly<Record<string, unknown>>, path = ''): readonly string[] =>
    Object.entries(of).flatMap(([key, value]) => (isMapping(value) ? [`${path}${key}`, ...mappings(value, `${path}${key}.`)] : []))
  // Every release has had these, and nothing may be guessed in their place.
  const needed = ['image', 'persistence'] as const
  const lacking = mappings(values).filter((path) => path !== 'image' && path !== 'persistence')

  test.skipIf(!hasHelm).each([
    ['whole sections', lacking.filter((path) => !path.includes('.'))],
    ['parts of sections', lacking.filter((path) => path.includes('.') && !lacking.some((one) => one.startsWith(`${path}.`)))],
  ])('may lack %s (needs helm)', (_what, paths) => {
    expect(paths.length).toBeGreaterThan(5)
    const manifests = helmed(...paths.flatMap((path) => ['--set', `${path}=null`]))
    expect(manifests.map(named)).toContain('StatefulSet capkeeper')
    expect(manifests.flatMap(schemaOffences)).toEqual([])
  })

  test.skipIf(!hasHelm).each(needed)('say what to do where %s is lacking (needs helm)', (path) => {
    expect(() => helmed('--set', `${path}=null`)).toThrow(/is lacking: upgrade with --reset-then-reuse-values, or set it/)
  })
})
