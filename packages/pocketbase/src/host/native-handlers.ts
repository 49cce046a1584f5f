/** Handlers of `$apis`: the server has them. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { extname, join, normalize } from 'node:path'
import { missing } from '@pannier/backend/internal'
import { ServiceError, type HookRecord } from '@pannier/backend'
import type { NativeHandler } from '../protocol/messages.ts'
import type { ServerEvent } from './event-methods.ts'

type Handler = (event: object) => unknown
type Maker = (...parameters: never[]) => (event: ServerEvent) => unknown

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.json': 'application/json',
    '.svg': 'image/svg+xml',
    '.png': 'image/png',
    '.jpg': 'image/jpeg',
    '.txt': 'text/plain; charset=utf-8',
  }),
)

const MAKERS: ReadonlyMap<string, Maker> = new Map(
  Object.entries<Maker>({
    pass: () => (e) => e.next(),
    bodyLimit: (bytesMax: number) => (e) => {
      if (Number(e.request?.headers.get('content-length') ?? 0) > bytesMax) throw new ServiceError('TOO_LARGE', '')
      return e.next()
    },
    requireSuperuserOrOwnerAuth:
      (parameter = 'id') =>
      (e) => {
        const { auth } = e as { readonly auth?: HookRecord }
        if (auth === undefined)
          throw new ServiceError('UNAUTHENTICATED', 'The request requires superuser or record authorization token.')
        const isSuperuser = auth.collection().name === '_superusers'
        if (!isSuperuser && auth.id !== e.request?.pathValue(parameter))
          throw new ServiceError('FORBIDDEN', 'You are not allowed to perform this request.')
        return e.next()
      },
    static: (folder: string, indexFallback: boolean) => (e) => {
      const asked = normalize(`/${e.request?.pathValue('path') ?? ''}`)
      const path = [
        join(folder, asked),
        join(folder, asked, 'index.html'),
        ...(indexFallback ? [join(folder, 'index.html')] : []),
      ].find((one) => existsSync(one) && statSync(one).isFile())
      if (path === undefined) throw missing('')
      const type = TYPES.get(extname(path)) ?? 'application/octet-stream'
      ;(e['stream'] as (status: number, type: unknown, stream: unknown) => void).call(
        e,
        200,
        type,
        createReadStream(path),
      )
    },
  }),
)

/** The handler of a name. `apis`: the middlewares of the server itself. */
export function nativeHandler({ native, parameters }: NativeHandler, apis: object): Handler {
  const own = Object.hasOwn(apis, native) ? (apis as Readonly<Record<string, Maker>>)[native] : undefined
  return (own ?? MAKERS.get(native)!)(...(parameters as never[])) as Handler
}
