/** Documents as the server handles them: JSON objects of any fields. */

export type JsonObject = Record<string, unknown>

/** Of documents that belong to one copy of a collection, such as replication checkpoints. Guards are not asked about them. */
export const LOCAL_PREFIX = '_local/'

export function isLocalId(id: unknown): id is string {
  return typeof id === 'string' && id.startsWith(LOCAL_PREFIX)
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
