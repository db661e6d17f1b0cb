// The learned pace of each key, from the ledger. Values of another form are left out.

/** Requests per second by key. */
export function learnedPaces(fact: Readonly<Record<string, unknown>> = {}): readonly LearnedPace[] {
  return Object.entries(fact).flatMap(([key, pace]) => {
    if (typeof pace !== 'object' || pace === null || !('rate' in pace) || typeof pace.rate !== 'number') return []
    return [{ key, rate: pace.rate, isMet: 'limited' in pace && pace.limited === true }]
  })
}

interface LearnedPace {
  readonly key: string
  readonly rate: number
  /** The service's limit was reached while learning. */
  readonly isMet: boolean
}
