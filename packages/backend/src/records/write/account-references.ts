/**
 * Records of the system's collections belong to accounts of any collection. They name the collection and the account. They go
 * with the account, and some go when it changes.
 */
import type { Database } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { Definitions } from '../../definitions/definitions.ts'
import { recordsName, type Definition } from '../../definitions/definition.ts'
import { SUPERUSERS } from '../../definitions/system-collections.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import { fieldError } from '../../fields/field-errors.ts'
import { NewPassword } from '../../fields/password-field.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { ErrorData } from '../../gateway/service-error.ts'
import type { Draft } from './draft.ts'
import type { Place } from './operations.ts'

const MFAS = '_mfas'
const OTPS = '_otps'
const EXTERNAL_AUTHS = '_externalAuths'
const AUTH_ORIGINS = '_authOrigins'
const REFERRING: readonly string[] = [MFAS, OTPS, EXTERNAL_AUTHS, AUTH_ORIGINS]

const NO_COLLECTION = fieldError('validation_invalid_collection_id', 'Missing or invalid collection.')
const NO_AUTH_COLLECTION = fieldError('validation_invalid_collection_type', 'Invalid collection type - must be auth.')
const NO_RECORD = fieldError('validation_invalid_record', 'Missing or invalid record.')

/** Accounts of one collection. */
interface Accounts {
  readonly definition: Definition
  readonly ids: readonly string[]
}

export class AccountReferences {
  readonly #definitions: Definitions

  constructor(definitions: Definitions) {
    this.#definitions = definitions
  }

  async hasExternalAuths(place: Place, accounts: Accounts): Promise<boolean> {
    return (await this.#referring(place, EXTERNAL_AUTHS, accounts)).length > 0
  }

  /** Whether any account has records that belong to it. */
  async areThere(database: Database): Promise<boolean> {
    const infos = await Promise.all(this.#collections(REFERRING).map((name) => database.collection(name).info()))
    return infos.some(({ documents }) => documents > 0)
  }

  /** As `areThere`, as a guard sees it. It is fast where no account has any. */
  areRead(reader: GuardReader): boolean {
    return this.#collections(REFERRING).some((name) => reader.all(name).length > 0)
  }

  /** Whether a delete in the collection may take accounts along. */
  mayTakeAccounts(definition: Definition): boolean {
    return this.#reachedFrom(definition).some(({ type }) => type === 'auth')
  }

  /** Whether a delete in another collection may take superusers along. */
  mayTakeSuperusers(definition: Definition): boolean {
    return definition.name !== SUPERUSERS && this.#reachedFrom(definition).some(({ name }) => name === SUPERUSERS)
  }

  /** Whether superusers are among what was deleted, and nobody is left. `deleted`: as of `accountsDeleted`. */
  async areSuperusersGone(place: Place, deleted: ReadonlyMap<string, ReadonlySet<string>>): Promise<boolean> {
    const [name] = this.#collections([SUPERUSERS])
    if (name === undefined || !deleted.has(name)) return false
    return (await place.collection<JsonObject>(name).find({}).first()) === undefined
  }

  /** The collection, and those whose records may go with one of its. */
  #reachedFrom(definition: Definition): readonly Definition[] {
    const reached = new Set([definition])
    for (const one of reached) {
      for (const other of this.#definitions.all())
        if (other.fields.some((field) => isCascade(field, one))) reached.add(other)
    }
    return [...reached]
  }

  /**
   * A new password forgets the devices and the logins that are half done, another key the one-time passwords. A verified address
   * forgets the logins of others, who may have used it. `document`: what was written.
   */
  async accountChanged(place: Place, { definition, old, values }: Draft, document: JsonObject): Promise<void> {
    const accounts: Accounts = { definition, ids: [values['id'] as string] }
    if (values['password'] instanceof NewPassword)
      for (const name of [AUTH_ORIGINS, MFAS]) await this.#delete(place, name, accounts)
    if (old?.['tokenKey'] !== document['tokenKey']) await this.#delete(place, OTPS, accounts)
    if (old?.['verified'] !== true && values['verified'] === true) await this.#delete(place, EXTERNAL_AUTHS, accounts)
  }

  /** A new account does not get what is left of another one of its id, which went by another door. */
  async accountMade(place: Place, { definition, values }: Draft): Promise<void> {
    await this.accountsDeleted(place, new Map([[recordsName(definition), new Set([values['id'] as string])]]))
  }

  /** `deleted`: ids by the library's names of collections. */
  async accountsDeleted(place: Place, deleted: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> {
    for (const definition of this.#definitions.all()) {
      const ids = [...(deleted.get(recordsName(definition)) ?? [])]
      if (definition.type !== 'auth' || ids.length === 0) continue
      for (const name of REFERRING) await this.#delete(place, name, { definition, ids })
    }
  }

  async #delete(place: Place, name: string, accounts: Accounts): Promise<void> {
    const ids = await this.#referring(place, name, accounts)
    const [collection] = this.#collections([name])
    if (ids.length > 0) await place.collection(collection!).delete(ids)
  }

  async #referring(place: Place, name: string, { definition, ids }: Accounts): Promise<readonly string[]> {
    const [collection] = this.#collections([name])
    if (collection === undefined) return []
    const selector = { collectionRef: definition.id, recordRef: { $in: ids } }
    const found = await place.collection<JsonObject>(collection).find(selector).toArray()
    return found.map(({ _id }) => _id)
  }

  #collections(names: readonly string[]): readonly string[] {
    return names.flatMap((name) => {
      const definition = this.#definitions.find(name)
      return definition === undefined ? [] : [recordsName(definition)]
    })
  }
}

function isCascade(field: FieldDefinition, { id }: Definition): boolean {
  return field.type === 'relation' && field.cascadeDelete && field.collectionId === id
}

/** What is wrong with the account that a record names. */
export function referenceErrors(
  { name }: Definition,
  values: JsonObject,
  definitions: Definitions,
  reader: GuardReader,
): ErrorData | undefined {
  if (!REFERRING.includes(name)) return undefined
  const { collectionRef, recordRef } = values as { readonly collectionRef: string; readonly recordRef: string }
  const collection = definitions.find(collectionRef)
  // Only its id counts.
  if (collection?.id !== collectionRef) return { collectionRef: NO_COLLECTION }
  if (collection.type !== 'auth') return { collectionRef: NO_AUTH_COLLECTION }
  return reader.get(recordsName(collection), recordRef) === undefined ? { recordRef: NO_RECORD } : undefined
}
