// Paths with parameters, such as `/workspaces/:workspace/people/:person`, filled in with every value that a test has for them.
export type PathParts = Readonly<Record<string, readonly string[]>>

/** One path for each combination; none where a parameter has no value. */
export function filled(path: string, parts: PathParts): readonly string[] {
  const [part, name = ''] = /:(\w+)/.exec(path) ?? []
  return part === undefined ? [path] : (parts[name] ?? []).flatMap((value) => filled(path.replace(part, value), parts))
}
