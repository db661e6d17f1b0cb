// What people write in the config, as types: they follow from config.yaml.
import type { Read } from '../../policy/schema/texts.ts'
import type { SCHEMA } from './schema.generated.ts'

export type ConfigText = Read<typeof SCHEMA>
type Item<List> = Extract<List, readonly unknown[]>[number]
export type WorkspaceText = Item<ConfigText['workspaces']>
export type GuardsText = NonNullable<WorkspaceText['guards']>
export type NotifyText = NonNullable<ConfigText['notify']>
export type EnvelopeText = Item<ConfigText['envelopes']>
export type ViewerText = Item<ConfigText['viewers']>
export type OwnerText = Item<NotifyText['owners']>
