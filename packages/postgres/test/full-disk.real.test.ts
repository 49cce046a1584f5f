/**
 * Goal: a disk that is full loses nothing that was acknowledged, and damages nothing: writes fail, and continue when there is room.
 * Method: a PostgreSQL whose data are on a small file system in memory. It needs the right to mount one.
 */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { History, violationsOf } from '../../../tools/test/history.ts'
import { open } from '../../db/src/index.ts'
import { seededRandom } from '../../db/testing/random.ts'
import { makeFolder } from '../../../tools/processes.ts'
import { notRun } from '../../../tools/test/not-run.ts'
import { FIRST_SEED } from '../../../tools/test/seeds.ts'
import { findPostgres, POSTGRES_NEEDED, PostgresServer } from '../../../tools/test/postgres.ts'
import { postgres } from '../src/index.ts'
import { endOf, ListServer } from './lists.ts'

const MEBIBYTE: number = 1024 * 1024

test('the disk of PostgreSQL is full, and has room again', { timeout: 120_000 }, async (context) => {
  if (findPostgres() === undefined) notRun(context, POSTGRES_NEEDED)
  const place = makeFolder('full')
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=777', 'tmpfs', place]).status !== 0)
    notRun(context, 'the right to mount a file system')
  try {
    await using server = await PostgresServer.start(
      ['max_wal_size = 48MB', 'min_wal_size = 32MB', 'wal_keep_size = 0'],
      place,
    )
    const url = server.make('app')
    const ballast = join(place, 'ballast')
    await using db = await open('full', { storage: postgres(url, { waitMsMax: 3000 }), durability: 'strict' })
    const history = new History()
    const writer = new ListServer(db, 's0', history)
    const random = seededRandom(FIRST_SEED)
    // What does not compress.
    const write = (n: number): Promise<string> =>
      writer.write(
        `i${n}`,
        Buffer.from(Uint8Array.from({ length: 48_000 }, () => random.below(256))).toString('base64'),
      )
    for (let n = 0; n < 20; n++) await write(n)
    const free = Number(spawnSync('df', ['--output=avail', '-B1', place], { encoding: 'utf8' }).stdout.split('\n')[1])
    writeFileSync(ballast, Buffer.alloc(free - 2 * MEBIBYTE))
    let failures = 0
    for (let n = 100; n < 400 && failures < 3; n++) if ((await write(n)) === 'failed') failures++
    expect(failures).toBe(3)
    rmSync(ballast)
    let n = 1000
    const writeOn = async (): Promise<string> => {
      // A log that can't grow ends PostgreSQL, soon or after it has tried to recover.
      if (!server.isRunning) await server.begin()
      return write(n++)
    }
    await expect.poll(writeOn).toBe('done')
    await using again = await open(db.name, { storage: postgres(url) })
    expect(violationsOf(history.operations, await endOf(again))).toEqual([])
    expect((await again.check()).problems).toEqual([])
  } finally {
    spawnSync('umount', ['-l', place])
  }
})
