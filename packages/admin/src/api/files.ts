/** Files of records. */
import { apiUrl, hostEnvironment, request } from './request.ts'

interface FileOptions {
  /** The size of a thumb: `100x100`. */
  readonly thumb?: string
  /** For a file of a protected field; '' for others. */
  readonly token?: string
  readonly download?: boolean
}

export function fileUrl(collection: string, record: string, name: string, options: FileOptions = {}): string {
  const path = [collection, record, name].map(encodeURIComponent).join('/')
  const { download = false, ...rest } = options
  return apiUrl(`/files/${path}`, { ...rest, ...(download && { download: 1 }) })
}

/** A token is valid for two minutes at least. */
const TOKEN_MS = 100_000

let newest: { readonly token: Promise<string>; readonly since: number } | undefined

/** Opens files of protected fields. */
export function fileToken(): Promise<string> {
  const now = hostEnvironment().wallClock()
  if (newest === undefined || newest.since + TOKEN_MS < now) {
    const token = request<{ token: string }>('POST', '/files/token').then((answer) => answer.token)
    newest = { token, since: now }
    token.catch(() => (newest = undefined))
  }
  return newest.token
}
