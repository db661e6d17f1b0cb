// What the ledger keeps of the learned pace of each key, as numbers. Whatever is not one is left out.

/** Requests per second by key; `isMet`: the limit was met on the way. */
export function learnedPaces(fact: Readonly<Record<string, unknown>> = {}): readonly LearnedPace[] {
  return Object.entries(fact).flatMap(([key, pace]) => {
    if (typeof pace !== 'object' || pace === null || !('rate' in pace) || typeof pace.rate !== 'number') return []
    return [{ key, rate: pace.rate, isMet: 'limited' in pace && pace.limited === true }]
  })
}

export interface LearnedPace {
  readonly key: string
  readonly rate: number
  readonly isMet: boolean
}
