/**
 * Guards writes to the `_users` database: hashes passwords, hides credentials from clients, and lets only admins grant
 * roles. It covers every way to write a document, replication included.
 *
 * A user is a document with one leaf revision. Users replace only the winner of their own document, so they make no
 * conflict. Deleting the winner deletes all leaf revisions; otherwise a hidden one would become the user, with its
 * roles and password.
 */
import type { Collection } from 'pannier'
import { isSame } from 'pannier/internal'
import { ServiceError } from '@pannier/backend'
import type { GuardedDocuments, GuardedWrite, Principal, WriteGuard } from '@pannier/backend'
import { conflicting, forbidden } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { accountDocument, accountJudge, accountWith, checkNoAccount, checkUser } from './account-documents.ts'
import { checkName, USER_PREFIX, withoutCredentials, type Accounts } from './accounts.ts'
import type { AppAccounts } from './auth-host.ts'
import { CREDENTIAL_FIELDS } from './couch-credentials.ts'
import { USERS_DATABASE } from './permissions.ts'

const USERS_AT_ONCE_MAX = 1000
/** Bytes of JSON, without attachments. Limited because each request of a user reads the document. */
export const USER_BYTES_MAX: number = 64 * 1024

interface UserRules {
  readonly accounts: Accounts
  /** Accounts of the application. */
  readonly app: AppAccounts | undefined
  /** Whether people may sign up. */
  readonly signUp: boolean
  /** `current`: what was sent as the password until now. @throws ServiceError FORBIDDEN, TOO_MANY_REQUESTS unless it is shown that the user writes this */
  readonly checkPassword: (principal: Principal, current: unknown) => Promise<void>
}

export function usersGuard(rules: UserRules): WriteGuard {
  const judge = rules.app && accountJudge(rules.app)
  return {
    prepare: (write) => (write.database === USERS_DATABASE ? guardedUsers(write, rules) : write.documents),
    decide: ({ database }) => (database === USERS_DATABASE ? judge : undefined),
  }
}

async function guardedUsers(write: GuardedWrite, rules: UserRules): Promise<GuardedDocuments> {
  const { documents } = write
  if (documents.length > USERS_AT_ONCE_MAX)
    return documents.map(() => new ServiceError('TOO_LARGE', `at most ${USERS_AT_ONCE_MAX} users at once`))
  const results: (JsonObject | ServiceError)[] = []
  for (const document of documents) {
    try {
      results.push(await guarded(document, write, rules))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      results.push(error)
    }
  }
  return results
}

/** The last of all guards that prepare: nothing refuses the deletion after it. The other branches end before the winner does. */
export function endBranches(users: Collection<JsonObject>): WriteGuard {
  return { prepare: (write) => (write.database === USERS_DATABASE ? withoutBranches(write, users) : write.documents) }
}

async function withoutBranches(
  { documents, newEdits }: GuardedWrite,
  users: Collection<JsonObject>,
): Promise<GuardedDocuments> {
  const deletions = documents.filter((document) => document['_deleted'] === true)
  const ended = new Set(deletions.map((deletion) => branchOf(deletion, newEdits)))
  for (const deletion of deletions) {
    const { _id: id } = deletion as { readonly _id: string }
    const winner = await users.get(id, { conflicts: true })
    if (winner === undefined || branchOf(deletion, newEdits) !== nameOf(id, winner['_rev'])) continue
    const others = ((winner['_conflicts'] ?? []) as string[]).filter((rev) => !ended.has(nameOf(id, rev)))
    await users.put(others.map((rev) => ({ _id: id, _rev: rev, _deleted: true })))
  }
  return documents
}

/** The branch that a tombstone ends. */
function branchOf({ _id, _rev, _revisions }: JsonObject, newEdits: boolean): string {
  if (newEdits) return nameOf(_id, _rev)
  const { start, ids } = (_revisions ?? {}) as { readonly start?: number; readonly ids?: readonly string[] }
  return nameOf(_id, ids?.[1] === undefined ? undefined : `${start! - 1}-${ids[1]}`)
}

