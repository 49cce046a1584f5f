/**
 * Documents of `_users` that give roles to accounts of the application: docs/adr/0034-one-account-two-doors.md. Such a document names its
 * record as passkeys do, so the library deletes it in the transaction that deletes the record. Only admins write it.
 */
import type { GuardedWrite, Judge } from '@pannier/backend'
import { forbidden } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { USER_PREFIX, withoutCredentials } from './accounts.ts'
import type { AccountReference, AppAccounts } from './auth-host.ts'

/** The account whose document has the id. */
export function accountWith(id: unknown, accounts: AppAccounts): AccountReference | undefined {
  const isOfUser = typeof id === 'string' && id.startsWith(USER_PREFIX)
  return isOfUser ? accounts.accountNamed(id.slice(USER_PREFIX.length)) : undefined
}

/** The document as it is to be stored. @throws ServiceError FORBIDDEN, with the request that does what this one may not */
export function accountDocument(
  document: JsonObject,
  { principal, newEdits }: Pick<GuardedWrite, 'principal' | 'newEdits'>,
  account: AccountReference,
): JsonObject {
  const { password = null } = document
  const { collection, ...reference } = account
  const record = `/api/collections/${collection}/records/${encodeURIComponent(account.recordRef)}`
  if (!principal.isAdmin)
    throw forbidden(
      `Only administrators write the document of an account, which gives it roles. What else belongs to it is in its record: PATCH ${record}`,
    )
  if (!newEdits)
    throw forbidden('The document of an account is written on its own server, not as a replica (new_edits=false).')
  if (document['_deleted'] === true)
    throw forbidden(
      `The document of an account goes with its record: DELETE ${record}. To take its roles away, write "roles": [].`,
    )
  if (password !== null)
    throw forbidden(`The password of an account is in its record: PATCH ${record} with password and passwordConfirm.`)
  checkUser(document)
  return { ...withoutCredentials(document), ...reference }
}

/** Judges inside the transaction that writes the document: the record may have been deleted meanwhile. */
export function accountJudge(accounts: AppAccounts): Judge {
  return ({ document: { _id: id, _deleted: isDeleted }, reader }) => {
    const account = isDeleted === true ? undefined : accountWith(id, accounts)
    return account && accounts.missing(account, reader)
  }
}

/** Any other document would be deleted with a record that it happens to name. @throws ServiceError FORBIDDEN */
export function checkNoAccount({ collectionRef, recordRef }: JsonObject): void {
  if (collectionRef !== undefined || recordRef !== undefined)
    throw forbidden('collectionRef and recordRef are of the documents of accounts: use other names for these fields.')
}

/** Checks the conditions that hold for every user. @throws ServiceError FORBIDDEN */
export function checkUser({ _id: id, name, type, roles }: JsonObject): void {
  if (type !== 'user') throw forbidden('doc.type must be user')
  if (id !== USER_PREFIX + String(name)) throw forbidden('Document id must be of the form org.couchdb.user:name')
  if (!Array.isArray(roles)) throw forbidden('doc.roles must be an array')
  for (const role of roles as unknown[]) {
    if (typeof role !== 'string') throw forbidden('doc.roles can only contain strings')
    if (role.startsWith('_')) throw forbidden('No system roles (starting with underscore) in users db.')
  }
}
