/** `Cookie`, as answers set it. */
import { DateTime } from './dates.ts'
import { textOf } from './record.ts'

/** The same-site attributes, by Go's numbers. */
const SAME_SITE: Readonly<Record<number, string>> = { 2: 'Lax', 3: 'Strict', 4: 'None' }

export class Cookie {
  [name: string]: unknown

  constructor(values: Readonly<Record<string, unknown>> = {}) {
    Object.assign(this, values)
  }

  toString(): string {
    const { name, value = '', path, domain, maxAge, expires, secure, httpOnly, sameSite } = this
    const parts = [`${textOf(name)}=${textOf(value)}`]
    const add = (key: string, text: unknown): void =>
      void (text !== undefined && text !== '' && parts.push(`${key}=${textOf(text)}`))
    add('Path', path)
    add('Domain', domain)
    add('Expires', expires instanceof DateTime ? new Date(expires.unixMilli()).toUTCString() : expires)
    // There 0 is no age, and less than 0 is an age of 0.
    if (Number(maxAge ?? 0) !== 0) add('Max-Age', Math.max(0, Number(maxAge)))
    if (httpOnly === true) parts.push('HttpOnly')
    if (secure === true) parts.push('Secure')
    add('SameSite', SAME_SITE[sameSite as number])
    return parts.join('; ')
  }
}
