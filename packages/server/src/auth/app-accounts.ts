/** Accounts of the application at CouchDB's door: docs/adr/0034-one-account-two-doors.md. */
import { GUEST, ServiceError, type Actor, type Backend, type Principal } from '@pannier/backend'
import { forbidden } from '@pannier/backend/internal'
import { NAME_CHARS_MAX } from './accounts.ts'
import type { AppAccounts, AppCollection, AuthHost } from './auth-host.ts'

const USERS = 'users'
const SUPERUSERS = '_superusers'
const WRONG = 'Name or password is incorrect.'
const TWO_METHODS =
  'This account logs in by two methods: use the REST API, and send its token as Authorization: Bearer.'
const CHANGED = 'The collection has changed meanwhile. Try again.'
/** Errors that are passed on: they have nothing to do with the name or the password. */
const PASSED: readonly string[] = ['TOO_MANY_REQUESTS', 'UNAVAILABLE']

/** Whether code of the operator runs around such requests of REST. Then this door does not go around it. `tags`: of the collection. */
export type IsAround = (
  event: 'onRecordAuthWithPasswordRequest' | 'onFileDownloadRequest',
  tags: readonly string[],
) => boolean

export function appAccounts({ accounts, definitions, settings }: Backend, isAround: IsAround): AppAccounts {
  const takesPasswords = (collection: AppCollection, address: string): boolean => {
    const definition = definitions.find(collection)
    if (definition?.type !== 'auth' || !definition.passwordAuth.enabled) return false
    if (collection === SUPERUSERS && !settings.allowsSuperuserAt(address)) return false
    return !isAround('onRecordAuthWithPasswordRequest', [definition.id, definition.name])
  }
  return {
    isSuperuser: async (email) => (await accounts.superuser(email)) !== undefined,
    isIdentity: async (collection, identity) => {
      if (definitions.find(collection)?.type !== 'auth') return false
      return (await accounts.askedAccount(collection, 'identity', { identity })) !== undefined
    },
    principalOf: (token) => accounts.principalOf(token),
    accountNamed: (name) => {
      const definition = definitions.find(USERS)
      if (definition?.type !== 'auth' || !name.startsWith(`${definition.name}:`)) return undefined
      if (name.length > NAME_CHARS_MAX) return undefined
      const { id: collectionRef, name: collection } = definition
      return { collection, collectionRef, recordRef: name.slice(collection.length + 1) }
    },
    missing: ({ collection, collectionRef, recordRef }, reader) => {
      const definition = definitions.find(collectionRef)
      if (definition === undefined || !definitions.isCurrent(definition, reader))
        return new ServiceError('UNAVAILABLE', CHANGED)
      if (reader.get(definitions.records(definition).name, recordRef) !== undefined) return undefined
      return forbidden(`There is no record '${recordRef}' of ${collection}. Make it first, then give it roles.`)
    },
    changedNames: (change) => accounts.changedNames(change),
    allowsSuperuserAt: (address) => settings.allowsSuperuserAt(address),
    takesPasswords,
    logIn: async (collection, identity, password, { ip, userAgent }) => {
      const headers = { user_agent: userAgent }
      const request = { context: 'default', method: 'POST', query: {}, headers }
      const actor: Actor = { principal: { ...GUEST, address: ip }, request }
      const login = await accounts.authWithPassword(actor, collection, { identity, password }).catch(refused)
      if ('mfaId' in login) throw new ServiceError('UNAUTHENTICATED', TWO_METHODS)
      const { principal, token, definition } = login
      const isCurrent = (): boolean => definitions.find(collection) === definition && takesPasswords(collection, ip)
      return { principal, token, seconds: definition.authToken.duration, isCurrent }
    },
    endSession: async (principal) => {
      const { account, session } = principal
      if (account === undefined || session === undefined) return
      const actor: Actor = { principal, request: { context: 'default', method: 'DELETE', query: {}, headers: {} } }
      await accounts.endSession(actor, account.collection, String(account.record['_id']), session)
    },
  }
}

/** Collections of the application, which nothing around REST closes. */
export function appCollections(
  { collections, definitions }: Backend,
  isAround: IsAround,
): NonNullable<AuthHost['app']> {
  return {
    find: (name) => collections.find(name),
    isOpenTo: (principal: Principal, name) =>
      collections.isOpenTo(principal, name) &&
      (principal.isAdmin || !isAround('onFileDownloadRequest', [name, definitions.find(name)!.id])),
    subscribeRules: (listener) => collections.subscribeRules(listener),
  }
}

function refused(error: unknown): never {
  if (error instanceof ServiceError && !PASSED.includes(error.code))
    throw new ServiceError('UNAUTHENTICATED', WRONG, { cause: error })
  throw error
}
