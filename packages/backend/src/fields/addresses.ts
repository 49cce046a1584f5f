/** E-mail addresses and URLs as PocketBase accepts them. */
import { isMatch } from './pattern.ts'

const WIDE = '\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef'

const DOTTED = new RegExp(`^(?!\\.)(?:\\.?[\\w!#$%&'*+\\-/=?^\`{|}~${WIDE}])+$`)
/** In quotes, as PocketBase reads them: each character has a quote before it. */
const BLANKS = '(?:[ \\t]*\\r\\n)?[ \\t]+'
const QUOTED_CHAR = `[\\x01-\\b\\v\\f\\x0e-\\x1f!#-[\\]-\\x7f${WIDE}]|\\([\\x01-\\t\\v-\\x7f]`
const QUOTED = new RegExp(`^(?:"(?:${BLANKS})?(?:${QUOTED_CHAR}))*(?:${BLANKS})?"$`)
const FRONT_LABELS = new RegExp(`^[a-zA-Z0-9${WIDE}](?:[\\w.~${WIDE}-]*[a-zA-Z0-9${WIDE}])?$`)
const LAST_LABEL = new RegExp(`^[a-zA-Z${WIDE}](?:[\\w~${WIDE}-]*[a-zA-Z${WIDE}])?$`)

export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  const domain = text.slice(at + 1).replace(/\.$/, '')
  const dot = domain.lastIndexOf('.')
  return (
    at > 0 &&
    dot > 0 &&
    (DOTTED.test(local) || QUOTED.test(local)) &&
    FRONT_LABELS.test(domain.slice(0, dot)) &&
    LAST_LABEL.test(domain.slice(dot + 1))
  )
}

const URL_CHARS_MAX = 2083
const URL_CHARS_MIN = 4

const LETTER = 'a-zA-Z'
const PLAIN = `[${LETTER}0-9]`
const LETTERS = `[${LETTER}\u00a1-\uffff]`
const ANY = `[${LETTER}0-9\u00a1-\uffff]`
const BYTE = String.raw`\d{1,2}|1\d\d|2[0-4]\d|25[0-5]`
const IP4 = String.raw`(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3]|24\d|25[0-5])(?:\.(?:${BYTE})){3}`
const IP6 = String.raw`\[[0-9a-fA-F:.]+(?:%[0-9a-zA-Z]+)?\]`
const FRONT = [
  String.raw`${PLAIN}[${LETTER}0-9_-]*${PLAIN}(?:[-.]${PLAIN}+)*`,
  String.raw`www\.`,
  String.raw`${PLAIN}+(?:[-_.]?${PLAIN})*${PLAIN}\.${PLAIN}+`,
].join('|')
const HOST = String.raw`(?:${FRONT})?(?:${ANY}+-?-?)*${ANY}+(?:\.${LETTERS}+)?`
const SCHEME = '(?:ftp|tcp|udp|wss?|https?)://'
const URL_PATTERN = String.raw`^(?:${SCHEME})?(?:\S+@)?(?:${IP4}|${IP6}|${HOST})\.?(?::\d{1,5})?(?:[/?#]\S*)?$`

export function isUrl(text: string): boolean {
  if (text.length >= URL_CHARS_MAX || Buffer.byteLength(text) < URL_CHARS_MIN || text.startsWith('.')) return false
  const hasScheme = text.includes('://')
  const whole = text.includes(':') && !hasScheme ? `http://${text}` : text
  const [beforeFragment = '', fragment = ''] = whole.split(/#(.*)/s)
  const path = beforeFragment.split('?', 1)[0]!
  const isEscaped = !/%(?![\da-f]{2})/i.test(path + fragment)
  const host = hostOf(whole)
  if (!isEscaped || host.startsWith('.') || (host === '' && !path.includes('.'))) return false
  return isMatch(URL_PATTERN, text)
}

/** The host of a URL, with its port. `''` without a scheme. */
export function hostOf(url: string): string {
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? ''
  return authority.slice(authority.lastIndexOf('@') + 1)
}
