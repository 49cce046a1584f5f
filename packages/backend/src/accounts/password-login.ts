/** Finds the record that an identity and a password belong to. An unknown identity costs a hash too, as a wrong password does. */
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { BLANK, fieldError, outsideLength } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { forbidden, invalid, ServiceError } from '../gateway/service-error.ts'
import type { FieldError } from '../gateway/service-error.ts'
import type { LoginAttempt } from './accounts-host.ts'
import { findAccount } from './find-account.ts'
import type { Passwords } from './passwords.ts'

const NAMES = ['identity', 'password', 'identityField'] as const
const BYTES_MAX = 255
/** Most texts that are no address need no search for one. */
const ADDRESS = /^[^\s@]+@[^\s@]+$/

type LoginForm = Readonly<Record<(typeof NAMES)[number], string>>

export class PasswordLogin {
  readonly #definitions: Definitions
  readonly #passwords: Passwords
  readonly #attempt: LoginAttempt

  constructor(definitions: Definitions, passwords: Passwords, attempt: LoginAttempt) {
    this.#definitions = definitions
    this.#passwords = passwords
    this.#attempt = attempt
  }

  /** @throws ServiceError FORBIDDEN, INVALID, TOO_MANY_REQUESTS */
  async verify({ principal }: Actor, definition: AuthDefinition, input: JsonObject): Promise<JsonObject> {
    if (!definition.passwordAuth.enabled)
      throw forbidden('The collection is not configured to allow password authentication.')
    const { identity, password, identityField } = readForm(definition, input)
    const succeeded = this.#attempt(principal.address ?? '', `${definition.id}:${identity}`)
    const record = await this.#find(definition, identity, identityField)
    const hash = record?.['password']
    if (typeof hash !== 'string') await this.#passwords.waste(password)
    else if (await this.#passwords.verify(hash, password)) {
      succeeded()
      return record!
    }
    throw invalid('Failed to authenticate.')
  }

  async #find(definition: AuthDefinition, identity: string, identityField: string): Promise<JsonObject | undefined> {
    const { identityFields } = definition.passwordAuth
    // The address comes first.
    const inOrder = [...identityFields].sort((one, other) => Number(other === 'email') - Number(one === 'email'))
    for (const field of identityField === '' ? inOrder : [identityField]) {
      if (field === 'email' && identityField === '' && !ADDRESS.test(identity)) continue
      const found = await findAccount(this.#definitions, definition, field, identity)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** @throws ServiceError INVALID with data */
function readForm({ passwordAuth }: AuthDefinition, input: JsonObject): LoginForm {
  const [identity, password, identityField] = NAMES.map((name) => {
    const value = input[name] ?? ''
    if (typeof value !== 'string') throw invalid('An error occurred while loading the submitted data.')
    return value
  }) as [string, string, string]
  const data: Record<string, FieldError> = {}
  for (const [name, value] of [
    ['identity', identity],
    ['password', password],
  ] as const) {
    const wrong = value === '' ? BLANK : outsideLength(value, 1, BYTES_MAX)
    if (wrong !== undefined) data[name] = wrong
  }
  if (identityField !== '' && !passwordAuth.identityFields.includes(identityField))
    data['identityField'] = outsideLength(identityField, 1, BYTES_MAX) ?? NOT_ONE_OF_THEM
  if (Object.keys(data).length > 0)
    throw new ServiceError('INVALID', 'An error occurred while validating the submitted data.', { data })
  return { identity, password, identityField }
}

const NOT_ONE_OF_THEM: FieldError = fieldError('validation_in_invalid', 'Must be a valid value.')
