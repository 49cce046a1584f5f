/** The collections that are there from the start, in PocketBase's forms and with its ids. */
import type { JsonObject } from '../gateway/documents.ts'
import { ACCOUNT_FIELDS, ID_FIELD } from './scaffolds.ts'

const OWN = "@request.auth.id != '' && recordRef = @request.auth.id && collectionRef = @request.auth.collectionId"
const READ_OWN = { listRule: OWN, viewRule: OWN }
const CREATED = { type: 'autodate', name: 'created', onCreate: true }
const UPDATED = { type: 'autodate', name: 'updated', onCreate: true, onUpdate: true }
const USER = 'id = @request.auth.id'

function text(name: string, options: JsonObject = {}): JsonObject {
  return { type: 'text', name, required: true, ...options }
}

function system(name: string, fields: readonly JsonObject[], options: JsonObject = {}): JsonObject {
  return {
    name,
    system: true,
    fields: [...fields, CREATED, UPDATED].map((field) => ({ ...field, system: true })),
    ...options,
  }
}

function accounts(name: string, added: readonly JsonObject[], options: JsonObject): JsonObject {
  const first = [ID_FIELD, ...ACCOUNT_FIELDS].map(({ defaults, always }) => ({ ...defaults, ...always }))
  return { name, type: 'auth', fields: [...first, ...added], ...options }
}

/** The collection of those who may change everything. */
export const SUPERUSERS = '_superusers'

/** Collections whose records belong to accounts of any collection, and go with them. */
export const OF_ACCOUNTS: readonly string[] = ['_mfas', '_otps', '_externalAuths', '_authOrigins']

export const API_TOKENS_COLLECTION = '$api_tokens'
export const PASSKEYS_COLLECTION = '$passkeys'
/** CouchDB's database `_users`. Documents of accounts are among its documents. */
const USERS_COLLECTION = '$_users'
/** Collections of the library without a definition, whose documents name accounts as those do. */
export const UNDEFINED_OF_ACCOUNTS: readonly string[] = [API_TOKENS_COLLECTION, PASSKEYS_COLLECTION, USERS_COLLECTION]

const RECORD = [text('collectionRef'), text('recordRef')]

/** The system's collections as inputs, in the order in which they are made. */
export const SYSTEM_COLLECTIONS: readonly JsonObject[] = [
  system('_mfas', [...RECORD, text('method')], {
    ...READ_OWN,
    indexes: ['CREATE INDEX `idx_mfas_collectionRef_recordRef` ON `_mfas` (collectionRef,recordRef)'],
  }),
  system(
    '_otps',
    [
      ...RECORD,
      { type: 'password', name: 'password', hidden: true, required: true, cost: 8 },
      text('sentTo', { hidden: true, required: false }),
    ],
    {
      ...READ_OWN,
      indexes: ['CREATE INDEX `idx_otps_collectionRef_recordRef` ON `_otps` (collectionRef, recordRef)'],
    },
  ),
  system('_externalAuths', [...RECORD, text('provider'), text('providerId')], {
    ...READ_OWN,
    deleteRule: OWN,
    indexes: [
      'CREATE UNIQUE INDEX `idx_externalAuths_record_provider` ON `_externalAuths` (collectionRef, recordRef, provider)',
      'CREATE UNIQUE INDEX `idx_externalAuths_collection_provider` ON `_externalAuths` (collectionRef, provider, providerId)',
    ],
  }),
  system('_authOrigins', [...RECORD, text('fingerprint')], {
    ...READ_OWN,
    deleteRule: OWN,
    indexes: [
      'CREATE UNIQUE INDEX `idx_authOrigins_unique_pairs` ON `_authOrigins` (collectionRef, recordRef, fingerprint)',
    ],
  }),
  accounts(
    SUPERUSERS,
    [CREATED, UPDATED].map((field) => ({ ...field, system: true })),
    { system: true, authToken: { duration: 86_400 } },
  ),
  accounts(
    'users',
    [
      text('name', { max: 255, required: false }),
      {
        type: 'file',
        name: 'avatar',
        maxSelect: 1,
        mimeTypes: ['image/jpeg', 'image/png', 'image/svg+xml', 'image/gif', 'image/webp'],
      },
      CREATED,
      UPDATED,
    ],
    {
      id: '_pb_users_auth_',
      listRule: USER,
      viewRule: USER,
      createRule: '',
      updateRule: USER,
      deleteRule: USER,
      oauth2: { mappedFields: { name: 'name', avatarURL: 'avatar' } },
    },
  ),
]
