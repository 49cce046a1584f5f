/** Finds the record that has an identity: an e-mail address, or another field that is unique. */
import type { TransactionCollection } from 'pannier'
import { NOCASE } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { AuthDefinition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { isSameName, uniqueIndexOf } from '../definitions/index-statement.ts'
import { LOWER, randomText } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Holder } from './tokens.ts'

const NOCASE_EQUALITY = { dialect: 'couchdb', collation: NOCASE.name } as const
const ID_CHARS = 15

export async function findAccount(
  definitions: Definitions,
  definition: AuthDefinition,
  field: string,
  identity: string,
): Promise<JsonObject | undefined> {
  return await findAccountIn(definitions.records(definition), definition, field, identity)
}

/** `records`: those of the definition, perhaps inside a transaction. */
export async function findAccountIn(
  records: Pick<TransactionCollection<JsonObject>, 'find'>,
  definition: AuthDefinition,
  field: string,
  identity: string,
): Promise<JsonObject | undefined> {
  const meaning = isNocase(definition, field) ? NOCASE_EQUALITY : undefined
  return await records.find({ [field]: identity }, meaning).first()
}

/** The account of an e-mail address. */
interface AddressedAccount extends Holder {
  /** No account has the address: the record stands for it, so that a request takes the same time. */
  readonly isMissing: boolean
  /** The address, the same for all texts that mean it. */
  readonly address: string
}

export async function accountAt(
  { definitions, environment }: { readonly definitions: Definitions; readonly environment: Environment },
  definition: AuthDefinition,
  email: string,
): Promise<AddressedAccount> {
  const found = await findAccount(definitions, definition, 'email', email)
  const address = isNocase(definition, 'email') ? email.toLowerCase() : email
  const [id, tokenKey] = [randomText(environment, ID_CHARS, LOWER), randomText(environment, ID_CHARS)]
  const record = found ?? { _id: id, email, tokenKey }
  return { definition, record, address, isMissing: found === undefined }
}

/** Whether the index that makes the field unique takes upper and lower case as the same. */
function isNocase(definition: AuthDefinition, field: string): boolean {
  return isSameName(uniqueIndexOf(definition, field)?.columns[0]?.collate ?? '', 'nocase')
}
