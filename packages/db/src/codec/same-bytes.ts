/** True if both are there and equal, or neither is there. Not in constant time: not for secrets. */
export function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a.length !== b.length) return false
  // A loop: `every` takes ten times as long.
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return true
}
