/**
 * Keys of passwords and their hashes are dear on purpose: 70 to 200 ms of processor each. What a test asks of them is which password
 * opens what, and a cheap function of the same inputs answers that as well. The lane `real` and the nightly run take the real ones.
 */
import crypto, { hkdf } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { Lane } from '../lanes.ts'
import { EVERYWHERE } from '../seeds.ts'

type Stretched = Parameters<typeof pbkdf2>[5]

/** Rounds of PBKDF2 of a password. PostgreSQL asks for fewer, and compares what comes of them. */
const ROUNDS_OF_PASSWORD = 100_000

let isCheap = false

/** From now on a file of that lane runs. */
export function stretchFor(lane: Lane): void {
  isCheap = lane !== 'real' && !EVERYWHERE
}

/** For a case that opens what others have stored, or needs hashes to take their time. The function returned ends it. */
export function stretchReally(): () => void {
  const before = isCheap
  isCheap = false
  return () => void (isCheap = before)
}

function stretchCheaply(
  message: crypto.BinaryLike,
  salt: crypto.BinaryLike,
  costs: readonly unknown[],
  length: number,
  callback: Stretched,
): void {
  hkdf('sha256', message, salt, JSON.stringify(costs), length, (error, key) => callback(error, Buffer.from(key)))
}

const { argon2, pbkdf2 } = crypto

const cheap: Pick<typeof crypto, 'argon2' | 'pbkdf2'> = {
  argon2(algorithm, parameters, callback) {
    if (!isCheap) return argon2(algorithm, parameters, callback)
    const { message, nonce, passes, memory, parallelism, tagLength } = parameters
    stretchCheaply(message, nonce, [algorithm, passes, memory, parallelism], tagLength, callback)
  },
  pbkdf2(password, salt, rounds, length, digest, callback) {
    if (!isCheap || rounds < ROUNDS_OF_PASSWORD) return pbkdf2(password, salt, rounds, length, digest, callback)
    stretchCheaply(password, salt, [digest, rounds], length, callback)
  },
}

Object.assign(crypto, cheap)
syncBuiltinESMExports()
