/** Pages for visitors of this machine alone: on the loopback interface, to requests that name it as their host. */

export const LOOPBACK: string = '127.0.0.1'
const PORTS_TRIED_MAX = 50

/** A page elsewhere can't reach it by tricks with names then. */
export function namesLoopback(host: string | undefined): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host ?? '')
}

/** The result of `listen` on the first free port from `port` on; 0: any. */
export async function onFreePort<T>(port: number, listen: (port: number) => Promise<T>): Promise<T> {
  for (let candidate = port; ; candidate++) {
    try {
      return await listen(candidate)
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (!taken || candidate + 1 >= port + PORTS_TRIED_MAX || candidate >= 65_535) throw error
    }
  }
}

/**
 * Headers of every answer: only the page's own scripts run, and it is isolated from other origins, so that it gets a precise clock.
 * `more`: sources that directives allow besides the page itself.
 */
export function pageHeaders(more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const own = { 'script-src': '', 'style-src': '', 'img-src': '', 'connect-src': '', ...more }
  const policy = [
    "default-src 'none'",
    ...Object.entries(own).map(([directive, sources]) => `${directive} 'self' ${sources}`.trimEnd()),
    "base-uri 'none'",
    "form-action 'none'",
  ]
  if (!('frame-ancestors' in more)) policy.push("frame-ancestors 'none'")
  return {
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  }
}
