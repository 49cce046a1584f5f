/**
 * MD5 (RFC 1321), the name of attachments' content, because CouchDB's digests are MD5. It does not prevent forged
 * content with the same digest: code that shares content by it must also compare the bytes.
 */
import { rotate } from '../../codec/checksum.ts'

const MD5_BYTES = 16

const BLOCK_BYTES = 64
const BLOCK_WORDS = 16

/**
 * Takes bytes in pieces, which hash like their concatenation.
 *
 * @example
 * const digest = new Md5().update(bytes).digest()
 */
export class Md5 {
  readonly #state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476)
  readonly #words = new Int32Array(BLOCK_WORDS)
  /** The start of a block that is not whole yet. */
  readonly #tail = new Uint8Array(BLOCK_BYTES)
  #length = 0

  update(bytes: Uint8Array): this {
    const held = this.#length % BLOCK_BYTES
    this.#length += bytes.length
    let at = 0
    if (held > 0) {
      at = Math.min(bytes.length, BLOCK_BYTES - held)
      this.#tail.set(bytes.subarray(0, at), held)
      if (held + at < BLOCK_BYTES) return this
      this.#blocks(this.#tail, 0, BLOCK_BYTES)
    }
    const whole = bytes.length - ((bytes.length - at) % BLOCK_BYTES)
    this.#blocks(bytes, at, whole)
    this.#tail.set(bytes.subarray(whole))
    return this
  }

  /** The digest at the end: nothing can be added any more. */
  digest(): Uint8Array {
    const bits = this.#length * 8
    const padding = new Uint8Array(BLOCK_BYTES - ((this.#length + 8) % BLOCK_BYTES) + 8)
    padding[0] = 0x80
    const view = new DataView(padding.buffer)
    view.setUint32(padding.length - 8, bits >>> 0, true)
    view.setUint32(padding.length - 4, Math.floor(bits / 2 ** 32), true)
    this.update(padding)
    const digest = new Uint8Array(MD5_BYTES)
    const target = new DataView(digest.buffer)
    this.#state.forEach((word, i) => target.setInt32(4 * i, word, true))
    return digest
  }

  #blocks(bytes: Uint8Array, start: number, end: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const words = this.#words
    const state = this.#state
    for (let at = start; at < end; at += BLOCK_BYTES) {
      for (let i = 0; i < BLOCK_WORDS; i++) words[i] = view.getInt32(at + 4 * i, true)
      addBlock(state, words)
    }
  }
}

/** `floor(2^32 * abs(sin(i + 1)))`, as the RFC has it. */
const SINES: Int32Array = Int32Array.from({ length: 64 }, (_, i) => Math.floor(2 ** 32 * Math.abs(Math.sin(i + 1))))

/** Four steps at a time: after those the four words of the state stand where they stood. */
function addBlock(state: Int32Array, words: Int32Array): void {
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  for (let i = 0; i < 16; i += 4) {
    a = (rotate((a + (d ^ (b & (c ^ d))) + words[i]! + SINES[i]!) | 0, 7) + b) | 0
    d = (rotate((d + (c ^ (a & (b ^ c))) + words[i + 1]! + SINES[i + 1]!) | 0, 12) + a) | 0
    c = (rotate((c + (b ^ (d & (a ^ b))) + words[i + 2]! + SINES[i + 2]!) | 0, 17) + d) | 0
    b = (rotate((b + (a ^ (c & (d ^ a))) + words[i + 3]! + SINES[i + 3]!) | 0, 22) + c) | 0
  }
  for (let i = 16; i < 32; i += 4) {
    a = (rotate((a + (c ^ (d & (b ^ c))) + words[(5 * i + 1) & 15]! + SINES[i]!) | 0, 5) + b) | 0
    d = (rotate((d + (b ^ (c & (a ^ b))) + words[(5 * i + 6) & 15]! + SINES[i + 1]!) | 0, 9) + a) | 0
    c = (rotate((c + (a ^ (b & (d ^ a))) + words[(5 * i + 11) & 15]! + SINES[i + 2]!) | 0, 14) + d) | 0
    b = (rotate((b + (d ^ (a & (c ^ d))) + words[(5 * i) & 15]! + SINES[i + 3]!) | 0, 20) + c) | 0
  }
  for (let i = 32; i < 48; i += 4) {
    a = (rotate((a + (b ^ c ^ d) + words[(3 * i + 5) & 15]! + SINES[i]!) | 0, 4) + b) | 0
    d = (rotate((d + (a ^ b ^ c) + words[(3 * i + 8) & 15]! + SINES[i + 1]!) | 0, 11) + a) | 0
    c = (rotate((c + (d ^ a ^ b) + words[(3 * i + 11) & 15]! + SINES[i + 2]!) | 0, 16) + d) | 0
    b = (rotate((b + (c ^ d ^ a) + words[(3 * i + 14) & 15]! + SINES[i + 3]!) | 0, 23) + c) | 0
  }
  for (let i = 48; i < 64; i += 4) {
    a = (rotate((a + (c ^ (b | ~d)) + words[(7 * i) & 15]! + SINES[i]!) | 0, 6) + b) | 0
    d = (rotate((d + (b ^ (a | ~c)) + words[(7 * i + 7) & 15]! + SINES[i + 1]!) | 0, 10) + a) | 0
    c = (rotate((c + (a ^ (d | ~b)) + words[(7 * i + 14) & 15]! + SINES[i + 2]!) | 0, 15) + d) | 0
    b = (rotate((b + (d ^ (c | ~a)) + words[(7 * i + 5) & 15]! + SINES[i + 3]!) | 0, 21) + c) | 0
  }
  state[0] = (state[0]! + a) | 0
  state[1] = (state[1]! + b) | 0
  state[2] = (state[2]! + c) | 0
  state[3] = (state[3]! + d) | 0
}
