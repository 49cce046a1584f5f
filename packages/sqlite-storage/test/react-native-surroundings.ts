/**
 * Makes Node's globals those of React Native 0.86 with Expo 57, as in their sources: imported before anything else. Hermes lacks newer
 * methods too; what it may lack goes.
 */
const ABSENT = [
  'BroadcastChannel',
  'CompressionStream',
  'DecompressionStream',
  'MessageChannel',
  'TransformStream',
  'WritableStream',
  'crypto',
  'indexedDB',
  'localStorage',
  'navigator',
]
const getRandomValues = globalThis.crypto.getRandomValues.bind(globalThis.crypto)
const Decoder = globalThis.TextDecoder
for (const name of ABSENT) Reflect.deleteProperty(globalThis, name)

function without(owner: object, names: readonly string[]): void {
  for (const name of names) Reflect.deleteProperty(owner, name)
}

without(Object, ['groupBy'])
without(Map, ['groupBy'])
without(Array, ['fromAsync'])
without(Promise, ['try'])
without(Object.getPrototypeOf(Object.getPrototypeOf([].values())) as object, [
  'map',
  'filter',
  'take',
  'drop',
  'toArray',
])
without(Set.prototype, ['union', 'intersection', 'difference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom'])
without(Uint8Array, ['fromBase64', 'fromHex'])
without(RegExp, ['escape'])

/** Expo's decoder knows UTF-8 alone. */
class Utf8Decoder extends Decoder {
  constructor(label = 'utf-8', options?: TextDecoderOptions) {
    if (!/^utf-?8$/i.test(label)) throw new RangeError(`Unknown encoding: ${label}`)
    super(label, options)
  }
}

/** Node's `fetch` needs it; the library takes it for Node by its prototype. */
const WithoutNode = new Proxy(Buffer, {
  get: (target, name) => (name === 'prototype' ? {} : Reflect.get(target, name)),
})

Object.assign(globalThis, {
  Buffer: WithoutNode,
  TextDecoder: Utf8Decoder,
  navigator: { product: 'ReactNative' },
  // What the guide's set-up does.
  crypto: { getRandomValues },
})
