/** Memory for answers of REST, and how large answers are sent. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AnswerRoom, isLargeJson, jsonPieces, safeJson, type HeldBudget } from '@pannier/backend/internal'
import { isClosed, sendJoined, whenClosed } from '../http/streamed-reply.ts'

/** By answers of all servers of this process, which have one memory. */
const room = new AnswerRoom()
/** The budget of a request, on the request: a weak map costs the collector. */
const BUDGET: unique symbol = Symbol('budget')
type WithBudget = FastifyRequest & { [BUDGET]?: HeldBudget }

/** Gives a request its budget, until its answer was sent. Call it when the principal is known. */
export function openBudget(request: WithBudget, reply: FastifyReply): void {
  const { environment } = request.server
  const budget = room.enter({
    principal: request.principal,
    now: () => environment.now(),
    cut: () => reply.raw.destroy(),
    begin: () => {
      // One more than Node expects.
      reply.raw.setMaxListeners(reply.raw.getMaxListeners() + 1)
      whenClosed(reply, () => room.leave(budget))
    },
  })
  request[BUDGET] = budget
}

export function budgetOf(request: WithBudget): HeldBudget | undefined {
  return request[BUDGET]
}

/** Stands for an answer that is sent in pieces. */
class InPieces {
  readonly body: unknown

  constructor(body: unknown) {
    this.body = body
  }
}

/** Sends small answers as one text, and large ones in pieces. */
export function serializeAnswers(app: FastifyInstance): void {
  app.addHook('preSerialization', (request, reply, payload: unknown, done) => {
    if (isClosed(reply) || !isLargeJson(payload)) done(null, payload)
    else
      sendJoined(reply, () => piecesOf(payload, budgetOf(request))).then((body) => done(null, new InPieces(body)), done)
  })
  app.setReplySerializer((payload: unknown) =>
    payload instanceof InPieces ? (payload.body as string) : `${safeJson(payload)}\n`,
  )
}

async function* piecesOf(payload: unknown, budget: HeldBudget | undefined): AsyncGenerator<string> {
  for (const piece of jsonPieces(payload)) {
    budget?.moved()
    yield piece
  }
  yield '\n'
}
