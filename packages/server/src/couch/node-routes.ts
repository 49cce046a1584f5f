/**
 * `/_node/{node}`: what administration pages read. Settings are those of the server's start, and HTTP can't change
 * them. So nothing that is written over HTTP becomes a path, a command or an address (CVE-2018-8007). Only admins can
 * be made, changed and removed.
 */
import type { FastifyRequest } from 'fastify'
import { HttpError, notFound } from '../http/http-error.ts'
import { readJson } from '../http/request-body.ts'
import { NODE_NAME } from '../http/server-identity.ts'
import type { JsonObject } from '@pannier/backend/internal'
import { jsonLimits } from './server-context.ts'
import type { Routes, ServerContext } from './server-context.ts'

type Config = Readonly<Record<string, Readonly<Record<string, string>>>>

interface NodeRoute {
  Params: { readonly node: string }
}
interface SectionRoute {
  Params: { readonly node: string; readonly section: string }
}
interface KeyRoute {
  Params: { readonly node: string; readonly section: string; readonly key: string }
}

const ADMIN = { config: { needs: 'server-admin' } } as const
const NODE = '/_node/:node'
const CONFIG = `${NODE}/_config`
/** Shown instead of a password's hash. */
const HIDDEN = '***'

export const nodeRoutes: Routes = (app, context) => {
  app.get<NodeRoute>(NODE, ADMIN, ({ params }) => {
    checkNode(params.node)
    return { name: NODE_NAME }
  })
  app.get<NodeRoute>(`${NODE}/_versions`, ADMIN, ({ params }) => {
    checkNode(params.node)
    return { javascript_engine: { name: 'quickjs', version: '' } }
  })
  app.get<NodeRoute>(`${NODE}/_system`, ADMIN, ({ params }) => {
    checkNode(params.node)
    const { rss, heapUsed } = process.memoryUsage()
    return { uptime: Math.floor(process.uptime()), memory: { processes: heapUsed, other: rss - heapUsed } }
  })
  app.get('/_cluster_setup', ADMIN, () => ({ state: 'single_node_enabled' }))
  configRoutes(app, context)
}

const configRoutes: Routes = (app, context) => {
  app.get<NodeRoute>(CONFIG, ADMIN, async ({ params }) => {
    checkNode(params.node)
    return configOf(context)
  })
  app.get<SectionRoute>(`${CONFIG}/:section`, ADMIN, async ({ params }) => {
    checkNode(params.node)
    const config = await configOf(context)
    return Object.hasOwn(config, params.section) ? config[params.section] : {}
  })
  app.get<KeyRoute>(`${CONFIG}/:section/:key`, ADMIN, async ({ params }, reply) => {
    checkNode(params.node)
    const value = valueOf(await configOf(context), params.section, params.key)
    return reply.header('content-type', 'application/json').send(`${JSON.stringify(value)}\n`)
  })
  app.put<KeyRoute>(`${CONFIG}/:section/:key`, ADMIN, async (request, reply) => {
    const name = changedAdmin(request)
    const password = await readJson(request, jsonLimits(context))
    const { accounts } = context.auth
    const isKnown = (await accounts.adminNames()).includes(name)
    await accounts.setAdmin(name, password as string)
    return reply.header('content-type', 'application/json').send(`${JSON.stringify(isKnown ? HIDDEN : '')}\n`)
  })
  app.delete<KeyRoute>(`${CONFIG}/:section/:key`, ADMIN, async (request, reply) => {
    await context.auth.accounts.removeAdmin(changedAdmin(request))
    return reply.header('content-type', 'application/json').send(`${JSON.stringify(HIDDEN)}\n`)
  })
}

/** The admin whose setting is to be changed. @throws HttpError 403 for any other setting */
function changedAdmin({ params: { node, section, key } }: FastifyRequest<KeyRoute>): string {
  checkNode(node)
  if (section === 'admins') return key
  throw new HttpError(403, 'forbidden', 'Settings are given when the server is started, and can not be changed here.')
}

function valueOf(config: Config, section: string, key: string): string {
  const found = Object.hasOwn(config, section) ? config[section]! : {}
  if (!Object.hasOwn(found, key)) throw notFound('unknown_config_value')
  return found[key]!
}

async function configOf({ auth, limits, uuid }: ServerContext): Promise<Config> {
  const origins = [...auth.allowedOrigins]
  const timeoutSeconds = Math.floor(auth.sessionMsMax / 1000)
  return {
    admins: Object.fromEntries((await auth.accounts.adminNames()).map((name) => [name, HIDDEN])),
    chttpd: {
      enable_cors: String(origins.length > 0),
      max_http_request_size: String(limits.uploadBytesMax),
      require_valid_user: 'false',
    },
    chttpd_auth: { timeout: String(timeoutSeconds) },
    cors: { origins: origins.join(','), credentials: 'true', methods: 'GET, HEAD, POST, PUT, DELETE, COPY' },
    couch_httpd_auth: { timeout: String(timeoutSeconds), require_valid_user: 'false' },
    couchdb: {
      uuid,
      max_attachment_size: String(limits.attachmentBytesMax),
      max_document_size: String(limits.documentBytesMax),
    },
    httpd: { enable_cors: String(origins.length > 0) },
  } satisfies Record<string, JsonObject>
}

function checkNode(node: string): void {
  if (node !== '_local' && node !== NODE_NAME) throw notFound(`no such node: ${node.slice(0, 80)}`)
}
