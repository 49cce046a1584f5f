/** Documents as the server handles them: JSON objects of any fields. */
import { LOCAL_PREFIX } from 'pannier/internal'

export type JsonObject = Record<string, unknown>

/** Guards are not asked about these documents. */
export function isLocalId(id: unknown): id is string {
  return typeof id === 'string' && id.startsWith(LOCAL_PREFIX)
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
