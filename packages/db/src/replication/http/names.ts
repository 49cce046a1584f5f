/**
 * Names of users in URLs and headers. Percent-encoding does not protect all of them: a URL parser takes `.` and `..` for steps, encoded or
 * not, and no UTF-8 holds half of a surrogate pair. What no URL can name is read and written by its name in JSON.
 */

const STEPS: ReadonlySet<string> = new Set(['.', '..'])

/** A name as one segment of a path; undefined: no URL can hold it. */
export function pathSegment(name: string): string | undefined {
  return STEPS.has(name) || !name.isWellFormed() ? undefined : encodeURIComponent(name)
}

/** The path of a document below its database; `_design/` stays a prefix. Undefined: no URL can name it. */
export function documentPath(id: string): string | undefined {
  const [prefix, rest] = id.startsWith('_design/') ? ['_design/', id.slice('_design/'.length)] : ['', id]
  const segment = pathSegment(rest)
  return segment === undefined ? undefined : prefix + segment
}

/** The path of an attachment: a slash in its name is no step. Undefined: no URL can name it. */
export function attachmentPath(id: string, name: string): string | undefined {
  const [document, segment] = [documentPath(id), pathSegment(name)]
  return document === undefined || segment === undefined ? undefined : `${document}/${segment}`
}

/**
 * As the header of a part has it. Other letters stand as they are: CouchDB and PouchDB read them so. What would end the quoted text is
 * replaced, and the name follows in full (RFC 6266).
 */
export function dispositionOf(name: string): string {
  const plain = name.toWellFormed().replaceAll(/[\p{Cc}"\\]/gu, '_')
  if (plain === name) return `attachment; filename="${plain}"`
  const whole = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`
}

/** A value in a header of a part: what it can't hold would end it. */
export function headerValue(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '_')
}
