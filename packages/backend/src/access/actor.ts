/** The actor: somebody in a request, as rules can read it. */
import type { AnswerBudget } from '../gateway/answer-room.ts'
import type { Principal } from '../gateway/principal.ts'

/** The part of a request that rules can read. */
export interface RequestInfo {
  /** `default`, `oauth2`, `otp`, `password`, `realtime`, `protectedFile`, `batch` or `expand`. */
  readonly context: string
  /** The method of the request: `GET`, `POST` and so on. */
  readonly method: string
  /** The parameters of the URL, by name. */
  readonly query: Readonly<Record<string, string>>
  /** Headers by their names in lower case, with `_` for `-`. */
  readonly headers: Readonly<Record<string, string>>
  /** The body of a write, for the rules about its answer. */
  readonly body?: Readonly<Record<string, unknown>>
}

/** Somebody in a request. Every service of the backend takes one. */
export interface Actor {
  /** The principal that acts. */
  readonly principal: Principal
  /** The request, as rules read it. */
  readonly request: RequestInfo
  /** The budget of the answer. Without one it counts for no client. */
  readonly budget?: AnswerBudget | undefined
}
