/**
 * A PocketBase project, and requests to it. Each case has handlers and requests of its own, and the answers of PocketBase are in
 * `golden/answers.json`. All cases are one project: a server loads them once.
 */
import { ask, type Reply } from '../../../tools/test/pocketbase.ts'

export interface Case {
  readonly name: string
  /** The text of its file `NAME.pb.js`. */
  readonly hooks: string
  /** Requests in order. `guest`: without a token. */
  readonly requests: readonly Request[]
}

type Request = readonly [method: string, path: string, body?: unknown, as?: 'guest']

const OPEN = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }

/** A collection that each case may have for itself: `posts_NAME`. */
export function collectionOf(name: string): object {
  return {
    name: `posts_${name}`,
    type: 'base',
    ...OPEN,
    fields: [
      { name: 'title', type: 'text' },
      { name: 'count', type: 'number' },
      { name: 'isDone', type: 'bool' },
      { name: 'tags', type: 'select', maxSelect: 3, values: ['a', 'b', 'c'] },
      { name: 'due', type: 'date' },
      { name: 'data', type: 'json' },
      { name: 'file', type: 'file', maxSelect: 1 },
      { name: 'created', type: 'autodate', onCreate: true },
    ],
  }
}

/** The same for both: a superuser's token. */
export interface Asked {
  readonly url: string
  readonly token: string
}

/** Makes the collections, and plays the cases. The answers are comparable: ids, dates and tokens have names. */
export async function play({ url, token }: Asked, cases: readonly Case[]): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  for (const { name, requests } of cases) {
    const got: unknown[] = []
    for (const [method, path, body, as] of requests) {
      const reply = await ask(url, method, path, body, as === 'guest' ? '' : token).catch((error: unknown) => ({
        status: 0,
        body: String(error),
      }))
      got.push(comparable(reply))
    }
    answers[name] = got
  }
  return answers
}

export async function prepare({ url, token }: Asked, cases: readonly Case[]): Promise<void> {
  const used = cases.filter(({ name, hooks, requests }) =>
    `${hooks}${JSON.stringify(requests)}`.includes(`posts_${name}`),
  )
  for (const { name } of used) {
    const { status, body } = await ask(url, 'POST', '/api/collections', collectionOf(name), token)
    if (status !== 200) throw new Error(`${name}: ${JSON.stringify(body)}`)
  }
}

function comparable({ status, body }: Reply): unknown {
  const text = JSON.stringify(body ?? null)
    .replace(/"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z"/g, '"<date>"')
    .replace(/"(id|collectionId)":"[a-z0-9_]{15,}"/g, '"$1":"<id>"')
    .replace(/"_clone_\w+"/g, '"<clone>"')
    .replace(/"eyJ[\w.-]+"/g, '"<token>"')
    .replace(/_[a-z0-9]{10}(\.\w+)"/gi, '_<random>$1"')
  return { status, body: JSON.parse(text) as unknown }
}

/** All that migrations have made: collections, settings and records. */
export async function stateOf({ url, token }: Asked): Promise<unknown> {
  const get = async (path: string): Promise<Record<string, unknown>> => {
    const { body } = comparable(await ask(url, 'GET', path, undefined, token)) as { readonly body: object }
    return body as Record<string, unknown>
  }
  const { items } = (await get('/api/collections?perPage=200&sort=name')) as {
    readonly items: readonly { name: string; type: string }[]
  }
  const made = items.filter(({ name }) => !name.startsWith('_'))
  const records: Record<string, unknown> = {}
  for (const { name, type } of made) {
    const sort = type === 'view' ? 'title' : '@rowid'
    records[name] = (await get(`/api/collections/${name}/records?sort=${sort}`))['items']
  }
  const { meta, logs } = await get('/api/settings')
  return { collections: made, records, meta, logs }
}
