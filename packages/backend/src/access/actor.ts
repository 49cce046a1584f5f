/** The actor: somebody in a request, as rules can read it. */
import type { Principal } from '../gateway/principal.ts'

/** What a rule can read of a request. */
export interface RequestInfo {
  /** `default`, `oauth2`, `otp`, `password`, `realtime`, `protectedFile`, `batch` or `expand`. */
  readonly context: string
  /** `GET`, `POST` and so on. */
  readonly method: string
  readonly query: Readonly<Record<string, string>>
  /** Names in lower case, with `_` for `-`. */
  readonly headers: Readonly<Record<string, string>>
}

/** Somebody in a request. Every service of the backend takes one. */
export interface Actor {
  readonly principal: Principal
  readonly request: RequestInfo
}
