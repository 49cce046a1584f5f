/**
 * Key slots: each holds the master key, wrapped by a key that one password, recovery key or device key gives.
 *
 * Guarantees: a slot whose costs lie below the minimum or above the maximum is never used, so that nobody can weaken what is
 * stored, or make opening take for ever, by changing a number.
 */
import { checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import { PannierError } from '../../base/errors.ts'
import { associatedData, KIND_SLOT, tampered } from './envelope.ts'
import { isDamaged, type Derivation, type KeySlot, type SlotKind, type SlotSecret } from './keyring.ts'
import { KEY_BYTES, NONCE_BYTES, SALT_BYTES, type Aead, type CryptoPlatform } from './platform.ts'
import { toHex } from '../../codec/bytes.ts'
import { checksum } from '../../codec/checksum.ts'

/** The password or key of an encrypted database. */
export type Credential =
  | {
      /** Any text; the same text in another Unicode form is the same password. */
      readonly password: string
      /**
       * How a key is made from a new password: Argon2id where the platform has it (Node), else PBKDF2. Use 'pbkdf2' in
       * Node for sealed snapshots that browsers will open.
       */
      readonly derivation?: 'argon2id' | 'pbkdf2'
    }
  | {
      /** The key: AES-GCM with 256 bits, for 'encrypt' and 'decrypt'; it need not be extractable. */
      readonly key: CryptoKey
    }
  | {
      /** As `makeRecoveryKey` gave it. */
      readonly recoveryKey: string
    }

/** The derivation of new passwords (Argon2id). RFC 9106's second choice, and OWASP's. */
const ARGON2ID: Derivation = { name: 'argon2id', passes: 3, memoryKib: 65_536, lanes: 4 }
const PBKDF2: Derivation = { name: 'pbkdf2', iterations: 600_000 }

const PASSWORD_CHARS_MAX = 1024
const CREDENTIAL: OptionNames<Credential> = { password: true, derivation: true, key: true, recoveryKey: true }

/** Throws a TypeError. */
export function checkCredential(credential: Credential, call: string): void {
  checkOptions(call, credential, CREDENTIAL)
  const given = ['password', 'key', 'recoveryKey'].filter((name) => Reflect.has(credential, name))
  if (given.length !== 1) throw badArgument(call, 'one of password, key and recoveryKey must be given', given.join())
  if ('password' in credential) checkPassword(credential.password, call)
  else if ('recoveryKey' in credential) {
    if (typeof credential.recoveryKey !== 'string')
      throw badArgument(call, 'recoveryKey must be a string', credential.recoveryKey)
  } else checkDeviceKey(credential.key, call)
}

/** The message has the length of a password, never the password. */
export function checkPassword(password: unknown, call: string): asserts password is string {
  if (typeof password === 'string' && password !== '' && password.length <= PASSWORD_CHARS_MAX) return
  const got = typeof password === 'string' ? password.length : typeof password
  throw badArgument(call, `a password must be a string of 1 to ${PASSWORD_CHARS_MAX} characters`, got)
}

function checkDeviceKey(key: CryptoKey, call: string): void {
  const { algorithm, usages } = key ?? {}
  const { name, length } = (algorithm ?? {}) as AesKeyAlgorithm
  if (name !== 'AES-GCM' || length !== 256 || !usages.includes('encrypt') || !usages.includes('decrypt'))
    throw badArgument(call, 'key must be a CryptoKey for AES-GCM with 256 bits that encrypts and decrypts', key)
}

/** A slot in which the master key is wrapped again. Its id and label stay when it replaces another one. */
export async function makeSlot(
  platform: CryptoPlatform,
  database: Uint8Array,
  masterKey: Uint8Array,
  credential: Credential,
  { id, label }: { readonly id?: string; readonly label: string },
): Promise<KeySlot> {
  const described = {
    id: id ?? toHex(platform.random(8)),
    kind: kindOf(credential),
    label,
  }
  const stretching = { derivation: derivationFor(platform, credential), salt: platform.random(SALT_BYTES) }
  const aead = await keyOf(platform, credential, stretching)
  const nonce = platform.random(NONCE_BYTES)
  const sealed = await aead.seal(nonce, associatedOf(database, described), masterKey)
  const secret = { ...stretching, nonce, sealedKey: sealed.slice(0, KEY_BYTES) }
  return { ...described, secret, tag: sealed.slice(KEY_BYTES) }
}

/**
 * The slot that the credential opens, and the master key in it; undefined without such a slot.
 *
 * @throws PANNIER_CORRUPT if no slot fits, but one of its kind is damaged
 */
export async function openSlots(
  platform: CryptoPlatform,
  database: Uint8Array,
  slots: readonly KeySlot[],
  credential: Credential,
): Promise<{ readonly slot: KeySlot; readonly masterKey: Uint8Array } | undefined> {
  for (const slot of slots) {
    if (slot.secret instanceof Uint8Array || slot.kind !== kindOf(credential)) continue
    const { nonce, sealedKey } = slot.secret
    const aead = await keyOf(platform, credential, slot.secret)
    const sealed = new Uint8Array([...sealedKey, ...slot.tag])
    const masterKey = await aead.open(nonce, associatedOf(database, slot), sealed)
    if (masterKey !== undefined) return { slot, masterKey }
  }
  if (slots.some((slot) => isDamaged(slot) && slot.kind === kindOf(credential)))
    throw tampered('what this password or key opens in its keyring does not match its checksum')
  return undefined
}

export function wrongKey(): PannierError {
  return new PannierError('PANNIER_KEY_WRONG', 'This password or key does not open the database. Nothing was changed.')
}

type Stretching = Pick<SlotSecret, 'derivation' | 'salt'>

function kindOf(credential: Credential): SlotKind {
  return 'password' in credential ? 'password' : 'key' in credential ? 'device' : 'recovery'
}

/** Costs and salt need no mention: another one gives another key. */
function associatedOf(database: Uint8Array, { id, kind }: Pick<KeySlot, 'id' | 'kind'>): Uint8Array {
  const more = new TextEncoder().encode(`${kind} ${id}`)
  return associatedData(database, 0, { kind: KIND_SLOT, number: 0, more })
}

function derivationFor(platform: CryptoPlatform, credential: Credential): Derivation | undefined {
  if (!('password' in credential)) return undefined
  if (credential.derivation === undefined) return platform.argon2id === undefined ? PBKDF2 : ARGON2ID
  return credential.derivation === 'argon2id' ? ARGON2ID : PBKDF2
}

async function keyOf(platform: CryptoPlatform, credential: Credential, stretching: Stretching): Promise<Aead> {
  if ('key' in credential) return platform.deviceAead(credential.key)
  if ('recoveryKey' in credential)
    return platform.aead(
      await platform.hkdf(parseRecoveryKey(credential.recoveryKey), stretching.salt, 'pannier recovery key'),
    )
  return platform.aead(await stretch(platform, credential.password, stretching))
}

function stretch(platform: CryptoPlatform, password: string, { derivation, salt }: Stretching): Promise<Uint8Array> {
  if (derivation === undefined || !isAcceptable(derivation)) throw tampered('the costs of a password are out of bounds')
  const bytes = new TextEncoder().encode(password.normalize('NFKC'))
  if (derivation.name === 'pbkdf2') return platform.pbkdf2(bytes, salt, derivation.iterations)
  if (platform.argon2id === undefined) {
    const message = 'The key of this password is made by Argon2id, which this platform does not have.'
    throw new PannierError('PANNIER_UNAVAILABLE', message)
  }
  return platform.argon2id(bytes, salt, derivation)
}

/** Whether a derivation is acceptable. Minimums are OWASP's. Maximums bound what a changed number can make opening cost: some ten seconds, 1 GiB. */
function isAcceptable(derivation: Derivation): boolean {
  if (derivation.name === 'pbkdf2') return derivation.iterations >= 600_000 && derivation.iterations <= 10_000_000
  const { passes, memoryKib, lanes } = derivation
  const isStrong = (memoryKib >= 19_456 && passes >= 2) || (memoryKib >= 47_104 && passes >= 1)
  return isStrong && memoryKib <= 1_048_576 && passes <= 16 && lanes >= 1 && lanes <= 16
}

// Recovery keys as people write them down: 32 random bytes and a checksum of 20 bits, in 14 groups of four letters and digits
// of Crockford's base 32 (no I, L, O, U).

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const GROUP_CHARS = 4
const KEY_CHARS = 52
const CHECK_CHARS = 4

export function formatRecoveryKey(key: Uint8Array): string {
  const text = encodeBase32(key) + checkChars(key)
  return Array.from({ length: text.length / GROUP_CHARS }, (_, at) =>
    text.slice(at * GROUP_CHARS, (at + 1) * GROUP_CHARS),
  ).join('-')
}

/** Forgives case, missing or other separators, and O, I, L for digits. Throws PANNIER_KEY_WRONG for what can't be one. */
function parseRecoveryKey(text: string): Uint8Array {
  const plain = text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')
  const key = plain.length === KEY_CHARS + CHECK_CHARS ? decodeBase32(plain.slice(0, KEY_CHARS)) : undefined
  if (key === undefined || checkChars(key) !== plain.slice(KEY_CHARS)) {
    throw new PannierError('PANNIER_KEY_WRONG', 'The recovery key is misspelt or incomplete.')
  }
  return key
}

function encodeBase32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += ALPHABET[(value >>> (bits - 5)) & 31]!
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31]! : text
}

function decodeBase32(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(KEY_BYTES)
  let at = 0
  let bits = 0
  let value = 0
  for (const char of text) {
    const digit = ALPHABET.indexOf(char)
    if (digit < 0) return undefined
    value = (value << 5) | digit
    bits += 5
    if (bits < 8) continue
    bits -= 8
    if (at < KEY_BYTES) bytes[at++] = value >>> bits
    value &= (1 << bits) - 1
  }
  return value === 0 ? bytes : undefined
}

function checkChars(key: Uint8Array): string {
  const check = checksum(key)
  return Array.from({ length: CHECK_CHARS }, (_, at) => ALPHABET[(check >>> (5 * at)) & 31]!).join('')
}
