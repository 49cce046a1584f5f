/** Backups, for superusers: `/api/backups`. A download is asked for by a file token, as a page can't send a header with it. */
import { ServiceError } from '@pannier/backend'
import type { UploadedFile } from '@pannier/backend'
import { contentDisposition } from '../http/content-disposition.ts'
import { sendContent } from '../http/send-content.ts'
import { checkSuperuser, queryText } from './actor.ts'
import { readValues, withForm } from './form.ts'
import type { RestRoutes } from './rest-context.ts'
import { shown } from './shown.ts'

interface BackupRoute {
  Params: { readonly key: string }
}

const UNREADABLE = 'An error occurred while loading the submitted data.'

export const backupRoutes: RestRoutes = (app, context) => {
  const { backups } = context.backend
  app.get('/api/backups', async (request) => {
    checkSuperuser(request)
    return shown(request, await backups.list(request.principal))
  })
  app.post('/api/backups', async (request, reply) => {
    checkSuperuser(request)
    const { name = '' } = await readValues(context, request, UNREADABLE)
    if (typeof name !== 'string') throw new ServiceError('INVALID', UNREADABLE)
    await backups.create(request.principal, name)
    return reply.code(204).send()
  })
  app.post('/api/backups/upload', async (request, reply) => {
    checkSuperuser(request)
    const isForm = (request.headers['content-type'] ?? '').startsWith('multipart/form-data')
    const upload = (files: ReadonlyMap<string, readonly UploadedFile[]>): Promise<void> =>
      backups.upload(request.principal, files.get('file')?.[0])
    if (isForm) await withForm(context, request, { message: '', bytesMax: Infinity }, ({ files }) => upload(files))
    else await upload(new Map())
    return reply.code(204).send()
  })
  app.get<BackupRoute>('/api/backups/:key', async (request, reply) => {
    const { key } = request.params
    const download = await backups.download(queryText(request, 'token'), request.principal.address, key)
    reply.header('content-disposition', contentDisposition(key))
    return sendContent(request, reply, download, { type: download.type, cacheControl: 'no-store' })
  })
  app.delete<BackupRoute>('/api/backups/:key', async (request, reply) => {
    checkSuperuser(request)
    await backups.delete(request.principal, request.params.key)
    return reply.code(204).send()
  })
  app.post<BackupRoute>('/api/backups/:key/restore', async (request, reply) => {
    checkSuperuser(request)
    await backups.restore(request.principal, request.params.key)
    return reply.code(204).send()
  })
}
