// Use by model, with the part that add-on credits paid: measured where the service has rows by model, else shared out by use and called an
// estimate. The two sources spell models differently; a model without a counterpart gets a row of its own.
import type { RunUse } from '../model/observed.ts'
import type { AddOnSource } from './add-on.ts'

export interface ModelUse {
  /** Undefined for the use of which no run tells. */
  readonly model: string | undefined
  /** Absent where no run of the model is known. */
  readonly used?: number
  readonly addOn?: number
  readonly addOnSource?: AddOnSource
}

interface ModelInputs {
  readonly runs: readonly Pick<RunUse, 'model' | 'used'>[]
  /** Add-on credits by model in the service's spelling, where it tells them. */
  readonly measured?: ReadonlyMap<string, number> | undefined
  /** What everybody used, and the add-on credits in it, to share out where they are not measured by model. */
  readonly whole?: { readonly used?: number; readonly addOn?: number }
}

/** Names of a model that is not known. */
const UNKNOWN = new Set(['', '<nil>', 'unknown'])

/** `Large Model 4` and `MODEL_LARGE_MODEL_4` are the same. */
const spelled = (model: string): string =>
  UNKNOWN.has(model.toLowerCase())
    ? ''
    : model
        .toLowerCase()
        .replace(/^model_/, '')
        .replaceAll(/[^a-z0-9]/g, '')

/** The models of runs in the order of their first run, then those that only rows of add-on use name, then the use of which no run tells. */
export function modelUse({ runs, measured, whole = {} }: ModelInputs): readonly ModelUse[] {
  const models = [...Map.groupBy(runs, ({ model }) => model)].map(([model, some]) => {
    const figures = some.flatMap(({ used }) => used ?? [])
    return { model, used: figures.length > 0 ? figures.reduce((sum, used) => sum + used, 0) : undefined }
  })
  const told = models.reduce((sum, { used = 0 }) => sum + used, 0)
  const untold = (whole.used ?? 0) - told
  // Less than a credit is rounding.
  const rest: readonly ModelUse[] = told > 0 && untold >= 1 ? [{ model: undefined, used: untold }] : []
  if (measured && measured.size > 0) return [...withMeasured(models, measured), ...rest]
  const { addOn } = whole
  if (addOn === undefined || told <= 0) return [...models, ...rest]
  const part = addOn / Math.max(told, whole.used ?? 0)
  return [...models, ...rest].map((one) => (one.used === undefined ? one : { ...one, addOn: part * one.used, addOnSource: 'estimated' }))
}

function withMeasured(
  models: readonly { readonly model: string; readonly used?: number }[],
  measured: ReadonlyMap<string, number>,
): readonly ModelUse[] {
  const left = new Map<string, { readonly model: string; readonly addOn: number }>()
  for (const [model, addOn] of measured) {
    const key = spelled(model)
    left.set(key, { model, addOn: addOn + (left.get(key)?.addOn ?? 0) })
  }
  const known = models.map((one): ModelUse => {
    const found = left.get(spelled(one.model))
    left.delete(spelled(one.model))
    return { ...one, addOn: found?.addOn ?? 0, addOnSource: 'measured' }
  })
  const others = [...left.values()].map(({ model, addOn }): ModelUse => {
    return { model: UNKNOWN.has(model.toLowerCase()) ? 'not known' : model, addOn, addOnSource: 'measured' }
  })
  return [...known, ...others]
}
