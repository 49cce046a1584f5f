/** Documents as the server handles them: JSON objects of any fields. */
import { LOCAL_PREFIX } from 'pannier/internal'

/** An object of any fields, as JSON has it. */
export type JsonObject = Record<string, unknown>

/** Guards are not asked about these documents. */
export function isLocalId(id: unknown): id is string {
  return typeof id === 'string' && id.startsWith(LOCAL_PREFIX)
}
