/** `Content-Disposition` with a file name that an untrusted person may have chosen. */

/** The name twice: for old clients without what could end the quoted text, and in full, encoded (RFC 6266). */
export function contentDisposition(name: string, form: 'attachment' | 'inline' = 'attachment'): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const isPlain = plain === name
  return isPlain ? `${form}; filename="${plain}"` : `${form}; filename="${plain}"; filename*=UTF-8''${encoded(name)}`
}

/** The names that such a header may mean, the surest first. Not all who write one escape what ends the quoted text. */
export function dispositionNames(header: string): readonly string[] {
  const extended = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(header)?.[1]
  const unescaped = /;\s*filename="(.*)"/is.exec(header)?.[1]
  const quoted = /;\s*filename="((?:[^"\\]|\\.)*)"/is.exec(header)?.[1]?.replaceAll(/\\(.)/g, '$1')
  const token = /;\s*filename=([^;\s"]+)/i.exec(header)?.[1]
  const whole = extended && decoded(extended)
  return [whole, unescaped, quoted, token].filter((name) => name !== undefined)
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
