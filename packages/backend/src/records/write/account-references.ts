/**
 * Records of the system's collections belong to accounts of any collection. They name the collection and the account. The library
 * deletes them with the account; some go when it changes.
 */
import type { TransactionCollection } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { Definitions } from '../../definitions/definitions.ts'
import { recordsName, type Definition } from '../../definitions/definition.ts'
import { OF_ACCOUNTS, PASSKEYS_COLLECTION, UNDEFINED_OF_ACCOUNTS } from '../../definitions/system-collections.ts'
import { fieldError } from '../../fields/field-errors.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { ErrorData } from '../../gateway/service-error.ts'
import type { CollectionSource } from './operations.ts'

const MFAS = '_mfas'
const OTPS = '_otps'
const EXTERNAL_AUTHS = '_externalAuths'
const AUTH_ORIGINS = '_authOrigins'

const NO_COLLECTION = fieldError('validation_invalid_collection_id', 'Missing or invalid collection.')
const NO_AUTH_COLLECTION = fieldError('validation_invalid_collection_type', 'Invalid collection type - must be auth.')
const NO_RECORD = fieldError('validation_invalid_record', 'Missing or invalid record.')

interface NamedAccount {
  readonly definition: Definition
  readonly id: string
}

export class AccountReferences {
  readonly #definitions: Definitions

  constructor(definitions: Definitions) {
    this.#definitions = definitions
  }

  async hasExternalAuths(place: CollectionSource, account: NamedAccount): Promise<boolean> {
    return (await referring(this.#records(place, EXTERNAL_AUTHS), account)).length > 0
  }

  /**
   * A new password forgets the devices and the logins that are half done, another key the one-time passwords. A verified address
   * forgets the logins and passkeys of others, who may have used it. `document`: what is stored now.
   */
  async accountChanged(
    place: CollectionSource,
    account: NamedAccount,
    old: JsonObject,
    document: JsonObject,
  ): Promise<void> {
    if (old['password'] !== document['password'])
      for (const name of [AUTH_ORIGINS, MFAS]) await this.#delete(place, name, account)
    if (old['tokenKey'] !== document['tokenKey']) await this.#delete(place, OTPS, account)
    if (old['verified'] === true || document['verified'] !== true) return
    await this.#delete(place, EXTERNAL_AUTHS, account)
    await deleteReferring(place.collection<JsonObject>(PASSKEYS_COLLECTION), account)
  }

  /** A new account does not get what is left of another one of its id, which went by another door. */
  async accountMade(place: CollectionSource, account: NamedAccount): Promise<void> {
    for (const name of OF_ACCOUNTS) await this.#delete(place, name, account)
    for (const name of UNDEFINED_OF_ACCOUNTS) await deleteReferring(place.collection<JsonObject>(name), account)
  }

  #delete(place: CollectionSource, name: string, account: NamedAccount): Promise<void> {
    return deleteReferring(this.#records(place, name), account)
  }

  #records(place: CollectionSource, name: string): TransactionCollection<JsonObject> {
    return place.collection<JsonObject>(recordsName(this.#definitions.get(name)))
  }
}

async function referring(
  records: TransactionCollection<JsonObject>,
  { definition, id }: NamedAccount,
): Promise<readonly string[]> {
  const found = await records.find({ collectionRef: definition.id, recordRef: id }).toArray()
  return found.map(({ _id }) => _id)
}

async function deleteReferring(records: TransactionCollection<JsonObject>, account: NamedAccount): Promise<void> {
  const ids = await referring(records, account)
  if (ids.length > 0) await records.delete(ids)
}

/** Errors of the account that a record names. */
export function referenceErrors(
  { name }: Definition,
  values: JsonObject,
  definitions: Definitions,
  reader: GuardReader,
): ErrorData | undefined {
  if (!OF_ACCOUNTS.includes(name)) return undefined
  const { collectionRef, recordRef } = values as { readonly collectionRef: string; readonly recordRef: string }
  const collection = definitions.find(collectionRef)
  // Only its id counts.
  if (collection?.id !== collectionRef) return { collectionRef: NO_COLLECTION }
  if (collection.type !== 'auth') return { collectionRef: NO_AUTH_COLLECTION }
  return !reader.has(recordsName(collection), [recordRef])[0] ? { recordRef: NO_RECORD } : undefined
}
