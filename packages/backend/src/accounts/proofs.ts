/** Tokens that mails have brought: what is wrong with one, and writes that it allows. */
import { randomText, type Chance } from '../gateway/chance.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { BLANK, fieldError } from '../fields/field-errors.ts'
import { UnknownPassword } from '../fields/types/password.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { FieldError } from '../gateway/service-error.ts'
import type { Holder } from './tokens.ts'

const WRONG = fieldError('validation_invalid_token', 'Invalid or expired token.')
const ELSEWHERE = fieldError(
  'validation_token_collection_mismatch',
  'The provided token is for different auth collection.',
)

/** `holder`: whose token it is. */
export function tokenError({ id }: AuthDefinition, token: string, holder: Holder | undefined): FieldError | undefined {
  if (token === '') return BLANK
  if (holder === undefined) return WRONG
  return holder.definition.id === id ? undefined : ELSEWHERE
}

const ROUNDS_MAX = 10

/** Runs it again if the account was changed meanwhile: then its token may be worth nothing. */
export async function whileCurrent<T>(run: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'CONFLICT') || round === ROUNDS_MAX) throw error
    }
  }
}

/** The error of a write with another message. */
export function withMessage(error: unknown, message: string): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'INVALID') return error
  return new ServiceError('INVALID', message, { cause: error, ...(error.data !== undefined && { data: error.data }) })
}

/** For an input: nobody logs in with a password any more. */
export function unknownPassword(chance: Chance): JsonObject {
  const password = new UnknownPassword(randomText(chance, 30))
  return { password, passwordConfirm: password }
}
