/** LevelDB as Node's users have it: the name of a database is the path of its folder. */
import { ClassicLevel } from 'classic-level'
import { level } from '../../src/storage/level/level.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'

export function classicLevel(): DatabaseStorage {
  return level((path) => new ClassicLevel(path))
}
