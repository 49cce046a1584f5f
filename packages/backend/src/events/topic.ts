/** Topics as clients name them: `posts/*`, `posts/ID`, or any other text, each with options of its own. */
import { toText } from '../fields/cast.ts'
import { snakeCase } from '../fields/new-file.ts'
import { isJsonObject, type JsonObject } from '../gateway/documents.ts'

/** What a client subscribes to. */
export interface Topic {
  /** As the client has sent it: messages have it. */
  readonly text: string
  /** Without the options. */
  readonly name: string
  /** What the request for a record would have in its URL: `filter`, `expand`, `fields`, and what rules read. */
  readonly query: Readonly<Record<string, string>>
  /** Names in lower case, with `_` for `-`. */
  readonly headers: Readonly<Record<string, string>>
}

/** Options stand in the topic: `posts/*?options={"query":{"filter":"votes > 1"}}`, encoded for a URL. */
export function topicOf(text: string): Topic {
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
    return isJsonObject(read) ? read : {}
  } catch {
    return {}
  }
}

function textsOf(values: unknown): Record<string, string> {
  const entries = isJsonObject(values) ? Object.entries(values) : []
  return Object.fromEntries(entries.map(([name, value]) => [name, toText(value)]))
}
