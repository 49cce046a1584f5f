/** Errors of settings, in PocketBase's codes and words. */
import { BlockList, isIP } from 'node:net'
import { BLANK, fieldError, NO_EMAIL, NO_MATCH, NOT_LISTED, outsideLength } from '../fields/field-errors.ts'
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import { cronProblem } from '../schedules/cron-expression.ts'
import type { RateLimitRule, SettingsValues } from './settings-values.ts'

const NO_URL: FieldError = { code: 'validation_is_url', message: 'Must be a valid URL.' }
const NO_HOST: FieldError = { code: 'validation_is_host', message: 'Must be a valid IP address or DNS name.' }
/** The code is misspelt in PocketBase too. */
const NO_NETWORK: FieldError = { code: 'validation_invlaid_ip_or_subnet', message: 'Invalid IP or CIDR subnet.' }

const URL_TEXT =
  /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^\s/?#@]+@)?(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9])?)(?::\d{1,5})?(?:[/?#]\S*)?$/i
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*\.?$/i
const ADDRESS = /^[^\s@<>"]+@[^\s@<>"]+$/
const COLOR = /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i
const LABEL = /^(?:\w+ \/[\w/-]*|\/[\w/-]*|\w+:\w+|\*:\w+|\w+)$/
const NAME_BYTES_MAX = 255

type SettingError = FieldError | ErrorData | undefined

/** Undefined if nothing is wrong. */
export function checkSettings(settings: SettingsValues): ErrorData | undefined {
  const { superuserIPs, smtp, backups, s3, meta, rateLimits, batch, logs } = settings
  return dataOf({
    superuserIPs: eachOf(superuserIPs, networkError),
    smtp: dataOf({
      host: smtp.host === '' ? requiredIf(smtp.enabled) : isHost(smtp.host) ? undefined : NO_HOST,
      port: smtp.port === 0 ? requiredIf(smtp.enabled) : atLeast(smtp.port, 0),
      authMethod: ['', 'LOGIN', 'PLAIN'].includes(smtp.authMethod) ? undefined : NOT_LISTED,
      localName: smtp.localName === '' || isHost(smtp.localName) ? undefined : NO_HOST,
    }),
    backups: dataOf({
      cron: backups.cron === '' ? undefined : cronError(backups.cron),
      cronMaxKeep: backups.cronMaxKeep === 0 ? requiredIf(backups.cron !== '') : atLeast(backups.cronMaxKeep, 1),
      s3: s3Errors(backups.s3),
    }),
    s3: s3Errors(s3),
    meta: dataOf({
      accentColor: meta.accentColor === '' ? undefined : colorError(meta.accentColor),
      appName: nameError(meta.appName),
      appURL: meta.appURL === '' ? BLANK : urlError(meta.appURL),
      senderName: nameError(meta.senderName),
      senderAddress: meta.senderAddress === '' ? BLANK : ADDRESS.test(meta.senderAddress) ? undefined : NO_EMAIL,
    }),
    rateLimits: dataOf({
      rules: rateLimits.enabled && rateLimits.rules.length === 0 ? BLANK : rulesErrors(rateLimits.rules),
      excludedIPs: eachOf(rateLimits.excludedIPs, networkError),
    }),
    batch: dataOf({
      maxRequests: batch.maxRequests === 0 ? requiredIf(batch.enabled) : atLeast(batch.maxRequests, 0),
      timeout: batch.timeout === 0 ? requiredIf(batch.enabled) : atLeast(batch.timeout, 0),
      maxBodySize: atLeast(batch.maxBodySize, 0),
    }),
    logs: dataOf({ maxDays: atLeast(logs.maxDays, 0) }),
  })
}

/** The addresses of a list that has passed the check. */
export function addressesOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** Whether one of the networks has the address. */
export function isWithin(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

function dataOf(found: Readonly<Record<string, SettingError>>): ErrorData | undefined {
  const wrong = Object.entries(found).filter(
    (entry): entry is [string, FieldError | ErrorData] => entry[1] !== undefined,
  )
  return wrong.length === 0 ? undefined : Object.fromEntries(wrong)
}

function eachOf<T>(items: readonly T[], check: (item: T) => SettingError): ErrorData | undefined {
  return dataOf(Object.fromEntries(items.map((item, at) => [String(at), check(item)])))
}

function requiredIf(isRequired: boolean): FieldError | undefined {
  return isRequired ? BLANK : undefined
}

function atLeast(value: number, threshold: number): FieldError | undefined {
  if (value >= threshold) return undefined
  const message = `Must be no less than ${threshold}.`
  return { code: 'validation_min_greater_equal_than_required', message, params: { threshold } }
}

function nameError(name: string): FieldError | undefined {
  return name === '' ? BLANK : outsideLength(name, 1, NAME_BYTES_MAX)
}

function cronError(expression: string): FieldError | undefined {
  const problem = cronProblem(expression)
  return problem === undefined ? undefined : fieldError('validation_invalid_cron', problem)
}

function colorError(color: string): FieldError | undefined {
  if (color.length !== 7)
    return { code: 'validation_length_invalid', message: 'The length must be exactly 7.', params: { max: 7, min: 7 } }
  return COLOR.test(color)
    ? undefined
    : { code: 'validation_is_hex_color', message: 'Must be a valid hexadecimal color code.' }
}

function urlError(url: string): FieldError | undefined {
  return URL_TEXT.test(url) ? undefined : NO_URL
}

function isHost(host: string): boolean {
  return isIP(host) !== 0 || (host.length <= 253 && HOST_NAME.test(host))
}

function networkError(network: string): FieldError | undefined {
  if (network === '') return BLANK
  const [address = '', prefix, ...more] = network.split('/')
  const family = isIP(address)
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32))
  return family !== 0 && isPrefix && more.length === 0 ? undefined : NO_NETWORK
}

function s3Errors(s3: SettingsValues['s3']): ErrorData | undefined {
  const needed = (text: string): FieldError | undefined => (text === '' ? requiredIf(s3.enabled) : undefined)
  return dataOf({
    endpoint: s3.endpoint === '' ? requiredIf(s3.enabled) : urlError(s3.endpoint),
    bucket: needed(s3.bucket),
    region: needed(s3.region),
    accessKey: needed(s3.accessKey),
    secret: needed(s3.secret),
  })
}

function rulesErrors(rules: readonly RateLimitRule[]): ErrorData | undefined {
  return eachOf(rules, ruleErrors) ?? conflictIn(rules)
}

function ruleErrors({ label, audience, duration, maxRequests }: RateLimitRule): ErrorData | undefined {
  return dataOf({
    label: label === '' ? BLANK : LABEL.test(label) ? undefined : NO_MATCH,
    maxRequests: maxRequests === 0 ? BLANK : atLeast(maxRequests, 1),
    duration: duration === 0 ? BLANK : atLeast(duration, 1),
    audience: ['', '@guest', '@auth'].includes(audience) ? undefined : NOT_LISTED,
  })
}

/** Two rules for the same requests. */
function conflictIn(rules: readonly RateLimitRule[]): ErrorData | undefined {
  const keys = rules.map(({ label, audience }) => `${label}@@${audience}`)
  const at = keys.findIndex((key, place) =>
    keys.slice(0, place).some((other) => other.startsWith(key) || key.startsWith(other)),
  )
  if (at < 0) return undefined
  const { label } = rules[at]!
  const message = `Rate limit rule configuration with label ${label} already exists or conflicts with another rule.`
  return { [at]: { label: { code: 'validation_conflicting_rate_limit_rule', message, params: { label } } } }
}
