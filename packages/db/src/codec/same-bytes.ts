/** True if both are there and equal, or neither is there. Not in constant time: not for secrets. */
export function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
