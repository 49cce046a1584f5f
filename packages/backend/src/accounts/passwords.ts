/**
 * Password hashes as PHC strings: argon2id, or scrypt where `crypto` has no argon2 (before Node 24.7). Parameters
 * follow OWASP ASVS 5, appendix C: argon2id 46 MiB, 1 pass; scrypt N = 2^17, r = 8. Refuses weaker records, and records
 * that would cost the server much more. Imported accounts have hashes of bcrypt until their next login.
 */
import crypto from 'node:crypto'
import { promisify } from 'node:util'
import type { Chance } from '../gateway/chance.ts'
import { invalid, ServiceError } from '../gateway/service-error.ts'
import { WorkQueue, type WorkQueueLimits } from '../gateway/work-queue.ts'

/** Bytes of UTF-8; long pass phrases are welcome. */
const PASSWORD_BYTES_MAX = 4096
/** The shortest new password of a user, in characters. */
const PASSWORD_CHARS_MIN = 8

const SALT_BYTES = 16
const HASH_BYTES = 32
const ARGON2_MEMORY_KIB = 47_104
const ARGON2_PASSES = 1
const ARGON2_MEMORY_KIB_MAX = 262_144
const ARGON2_PASSES_MAX = 10
/** Minimum of m * t: less memory needs more passes (OWASP's smallest is 19 MiB with 2). */
const ARGON2_WORK_MIN = 38_912
const SCRYPT_LOG2_COST = 17
const SCRYPT_LOG2_COST_MAX = 20

const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/
/** log2 of the rounds. PocketBase's default is 10; 15 takes seconds. */
const BCRYPT_LOG2_COST_MIN = 4
const BCRYPT_LOG2_COST_MAX = 15
/** bcrypt ignores what follows. */
const BCRYPT_BYTES_MAX = 72

type Algorithm = 'argon2id' | 'scrypt'

interface Parameters {
  readonly algorithm: Algorithm
  /** argon2id: KiB and passes; scrypt: log2 of the cost and the block size. */
  readonly memory: number
  readonly passes: number
  readonly salt: Buffer
  readonly hash: Buffer
}

/** `crypto.argon2` where there is one. */
const argon2 = (crypto as Partial<typeof crypto>).argon2
const scrypt = promisify<crypto.BinaryLike, crypto.BinaryLike, number, crypto.ScryptOptions, Buffer>(crypto.scrypt)

/** The limits of a `HashQueue`. */
export type HashQueueLimits = WorkQueueLimits

/** The limits unless others are given: 2 at the same time, 64 waiting. */
const HASH_QUEUE_LIMITS: HashQueueLimits = { concurrencyMax: 2, waitingMax: 64 }

/**
 * Runs few password hashes at a time: each takes tens of megabytes and milliseconds. Beyond its limits `run` throws a ServiceError
 * TOO_MANY_REQUESTS.
 */
class HashQueue extends WorkQueue {
  constructor(limits: Partial<HashQueueLimits> = {}) {
    super(
      { ...HASH_QUEUE_LIMITS, ...limits },
      () => new ServiceError('TOO_MANY_REQUESTS', 'Too many logins at the same time. Try again later.'),
    )
  }
}

/** Makes and checks hashes of passwords, as PHC strings. */
export class Passwords {
  readonly #chance: Chance
  readonly #queue: HashQueue
  readonly #algorithm: Algorithm
  #dummy: Promise<string> | undefined

  /** `chance`: makes salts. */
  constructor(
    chance: Chance,
    limits?: Partial<HashQueueLimits>,
    algorithm: Algorithm = argon2 === undefined ? 'scrypt' : 'argon2id',
  ) {
    this.#chance = chance
    this.#queue = new HashQueue(limits)
    this.#algorithm = algorithm
  }

