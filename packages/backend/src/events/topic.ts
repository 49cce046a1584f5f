/** Topics as clients name them: `posts/*`, `posts/ID`, or any other text, each with options of its own. */
import { isObject } from 'pannier/internal'
import { toText } from '../fields/cast.ts'
import { BLANK, outsideLength, tooLong } from '../fields/field-errors.ts'
import { snakeCase } from '../fields/new-file.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid, ServiceError, type ErrorData, type FieldError } from '../gateway/service-error.ts'

const CLIENT_ID_BYTES_MAX = 255
const TOPICS_MAX = 1000
const TOPIC_BYTES_MAX = 2500

/** The subject of a subscription. */
export interface Topic {
  /** The text as the client has sent it: messages have it. */
  readonly text: string
  /** The name without the options. */
  readonly name: string
  /** Parameters as the request for a record would have them in its URL: `filter`, `expand`, `fields`, and parameters that rules read. */
  readonly query: Readonly<Record<string, string>>
  /** Headers by their names in lower case, with `_` for `-`. */
  readonly headers: Readonly<Record<string, string>>
}

/** Options stand in the topic: `posts/*?options={"query":{"filter":"votes > 1"}}`, encoded for a URL. */
function topicOf(text: string): Topic {
  const end = text.indexOf('?')
  if (end < 0) return { text, name: text, query: {}, headers: {} }
  const { query, headers } = optionsIn(text.slice(end + 1))
  const named = Object.entries(textsOf(headers)).map(([name, value]) => [snakeCase(name), value])
  return { text, name: text.slice(0, end), query: textsOf(query), headers: Object.fromEntries(named) }
}

/** Options that are no JSON are none. */
function optionsIn(search: string): JsonObject {
  const options = new URLSearchParams(search.split('#', 1)[0]).get('options') ?? ''
  try {
    const read: unknown = JSON.parse(options)
    return isObject(read) ? read : {}
  } catch {
    return {}
  }
}

function textsOf(values: unknown): Record<string, string> {
  const entries = isObject(values) ? Object.entries(values) : []
  return Object.fromEntries(entries.map(([name, value]) => [name, toText(value)]))
}

/** By their texts. Empty ones are none. */
export function topicsOf(texts: readonly string[]): ReadonlyMap<string, Topic> {
  return new Map(texts.filter((text) => text !== '').map((text) => [text, topicOf(text)]))
}

/** Which client subscribes to what. @throws ServiceError INVALID with data */
export function subscriptionsIn({ clientId = '', subscriptions }: JsonObject): {
  readonly clientId: string
  readonly topics: ReadonlyMap<string, Topic>
} {
  const texts: readonly unknown[] = [subscriptions ?? []].flat()
  if (typeof clientId !== 'string' || isObject(subscriptions) || !texts.every((text) => typeof text === 'string'))
    throw invalid('')
  const wrongId = clientId === '' ? BLANK : outsideLength(clientId, 1, CLIENT_ID_BYTES_MAX)
  const wrongTopics = topicErrors(texts)
  if (wrongId !== undefined || wrongTopics !== undefined) {
    const data = { ...(wrongId && { clientId: wrongId }), ...(wrongTopics && { subscriptions: wrongTopics }) }
    throw new ServiceError('INVALID', '', { data })
  }
  return { clientId, topics: topicsOf(texts) }
}

/** Errors of topics. */
export function topicErrors(texts: readonly string[]): FieldError | ErrorData | undefined {
  if (texts.length > TOPICS_MAX) return tooLong(TOPICS_MAX)
  const long = [...texts.keys()].filter((at) => Buffer.byteLength(texts[at]!) > TOPIC_BYTES_MAX)
  return long.length === 0 ? undefined : Object.fromEntries(long.map((at) => [at, tooLong(TOPIC_BYTES_MAX)]))
}
