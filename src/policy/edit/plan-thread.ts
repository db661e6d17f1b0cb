// The thread that plans edits of large policies, with the same code as without a thread.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from '../load/aside.ts'
import { type EditInput, type EditPlan, planEdits } from './plan.ts'

const input: EditInput = workerData
const said: Said<EditPlan> = { kind: 'answer', answer: planEdits(input) }
parentPort?.postMessage(said)
