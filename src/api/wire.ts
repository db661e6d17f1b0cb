// The requests and answers of all six operations as docs/service.md spells them, with the spellings of live deployments. Only types and
// tables of names; decode.ts judges real answers. These names never leave api/ and sandbox/.
import type { Operation } from '../core/model/observed.ts'

/** Every operation is a POST to `{base_url}/api/v1/{Operation}`. docs/service.md, Requests. */
export const OPERATION_PATH = '/api/v1/'

export const PERMISSIONS = ['analyticsRead', 'teamsRead', 'billingRead', 'billingWrite'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** docs/service.md, Requests. */
export const PERMISSION_OF: Readonly<Record<Operation, Permission>> = {
  Analytics: 'analyticsRead',
  UserPageAnalytics: 'teamsRead',
  CascadeAnalytics: 'teamsRead',
  GetUsageConfig: 'billingRead',
  UsageConfig: 'billingWrite',
  GetTeamCreditBalance: 'billingRead',
}

/** The name of a permission in the service. */
export const PERMISSION_NAME: Readonly<Record<Permission, string>> = {
  analyticsRead: 'Analytics Read',
  teamsRead: 'Teams Read-only',
  billingRead: 'Billing Read',
  billingWrite: 'Billing Write',
}

/** A type of the wire that live deployments extend: the known values, and any other text. */
type Open<Known extends string> = Known | (string & {})

// ---- 1. Analytics

/** The last is not in the interface; some deployments have it (docs/service.md, Add-on use per person). */
export type DataSource = `QUERY_DATA_SOURCE_${'USER_DATA' | 'CHAT_DATA' | 'COMMAND_DATA' | 'PCW_DATA' | 'CASCADE_DATA'}`

export type AggregationFunction = `QUERY_AGGREGATION_${'UNSPECIFIED' | 'COUNT' | 'SUM' | 'AVG' | 'MAX' | 'MIN'}`

export type FilterOperation = `QUERY_FILTER_${'EQUAL' | 'NOT_EQUAL' | 'GREATER_THAN' | 'LESS_THAN' | 'GE' | 'LE'}`

/** docs/service.md, Query requests. */
export interface WireSelection {
  readonly field: string
  /** Alias; default `{aggregation_function}_{field_name}` in lower case. */
  readonly name?: string
  readonly aggregation_function?: AggregationFunction
}

/** docs/service.md, Query requests. */
export interface WireFilter {
  readonly name: string
  readonly filter: FilterOperation
  /** Always a string; a date is `YYYY-MM-DD`. */
  readonly value: string
}

/** docs/service.md, Query requests. */
export interface WireAggregation {
  readonly field: string
  readonly name: string
}

/** docs/service.md, Query requests. */
export interface WireQueryRequest {
  readonly data_source: DataSource
  readonly selections: readonly WireSelection[]
  readonly filters?: readonly WireFilter[]
  readonly aggregations?: readonly WireAggregation[]
}

/** docs/service.md, Analytics. */
export interface AnalyticsRequest {
  readonly group_name?: string
  /** RFC 3339; date bounds of PCW queries. */
  readonly start_timestamp?: string
  readonly end_timestamp?: string
  readonly query_requests: readonly WireQueryRequest[]
}

export interface WireResponseItem {
  readonly item?: Readonly<Record<string, string>>
}

export interface WireAnalyticsResult {
  readonly responseItems?: readonly WireResponseItem[]
}

export interface AnalyticsAnswer {
  /** One element per query request, in the same order. */
  readonly queryResults?: readonly WireAnalyticsResult[]
}

// ---- 2. UserPageAnalytics

/** docs/service.md, UserPageAnalytics. */
export interface UserPageRequest {
  readonly group_name?: string
  /** RFC 3339; both affect `activeDays` only. */
  readonly start_timestamp?: string
  readonly end_timestamp?: string
}

type TeamStatus = `USER_TEAM_STATUS_${'UNSPECIFIED' | 'PENDING' | 'APPROVED' | 'REJECTED'}`

/** docs/service.md, A person. Times are RFC 3339. */
export interface WireUser {
  readonly name?: string
  readonly email?: string
  readonly lastUpdateTime?: string
  /** A hash of the user's API key. */
  readonly apiKey?: string
  readonly activeDays?: number
  /** Present only when access is switched off; then `true`. */
  readonly disableService?: true
  /** Live spelling of `disableService`. */
  readonly disableCodeium?: true
  readonly role?: string
  readonly signupTime?: string
  readonly lastAutocompleteUsageTime?: string
  readonly lastChatUsageTime?: string
  readonly lastCommandUsageTime?: string
  /** Cents, this cycle; a string where 64-bit integers are. */
  readonly promptCreditsUsed?: number | string
  readonly teamStatus?: Open<TeamStatus>
}

export interface UserPageAnswer {
  readonly userTableStats?: readonly WireUser[]
  readonly billingCycleStart?: string
  readonly billingCycleEnd?: string
  /** On failure. */
  readonly error?: string
}

// ---- 3. CascadeAnalytics

export type CascadeSource = 'cascade_lines' | 'cascade_runs' | 'cascade_tool_usage'

/** `editor`, `cli`, or a value for the third-party plugin (`jetbrains` on live deployments). */
export type IdeType = Open<'editor' | 'cli' | 'jetbrains'>

/** Holds one data source key with an empty object. */
type WireCascadeQuery = { readonly [source in CascadeSource]?: Readonly<Record<string, never>> }

/** docs/service.md, CascadeAnalytics; `group_name` and `emails` exclude each other. */
export interface CascadeRequest {
  readonly group_name?: string
  readonly start_timestamp?: string
  readonly end_timestamp?: string
  readonly emails?: readonly string[]
  readonly ide_types?: readonly IdeType[]
  readonly query_requests: readonly WireCascadeQuery[]
}

export interface WireCascadeLine {
  readonly day?: string
  readonly linesSuggested?: string
  readonly linesAccepted?: string
}

export interface WireCascadeRun {
  readonly day?: string
  readonly model?: string
  readonly mode?: string
  readonly messagesSent?: string
  readonly cascadeId?: string
  /** Cents. */
  readonly promptsUsed?: string
}

export interface WireCascadeTool {
  readonly tool?: string
  readonly count?: string
}

/** One result: the wrapper of its data source, with the array of the same name inside. */
export interface WireCascadeResult {
  readonly cascadeLines?: { readonly cascadeLines?: readonly WireCascadeLine[] }
  readonly cascadeRuns?: { readonly cascadeRuns?: readonly WireCascadeRun[] }
  readonly cascadeToolUsage?: { readonly cascadeToolUsage?: readonly WireCascadeTool[] }
}

export interface CascadeAnswer {
  /** Each query keeps its slot, also when empty. */
  readonly queryResults?: readonly WireCascadeResult[]
}

// ---- 4. GetUsageConfig, 5. UsageConfig

/** Exactly one of the three. docs/service.md, GetUsageConfig and UsageConfig. */
export type WireScope = { readonly team_level: true } | { readonly group_id: string } | { readonly user_email: string }

export interface GetUsageConfigAnswer {
  /** Absent: no cap at this very scope. */
  readonly addOnCreditCap?: number
  /** The older spelling. */
  readonly add_on_credit_cap?: number
}

export type UsageConfigRequest = WireScope & ({ readonly set_add_on_credit_cap: number } | { readonly clear_add_on_credit_cap: true })

// ---- 6. GetTeamCreditBalance

/** docs/service.md, GetTeamCreditBalance. */
export interface BalanceAnswer {
  readonly promptCreditsPerSeat?: number | string
  readonly numSeats?: number | string
  readonly addOnCreditsAvailable?: number | string
  readonly addOnCreditsUsed?: number | string
  readonly billingCycleStart?: string
  readonly billingCycleEnd?: string
}

// ---- all six, and failures

export interface Answers {
  readonly Analytics: AnalyticsAnswer
  readonly UserPageAnalytics: UserPageAnswer
  readonly CascadeAnalytics: CascadeAnswer
  readonly GetUsageConfig: GetUsageConfigAnswer
  /** Documented as empty; `{}` or zero bytes. */
  readonly UsageConfig: Readonly<Record<string, never>>
  readonly GetTeamCreditBalance: BalanceAnswer
}
