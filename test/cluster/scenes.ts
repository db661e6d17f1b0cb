// What is played, in this order: the life of a release by Helm, from a first install that is refused to one that is adopted again, and then by kustomize.

import { CARE } from './scenes-care.ts'
import { HELM } from './scenes-helm.ts'
import { KUSTOMIZE } from './scenes-kustomize.ts'

export const SCENES = [HELM, CARE, KUSTOMIZE].flatMap((scenes) => Object.entries(scenes))
