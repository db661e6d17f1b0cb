// The thread that plans edits of large policies, with the same code as without a thread.
import { answerWith } from '../load/aside.ts'
import { planEdits } from './plan.ts'

await answerWith(planEdits)
