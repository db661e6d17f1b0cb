// Whether a tag may become a release, and what its notes say: the section of CHANGELOG.md for the version in package.json, with its date.
// `node deploy/release-notes.ts v0.1.0` prints the notes, or says what is missing and exits 1.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

export interface Section {
  /** What stands behind the version in the heading: a date, or `unreleased`. */
  readonly when: string
  readonly text: string
}

/** The section `## VERSION, WHEN` of a changelog. */
export function sectionOf(changelog: string, version: string): Section | undefined {
  const sections = changelog.split(/^## /m).slice(1)
  const found = sections.find((section) => section.startsWith(`${version}, `))
  if (found === undefined) return undefined
  const [heading = '', ...lines] = found.split('\n')
  return { when: heading.slice(version.length + 2).trim(), text: lines.join('\n').trim() }
}

/** The notes of a release. Throws with what is missing. */
export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`)
    throw new Error(`the tag is ${tag} and package.json says ${version}; tag v${version}, or change the version first`)
  const section = sectionOf(changelog, version)
  if (!section) throw new Error(`CHANGELOG.md has no section '## ${version}, DATE'`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(section.when))
    throw new Error(`CHANGELOG.md says '${section.when}' of ${version}; write the day of the release, such as 2026-11-20`)
  if (section.text === '') throw new Error(`CHANGELOG.md says nothing about ${version}`)
  return `${section.text}\n`
}

if (import.meta.main) {
  const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')
  try {
    process.stdout.write(releaseNotes(process.argv[2] ?? '', JSON.parse(read('package.json')).version, read('CHANGELOG.md')))
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
