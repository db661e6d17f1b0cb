// What values.yaml says of each value, read from its comments: a line that begins with `# --`, and the comment lines after it, explain the key
// beneath. A comment without the mark is about a whole section. Nothing is explained anywhere else.
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml'

/** Explanations by path, such as `gitSync.ref`; a section's is that of its own comment. */
export function explanationsOf(valuesYaml: string): ReadonlyMap<string, string> {
  const { contents } = parseDocument(valuesYaml)
  return new Map(isMap(contents) ? of(contents, '') : [])
}

function of(map: YAMLMap, path: string): readonly (readonly [string, string])[] {
  return map.items.flatMap(({ key, value }, index) => {
    if (!isScalar(key)) return []
    const own = `${path}${key.value}`
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined) ?? ''
    const said = comment === '' ? [] : [[own, plain(comment)] as const]
    return [...said, ...(isMap(value) ? of(value, `${own}.`) : [])]
  })
}

/** The last paragraph: what stands above a blank line is about more than this key. */
const plain = (comment: string): string =>
  (comment.split(/\n\s*\n/).at(-1) ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*(--\s*)?/, ''))
    .join(' ')
    .trim()
