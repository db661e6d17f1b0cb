import type { Scene } from './world.ts'

export const SCENES: readonly Scene[] = []
