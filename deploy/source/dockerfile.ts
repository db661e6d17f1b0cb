// What deploy/Dockerfile says, for those who carry its steps out without a container engine. It knows as much of the language as that
// file uses: continued lines, COPY, RUN, ENV, and instructions with one value. Mounts of a RUN are left out: they are about its surroundings.

export interface Instruction {
  readonly name: string
  readonly value: string
}

/** The stages in order; the first instruction of each is its FROM. Comments are dropped, continued lines joined. */
export function stagesOf(dockerfile: string): readonly (readonly Instruction[])[] {
  const lines = dockerfile
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: Instruction[][] = []
  for (const line of lines) {
    const [, name = '', value = ''] = /^([A-Z]+)\s+(?:--mount=\S+\s+)*(.*)$/.exec(line) ?? []
    if (name === 'FROM') stages.push([])
    stages.at(-1)?.push({ name, value })
  }
  return stages
}

/** Values of all instructions of a name. */
export const valuesOf = (stage: readonly Instruction[], name: string): readonly string[] =>
  stage.flatMap((instruction) => (instruction.name === name ? [instruction.value] : []))

/** `A=b C="d e"` of ENV and LABEL. */
export const pairsOf = (stage: readonly Instruction[], name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    valuesOf(stage, name).flatMap((value) =>
      [...value.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, key, quoted, plain]) => [key, quoted ?? plain]),
    ),
  )
