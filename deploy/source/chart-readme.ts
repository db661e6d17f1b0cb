// The README of the chart: how to install it, and a table of its values made from values.schema.json and the defaults of values.yaml, so that
// it cannot say anything else than they do.
import { parse } from 'yaml'
import type { JsonSchema } from './value-types.ts'

const HEAD = `<!-- Made by \`npm run deploy:generate\` from values.schema.json and values.yaml; edit there. -->

# capkeeper

Keeps the add-on credit caps of an AI coding assistant's workspaces equal to what policies in git declare. One pod with one volume, without rights in the cluster.

\`\`\`sh
helm install capkeeper oci://images.example.com/charts/capkeeper --version VERSION --namespace capkeeper --create-namespace --values my-values.yaml
helm test capkeeper --namespace capkeeper --logs
\`\`\`

Put in where your charts are; in a checkout it is \`deploy/helm/capkeeper\`. A first install plans and measures and writes nothing (\`mode: audit\`). A config or a policy that capkeeper would refuse
stops an install or an upgrade before anything is changed; \`kubectl -n capkeeper logs job/capkeeper-validate\` says why.

Installing, adopting a workspace that is in use, keys, upgrades, backups: the guide, deploy/README.md of the repository.

## Values

Each value of a workspace is one of capkeeper's config; \`capkeeper schema config\` explains all of them.

| value | default | |
|---|---|---|
`

/** The README of a version, from the schema that Helm checks with and the text of values.yaml. */
export function chartReadme(schema: JsonSchema, valuesYaml: string, version: string): string {
  const rows = rowsOf(schema, parse(valuesYaml), '')
  return HEAD.replace('VERSION', version) + rows.map((cells) => `| ${cells.map(cell).join(' | ')} |\n`).join('')
}

type Row = readonly [name: string, byDefault: string, about: string]

/** A section is a map whose keys are named in the schema and given a default each; everything else is one value. */
function rowsOf(schema: JsonSchema, defaults: unknown, path: string): readonly Row[] {
  const properties: Readonly<Record<string, JsonSchema>> = Object(schema['properties'])
  return Object.entries(Object(defaults)).flatMap(([name, value]): readonly Row[] => {
    const inner = properties[name] ?? {}
    const about = String(inner['description'] ?? '')
    const own = `${path}${name}`
    if (!isSection(inner, value)) return [[`\`${own}\``, `\`${JSON.stringify(value)}\``, about + wordsOf(inner)]]
    return [...(about === '' ? [] : [[`**${own}**`, '', about] as const]), ...rowsOf(inner, value, `${own}.`)]
  })
}

const isSection = (schema: JsonSchema, value: unknown): boolean =>
  schema['properties'] !== undefined &&
  value !== null &&
  typeof value === 'object' &&
  Object.keys(value).length > 0 &&
  Object.values(Object(schema['properties'])).some((one) => Object(one).description !== undefined && Object(one).type !== undefined)

/** The words that a value may be, where it is one of a few. */
function wordsOf(schema: JsonSchema): string {
  const { enum: words } = schema
  return Array.isArray(words)
    ? ` One of ${words
        .filter((word) => word !== null)
        .map((word) => `\`${word}\``)
        .join(', ')}.`
    : ''
}

const cell = (text: string): string => text.replaceAll('|', '\\|')
