// G4: the CPU of `apply` with nothing to do, beside a script of bash, curl and jq over as many scopes. Whole processes, start-up included.
import { join } from 'node:path'
import { beside, ms, publish, ROUNDS, seconds, told, turns } from './bench.ts'
import { build, isInstalled, MAIN, timeOf } from './built.ts'
import { startRemote } from './remote.ts'
import type { Place } from './service.ts'
import { configOf, declaredAt, openFolder, policyOf } from './world.ts'

const SCOPES = 1000
/** The script starts three processes for each scope and nothing else, so a part of the scopes tells what all cost. */
const SCRIPT_SHARE = 1 / 5

const service = await startRemote('service.ts', ['20', '1060', '9'])
const folder = openFolder()
build()
const place = await service.ask<Place>('place')
const declared = declaredAt(place, SCOPES)
const config = configOf(place, folder, policyOf(place, declared))
const apply = `"${process.execPath}" "${MAIN}" apply --yes --config "${config}" --log-level error`
const people = declared.filter(({ key }) => key.includes('@')).slice(0, SCOPES * SCRIPT_SHARE)
const list = folder.write('people', people.map(({ key, cap }) => `${key} ${cap}\n`).join(''))
const hasTools = ['bash', 'curl', 'jq'].every(isInstalled)
const none = { wallMs: 0, cpuMs: 0, output: '' }
let [ours, theirs] = [none, none]
const { cpu, wall, script, scriptWall } = await turns(
  {
    cpu() {
      ours = timeOf(apply)
      return ours.cpuMs
    },
    wall: () => ours.wallMs,
    script() {
      if (hasTools) theirs = timeOf(`"${join(import.meta.dirname, 'compare.sh')}" < "${list}"`, { URL: place.url, KEY: place.key })
      if (theirs.output !== '') throw new Error(`the script found differences where there are none:\n${theirs.output}`)
      return theirs.cpuMs / SCRIPT_SHARE
    },
    scriptWall: () => theirs.wallMs / SCRIPT_SHARE,
  },
  { warmUps: 2 },
)
await service.stop()
publish(
  `apply with nothing to do: ${SCOPES} scopes, 20 ms, 8 at once, medians of ${ROUNDS}; the script over ${SCOPES * SCRIPT_SHARE} of them, scaled up`,
  hasTools
    ? [
        beside('G4', 'no-op apply: CPU, beside bash + curl + jq', [cpu, script], 1 / 20),
        beside('G4', 'no-op apply: seconds, beside bash + curl + jq', [wall, scriptWall], undefined, seconds),
      ]
    : [told('G4', 'no-op apply: CPU; bash, curl or jq is missing, so nothing is beside it', ms(cpu))],
)