function nameOf(id: unknown, rev: unknown): string {
  return `${String(id)} ${String(rev)}`
}

/** The document as it is to be stored. */
async function guarded(document: JsonObject, write: GuardedWrite, rules: UserRules): Promise<JsonObject> {
  const { principal, stored } = write
  const { accounts, app, checkPassword } = rules
  const { _id: id, password } = document
  const { isAdmin } = principal
  if (typeof id !== 'string' || !id.startsWith(USER_PREFIX)) {
    if (isAdmin && typeof id === 'string' && id.startsWith('_design/')) return document
    throw forbidden(`The id of a user is ${USER_PREFIX} and the name.`)
  }
  checkSize(document)
  const account = app && accountWith(id, app)
  if (account !== undefined) return accountDocument(document, write, account)
  const current = await stored.get(id)
  if (!isAdmin) await checkRights(id, document, current, write, rules)
  if (document['_deleted'] === true) return withoutCredentials(document)
  checkName(document['name'])
  checkNoAccount(document)
  checkUser(document)
  if (!isAdmin && !sameRoles(document['roles'], current?.['roles']))
    throw forbidden('Only administrators may change roles.')
  // CouchDB's clients write back what they have read, without knowing what it is.
  if (password === undefined || password === null) {
    const fields = isAdmin ? pick(document) : pick(current ?? {})
    const kept = Object.keys(fields).length > 0 ? fields : pick(current ?? {})
    return { ...withoutCredentials(document), ...kept }
  }
  if (!isAdmin && current !== undefined) await checkPassword(principal, document['current_password'])
  return { ...withoutCredentials(document), ...(await accounts.credentials(password)) }
}

function checkSize({ _attachments, ...document }: JsonObject): void {
  const bytes = Buffer.byteLength(JSON.stringify(document))
  if (bytes > USER_BYTES_MAX)
    throw new ServiceError(
      'DOCUMENT_TOO_LARGE',
      `A document of _users has at most ${USER_BYTES_MAX} bytes of JSON, not ${bytes}.`,
    )
}

/**
 * Users who are not admins replace their own document, or make it where sign-up is allowed. They can't bring a revision
 * history.
 */
async function checkRights(
  id: string,
  document: JsonObject,
  current: JsonObject | undefined,
  { principal, stored, newEdits }: GuardedWrite,
  rules: UserRules,
): Promise<void> {
  if (!newEdits) throw forbidden('Only administrators may write revisions of other replicas (new_edits=false).')
  if (current !== undefined && document['_rev'] !== current['_rev']) throw conflicting()
  const name = id.slice(USER_PREFIX.length)
  if (current !== undefined && name === principal.name) return
  if (!rules.signUp || current !== undefined)
    throw forbidden('Only administrators may write the documents of other users.')
  if (document['_deleted'] === true || document['_attachments'] !== undefined)
    throw forbidden('A new user has no attachments, and is not deleted.')
  if (typeof document['password'] !== 'string') throw forbidden('A new user has a password: a string.')
  // A name of before may still have rights, by the `_security` of a database: only an admin gives it again.
  if ((await stored.wasDeleted(id)) || (await isTaken(name, rules))) throw conflicting()
}

/** Whether somebody logs in with the name. A user would hide an account of the application. */
async function isTaken(name: string, { accounts, app }: UserRules): Promise<boolean> {
  if ((await accounts.find(name)) !== undefined) return true
  return app !== undefined && ((await app.isIdentity('_superusers', name)) || (await app.isIdentity('users', name)))
}

function pick(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([field]) => CREDENTIAL_FIELDS.includes(field)))
}

function sameRoles(left: unknown, right: unknown): boolean {
  return isSame(left ?? [], right ?? [])
}
