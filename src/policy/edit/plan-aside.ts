// Plans edits without risk for the process: of small policies on the calling thread, of others in a thread with bounds, as they are loaded.
import type { Clock } from '../../ports.ts'
import { READING_DEADLINE_MS, SMALL_BYTES, SMALL_FILES, THREAD_MEMORY_MIB } from '../codes.ts'
import { listPolicyFiles } from '../load/files.ts'
import { plainSources } from '../load/load-aside.ts'
import { type EditInput, type EditPlan, planEdits } from './plan.ts'

/** The texts are loaded twice, before the edit and after it. */
const LOADS = 2

/** `planEdits` that never ends the process and never takes longer than twice the deadline of loading. Never throws for bad input. */
export async function planEditsAside(input: EditInput, clock: Clock): Promise<EditPlan> {
  const cwd = input.options.cwd ?? process.cwd()
  const { bytes, files } = listPolicyFiles(input.paths, cwd)
  if (bytes <= SMALL_BYTES && files.length <= SMALL_FILES) return planEdits(input)
  const { beside, runAside } = await import('../load/aside.ts')
  const outcome = await runAside<EditPlan>({
    file: beside(import.meta.url, 'plan-thread'),
    data: { ...input, options: plainSources({ ...input.options, cwd }) },
    clock,
    deadlineMs: LOADS * READING_DEADLINE_MS,
    memory: { ...THREAD_MEMORY_MIB, maxOldGenerationSizeMb: LOADS * THREAD_MEMORY_MIB.maxOldGenerationSizeMb },
  })
  if (outcome.kind === 'answer') return outcome.answer
  const hint = 'edit them by hand, or split the files'
  const { kind } = outcome
  const message =
    kind === 'memory' ? 'need more memory to be edited than is given' : kind === 'time' ? 'were not edited in time' : outcome.message
  const code = kind === 'error' ? 'EDIT_UNPROVEN' : 'TOO_LARGE'
  return {
    kind: 'refused',
    problems: [{ severity: 'error', code, message: `the policies ${kind === 'error' ? 'cannot be edited: ' : ''}${message}`, hint }],
  }
}
