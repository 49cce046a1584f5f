/** Certificates that nobody vouches for. */
// What the other package needs before it.
import 'reflect-metadata'
import { KeyObject } from 'node:crypto'
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'
import type { Certificate } from '../../src/tls/certificate.ts'

const HOUR_MS = 3_600_000
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** Valid from now on unless times are given. It may stand in a list of authorities. */
export async function selfSigned(
  names: readonly string[],
  { from = Date.now(), until = from + HOUR_MS }: { readonly from?: number; readonly until?: number } = {},
): Promise<Certificate> {
  const keys = (await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as CryptoKeyPair
  const made = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${names[0]}`,
    notBefore: new Date(from),
    notAfter: new Date(until),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value }))),
    ],
  })
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' })
  return { key: String(key), chain: `${made.toString('pem')}\n` }
}
