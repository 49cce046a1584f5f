/** SQLite's values, names and errors. */

/** A value of SQLite, in and out. */
export type Cell = string | number | bigint | null | Uint8Array

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** As PocketBase words it: `SQL logic error: no such table: nope (1)`. */
export function errorText(error: unknown): string {
  const { message, errcode, errstr } = error as Error & { readonly errcode?: number; readonly errstr?: string }
  if (errcode === undefined || errstr === undefined) return message
  return message === errstr ? `${errstr} (${errcode})` : `${errstr}: ${message} (${errcode})`
}
