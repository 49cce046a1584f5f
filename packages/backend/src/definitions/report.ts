/** The definition of a report: a SELECT with a name and parameters, and who may run it. docs/internals/reports.md is the contract. */
import { isObject } from 'pannier/internal'
import { readDate } from '../fields/date-text.ts'
import { BLANK, fieldError, LISTED, NO_MATCH, NOT_LISTED, outsideLength, tooLong } from '../fields/field-errors.ts'
import { ownValue } from '../fields/field-types.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { checkNames, invalid, ServiceError, type ErrorData, type FieldError } from '../gateway/service-error.ts'
import { errorsOf, type Errors } from './check-rule.ts'
import type { Rule } from './definition.ts'

/** A report, as it is stored and shown to superusers. */
export interface Report {
  /** A part of its URL: small letters, digits, `_` and `-`. */
  readonly name: string
  /** The description for people. */
  readonly description: string
  /** The query: a SELECT. `:name` stands for a parameter. */
  readonly query: string
  /** The parameters `:name` of the query. */
  readonly parameters: readonly ReportParameter[]
  /** The rule of callers that may run it. The rules of the collections that it reads are not asked. */
  readonly rule: Rule
  /** When it was created: `2026-11-22 15:04:49.813Z` */
  readonly created: string
  /** The time of the last change. */
  readonly updated: string
}

/** The type of a parameter's values. */
type ParameterType = 'text' | 'number' | 'integer' | 'bool' | 'date'

/** A value that a request gives to a report. */
export interface ReportParameter {
  /** `:name` in the query, and in the URL. */
  readonly name: string
  /** An `integer` is bound as a whole number, a `date` as the text that records have. */
  readonly type: ParameterType
  /** The default where a request has no value. Without a default a request must give a value. */
  readonly default?: string | number | boolean | null
}

/** A report, as a program writes it. What is left out is as in a new one. */
export type ReportInput = Pick<Report, 'name' | 'query'> & Partial<Pick<Report, 'description' | 'parameters' | 'rule'>>

/** A report before and after a change; undefined where no report is. */
export interface ReportPair {
  readonly before: Report | undefined
  readonly after: Report | undefined
}

/** A value as SQLite takes it. Whole numbers are bigints: others would be bound as reals. */
export type ParameterValue = string | number | bigint | null

const NAME = /^[a-z0-9][a-z0-9_-]*$/
const NAME_BYTES_MAX = 100
const DESCRIPTION_BYTES_MAX = 5000
const QUERY_BYTES_MAX = 50_000
const PARAMETERS_MAX = 50
const PARAMETER_NAME = /^[A-Za-z_]\w{0,99}$/
const INTEGER_BITS = 64
const KNOWN = ['name', 'description', 'query', 'parameters', 'rule', 'created', 'updated']

