import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { inside } from '../support/inside.ts'
import { workspace } from './world.ts'

test('schema prints JSON Schemas that compile, take the example policies, and refuse a misspelt key', async () => {
  const schemaOf = async (kind: string) => JSON.parse((await inside(['schema', kind])).stdout)
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const [isPolicy, isConfig] = [ajv.compile(await schemaOf('policy')), ajv.compile(await schemaOf('config'))]
  for (const name of ['acme.yaml', 'temporary.yaml']) {
    const text = readFileSync(join(import.meta.dirname, '../../policies', name), 'utf8')
    for (const document of parseAllDocuments(text)) expect(isPolicy(document.toJS()) || isPolicy.errors).toBe(true)
  }
  const document = { apiVersion: 'capkeeper/v1', kind: 'CapPolicy', metadata: { name: 'a' } }
  expect(isPolicy({ ...document, spec: { team: { cap: 5 } } })).toBe(true)
  expect(isPolicy({ ...document, spec: { teem: { cap: 5 } } })).toBe(false)
  const config = { apiVersion: 'capkeeper/v1', kind: 'Config' }
  expect(isConfig({ ...config, workspaces: [workspace('acme', 'https://service.example')] }) || isConfig.errors).toBe(true)
  expect(isConfig({ ...config, workspace: [] })).toBe(false)
})
