/** Answers 405, with the allowed methods, to a known URL with a method that it does not have. */
import type { FastifyInstance } from 'fastify'
import { isRestUrl } from './declarations.ts'
import type { Needs } from './declarations.ts'
import { HttpError } from './http-error.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'COPY', 'PATCH']

interface KnownUrl {
  readonly methods: Set<string>
  readonly needs: Needs | undefined
}

/** Call it before routes are added, and the returned function after them. */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const urls = new Map<string, KnownUrl>()
  let isDone = false
  app.addHook('onRoute', ({ method, url, config }) => {
    if (isDone || url === '*' || isRestUrl(url)) return
    const known = urls.get(url) ?? { methods: new Set<string>(), needs: config?.needs }
    urls.set(url, known)
    for (const one of [method].flat()) known.methods.add(one)
  })
  return () => {
    isDone = true
    for (const [url, { methods, needs }] of urls) {
      const allow = [...methods].sort().join(',')
      const method = METHODS.filter((one) => !methods.has(one))
      if (method.length === 0) continue
      app.route({
        method,
        url,
        exposeHeadRoute: false,
        config: { ...(needs !== undefined && { needs }), contentTypes: ['*'] },
        handler: (_request, reply) => {
          reply.header('allow', allow)
          throw new HttpError(405, 'method_not_allowed', `Only ${allow} allowed`)
        },
      })
    }
  }
}
