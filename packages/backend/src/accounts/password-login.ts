/** Finds the record that an identity and a password belong to. An unknown identity costs a hash too, as a wrong password does. */
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { toText } from '../fields/cast.ts'
import { NOT_LISTED, outsideLength } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { forbidden, invalid } from '../gateway/service-error.ts'
import type { AccountsHost } from './accounts-host.ts'
import { findAccount } from './find-account.ts'
import { checkForm, NAME_BYTES_MAX, readTexts, textError } from './forms.ts'

const NAMES = ['identity', 'password', 'identityField'] as const
/** Most texts that are no address need no search for one. */
const ADDRESS = /^[^\s@]+@[^\s@]+$/

type LoginForm = Readonly<Record<(typeof NAMES)[number], string>>

export class PasswordLogin {
  readonly #host: AccountsHost

  constructor(host: AccountsHost) {
    this.#host = host
  }

  /** @throws ServiceError FORBIDDEN, INVALID, TOO_MANY_REQUESTS */
  async verify({ principal }: Actor, definition: AuthDefinition, input: JsonObject): Promise<JsonObject> {
    if (!definition.passwordAuth.enabled)
      throw forbidden('The collection is not configured to allow password authentication.')
    const { identity, password, identityField } = readForm(definition, input)
    const { limiter, passwords } = this.#host
    const found = await limiter.compare(principal.address ?? '', `${definition.id}:${identity}`, async () => {
      const record = await this.find(definition, identity, identityField)
      // Without a record it is no hash, which takes as long.
      return (await passwords.verify(toText(record?.['password']), password)) ? record : undefined
    })
    if (found === undefined) throw invalid('Failed to authenticate.')
    return passwords.isOutdated(toText(found['password'])) ? this.#rehashed(definition, found, password) : found
  }

  /** With a new hash of the same password, unless somebody has changed it. Tokens stay valid. */
  async #rehashed(definition: AuthDefinition, record: JsonObject, password: string): Promise<JsonObject> {
    const hash = await this.#host.passwords.hash(password)
    const { password: old, _id: id } = record
    let isNewer = false
    const written = await this.#host.definitions.records(definition).update(String(id), (stored) => {
      isNewer = stored['password'] !== old
      return isNewer ? stored : { ...stored, password: hash }
    })
    return isNewer ? record : { ...record, password: hash, _rev: written.rev }
  }

  /** The record of an identity. `identityField`: the one field to look at, or empty. */
  async find(definition: AuthDefinition, identity: string, identityField: string): Promise<JsonObject | undefined> {
    const { identityFields } = definition.passwordAuth
    if (identityField !== '' && !identityFields.includes(identityField)) return undefined
    // The address comes first.
    const inOrder = [...identityFields].sort((one, other) => Number(other === 'email') - Number(one === 'email'))
    for (const field of identityField === '' ? inOrder : [identityField]) {
      if (field === 'email' && identityField === '' && !ADDRESS.test(identity)) continue
      const found = await findAccount(this.#host.definitions, definition, field, identity)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** @throws ServiceError INVALID with data */
function readForm({ passwordAuth }: AuthDefinition, input: JsonObject): LoginForm {
  const form = readTexts(input, NAMES)
  const { identity, password, identityField } = form
  const isListed = identityField === '' || passwordAuth.identityFields.includes(identityField)
  checkForm({
    identity: textError(identity, 1, NAME_BYTES_MAX),
    password: textError(password, 1, NAME_BYTES_MAX),
    identityField: isListed ? undefined : (outsideLength(identityField, 1, NAME_BYTES_MAX) ?? NOT_LISTED),
  })
  return form
}
