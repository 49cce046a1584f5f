/** A certificate with its private key, as text in PEM. */
import { createPrivateKey, X509Certificate } from 'node:crypto'

export interface Certificate {
  readonly key: string
  /** The chain of the certificate, then those that it follows from. */
  readonly chain: string
}

/** The part of the lifetime after which a certificate is renewed. Let's Encrypt recommends the same. */
const RENEWED_AFTER = 2 / 3

/** @throws Error if the texts are none, or if the key is that of another certificate */
export function checkCertificate({ key, chain }: Certificate): void {
  if (!new X509Certificate(chain).checkPrivateKey(createPrivateKey(key)))
    throw new Error('the private key is not that of the certificate')
}

/** When it has to be renewed, in milliseconds since 1970; 0 if it lacks one of the names. */
export function renewalTime({ chain }: Certificate, names: readonly string[]): number {
  const certificate = new X509Certificate(chain)
  if (names.some((name) => certificate.checkHost(name) === undefined)) return 0
  const from = certificate.validFromDate.getTime()
  return from + (certificate.validToDate.getTime() - from) * RENEWED_AFTER
}
