/** Orders a certificate by ACME (RFC 8555), and proves the names by HTTP-01. */
import type { Authorization, Client, Order } from 'acme-client'
import { pause } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { AcmeFolder } from './acme-folder.ts'
import type { Certificate } from './certificate.ts'
import type { AcmeSettings } from './https-options.ts'

interface AcmeHost {
  readonly environment: Environment
  readonly settings: AcmeSettings
  readonly folder: AcmeFolder
  /** Proofs by token, which the server answers with at port 80 of each name. */
  readonly proofs: Map<string, string>
  /** Ends an order between two requests. */
  readonly signal: AbortSignal
}

const REQUEST_MS_MAX = 30_000
const POLL_MS_MIN = 500
const POLL_MS_MAX = 5000
/** The most polls: three minutes, about. */
const POLLS_MAX = 40

/** @throws Error with the service's reason */
export async function orderCertificate(host: AcmeHost): Promise<Certificate> {
  const { settings, folder, proofs, signal } = host
  // Loaded here: servers that need no certificate start without it.
  const acme = await import('acme-client')
  acme.axios.defaults.timeout = REQUEST_MS_MAX
  // The renewal retries, with longer pauses.
  Object.assign(acme.axios.defaults, { acmeSettings: { retryMaxAttempts: 0 } })
  const { names, email, directoryUrl } = settings
  const accountKey = await folder.accountKey(async () => String(await acme.crypto.createPrivateEcdsaKey()))
  const client = new acme.Client({ directoryUrl, accountKey })
  await client.createAccount({ termsOfServiceAgreed: true, ...(email && { contact: [`mailto:${email}`] }) })
  signal.throwIfAborted()
  const order = await client.createOrder({ identifiers: names.map((value) => ({ type: 'dns', value })) })
  const tokens: string[] = []
  try {
    for (const one of await client.getAuthorizations(order)) {
      if (one.status === 'valid') continue
      signal.throwIfAborted()
      tokens.push(await prove(client, one, proofs))
    }
    await reaches(host, client, order, ['ready', 'valid'])
  } finally {
    for (const token of tokens) proofs.delete(token)
  }
  const [key, request] = await acme.crypto.createCsr(
    { altNames: [...names] },
    await acme.crypto.createPrivateEcdsaKey(),
  )
  signal.throwIfAborted()
  await client.finalizeOrder(order, request)
  const chain = await client.getCertificate(await reaches(host, client, order, ['valid']))
  return { key: String(key), chain }
}

/** The token of the challenge that the service checks now. */
async function prove(
  client: Client,
  { identifier, challenges }: Authorization,
  proofs: Map<string, string>,
): Promise<string> {
  const challenge = challenges.find(({ type }) => type === 'http-01')
  if (challenge === undefined) throw new Error(`The service does not prove ${identifier.value} by HTTP (http-01).`)
  proofs.set(challenge.token, await client.getChallengeKeyAuthorization(challenge))
  await client.completeChallenge(challenge)
  return challenge.token
}

/** @throws Error if the service refuses the order, or does not decide */
async function reaches(
  { environment, signal }: AcmeHost,
  client: Client,
  order: Order,
  statuses: readonly string[],
): Promise<Order> {
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const current = await client.getOrder(order)
    if (statuses.includes(current.status)) return current
    if (current.status === 'invalid') throw new Error(await reasonOf(client, current))
    await pause(environment, Math.min(POLL_MS_MIN * 2 ** polls, POLL_MS_MAX), signal)
    signal.throwIfAborted()
  }
  throw new Error('The service has not decided about the order.')
}

async function reasonOf(client: Client, order: Order): Promise<string> {
  const authorizations = await client.getAuthorizations(order)
  const reasons = authorizations.flatMap(({ identifier, challenges }) =>
    challenges.flatMap(({ error }) => (error === undefined ? [] : [`${identifier.value}: ${detailOf(error)}`])),
  )
  return `The service refuses the order. ${[...reasons, ...(order.error ? [detailOf(order.error)] : [])].join(' ')}`
}

function detailOf(problem: object): string {
  const { detail } = problem as { readonly detail?: unknown }
  return typeof detail === 'string' ? detail : JSON.stringify(problem)
}
