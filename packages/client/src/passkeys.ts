/** Passkeys: browsers only, so an app that has none does not load it. docs/internals/passkeys.md is the contract. */
import type { Session } from './account.ts'
import { ClientError } from './client-error.ts'
import { routeOf, type Server, type Waiting } from './server.ts'
import type { Values } from './writes.ts'

/** A passkey of an account. */
export interface Passkey {
  /** Names it at the server. */
  readonly id: string
  /** The name that the account gave the passkey. */
  readonly name: string
  /** Other devices of the person may have it too. */
  readonly synced: boolean
  /** When it was created. */
  readonly created: string
  /** When it was used last; '': never. */
  readonly used: string
}

/** Gets the values for `auth-with-passkey`. */
export async function passkeyFor(server: Server, collection: string, signal: AbortSignal | undefined): Promise<Values> {
  assertBrowser('passkey')
  const path = routeOf('POST', collection, 'request-passkey')
  const asked = await server.send<PublicKeyCredentialRequestOptionsJSON>(path, {}, { signal })
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked)
  return await answerOf(navigator.credentials.get({ publicKey, ...(signal && { signal }) }))
}

/** Makes a passkey of the account that has just signed in. */
export async function addPasskey(server: Server, by: Session, name: string, { signal }: Waiting): Promise<Passkey> {
  const { token, record } = by
  assertBrowser('addPasskey')
  const path = routeOf('POST', record.collectionName, `records/${record.id}/passkeys`)
  const asked = await server.send<PublicKeyCredentialCreationOptionsJSON>(`${path}/options`, {}, { token, signal })
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(asked)
  const answer = await answerOf(navigator.credentials.create({ publicKey, ...(signal && { signal }) }))
  return await server.send<Passkey>(path, { name, ...answer }, { token, signal })
}

/** The device's answer to a question of the server. @throws ClientError PANNIER_SIGN_IN_FAILED */
async function answerOf(asked: Promise<Credential | null>): Promise<Values> {
  const credential = await asked.catch((cause: unknown) => {
    throw new ClientError('PANNIER_SIGN_IN_FAILED', 'The device gave no passkey.', { cause })
  })
  return { response: (credential as PublicKeyCredential).toJSON() as unknown }
}

function assertBrowser(method: string): void {
  if (globalThis.PublicKeyCredential === undefined)
    throw new ClientError('PANNIER_SIGN_IN_FAILED', `${method}(): this is no browser with passkeys.`)
}
