/**
 * The accounts of those who log in by others: found by their link, by who is logged in, or by their address; linked or made if
 * need be. What is written is written in one transaction, which finds the account again.
 */
import type { Transaction } from 'pannier'
import type { Actor } from '../access/actor.ts'
import { findAccountIn } from '../accounts/find-account.ts'
import type { ExternalAccount, ExternalLogin } from '../accounts/oauth2/oauth2-host.ts'
import { recordsName } from '../definitions/definition.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import { UnknownPassword } from '../fields/types/password.ts'
import { randomText, type Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { loggedInAccount, SYSTEM } from '../gateway/principal.ts'
import { invalid, ServiceError } from '../gateway/service-error.ts'
import type { RecordOperation, WrittenRecord, CollectionSource } from './write/operations.ts'
import { RecordWriter, whileOutdated, type RecordWriterParts } from './write/record-writer.ts'

const LINKS = '_externalAuths'
const ROUNDS_MAX = 10
const UNKNOWN_PASSWORD_CHARS = 30

interface FoundAccount {
  readonly record: JsonObject
  readonly isLinked: boolean
}

/** The login was overtaken: somebody else has written what it was prepared with. */
class Overtaken extends Error {}

export class ExternalAccounts {
  readonly #parts: RecordWriterParts
  readonly #writer: RecordWriter

  constructor(parts: RecordWriterParts) {
    this.#parts = parts
    this.#writer = new RecordWriter(parts)
  }

  /** The account that the login would enter, as it is now. */
  async find(login: ExternalLogin): Promise<JsonObject | undefined> {
    return (await this.#find(this.#parts.database, login))?.record
  }

  /** @throws ServiceError INVALID with data, FORBIDDEN if nobody may sign up, UNAVAILABLE */
  async enter(login: ExternalLogin): Promise<ExternalAccount> {
    for (let round = 1; ; round++) {
      const found = await this.#find(this.#parts.database, login)
      if (found !== undefined && isSettled(found, login)) return { record: found.record, isNew: false }
      try {
        const write = found === undefined ? this.#signUp(login) : this.#link(login, found)
        return { record: await write, isNew: found === undefined }
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error
        if (round === ROUNDS_MAX)
          throw new ServiceError('UNAVAILABLE', 'The account keeps changing. Try again later.', { cause: error })
      }
    }
  }

  async #find(place: CollectionSource, login: ExternalLogin): Promise<FoundAccount | undefined> {
    const { definition, email, actor } = login
    const records = place.collection<JsonObject>(recordsName(definition))
    const link = await this.#links(place).find(linkOf(login)).first()
    const linked = link === undefined ? undefined : await records.get(String(link['recordRef']))
    if (linked !== undefined) return { record: linked, isLinked: true }
    const account = loggedInAccount(actor.principal)
    const own = account?.collection === definition.id ? await records.get(String(account.record['_id'])) : undefined
    const record = own ?? (email === '' ? undefined : await findAccountIn(records, definition, 'email', email))
    return record && { record, isLinked: false }
  }

  async #signUp(login: ExternalLogin): Promise<JsonObject> {
    const { actor, definition, email } = login
    if (definition.name === SUPERUSERS) throw invalid('Failed to authenticate.')
    const collection = definition.id
    const given = await login.signUpInput()
    const input = Object.hasOwn(given, 'password') ? given : { ...given, ...unknownPassword(this.#parts.environment) }
    return this.#inTransaction({ actor, action: 'create', collection, input }, async (place, create) => {
      if ((await this.#find(place, login)) !== undefined) throw new Overtaken()
      const { document } = (await create())!
      const id = String(document['_id'])
      // Also if neither has an address.
      if (document['email'] === email && document['verified'] !== true)
        await this.#write(place, { actor, action: 'update', collection, id, input: { verified: true } })
      await this.#addLink(place, login, id)
      return id
    })
  }

  /**
   * An account that nobody has verified may have been made by somebody else, who waits for its owner. So it loses its password
   * and its other links, unless its owner is logged in.
   */
  async #link(login: ExternalLogin, { record, isLinked }: FoundAccount): Promise<JsonObject> {
    const { actor, definition, email } = login
    const id = String(record['_id'])
    const isVerified = record['verified'] === true
    const account = loggedInAccount(actor.principal)
    const isOwn = account?.collection === definition.id && account.record['_id'] === id
    const input: Record<string, unknown> = {}
    if (hasNoEmail(record) && email !== '') input['email'] = email
    if (!isVerified && (hasNoEmail(record) || record['email'] === email)) input['verified'] = true
    if (!isOwn && !isVerified) Object.assign(input, unknownPassword(this.#parts.environment))
    const collection = definition.id
    return this.#inTransaction({ actor, action: 'update', collection, id, input }, async (place, update) => {
      const now = await this.#find(place, login)
      if (now?.record['_id'] !== id || now.record['_rev'] !== record['_rev'] || now.isLinked !== isLinked)
        throw new Overtaken()
      if (!isVerified) await this.#deleteLinks(place, { collectionRef: definition.id, recordRef: id })
      if (Object.keys(input).length > 0) await update().catch(asFailedLogin)
      if (!isVerified || !isLinked) await this.#addLink(place, login, id)
      return id
    })
  }

  /** Prepares the operation before the transaction. Resolves with the record whose id `write` gives. */
  async #inTransaction(
    { actor, ...operation }: { readonly actor: Actor } & RecordOperation,
    write: (place: CollectionSource, run: () => Promise<WrittenRecord | undefined>) => Promise<string>,
  ): Promise<JsonObject> {
    const { database, environment, definitions } = this.#parts
    // An account is made by whom the rule admits; the rest is the server's.
    const acting = operation.action === 'create' ? actor : asServer(actor)
    const hooked = await this.#writer.begin(acting, operation)
    // A hook has answered itself.
    if (hooked?.isWanted === false) throw invalid('Failed to authenticate.')
    const writing = whileOutdated(environment, async () => {
      const prepared = await this.#writer.prepare(acting, hooked?.operation ?? operation)
      try {
        const stored = await database.transaction(async (transaction: Transaction) => {
          const id = await write(transaction, () => prepared.run(transaction))
          const definition = definitions.get(operation.collection)
          const document = (await transaction.collection<JsonObject>(recordsName(definition)).get(id))!
          return { definition, document }
        })
        prepared.written()
        return stored
      } finally {
        prepared.release()
      }
    })
    const written = await (hooked === undefined ? writing : writing.catch((error: unknown) => hooked.failed(error)))
    const ended = hooked === undefined ? written : await hooked.succeeded(written)
    return ended!.document
  }

  async #write(
    place: CollectionSource,
    { actor, ...operation }: { readonly actor: Actor } & RecordOperation,
  ): Promise<void> {
    const { run, release } = await this.#writer.prepare(asServer(actor), operation)
    await run(place).catch(asFailedLogin).finally(release)
  }

  async #addLink(place: CollectionSource, login: ExternalLogin, recordRef: string): Promise<void> {
    const link = linkOf(login)
    // What is left of an account that went by another door.
    await this.#deleteLinks(place, link)
    await this.#write(place, { actor: login.actor, action: 'create', collection: LINKS, input: { ...link, recordRef } })
  }

  async #deleteLinks(place: CollectionSource, selector: JsonObject): Promise<void> {
    const links = this.#links(place)
    const found = await links.find(selector).toArray()
    if (found.length > 0) await links.delete(found.map(({ _id }) => _id))
  }

  #links(place: CollectionSource) {
    return place.collection<JsonObject>(recordsName(this.#parts.definitions.get(LINKS)))
  }
}

/** Nothing has to be written. */
function isSettled({ record, isLinked }: FoundAccount, { email }: ExternalLogin): boolean {
  return isLinked && record['verified'] === true && (!hasNoEmail(record) || email === '')
}

function hasNoEmail(record: JsonObject): boolean {
  return (record['email'] ?? '') === ''
}

function linkOf({ definition, provider, providerId }: ExternalLogin): JsonObject {
  return { collectionRef: definition.id, provider, providerId }
}

function unknownPassword(chance: Chance): JsonObject {
  const password = new UnknownPassword(randomText(chance, UNKNOWN_PASSWORD_CHARS))
  return { password, passwordConfirm: password.text }
}

/** Throws the error of a write of the server itself as a failed login. */
function asFailedLogin(error: unknown): never {
  if (!(error instanceof ServiceError)) throw error
  throw new ServiceError('INVALID', 'Failed to authenticate.', {
    cause: error,
    ...(error.data && { data: error.data }),
  })
}

function asServer({ request }: Actor): Actor {
  return { principal: SYSTEM, request }
}
