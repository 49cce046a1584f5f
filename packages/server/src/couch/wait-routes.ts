/**
 * `/_pannier/wait`: one request waits until any of several databases has a change after a given sequence. The answer
 * only names the databases; the client then asks each of them, under its own rules. A client with many databases so
 * needs one connection, where one longpoll each would use up a browser's connections.
 */
import { isObject } from 'pannier/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { badRequest } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJsonObject } from '../http/request-body.ts'
import { sendPieces, whenClosed } from '../http/streamed-reply.ts'
import type { JsonObject } from '@pannier/backend/internal'
import { jsonLimits } from './server-context.ts'
import { feedOptions } from './feed-pieces.ts'
import type { FeedOptions } from './feed-pieces.ts'
import { resolveSince } from './sequence.ts'
import type { Routes, ServerContext } from './server-context.ts'

const DATABASES_MAX = 1000
const IDLE = new Error('nothing has come for a while')

interface WaitedDatabase {
  readonly name: string
  readonly since: string | undefined
}

export const waitRoutes: Routes = (app, context) => {
  // Each database that is named is checked for itself.
  app.post('/_pannier/wait', { config: { needs: 'anyone' } }, async (request, reply) => {
    const places = placesOf(await readJsonObject(request, jsonLimits(context)))
    return sendWait(context, places, request, reply)
  })
}

async function sendWait(
  context: ServerContext,
  places: readonly WaitedDatabase[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { auth, feeds, limits, closing } = context
  const options = feedOptions(new QueryParameters(request), limits)
  const leave = feeds.enter('wait', request)
  const revoked = new AbortController()
  const watched = places.map(({ name }) => auth.whileAllowed(request, 'member', name, () => revoked.abort(name)))
  const done = (): void => {
    leave()
    for (const stop of watched) stop()
  }
  whenClosed(reply, done)
  try {
    return await sendPieces(reply, 'application/json', (gone) =>
      waiting(context, request, places, options, AbortSignal.any([gone, closing]), revoked.signal),
    )
  } catch (error) {
    done()
    throw error
  }
}

async function* waiting(
  context: ServerContext,
  request: FastifyRequest,
  places: readonly WaitedDatabase[],
  { heartbeatMs, waitMsMax }: FeedOptions,
  ending: AbortSignal,
  revoked: AbortSignal,
): AsyncGenerator<string> {
  // Headers go out with the first piece.
  yield '\n'
  const { updates, schedule } = context
  const idleMs = heartbeatMs ?? waitMsMax
  let asked = places
  for (;;) {
    const mark = updates.lastSequence
    const changed = new Set<string>()
    for (const place of asked) if (await hasChanged(context, request, place)) changed.add(place.name)
    if (revoked.aborted) changed.add(revoked.reason as string)
    if (changed.size > 0 || ending.aborted) return yield answer([...changed])
    while (updates.lastSequence === mark && !revoked.aborted && !ending.aborted) {
      const idle = new AbortController()
      const stopWaiting = schedule.after(idleMs, () => idle.abort(IDLE))
      await updates.next(AbortSignal.any([idle.signal, revoked, ending]))
      stopWaiting()
      if (!idle.signal.aborted) continue
      if (heartbeatMs === undefined) return yield answer([])
      yield '\n'
    }
    asked = places.filter(({ name }) => updates.sequenceOf(name) > mark)
  }
}

/** True for a database that the user may not read or that is missing: the request for its changes gets the error. */
async function hasChanged(
  { gateway }: ServerContext,
  request: FastifyRequest,
  { name, since }: WaitedDatabase,
): Promise<boolean> {
  try {
    const collection = await gateway.collection(request.principal, name)
    const place = await resolveSince(collection, since)
    return place.isOtherLife || place.since < (await collection.info()).lastSeq
  } catch {
    return true
  }
}

function answer(changed: readonly string[]): string {
  return `${JSON.stringify({ changed })}\n`
}

function placesOf({ databases }: JsonObject): WaitedDatabase[] {
  if (!Array.isArray(databases) || databases.length === 0 || databases.length > DATABASES_MAX)
    throw badRequest(`\`databases\` must be an array of 1 to ${DATABASES_MAX} objects.`)
  return databases.map((one: unknown) => {
    const { name, since } = isObject(one) ? one : ({} as JsonObject)
    if (typeof name !== 'string' || (since !== undefined && typeof since !== 'string'))
      throw badRequest('Each of `databases` must be { "name", "since" }, both strings.')
    return { name, since }
  })
}
