/** How a server comes to its certificate. */
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { badArgument, checkOptions } from 'pannier/internal'
import type { OptionNames } from 'pannier/internal'

/** A certificate that the operator renews. */
export interface CertificateFiles {
  /** The file of the certificate and its chain, in PEM. */
  readonly cert: string
  /** The file of its private key, in PEM. */
  readonly key: string
}

/** A certificate that the server gets and renews by ACME, as from Let's Encrypt. You accept the terms of that service. */
export interface AcmeOptions {
  /** The public names of this server: `example.org`. The first one is in the server's URL. */
  readonly names: readonly string[]
  /** Where the service may write to about this account. */
  readonly email?: string
  /** The directory of the ACME service; Let's Encrypt when left out. */
  readonly directoryUrl?: string
  /** Where the service asks, and where http is redirected to https; 80 when left out. The service always asks at port 80. */
  readonly httpPort?: number
}

/** How a server comes to its certificate: from files, or by ACME. */
export type HttpsOptions = CertificateFiles | AcmeOptions

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory'
const HTTP_PORT = 80

const FILES: OptionNames<CertificateFiles> = { cert: true, key: true }
const ACME: OptionNames<AcmeOptions> = { names: true, email: true, directoryUrl: true, httpPort: true }
/** An address or its comment would be more than one address. */
const EMAIL = /^[^\s@,?]+@[^\s@,?]+$/

/** The settings (ACME) with what was left out. */
export type AcmeSettings = AcmeOptions & Required<Omit<AcmeOptions, 'email'>>

/** @throws TypeError */
export function acmeSettings(options: AcmeOptions): AcmeSettings {
  checkOptions('createServer(): http.https', options, ACME)
  const { names, email, directoryUrl = LETS_ENCRYPT, httpPort = HTTP_PORT } = options
  if (!Array.isArray(names) || names.length === 0)
    throw badArgument('createServer()', 'http.https.names must be names of the server', names)
  for (const name of names)
    if (!isPublicName(name))
      throw badArgument('createServer()', "http.https.names must be names without a port, like 'example.org'", name)
  if (email !== undefined && !EMAIL.test(email))
    throw badArgument('createServer()', 'http.https.email must be an address', email)
  if (URL.parse(directoryUrl)?.protocol !== 'https:')
    throw badArgument('createServer()', 'http.https.directoryUrl must be an https: URL', directoryUrl)
  return { ...options, names: names.map((name) => name.toLowerCase()), directoryUrl, httpPort }
}

/** @throws TypeError */
export function checkHttps(options: HttpsOptions): void {
  if (isFiles(options)) checkOptions('createServer(): http.https', options, FILES)
  else acmeSettings(options)
}

export function isFiles(options: HttpsOptions): options is CertificateFiles {
  return 'cert' in options || 'key' in options
}

/** Whether a name is public. Wildcards can't be proved by HTTP. */
function isPublicName(name: string): boolean {
  return (
    isIP(name) === 0 &&
    /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/i.test(name) &&
    domainToASCII(name) !== ''
  )
}
