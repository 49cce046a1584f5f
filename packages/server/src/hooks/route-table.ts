/** Which routes and middlewares of the operator there are now. */
import type { PlacedHandler } from '@pannier/backend/internal'
import { isRestUrl } from '../http/declarations.ts'
import type { CustomRoute, HookSet, RequestHook } from './hook-set.ts'
import type { RequestEventName } from './request-events.ts'

interface FoundRoute {
  readonly route: CustomRoute
  readonly pathValues: Readonly<Record<string, string>>
  /** Whether only the URL with a slash at its end is the route's. */
  readonly needsSlash: boolean
}

export class RouteTable {
  #routes: readonly CustomRoute[] = []
  #middlewares: readonly PlacedHandler[] = []
  #requests: readonly RequestHook[] = []

  /** Whether nothing is around any request. */
  get isOpen(): boolean {
    return this.#middlewares.length === 0 && this.#requests.length === 0
  }

  /** The handlers around a request: middlewares, then handlers of its event. `tags`: of its collection. */
  around(event: RequestEventName | undefined, tags: readonly string[]): readonly PlacedHandler[] {
    return event === undefined ? this.#middlewares : [...this.#middlewares, ...this.#handlersOf(event, tags)]
  }

  /** Whether there are handlers of the event. */
  hasHandler(event: RequestEventName, tags: readonly string[]): boolean {
    return this.#handlersOf(event, tags).length > 0
  }

  replace({ routes, middlewares, requests }: Pick<HookSet, 'routes' | 'middlewares' | 'requests'>): void {
    this.#requests = requests
    const lengthOf = ({ pattern }: CustomRoute): number => pattern.pathname.length
    this.#routes = routes.toSorted((one, other) => one.wildcards - other.wildcards || lengthOf(other) - lengthOf(one))
    this.#middlewares = middlewares
  }

  #handlersOf(event: RequestEventName, among: readonly string[]): readonly RequestHook[] {
    return this.#requests.filter(
      ({ name, tags }) => name === event && (tags.length === 0 || tags.some((tag) => among.includes(tag))),
    )
  }

  /** Whether a URL that looks like another door's is a route of the operator. Browsers ask before they call (`OPTIONS`). */
  claims(method: string, url: string): boolean {
    if (this.#routes.length === 0 || isRestUrl(url)) return false
    const methods = method === 'OPTIONS' ? this.#routes.map((route) => route.method) : [method]
    return methods.some((one) => this.find(one, url) !== undefined)
  }

  find(method: string, url: string): FoundRoute | undefined {
    if (this.#routes.length === 0) return undefined
    const pathname = url.split('?', 1)[0]!
    for (const route of this.#routes) {
      if (route.method !== 'ANY' && route.method !== method && !(route.method === 'GET' && method === 'HEAD')) continue
      const groups = route.pattern.exec({ pathname })?.pathname.groups
      if (groups !== undefined) return { route, pathValues: decoded(groups), needsSlash: false }
    }
    if (pathname.endsWith('/')) return undefined
    const below = this.find(method, `${pathname}/`)
    return below && { ...below, needsSlash: true }
  }
}

function decoded(groups: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, value = '']) => [name, decodedPart(value)]))
}

/** The part decoded; as it came, if it is no valid encoding. */
function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
