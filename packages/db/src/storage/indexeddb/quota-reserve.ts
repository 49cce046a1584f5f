/**
 * Room set aside, so that small writes (deletions above all) still succeed when an origin has used up its quota.
 *
 * Chromium refuses every put then, whatever was deleted before: IndexedDB gives room back minutes later there. Firefox
 * gives some back, but not always enough. A file of zeros in the origin's private file system counts against the same quota,
 * hardly uses the disk, and gives its room back the moment it is removed. WebKit has no such file system everywhere;
 * then there is no reserve.
 */
/**
 * The first size that there is room for. Chromium goes some 20 MB beyond the quota before it notices. Made in about 40 ms, in
 * the background.
 */
const RESERVE_BYTES = [32 << 20, 8 << 20, 2 << 20]

const FILE = 'pannier-reserve'

/** One attempt under way or made at a time; another one follows when the reserve was used. */
let kept = false

/** Sees to it that there is a reserve, in the background, if there is room for it. */
export function keepReserve(): void {
  if (kept) return
  kept = true
  void makeReserve().catch(() => {})
}

async function makeReserve(): Promise<void> {
  const folder = await navigator.storage.getDirectory()
  const file = await folder.getFileHandle(FILE, { create: true })
  if ((await file.getFile()).size > 0) return
  for (const bytes of RESERVE_BYTES) {
    const writable = await file.createWritable()
    try {
      await writable.truncate(bytes)
      return await writable.close()
    } catch {
      // No room for that much. What was written to a stream that is not closed does not count.
      await writable.abort().catch(() => {})
    }
  }
}

/** Gives the room back. Resolves also when there was none. */
export async function releaseReserve(): Promise<void> {
  try {
    const folder = await navigator.storage.getDirectory()
    await folder.removeEntry(FILE)
  } catch {
    // There was no reserve, or there is no such file system here.
  }
  kept = false
}
