// The real clock of the check. The wall clock is that of the database as well, and nobody changes it: clocks jump in single processes only.
import { realClock } from '../support/real-clock.ts'

export const clock = realClock()
export const now = (): number => clock.now()
