/** Gives an HTTPS server its certificate: from files of the operator, or by ACME. It ends with the server. */
import { once } from 'node:events'
import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { badArgument } from 'pannier/internal'
import { AcmeFolder } from './acme-folder.ts'
import { orderCertificate } from './acme-order.ts'
import { checkCertificate } from './certificate.ts'
import type { Certificate } from './certificate.ts'
import { acmeSettings, isFiles } from './https-options.ts'
import type { AcmeSettings, CertificateFiles, HttpsOptions } from './https-options.ts'
import { httpsUrl, plainHttp } from './plain-http.ts'
import { RenewedCertificate } from './renewed-certificate.ts'

export interface Tls {
  /** Once the HTTPS server listens at `host`. Resolves with its URL if that has a public name. */
  listen(host: string): Promise<string | undefined>
}

/** How often files of the operator are looked at. */
const LOOK_MS = 5000

/** A year: browsers ask this name by HTTPS only. */
const ONLY_HTTPS = 'max-age=31536000'

/** Undefined for a server that speaks HTTP. Before routes are added. @throws TypeError */
export async function openTls(
  app: FastifyInstance,
  { https, dir }: { readonly https: HttpsOptions | undefined; readonly dir: string | undefined },
): Promise<Tls | undefined> {
  if (https === undefined) return undefined
  const server = app.server as unknown as Server
  const use = ({ key, chain }: Certificate): void => server.setSecureContext({ key, cert: chain })
  if (isFiles(https)) return await openFiles(app, https, use)
  if (dir === undefined)
    throw badArgument('createServer()', 'http.https.names needs dir, for the account and the certificate', dir)
  return await openAcme(app, acmeSettings(https), dir, use)
}

async function openFiles(
  app: FastifyInstance,
  { cert, key }: CertificateFiles,
  use: (certificate: Certificate) => void,
): Promise<Tls> {
  const load = async (): Promise<void> => {
    const [chain, keyText] = await Promise.all([readFile(cert, 'utf8'), readFile(key, 'utf8')])
    checkCertificate({ key: keyText, chain })
    use({ key: keyText, chain })
  }
  await load().catch((error: unknown) => {
    throw badArgument(
      'createServer()',
      `http.https.cert and http.https.key must be files of a certificate and its key (${(error as Error).message})`,
      `${cert}, ${key}`,
    )
  })
  const loadAgain = (): void => {
    load().catch((error: unknown) =>
      app.log.error({ err: error, cert, key }, 'The changed certificate can not be used. The old one stays.'),
    )
  }
  for (const file of [cert, key]) watchFile(file, { interval: LOOK_MS, persistent: false }, loadAgain)
  app.addHook('onClose', async () => {
    for (const file of [cert, key]) unwatchFile(file, loadAgain)
  })
  return { listen: async () => undefined }
}

async function openAcme(
  app: FastifyInstance,
  settings: AcmeSettings,
  dir: string,
  use: (certificate: Certificate) => void,
): Promise<Tls> {
  const { environment } = app
  const { names, directoryUrl, httpPort } = settings
  const folder = new AcmeFolder(dir, directoryUrl)
  const proofs = new Map<string, string>()
  const closing = new AbortController()
  const order = (): Promise<Certificate> =>
    orderCertificate({ environment, settings, folder, proofs, signal: closing.signal })
  const certificate = await RenewedCertificate.open({ environment, names, folder, log: app.log, order, use })
  const port = (): number => (app.server.address() as AddressInfo).port
  const plain = plainHttp({ names, port, proofs })
  app.addHook('onSend', (_request, reply, payload, done) => {
    reply.header('strict-transport-security', ONLY_HTTPS)
    done(null, payload)
  })
  app.addHook('onClose', async () => {
    closing.abort()
    await certificate.close()
    const ended = new Promise((resolve) => plain.close(resolve))
    plain.closeAllConnections()
    await ended
  })
  return {
    listen: async (host) => {
      plain.listen(httpPort, host)
      await once(plain, 'listening')
      certificate.start()
      return httpsUrl(names[0]!, port())
    },
  }
}
