// The real clock of the check, which is also that of the database. No fault changes it: clocks jump only in single processes.
import { realClock } from '../support/real-clock.ts'

export const clock = realClock()
export const now = (): number => clock.now()
