/**
 * Room set aside, so that small writes (deletions above all) still succeed when an origin has used up its quota.
 *
 * Chromium refuses every put then, whatever was deleted before: IndexedDB gives room back minutes later there. Firefox
 * gives some back, but not always enough. A file of zeros in the origin's private file system counts against the same quota,
 * hardly uses the disk, and gives its room back the moment it is removed. WebKit has no such file system everywhere;
 * then there is no reserve.
 */
import { isPannierError } from '../../base/errors.ts'

/**
 * The first size that there is room for. Chromium goes some 20 MB beyond the quota before it notices. Made in about 40 ms, in
 * the background.
 */
const RESERVE_BYTES = [32 << 20, 8 << 20, 2 << 20]

const FILE = 'pannier-reserve'

/** So long a write waits for the end of a compaction at most, and between two tries. */
const COMPACTION_MS_MAX = 10_000
const PAUSE_MS_MIN = 50
const PAUSE_MS_MAX = 1000

/** One attempt under way or made at a time; another one follows when the reserve was used. */
let kept = false

/** Ensures a reserve in the background, if there is room for it. */
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

/** Gives the room back; false where there was no reserve, or there is no such file system. */
export async function releaseReserve(): Promise<boolean> {
  try {
    const folder = await navigator.storage.getDirectory()
    await folder.removeEntry(FILE)
    return true
  } catch {
    return false
  } finally {
    // Not before: a commit meanwhile would find the file still there, and take it for kept.
    kept = false
  }
}

/**
 * Calls `write` until there is room for it. Released room may be taken for a moment: LevelDB, below IndexedDB in
 * Chromium, writes compacted data before it deletes the old (113 MB of files, 64 MB 0.7 s later). Chromium seems to
 * count files again only after a transaction has succeeded, so `succeed` does one before each further try. Without it,
 * three of ten runs of the quota test were refused for more than 10 s on a busy machine; with it none of 18.
 */
export async function writeWhenThereIsRoom(write: () => Promise<void>, succeed: () => Promise<void>): Promise<void> {
  for (let waitedMs = 0, pauseMs = PAUSE_MS_MIN; ; waitedMs += pauseMs, pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await write()
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_QUOTA_EXCEEDED') || waitedMs >= COMPACTION_MS_MAX) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    await succeed()
  }
}
