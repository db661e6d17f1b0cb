// Every line of the guide that is for a shell is one that somebody has run: `npm run cluster:check` plays it to the letter in a real cluster, a test
// holds it against the real program, or it stands below with why it cannot be run here.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callsIn } from '../support/command-lines.ts'
import { readDeploy } from '../support/rules.ts'

/** What no machine of ours can do, by the program that it begins with. */
const NOT_HERE: Readonly<Record<string, string>> = {
  'docker build': 'deploy/Dockerfile is carried out by image:check',
  'docker push': 'there is no registry',
  alias: 'the scenes have it as a function',
  'npm ': 'package-check and CI run them',
  'NODE_OPTIONS=': 'image:check starts the program with them',
  sed: 'it is about a place of the reader',
  mkdir: 'it makes the folder of the next lines',
}

const guide = readDeploy('README.md')
const lines = [...guide.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)]
  .flatMap(([, body = '']) => body.replaceAll(/\\\n\s*/g, ' ').split('\n'))
  .map((line) => line.trim())
  .filter((line) => line !== '' && !line.startsWith('#'))

const scenes = readdirSync(join(import.meta.dirname, '../cluster'))
  .map((name) => readFileSync(join(import.meta.dirname, '../cluster', name), 'utf8'))
  .join('\n')

/** A line of a shell as it would stand in a source, whatever quotes it is in. */
const isPlayed = (line: string): boolean => scenes.includes(line)
const isParsed = (line: string): boolean => line.startsWith('capkeeper') && callsIn(line).length > 0

test('every command of deploy/README.md is played in the cluster, held against the program, or said not to be possible', () => {
  const rest = lines.filter((line) => !isPlayed(line) && !isParsed(line) && !Object.keys(NOT_HERE).some((start) => line.startsWith(start)))
  expect(rest).toEqual([])
})

test('every line that Helm or kubectl takes is played', () => {
  const ofCluster = lines.filter((line) => /^(helm|kubectl) /.test(line))
  expect(ofCluster.length).toBeGreaterThan(20)
  expect(ofCluster.filter((line) => !isPlayed(line))).toEqual([])
})
