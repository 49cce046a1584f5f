/** A device with passkeys, in software: it answers as a browser does, or otherwise where a test wants it to. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { JsonObject } from '../../src/internal.ts'

/** What a test makes wrong. */
interface Lie {
  readonly origin?: string
  readonly rpID?: string
  readonly type?: string
  readonly userVerified?: boolean
  readonly userHandle?: string
  readonly counter?: number
}

const ID_BYTES = 16
const FLAGS = { present: 1, verified: 4, attested: 64 }

export class PasskeyDevice {
  readonly #origin: string
  readonly #id: string
  readonly #privateKey: KeyObject
  readonly #publicKey: KeyObject
  /** How often it was used. */
  counter = 0
  #userHandle = ''

  constructor(origin: string) {
    this.#origin = origin
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#privateKey = privateKey
    this.#publicKey = publicKey
    const spki = publicKey.export({ format: 'der', type: 'spki' })
    this.#id = createHash('sha256').update(spki).digest().subarray(0, ID_BYTES).toString('base64url')
  }

  /** The answer to options of a registration. */
  register(options: JsonObject, lie: Lie = {}): JsonObject {
    const { rp, user, challenge } = options as { rp: { id: string }; user: { id: string }; challenge: string }
    this.#userHandle = user.id
    const id = Buffer.from(this.#id, 'base64url')
    const length = Buffer.from([0, id.length])
    const attested = Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey()])
    const data = Buffer.concat([this.#authenticatorData(rp.id, FLAGS.attested, lie), attested])
    const attestation = map([
      [text('fmt'), text('none')],
      [text('attStmt'), map([])],
      [text('authData'), bytes(data)],
    ])
    return this.#answer({
      clientDataJSON: this.#clientData('webauthn.create', challenge, lie).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    })
  }

  /** The answer to options of a login. */
  logIn(options: JsonObject, lie: Lie = {}): JsonObject {
    const { rpId, challenge } = options as { rpId: string; challenge: string }
    this.counter = lie.counter ?? this.counter + 1
    const data = this.#authenticatorData(rpId, 0, lie)
    const clientData = this.#clientData('webauthn.get', challenge, lie)
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()])
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, this.#privateKey).toString('base64url'),
      userHandle: lie.userHandle ?? this.#userHandle,
    })
  }

  #answer(response: JsonObject): JsonObject {
    return { id: this.#id, rawId: this.#id, type: 'public-key', clientExtensionResults: {}, response }
  }

  #clientData(type: string, challenge: string, lie: Lie): Buffer {
    const origin = lie.origin ?? this.#origin
    return Buffer.from(JSON.stringify({ type: lie.type ?? type, challenge, origin, crossOrigin: false }))
  }

  #authenticatorData(rpID: string, flags: number, { rpID: other = rpID, userVerified = true }: Lie): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(this.counter)
    const all = FLAGS.present | (userVerified ? FLAGS.verified : 0) | flags
    return Buffer.concat([createHash('sha256').update(other).digest(), Buffer.from([all]), count])
  }

  #coseKey(): Buffer {
    const { x, y } = this.#publicKey.export({ format: 'jwk' }) as { x: string; y: string }
    return map([
      [integer(1), integer(2)],
      [integer(3), integer(-7)],
      [integer(-1), integer(1)],
      [integer(-2), bytes(Buffer.from(x, 'base64url'))],
      [integer(-3), bytes(Buffer.from(y, 'base64url'))],
    ])
  }
}

/** CBOR: a type in three bits, and a number. */
function head(type: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(type << 5) | value])
  return value < 256 ? Buffer.from([(type << 5) | 24, value]) : Buffer.from([(type << 5) | 25, value >> 8, value & 255])
}

function integer(value: number): Buffer {
  return value < 0 ? head(1, -1 - value) : head(0, value)
}

function bytes(value: Buffer): Buffer {
  return Buffer.concat([head(2, value.length), value])
}

function text(value: string): Buffer {
  return Buffer.concat([head(3, value.length), Buffer.from(value)])
}

function map(entries: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([head(5, entries.length), ...entries.flat()])
}
