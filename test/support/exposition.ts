// Reads Prometheus' text format strictly: every line is a comment or a sample, every sample belongs to a typed family.

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export type Exposition = ReturnType<typeof parseExposition>

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/

export function parseExposition(text: string) {
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    const typed = /^# TYPE (\S+) (\S+)$/.exec(line)
    if (typed) types.set(typed[1] ?? '', typed[2] ?? '')
    if (line === '' || line.startsWith('# ')) continue
    const [, name, labels, value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`not a line of the text format: ${line}`)
    samples.push({ name, labels: parseLabels(labels ?? ''), value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) })
  }
  const series = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    samples.filter((sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
  return {
    types,
    samples,
    /** The series of a name with these labels. */
    series,
    /** The value of the one series with exactly these labels; undefined when there is none. */
    value(name: string, labels: Readonly<Record<string, string>> = {}) {
      const exact = series(name, labels).filter((sample) => Object.keys(sample.labels).length === Object.keys(labels).length)
      if (exact.length > 1) throw new Error(`${name} stands there ${exact.length} times with the same labels`)
      return exact[0]?.value
    },
  }
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest !== '') {
    const [whole, name, value] = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(?:,|$)/.exec(rest) ?? []
    if (whole === undefined || name === undefined || value === undefined) throw new Error(`not labels: ${text}`)
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
    rest = rest.slice(whole.length)
  }
  return labels
}
