/** Mails from templates: what stands in place of `{APP_NAME}`, `{TOKEN}` or `{RECORD:name}`, and the text beside the HTML. */
import type { AuthDefinition, MailTemplate } from '../definitions/definition.ts'
import { excerpt } from '../fields/excerpt.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { SettingsValues } from '../settings/settings-values.ts'

/** A mail to one address. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly html: string
  /** The text of the mail for readers without HTML. */
  readonly text: string
}

interface MailParts {
  readonly to: string
  readonly template: MailTemplate
  readonly meta: SettingsValues['meta']
  readonly definition: AuthDefinition
  readonly record: JsonObject
  /** The values of `{TOKEN}`, `{OTP}`, `{OTP_ID}` and `{ALERT_INFO}`, as far as the template may have them. */
  readonly values: Readonly<Record<string, string>>
}

const PLACEHOLDER = /\{([A-Z_]+)(?::(\w+))?\}/g
/** People choose the values of their records. A mail is no place for long ones. */
const VALUE_CHARS_MAX = 1000

/** Makes a mail. Unknown placeholders and hidden fields stay as the template has them. */
export function mailOf({ to, template, meta, definition, record, values }: MailParts): Mail {
  const known: Readonly<Record<string, string>> = { APP_NAME: meta.appName, APP_URL: meta.appURL, ...values }
  const shown = new Set(
    definition.fields.filter(({ hidden, viewRule }) => !hidden && viewRule === undefined).map(({ name }) => name),
  )
  const valueOf = (name: string, field: string | undefined): string | undefined => {
    if (field === undefined) return Object.hasOwn(known, name) ? known[name] : undefined
    return name === 'RECORD' && shown.has(field) ? fieldText(record[field === 'id' ? '_id' : field]) : undefined
  }
  // In one pass: a value may look like a placeholder.
  const filled = (text: string, shape: (value: string) => string): string =>
    text.replace(PLACEHOLDER, (whole, name: string, field?: string) => {
      const value = valueOf(name, field)
      return value === undefined ? whole : shape(value)
    })
  const body = filled(template.body, escapeHtml)
  return { to, subject: oneLine(filled(template.subject, oneLine)), html: pageOf(body), text: textOf(body) }
}

interface AlertParts {
  readonly to: string
  readonly appName: string
  readonly subject: string
  /** The details as plain text. */
  readonly details: string
}

/** A mail that the server writes by itself. */
export function alertMail({ to, appName, subject, details }: AlertParts): Mail {
  const body = `<p>${escapeHtml(details).replaceAll('\n', '<br>')}</p>`
  return { to, subject: oneLine(`${appName}: ${subject}`), html: pageOf(body), text: details }
}

function fieldText(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
  return Array.from(text.slice(0, 2 * VALUE_CHARS_MAX))
    .slice(0, VALUE_CHARS_MAX)
    .join('')
}

/** A header has no line ends. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}

const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&#34;',
    "'": '&#39;',
  }),
)

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character)!)
}

const STYLE = [
  'body { margin: 0; padding: 24px; color: #1a1a1e; background: #fff; font: 15px/1.5 system-ui, sans-serif }',
  '.btn { display: inline-block; padding: 10px 24px; border-radius: 6px; color: #fff !important; background: #1a1a1e; font-weight: 600; text-decoration: none }',
].join('\n')

function pageOf(body: string): string {
  return `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
${STYLE}
</style>
</head>
<body>
${body}
</body>
</html>
`
}

const LINK = /<a\b[^>]*?\bhref="([^"]*)"[^>]*>(.*?)<\/a>/gis
const BREAK = /<(?:br|\/p|\/div|\/li|\/tr|\/h[1-6])\b[^>]*>/i

/** A line for each paragraph. Links keep their addresses. */
function textOf(html: string): string {
  return html
    .replace(LINK, '$2: $1')
    .split(BREAK)
    .map((part) => excerpt(part, Infinity, false) as string)
    .filter((line) => line !== '')
    .join('\n\n')
}
