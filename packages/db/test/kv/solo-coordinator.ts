import type { Coordinator } from '../../src/storage/coordinator.ts'
import type { Generation } from '../../src/base/brand.ts'

/** For a database that has only one handle. */
export function soloCoordinator(): Coordinator {
  let pinned: Generation | undefined
  return {
    acquireWriter: async () => ({ wanted: false, lost: false, onWanted: () => {}, release: () => {} }),
    announce: () => {},
    onHint: () => {},
    pin: async (generation) => void (pinned = generation),
    oldestPinned: async () => pinned,
    close: () => {},
  }
}
