/** `Content-Disposition` with a file name that an untrusted person may have chosen. */

/** The name twice: for old clients without what could end the quoted text, and in full, encoded (RFC 6266). */
export function contentDisposition(name: string, form: 'attachment' | 'inline' = 'attachment'): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const isPlain = plain === name
  return isPlain ? `${form}; filename="${plain}"` : `${form}; filename="${plain}"; filename*=UTF-8''${encoded(name)}`
}

/** The name in such a header, or undefined. */
export function dispositionName(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const extended = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(header)?.[1]
  if (extended !== undefined) return decoded(extended)
  const quoted = /;\s*filename="((?:[^"\\]|\\.)*)"/i.exec(header)?.[1]
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? /;\s*filename=([^;\s"]+)/i.exec(header)?.[1]
}

function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
