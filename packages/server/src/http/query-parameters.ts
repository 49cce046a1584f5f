/** Reads parameters of a request's URL with CouchDB's types. */
import type { FastifyRequest } from 'fastify'
import { badRequest, HttpError } from './http-error.ts'
import { parseJsonText } from './strict-json.ts'

export class QueryParameters {
  readonly #url: Readonly<Record<string, unknown>>
  readonly #body: Readonly<Record<string, unknown>>

  /** `body`: members of a body that count like parameters; those of the URL come first. */
  constructor(request: FastifyRequest, body: Readonly<Record<string, unknown>> = {}) {
    this.#url = request.query as Record<string, unknown>
    this.#body = body
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#url, name) || Object.hasOwn(this.#body, name)
  }

  /** As it stands in the URL. */
  text(name: string): string | undefined {
    if (Object.hasOwn(this.#url, name)) {
      const value = this.#url[name]
      if (typeof value !== 'string') throw parseError(`${name} is given twice`)
      return value
    }
    const value = Object.hasOwn(this.#body, name) ? this.#body[name] : undefined
    if (value === undefined || typeof value === 'string') return value
    return JSON.stringify(value)
  }

  /** True, false, or what is the case without it. */
  flag(name: string, otherwise = false): boolean {
    const text = this.text(name)
    if (text === undefined || text === '') return otherwise
    if (text === 'true') return true
    if (text === 'false') return false
    throw parseError(`Invalid boolean parameter: ${name}`)
  }

  /** A whole number, 0 or more. */
  count(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (Number.isNaN(value)) throw parseError(`Invalid value for integer: '${text.slice(0, 80)}' (${name})`)
    return value
  }

  /** A value in JSON, under the first of these names that exists, or undefined. */
  json(...names: readonly string[]): unknown {
    const name = names.find((one) => this.has(one))
    if (name === undefined) return undefined
    if (!Object.hasOwn(this.#url, name)) return this.#body[name]
    try {
      return parseJsonText(this.text(name)!)
    } catch (error) {
      if (error instanceof HttpError) throw badRequest(`invalid JSON in the parameter ${name}`)
      throw error
    }
  }

  /** An array of strings in JSON. */
  texts(name: string): string[] | undefined {
    const value = this.json(name)
    if (value === undefined) return undefined
    if (!Array.isArray(value) || value.some((one) => typeof one !== 'string'))
      throw badRequest(`${name} is an array of strings`)
    return value as string[]
  }
}

function parseError(reason: string): HttpError {
  return new HttpError(400, 'query_parse_error', reason)
}

/** A part of a URL in plain text; as it is, if its escapes are malformed. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    if (error instanceof URIError) return part
    throw error
  }
}
