/** Which requests of the API are events, by PocketBase's names. Writes and reads of records, and logins by OAuth2, have events of their own. */
import type { FastifyRequest } from 'fastify'

/** The name of a request that is an event. */
export type RequestEventName =
  | 'onCollectionsListRequest'
  | 'onCollectionCreateRequest'
  | 'onCollectionsImportRequest'
  | 'onCollectionViewRequest'
  | 'onCollectionUpdateRequest'
  | 'onCollectionDeleteRequest'
  | 'onSettingsListRequest'
  | 'onSettingsUpdateRequest'
  | 'onBatchRequest'
  | 'onRealtimeConnectRequest'
  | 'onRealtimeSubscribeRequest'
  | 'onFileDownloadRequest'
  | 'onFileTokenRequest'
  | 'onRecordAuthWithPasswordRequest'
  | 'onRecordAuthWithOTPRequest'
  | 'onRecordAuthRefreshRequest'
  | 'onRecordRequestOTPRequest'
  | 'onRecordRequestPasswordResetRequest'
  | 'onRecordConfirmPasswordResetRequest'
  | 'onRecordRequestVerificationRequest'
  | 'onRecordConfirmVerificationRequest'
  | 'onRecordRequestEmailChangeRequest'
  | 'onRecordConfirmEmailChangeRequest'

/** The callers who reach a route: no hook runs for others, whom the route refuses. */
type For = 'anyone' | 'accounts' | 'superusers'

const COLLECTION = '/api/collections/:collection'

/** Events by method and route. */
const EVENTS: ReadonlyMap<string, readonly [name: RequestEventName, whom: For]> = new Map(
  Object.entries<readonly [name: RequestEventName, whom: For]>({
    'GET /api/collections': ['onCollectionsListRequest', 'superusers'],
    'POST /api/collections': ['onCollectionCreateRequest', 'superusers'],
    'PUT /api/collections/import': ['onCollectionsImportRequest', 'superusers'],
    [`GET ${COLLECTION}`]: ['onCollectionViewRequest', 'superusers'],
    [`PATCH ${COLLECTION}`]: ['onCollectionUpdateRequest', 'superusers'],
    [`DELETE ${COLLECTION}`]: ['onCollectionDeleteRequest', 'superusers'],
    'GET /api/settings': ['onSettingsListRequest', 'superusers'],
    'PATCH /api/settings': ['onSettingsUpdateRequest', 'superusers'],
    'POST /api/batch': ['onBatchRequest', 'anyone'],
    'GET /api/realtime': ['onRealtimeConnectRequest', 'anyone'],
    'POST /api/realtime': ['onRealtimeSubscribeRequest', 'anyone'],
    'GET /api/files/:collection/:record/:name': ['onFileDownloadRequest', 'anyone'],
    'POST /api/files/token': ['onFileTokenRequest', 'accounts'],
    [`POST ${COLLECTION}/auth-with-password`]: ['onRecordAuthWithPasswordRequest', 'anyone'],
    [`POST ${COLLECTION}/auth-with-otp`]: ['onRecordAuthWithOTPRequest', 'anyone'],
    [`POST ${COLLECTION}/auth-refresh`]: ['onRecordAuthRefreshRequest', 'accounts'],
    [`POST ${COLLECTION}/request-otp`]: ['onRecordRequestOTPRequest', 'anyone'],
    [`POST ${COLLECTION}/request-password-reset`]: ['onRecordRequestPasswordResetRequest', 'anyone'],
    [`POST ${COLLECTION}/confirm-password-reset`]: ['onRecordConfirmPasswordResetRequest', 'anyone'],
    [`POST ${COLLECTION}/request-verification`]: ['onRecordRequestVerificationRequest', 'anyone'],
    [`POST ${COLLECTION}/confirm-verification`]: ['onRecordConfirmVerificationRequest', 'anyone'],
    [`POST ${COLLECTION}/request-email-change`]: ['onRecordRequestEmailChangeRequest', 'accounts'],
    [`POST ${COLLECTION}/confirm-email-change`]: ['onRecordConfirmEmailChangeRequest', 'anyone'],
  }),
)

/** Events that are about a record: their handlers run where there is one. */
export type RecordRequestEventName =
  | 'onFileDownloadRequest'
  | 'onFileTokenRequest'
  | 'onRecordAuthWithOTPRequest'
  | 'onRecordAuthRefreshRequest'
  | `onRecord${'Request' | 'Confirm'}${'PasswordReset' | 'Verification' | 'EmailChange'}Request`

export const REQUEST_EVENT_NAMES: readonly RequestEventName[] = [...EVENTS.values()].map(([name]) => name)

/** Undefined: no event, or the route will refuse the request. */
export function requestEventName({ method, routeOptions, principal }: FastifyRequest): RequestEventName | undefined {
  const [name, whom] = EVENTS.get(`${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`) ?? []
  if (whom === 'superusers' && !principal.isAdmin) return undefined
  const isLoggedIn = principal.account !== undefined && principal.apiToken === undefined
  return whom === 'accounts' && !isLoggedIn ? undefined : name
}
