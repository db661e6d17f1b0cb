import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { play } from '../support/scene.ts'

const HERE = import.meta.dirname
const scenes = readdirSync(HERE).filter((name) => name.endsWith('.txt'))

// `npm test -- -u test/scenes` writes what happened into the scenes, for review as a change of text.
test.each(scenes)('%s happens as it is written', async (name) => {
  const path = join(HERE, name)
  await expect(await play(readFileSync(path, 'utf8'))).toMatchFileSnapshot(path)
})
