/** What a sealed snapshot file begins with; in a file of its own for whoever has to tell it from others and no more. */
export const SEALED_SNAPSHOT_MAGIC = 'PNNRSEAL'

export function isSealedSnapshot(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(0, SEALED_SNAPSHOT_MAGIC.length)) === SEALED_SNAPSHOT_MAGIC
}