/** Undefined for what is no value of the type. */
const READERS: Readonly<Record<ParameterType, (text: string) => ParameterValue | undefined>> = {
  text: (text) => text,
  number: (text) => (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? finite(Number(text)) : undefined),
  integer: (text) => (/^[+-]?\d{1,19}$/.test(text) ? fitting(BigInt(text.replace('+', ''))) : undefined),
  bool: (text) => (/^(?:true|1)$/.test(text) ? 1n : /^(?:false|0)$/.test(text) ? 0n : undefined),
  date: (text) => readDate(text) || undefined,
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

function fitting(value: bigint): bigint | undefined {
  return BigInt.asIntN(INTEGER_BITS, value) === value ? value : undefined
}

/** The report that an input makes of another one, and what is wrong with it. @throws ServiceError INVALID for what is no report */
export function reportOf(
  input: unknown,
  old?: Report,
): { readonly report: Omit<Report, 'created' | 'updated'>; readonly errors: ErrorData | undefined } {
  if (!isObject(input)) throw invalid(`A report must be an object, got ${JSON.stringify(input)}.`)
  checkNames('A report', input, KNOWN)
  const {
    name = old?.name ?? '',
    description = old?.description ?? '',
    query = old?.query ?? '',
    parameters = old?.parameters ?? [],
    rule = old?.rule ?? null,
  } = input
  const report = { name, description, query, parameters, rule } as Omit<Report, 'created' | 'updated'>
  const errors = {
    name: textError(name, NAME_BYTES_MAX) ?? (NAME.test(String(name)) ? undefined : NO_MATCH),
    description: description === '' ? undefined : textError(description, DESCRIPTION_BYTES_MAX),
    query: textError(query, QUERY_BYTES_MAX),
    parameters: parametersError(parameters),
    rule: rule === null || typeof rule === 'string' ? undefined : NO_MATCH,
  }
  return { report, errors: errorsOf({ ...errors, query: errors.query ?? undeclaredError(report, errors) }) }
}

function textError(value: unknown, max: number): FieldError | undefined {
  if (typeof value !== 'string') return NO_MATCH
  return value.trim() === '' ? BLANK : outsideLength(value, 1, max)
}

function parametersError(parameters: unknown): FieldError | ErrorData | undefined {
  if (!Array.isArray(parameters)) return NO_MATCH
  if (parameters.length > PARAMETERS_MAX) return tooLong(PARAMETERS_MAX)
  const names = parameters.map((one: unknown) => (isObject(one) ? one['name'] : undefined))
  return errorsOf(
    Object.fromEntries(
      parameters.map((one: unknown, at) => [
        String(at),
        isObject(one) ? parameterErrors(one, names.indexOf(one['name']) < at) : NO_MATCH,
      ]),
    ),
  )
}

function parameterErrors({ name, type, default: otherwise }: JsonObject, isTwice: boolean): ErrorData | undefined {
  const isType = typeof type === 'string' && Object.hasOwn(READERS, type)
  const isRight =
    !isType || otherwise === undefined || otherwise === null || read(type as ParameterType, otherwise) !== undefined
  const isName = typeof name === 'string' && PARAMETER_NAME.test(name)
  return errorsOf({
    name: !isName ? NO_MATCH : isTwice ? LISTED : undefined,
    type: isType ? undefined : NOT_LISTED,
    default: isRight ? undefined : wrongValue(type as string),
  })
}

const NAMES_IN_QUERY =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[\s\S]*?\*\/|(?<![\w$])([:@$#]\w+|\?\d*)/g

/** Other signs of parameters would stay NULL. */
function undeclaredError(
  { query, parameters }: Pick<Report, 'query' | 'parameters'>,
  { parameters: wrong }: Errors,
): FieldError | undefined {
  if (wrong !== undefined) return undefined
  const known = new Set(parameters.map(({ name }) => `:${name}`))
  for (const [, name] of query.matchAll(NAMES_IN_QUERY))
    if (name !== undefined && !known.has(name)) return queryError(`${name} is no parameter of the report`)
  return undefined
}

export function queryError(reason: string): FieldError {
  return fieldError('validation_invalid_query', `Invalid query - ${reason}.`)
}

function wrongValue(type: string): FieldError {
  return fieldError('validation_invalid_parameter', `Must be a value of the type ${type}.`)
}

function read(type: ParameterType, value: unknown): ParameterValue | undefined {
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return isScalar ? READERS[type](String(value)) : undefined
}

/** The values of all parameters. @throws ServiceError INVALID with data: what is wrong, missing or unknown, by its name */
export function parameterValues(
  { name, parameters }: Report,
  given: Readonly<Record<string, string>>,
): ReadonlyMap<string, ParameterValue> {
  const errors = new Map<string, FieldError | undefined>()
  const values = new Map<string, ParameterValue>()
  for (const { name: key, type, default: otherwise } of parameters) {
    const text = ownValue(given, key) ?? otherwise
    const value = text === null ? null : read(type, text)
    if (value === undefined) errors.set(key, text === undefined ? BLANK : wrongValue(type))
    else values.set(key, value)
  }
  for (const key of Object.keys(given))
    if (!parameters.some((one) => one.name === key))
      errors.set(key, fieldError('validation_unknown_parameter', `The report "${name}" has no such parameter.`))
  if (errors.size > 0)
    throw new ServiceError('INVALID', `Invalid parameters of the report "${name}".`, {
      data: errorsOf(Object.fromEntries(errors))!,
    })
  return values
}