  /** A PHC string. */
  async hash(password: string): Promise<string> {
    const parameters = this.#newParameters()
    return format({ ...parameters, hash: await this.#queue.run(() => derive(password, parameters)) })
  }

  /** A PHC string of a password that nobody knows. It costs nothing. */
  unknownHash(): string {
    return format({ ...this.#newParameters(), hash: this.#random(HASH_BYTES) })
  }

  #random(bytes: number): Buffer {
    return Buffer.from(this.#chance.randomBytes(bytes))
  }

  #newParameters(): Omit<Parameters, 'hash'> {
    const isArgon2 = this.#algorithm === 'argon2id'
    return {
      algorithm: this.#algorithm,
      memory: isArgon2 ? ARGON2_MEMORY_KIB : SCRYPT_LOG2_COST,
      passes: isArgon2 ? ARGON2_PASSES : 8,
      salt: this.#random(SALT_BYTES),
    }
  }

  /** Verifies a password: compares hashes in constant time. False for a record that is too weak or too expensive. */
  async verify(record: string, password: string): Promise<boolean> {
    if (isBcrypt(record) && Buffer.byteLength(password) <= BCRYPT_BYTES_MAX)
      return this.#queue.run(() => verifyBcrypt(record, password))
    const parameters = parse(record)
    if (parameters === undefined || Buffer.byteLength(password) > PASSWORD_BYTES_MAX) {
      await this.waste(password)
      return false
    }
    const hash = await this.#queue.run(() => derive(password, parameters))
    return crypto.timingSafeEqual(hash, parameters.hash)
  }

  /** Takes as long as `verify`, so that timing does not reveal whether a name is known. */
  async waste(password: string): Promise<void> {
    const record = await (this.#dummy ??= this.hash(this.#random(SALT_BYTES).toString('hex')))
    const parameters = parse(record)!
    const message = Buffer.byteLength(password) > PASSWORD_BYTES_MAX ? '' : password
    await this.#queue.run(() => derive(message, parameters))
  }

  /** Whether `verify` reads the record. */
  isReadable(record: string): boolean {
    return isBcrypt(record) || parse(record) !== undefined
  }

  /** A record to be made again at the next login: of another algorithm, or with other parameters. */
  isOutdated(record: string): boolean {
    const found = parse(record)
    if (found === undefined || found.algorithm !== this.#algorithm) return true
    const wanted = found.algorithm === 'argon2id' ? [ARGON2_MEMORY_KIB, ARGON2_PASSES] : [SCRYPT_LOG2_COST, 8]
    return found.memory !== wanted[0] || found.passes !== wanted[1]
  }

  /** @throws ServiceError INVALID for a password that can't be taken as a new one */
  checkNew(password: unknown, charsMin: number = PASSWORD_CHARS_MIN): string {
    if (typeof password !== 'string') throw invalid('A password is a string.')
    if (Array.from(password).length < charsMin) throw invalid(`A password has at least ${charsMin} characters.`)
    if (Buffer.byteLength(password) > PASSWORD_BYTES_MAX)
      throw invalid(`A password has at most ${PASSWORD_BYTES_MAX} bytes.`)
    return password
  }

  /** Runs another derivation in the same queue. */
  queued<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work)
  }
}

async function derive(password: string, parameters: Omit<Parameters, 'hash'>): Promise<Buffer> {
  const { algorithm, memory, passes, salt } = parameters
  // The same password typed on two systems is the same.
  const message = password.normalize('NFKC')
  if (algorithm === 'argon2id') {
    if (argon2 === undefined) throw new ServiceError('UNSUPPORTED', 'This version of Node has no argon2.')
    return await promisify(argon2)('argon2id', {
      message,
      nonce: salt,
      memory,
      passes,
      parallelism: 1,
      tagLength: HASH_BYTES,
    })
  }
  const cost = 2 ** memory
  return await scrypt(message, salt, HASH_BYTES, {
    cost,
    blockSize: passes,
    parallelization: 1,
    maxmem: 256 * cost * passes,
  })
}

/** Whether it is a record of bcrypt whose cost the server bears. */
function isBcrypt(record: string): boolean {
  const cost = Number(BCRYPT.exec(record)?.[1])
  return cost >= BCRYPT_LOG2_COST_MIN && cost <= BCRYPT_LOG2_COST_MAX
}

/** Few servers need the package, and it is a binary. */
async function verifyBcrypt(record: string, password: string): Promise<boolean> {
  const bcrypt = await import('@node-rs/bcrypt').catch((error: unknown) => {
    const message = 'The password of an imported account needs the package @node-rs/bcrypt, which is not there.'
    throw new ServiceError('UNSUPPORTED', message, { cause: error })
  })
  return bcrypt.verify(password, record)
}

function format({ algorithm, memory, passes, salt, hash }: Parameters): string {
  const settings = algorithm === 'argon2id' ? `v=19$m=${memory},t=${passes},p=1` : `ln=${memory},r=${passes},p=1`
  return `$${algorithm}$${settings}$${unpadded(salt)}$${unpadded(hash)}`
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

const PHC =
  /^\$(?:(argon2id)\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=1|(scrypt)\$ln=(\d{1,2}),r=(\d{1,4}),p=1)\$([A-Za-z0-9+/]{16,128})\$([A-Za-z0-9+/]{43})$/

/** Undefined for what is no record, or one with parameters that are too weak or too costly. */
function parse(record: string): Parameters | undefined {
  const match = PHC.exec(record)
  if (match === null) return undefined
  const [, isArgon2, m, t, , ln, r, salt, hash] = match
  const bytes = { salt: Buffer.from(salt!, 'base64'), hash: Buffer.from(hash!, 'base64') }
  if (isArgon2 !== undefined) {
    const [memory, passes] = [Number(m), Number(t)]
    const isWeak = memory * passes < ARGON2_WORK_MIN || memory < 19_456
    if (isWeak || memory > ARGON2_MEMORY_KIB_MAX || passes > ARGON2_PASSES_MAX) return undefined
    return { algorithm: 'argon2id', memory, passes, ...bytes }
  }
  const [memory, passes] = [Number(ln), Number(r)]
  if (memory < SCRYPT_LOG2_COST || memory > SCRYPT_LOG2_COST_MAX || passes !== 8) return undefined
  return { algorithm: 'scrypt', memory, passes, ...bytes }
}
