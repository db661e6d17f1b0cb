// The wire format of all six operations as types, which are made of wire.yaml, and the permissions of keys. decode.ts judges real answers. These
// names never leave api/ and sandbox/.
import type { XStatic } from 'typebox/schema'
import type { Operation } from '../core/model/observed.ts'
import type { WIRE } from './wire.generated.ts'

/** Every operation is a POST to `{base_url}/api/v1/{Operation}`. docs/service.md, Requests. */
export const OPERATION_PATH = '/api/v1/'

/** The permissions by our names, as the service calls them. */
export const PERMISSION_NAME = {
  analyticsRead: 'Analytics Read',
  teamsRead: 'Teams Read-only',
  billingRead: 'Billing Read',
  billingWrite: 'Billing Write',
} as const

export type Permission = keyof typeof PERMISSION_NAME
export const PERMISSIONS = Object.keys(PERMISSION_NAME) as readonly Permission[]

/** docs/service.md, Requests. */
export const PERMISSION_OF: Readonly<Record<Operation, Permission>> = {
  Analytics: 'analyticsRead',
  UserPageAnalytics: 'teamsRead',
  CascadeAnalytics: 'teamsRead',
  GetUsageConfig: 'billingRead',
  UsageConfig: 'billingWrite',
  GetTeamCreditBalance: 'billingRead',
}

type Frozen<T> = { readonly [Name in keyof T]: Frozen<T[Name]> }
/** The values that a JSON Schema allows. */
export type ValueOf<Schema> = Frozen<XStatic<Schema>>

type Document = Pick<typeof WIRE, 'components'>
/** The values of a schema of wire.yaml, such as `UserPageAnalyticsAnswer` or `User`. */
export type Wire<Name extends keyof Document['components']['schemas']> = ValueOf<
  Document & { readonly $ref: `#/components/schemas/${Name}` }
>
