/** Compaction of single documents, and purges. */
import { forgetRevisions } from 'pannier/internal'
import { answer } from './failures.ts'
import type { AdapterMethods, Place } from './pouch.ts'
import { generationOf } from './revision-trees.ts'

export function upkeepMethods(opening: Promise<Place>): Pick<AdapterMethods, '_doCompaction' | '_purge'> {
  return {
    _doCompaction: (id, revs, callback) =>
      answer(callback, async () => {
        const { db, docs } = await opening
        if (revs.length > 0) await forgetRevisions(db, docs.name, id, revs)
      }),
    // The path leads from the leaf to its ancestors, or back.
    _purge: (id, path, callback) =>
      answer(callback, async () => {
        const { docs } = await opening
        const leaf = path.reduce((one, other) => (generationOf(one) > generationOf(other) ? one : other))
        const { purged, gone } = await docs.purge(id, leaf)
        return { ok: true, deletedRevs: purged, documentWasRemovedCompletely: gone }
      }),
  }
}
