/** What this package says to a request, as the adapter of REST reads a request and writes an answer. */
import type { Actor } from '../../../../src/access/actor.ts'
import { ServiceError } from '../../../../src/gateway/service-error.ts'
import type { ListOptions } from '../../../../src/records/record-types.ts'
import { actorOf, type Records, type World } from '../read-world.ts'
import type { Request } from './requests.ts'

const STATUS: Readonly<Record<string, number>> = { INVALID: 400, FORBIDDEN: 403, NOT_FOUND: 404 }
const TEXTS: Readonly<Record<number, string>> = {
  400: 'Something went wrong while processing your request.',
  404: "The requested resource wasn't found.",
}

/** A request as it is asked of the reads. */
interface Asked {
  readonly actor: Actor
  readonly collection: string
  /** Undefined: a list. */
  readonly id: string | undefined
  readonly options: ListOptions
}

export function askedOf(records: Records, { path, as }: Request): Asked {
  const [, collection = '', id, query = ''] = /^(\w+)\/records(?:\/(\w+))?(?:\?(.*))?$/.exec(path)!
  const { page, perPage, skipTotal, ...rest } = Object.fromEntries(new URLSearchParams(query))
  const record = records['users']!.find((user) => user['id'] === as.padEnd(15, 'x'))
  const account = { collection: 'pbc_users', record: record! }
  const options: ListOptions = {
    ...rest,
    ...(page === undefined ? {} : { page: Number(page) }),
    ...(perPage === undefined ? {} : { perPage: Number(perPage) }),
    ...(skipTotal === undefined ? {} : { skipTotal: true }),
  }
  return { actor: actorOf(as === 'guest' || as === 'super' ? as : account, { query: rest }), collection, id, options }
}

export async function answer(
  { reads }: World,
  records: Records,
  request: Request,
): Promise<readonly [status: number, body: string]> {
  const { actor, collection, id, options } = askedOf(records, request)
  try {
    const body =
      id === undefined ? await reads.list(actor, collection, options) : await reads.view(actor, collection, id, options)
    return [200, canonical(body)]
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const status = STATUS[error.code]!
    const message = error.message === '' ? TEXTS[status]! : error.message
    return [status, canonical({ data: {}, message: /[.?!]$/.test(message) ? message : `${message}.`, status })]
  }
}

/** Keys sorted: the answers are compared as text, so that a difference can be read. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}
